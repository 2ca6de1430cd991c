"""Which system, product or environment a document speaks of (SPEC 1 "scope", 6.9).

Belongs here: choosing from what is written or configured. Does not belong here: guessing; without evidence the answer
is the marker that a person has to replace, never the folder's name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kb_pipeline.models import UNRESOLVED_SCOPE
from kb_pipeline.text.folding import fold


def choose_scope(
    fields: Mapping[str, object],
    title: str,
    text: str,
    *,
    scopes: Sequence[str],
    configured: str | None,
    default: str | None,
) -> str:
    """Front matter (if the list allows it), else the one scope of the list that the title or text names, else the
    source's configured scope, else ``default``, else ``UNRESOLVED_SCOPE``. An empty list allows any."""
    written = fields.get("scope")
    if isinstance(written, str) and written.strip() and written.strip() != UNRESOLVED_SCOPE:
        allowed = _allowed(written.strip(), scopes)
        if allowed:
            return allowed
    for place in (title, text):
        named = _named(place, scopes)
        if len(named) == 1:
            return named[0]
        if named:
            break
    return configured or default or UNRESOLVED_SCOPE


def _allowed(scope: str, scopes: Sequence[str]) -> str | None:
    if not scopes:
        return " ".join(scope.split())
    folded = fold(scope)
    return next((known for known in scopes if fold(known) == folded), None)


def _named(text: str, scopes: Sequence[str]) -> list[str]:
    """Scopes whose words stand in the text as whole words; one inside a longer one that is there too does not count."""
    folded = fold(text)
    found = [scope for scope in scopes if _occurs(fold(scope), folded)]
    return [scope for scope in found if not any(scope != other and fold(scope) in fold(other) for other in found)]


def _occurs(scope: str, text: str) -> bool:
    start = text.find(scope) if scope else -1
    while start >= 0:
        end = start + len(scope)
        before = text[start - 1] if start else " "
        after = text[end] if end < len(text) else " "
        if not (_joins(before, scope[0]) or _joins(scope[-1], after)):
            return True
        start = text.find(scope, start + 1)
    return False


def _joins(left: str, right: str) -> bool:
    """Two Latin letters or digits side by side are one word; Chinese has no word edges."""
    return left.isascii() and right.isascii() and (left.isalnum() or left == "_") and (right.isalnum() or right == "_")
