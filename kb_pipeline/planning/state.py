"""The state of each document, for ``kb status`` and the counts at the end of a build (SPEC 6.6).

Belongs here: turning a plan into one state and reason a document. Not here: the plan itself, or how it is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kb_pipeline.models import BuildPlan, DocumentState, PageProvenance
from kb_pipeline.planning.evidence import INBOX_PREFIX

FRAGMENT_REASON = "too short for a page of its own: kept in the month's inbox, which is not published or searched"


@dataclass(frozen=True, slots=True)
class DocumentStatus:
    """One line of ``kb status``. A ``document`` that ends with ``/`` is a folder that was not entered."""

    document: str
    state: DocumentState
    reason: str = ""
    pages: tuple[str, ...] = ()


def document_states(plan: BuildPlan, pages: Iterable[PageProvenance]) -> list[DocumentStatus]:
    """State, reason and pages of every document in ``plan``, sorted by path."""
    owned: dict[str, list[str]] = {}
    fragments: dict[str, str] = {}
    for page in pages:
        if page.path.startswith(INBOX_PREFIX):
            fragments.update((source.path, page.path) for source in page.sources)
        elif page.compiled is not None and page.sources:
            owned.setdefault(page.sources[0].path, []).append(page.path)
    moved_from = {move.new: move.old for move in plan.moved}
    states: dict[str, tuple[DocumentState, str]] = {}
    for document in plan.unchanged:
        is_fragment = document in fragments and document not in owned
        states[document] = (DocumentState.FRAGMENT, FRAGMENT_REASON) if is_fragment else (DocumentState.UNCHANGED, "")
    states.update(_all(plan.outdated, DocumentState.UNCHANGED, "outdated: made by another rewriter, model or rules"))
    states.update(_all(plan.compile, DocumentState.PENDING, "to be compiled again"))
    states.update(_all(plan.new, DocumentState.PENDING, "new"))
    states.update(_all(plan.stale, DocumentState.PENDING, "changed, or its pages are not whole"))
    for new, old in moved_from.items():
        _, reason = states.get(new, (DocumentState.PENDING, ""))
        states[new] = (DocumentState.PENDING, f"moved from {old}" + (f"; {reason}" if reason else ""))
    states.update(_all(plan.removed, DocumentState.REMOVED, "the raw document is gone"))
    states.update(plan.settled)
    return [
        DocumentStatus(document, state, reason, _pages_of(moved_from.get(document, document), owned, fragments))
        for document, (state, reason) in sorted(states.items())
    ]


def count_states(states: Sequence[DocumentStatus]) -> dict[DocumentState, int]:
    """How many documents are in each state, in the order of ``DocumentState``; folders not entered count as one."""
    counted = Counter(status.state for status in states)
    return {state: counted[state] for state in DocumentState if counted[state]}


def _all(documents: Iterable[str], state: DocumentState, reason: str) -> dict[str, tuple[DocumentState, str]]:
    return dict.fromkeys(documents, (state, reason))


def _pages_of(document: str, owned: Mapping[str, Sequence[str]], fragments: Mapping[str, str]) -> tuple[str, ...]:
    if document in owned:
        return tuple(sorted(owned[document]))
    return (fragments[document],) if document in fragments else ()
