"""A small world for planner tests: documents, pages and reviews as values, and a sync that applies a plan to them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from kb_pipeline.models import (
    BuildPlan,
    CompiledStamp,
    DocumentState,
    PageProvenance,
    RawEntry,
    ReviewEntry,
    SourceRef,
)
from kb_pipeline.planning.planner import data_version, make_plan

KEY = "key1"


@dataclass
class World:
    """What is on disk and in the log. ``texts``: document → content ("" is empty, "!" fails, "#…" is ignored,
    "~…" is a fragment, "?…" is held by the gates, "2…"/"3…" makes that many pages)."""

    key: str = KEY
    texts: dict[str, str] = field(default_factory=dict)
    pages: dict[str, PageProvenance] = field(default_factory=dict)
    reviews: dict[str, ReviewEntry] = field(default_factory=dict)
    recorded: dict[str, str] = field(default_factory=dict)
    folders: dict[str, DocumentState] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)

    @staticmethod
    def sha(text: str) -> str:
        return sha(text)

    # -- what there is ------------------------------------------------------------------------------------------

    def raw(self) -> list[RawEntry]:
        entries = [RawEntry(path, path, state, "not entered") for path, state in self.folders.items()]
        for path, text in self.texts.items():
            if text == "":
                entries.append(RawEntry(path, path, DocumentState.EMPTY, "empty", "0" * 64))
            elif text[0] in "!#":
                state = DocumentState.FAILED if text[0] == "!" else DocumentState.IGNORED
                entries.append(RawEntry(path, path, state, "reason"))
            else:
                entries.append(RawEntry(path, path, DocumentState.PENDING, None, sha(text)))
        return entries

    def plan(self, *, log: bool = True, **options: object) -> BuildPlan:
        recorded = dict(self.recorded) if log else None
        return make_plan(
            self.raw(),
            list(self.pages.values()),
            list(self.reviews.values()),
            recorded,
            self.key,
            **options,  # type: ignore[arg-type]
        )

    # -- a sync in small ----------------------------------------------------------------------------------------

    def sync(self, plan: BuildPlan) -> None:
        """Do what ``building.sync`` does, on values."""
        for move in plan.moved:
            self._rekey(move.old, move.new)
        for document in plan.removed:
            self._remove(document)
        for document in plan.compile:
            self._compile(document)
        for document in plan.adopted:
            self._record(document)
        for document in plan.forgotten:
            self.recorded.pop(document)

    def build(self, **options: object) -> BuildPlan:
        plan = self.plan(**options)
        self.sync(plan)
        return plan

    def page(self, path: str, document: str, text: str, part: str = "1/1", key: str | None = None) -> PageProvenance:
        made = PageProvenance(
            path, (SourceRef(document, sha(text)),), CompiledStamp("offline", key or self.key, part, "f"), "f", path
        )
        self.pages[path] = made
        return made

    def edit(self, path: str) -> None:
        """A person changes a page."""
        self.pages[path] = replace(self.pages[path], fingerprint="edited")

    def review(self, document: str, text: str, verdict: str = "held", key: str | None = None) -> None:
        self.reviews[document] = ReviewEntry(document, sha(text), key or self.key, verdict, "reason")

    def owned(self, document: str) -> list[str]:
        return sorted(
            path
            for path, page in self.pages.items()
            if page.compiled and page.owner == document and not path.startswith("_inbox/")
        )

    def _rekey(self, old: str, new: str) -> None:
        for path, page in self.pages.items():
            sources = tuple(replace(ref, path=new) if ref.path == old else ref for ref in page.sources)
            self.pages[path] = replace(page, sources=sources)
        if old in self.reviews:
            self.reviews[new] = replace(self.reviews.pop(old), document=new)
        self.recorded.pop(old, None)
        self._record(new)

    def _remove(self, document: str) -> None:
        for path in self.owned(document):
            del self.pages[path]
        self._list_fragment(document, None)
        self.reviews.pop(document, None)
        self.recorded.pop(document, None)

    def _compile(self, document: str) -> None:
        text = self.texts[document]
        self.calls.append(document)
        if text[0] == "?" or any(self.pages[path].edited_by_hand for path in self.owned(document)):
            self.review(document, text)
            return
        self.reviews.pop(document, None)
        for path in self.owned(document):
            del self.pages[path]
        self._list_fragment(document, text if text[0] == "~" else None)
        if text[0] != "~":
            count = int(text[0]) if text[0] in "23" else 1
            for index in range(1, count + 1):
                self.page(f"{document}-{index}.md", document, text, f"{index}/{count}")
        self._record(document)

    def _list_fragment(self, document: str, text: str | None) -> None:
        path = "_inbox/2026-08.md"
        before = self.pages.pop(path, None)
        kept = [ref for ref in before.sources if ref.path != document] if before else []
        if text is not None:
            kept.append(SourceRef(document, sha(text)))
        if kept:
            self.pages[path] = PageProvenance(path, tuple(kept), CompiledStamp("offline", self.key, "1/1", "f"), "f")

    def _record(self, document: str) -> None:
        owned = [self.pages[path] for path in self.owned(document)]
        inbox = self.pages.get("_inbox/2026-08.md")
        page = owned[0] if owned else inbox if inbox and any(ref.path == document for ref in inbox.sources) else None
        if page is not None and page.compiled is not None:
            ref = next(ref for ref in page.sources if ref.path == document)
            self.recorded[document] = data_version(ref.sha256, page.compiled.key)


def sha(text: str) -> str:
    """A stand-in for the content hash that can be read back: texts of tests are short."""
    return text.encode().hex().ljust(64, "0")[-64:]


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture(scope="session")
def new_world() -> type[World]:
    """For property tests, which need a world for each example."""
    return World
