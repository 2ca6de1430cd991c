"""What a page's text refers to, and by which names a page can be referred to (SPEC 4 "Links", SPEC 11 EXTRACTED).

Belongs here: reading references off a page, resolving them, and telling which references a new, renamed or removed page
may lead elsewhere. Does not belong here: the order of resolution (``markdown.links``), reporting broken links (``lint``).
"""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from kb_pipeline.markdown.links import LinkResolver, Resolved
from kb_pipeline.models import LinkKind, WikiPage

_PAGE_LINKS = frozenset({LinkKind.WIKILINK, LinkKind.MARKDOWN, LinkKind.EMBED})


@dataclass(frozen=True, slots=True, order=True)
class Mention:
    """That a page refers to another: how, and with which comment on the relation."""

    kind: str
    comment: str = ""


def mentions_of(page: WikiPage, resolver: LinkResolver) -> dict[str, tuple[Mention, ...]]:
    """Pages that ``page`` refers to, itself left out. Ambiguous, missing and foreign targets make no edge."""
    found: dict[str, set[Mention]] = {}
    for link in page.outline.links:
        if link.kind in _PAGE_LINKS and link.target:
            target = resolver.resolve(link, page.path)
            if isinstance(target, Resolved):
                found.setdefault(target.path, set()).add(Mention(link.kind.value))
    for related in page.related:
        target = resolver.resolve_path(related.target, page.path)
        if isinstance(target, Resolved):
            comment = " ".join((related.comment or "").split())
            found.setdefault(target.path, set()).add(Mention(LinkKind.RELATED.value, comment))
    found.pop(page.path, None)
    return {path: tuple(sorted(mentions)) for path, mentions in found.items()}


def names_of(page: WikiPage) -> frozenset[tuple[str, str]]:
    """Every (kind, name) under which a reference may find a page: its file's name, title and aliases.

    A path or the end of one is found by its last part here, which is enough to know whom to ask again.
    """
    names = {("file", _stem(page.path)), *(("alias", _folded(alias)) for alias in page.aliases)}
    if page.title:
        names.add(("title", _folded(page.title)))
    return frozenset(names)


def names_asked(page: WikiPage) -> frozenset[str]:
    """Names under which the references of a page may find one, whether or not it exists."""
    return frozenset(name for target in _targets(page) for name in _names_in(target, page.path))


def _targets(page: WikiPage) -> Iterator[str]:
    for link in page.outline.links:
        if link.kind in _PAGE_LINKS and link.target:
            yield link.target
    for related in page.related:
        if related.path.strip():
            yield related.path


def _names_in(target: str, from_path: str) -> Iterator[str]:
    path = target.strip().replace("\\", "/").rstrip("/")
    yield _stem(posixpath.normpath(path.lstrip("/")))
    yield _stem(posixpath.normpath(posixpath.join(posixpath.dirname(from_path), path)))
    yield _folded(target)


def _stem(path: str) -> str:
    return _folded(path).rpartition("/")[2].removesuffix(".md")


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text.strip()).casefold()
