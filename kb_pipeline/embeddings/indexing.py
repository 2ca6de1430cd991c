"""Keeps the vectors in step with the pages: plan what has changed, embed only that, store it page by page (SPEC 12).

What belongs here: the plan (pure) and its execution over ``ports``. What does not: SQL, models, what a chunk is.

A crash loses the batch in flight and nothing else: each batch is one transaction that holds whole pages, new rows and
vanished sections together, so that a page is never seen half old and half new.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kb_pipeline.embeddings.chunking import MAX_TOKENS, chunk_page
from kb_pipeline.embeddings.splitting import estimate_tokens
from kb_pipeline.errors import ProviderError
from kb_pipeline.models import Chunk, WikiPage
from kb_pipeline.ports import Embedder, Progress, Vectors, VectorStore

Key = tuple[str, str]

BATCH_TEXTS = 64
FIRST_BATCH_TEXTS = 8
"""Small, so that the first estimate of a long build comes soon."""
LOOK_UP = 2000


class IndexableStore(VectorStore, Protocol):
    """What indexing needs beyond ``ports.VectorStore``."""

    def stored_hashes(self, model_version: str, concepts: Collection[str] | None = None) -> dict[Key, str]:
        """As in the port, of all pages or of the named ones."""
        ...

    def page_stamps(self, model_version: str, concepts: Collection[str] | None = None) -> dict[str, tuple[str, int]]:
        """concept_name → stamp and number of rows, of every page with rows or of the named ones."""
        ...

    def apply(
        self,
        model_version: str,
        dimensions: int,
        upserts: Iterable[tuple[Chunk, Vectors]],
        removed: Iterable[Key],
        pages: Mapping[str, tuple[str, int]] | None = None,
    ) -> None:
        """As in the port; with the stamps of the pages that are thereby complete."""
        ...

    def optimise(self, model_version: str) -> bool:
        """After a load: statistics and indexes."""
        ...


@dataclass(frozen=True, slots=True)
class PagePlan:
    """One page: chunks whose row is missing or old, rows whose section is gone, and the rows it has then."""

    concept_name: str
    changed: tuple[Chunk, ...]
    removed: tuple[Key, ...]
    rows: int
    stamp: str


@dataclass(frozen=True, slots=True)
class EmbeddingPlan:
    """``pages`` in order; ``gone``: rows of pages that exist no more; ``unchanged``: rows that stay."""

    pages: tuple[PagePlan, ...] = ()
    gone: tuple[Key, ...] = ()
    unchanged: int = 0

    @property
    def texts(self) -> int:
        """Rows to write; equal texts among them are embedded once."""
        return sum(len(page.changed) for page in self.pages)

    def __bool__(self) -> bool:
        return bool(self.gone) or any(page.changed or page.removed for page in self.pages)


@dataclass(frozen=True, slots=True)
class EmbeddingReport:
    """Rows, not texts: ``embedded`` got a new vector, ``reused`` one that was known, ``removed`` were deleted.

    ``complete`` is False when vectors are still missing; ``problem`` says why, and the next run goes on there.
    """

    embedded: int = 0
    reused: int = 0
    removed: int = 0
    unchanged: int = 0
    seconds: float = 0.0
    complete: bool = True
    problem: str | None = None


def page_stamp(page: WikiPage, max_tokens: int = MAX_TOKENS) -> str:
    """Changes with all that its chunks are made of (the text scheme is part of the model's version)."""
    return f"{page.fingerprint}/{max_tokens}"


def plan_embeddings(
    pages: Iterable[WikiPage],
    stored_hashes: Mapping[Key, str],
    *,
    gone: Collection[str] | None = None,
    max_tokens: int = MAX_TOKENS,
) -> EmbeddingPlan:
    """Compares pages with the stored rows; drafts have none.

    ``gone`` None: ``pages`` are the whole wiki, and every other stored row goes. Else only the rows of ``pages`` and of
    the named concepts are judged.
    """
    stored: dict[str, set[Key]] = {}
    for key in stored_hashes:
        stored.setdefault(key[0], set()).add(key)
    plans: list[PagePlan] = []
    unchanged = 0
    for page in pages:
        chunks = [] if page.is_draft else chunk_page(page, max_tokens)
        keys = {(chunk.concept_name, chunk.section_id) for chunk in chunks}
        changed = tuple(
            chunk for chunk in chunks if stored_hashes.get((chunk.concept_name, chunk.section_id)) != chunk.content_hash
        )
        removed = tuple(sorted(stored.pop(page.concept_name, set()) - keys))
        unchanged += len(chunks) - len(changed)
        if chunks or removed:
            plans.append(PagePlan(page.concept_name, changed, removed, len(chunks), page_stamp(page, max_tokens)))
    leaving = stored if gone is None else {name: stored[name] for name in gone if name in stored}
    return EmbeddingPlan(tuple(plans), tuple(sorted(key for keys in leaving.values() for key in keys)), unchanged)


def embed_pages(
    pages: Sequence[WikiPage],
    embedder: Embedder,
    store: IndexableStore,
    progress: Progress | None = None,
    *,
    gone: Collection[str] | None = None,
    max_tokens: int = MAX_TOKENS,
    batch_texts: int = BATCH_TEXTS,
    stop: Callable[[], bool] | None = None,
) -> EmbeddingReport:
    """Brings the stored vectors in step with ``pages``, batch by batch; what did not change is not even read.

    ``pages`` are the whole wiki, and every other page's rows go; or, with ``gone``, some pages, and the rows of the
    named concepts go. ``stop`` is asked before each batch. A provider that fails ends the run with ``complete`` False:
    what was embedded so far stays. Database errors are raised.
    """
    begun = time.monotonic()
    model = embedder.model_version
    stamps = store.page_stamps(model, None if gone is None else [*(page.concept_name for page in pages), *gone])
    unread = {
        page.concept_name
        for page in pages
        if not page.is_draft and stamps.get(page.concept_name, ("", 0))[0] == page_stamp(page, max_tokens)
    }
    work = [page for page in pages if page.concept_name not in unread]
    leaving = set(stamps) - {page.concept_name for page in pages}
    concepts = leaving | {page.concept_name for page in work if page.concept_name in stamps}
    stored = store.stored_hashes(model, concepts) if concepts else {}
    plan = plan_embeddings(work, stored, gone=leaving, max_tokens=max_tokens)
    run = _Run(embedder, store, progress, plan)
    problem = run.execute(batch_texts, stop or (lambda: False))
    if run.embedded or run.reused:
        store.optimise(model)
    return EmbeddingReport(
        embedded=run.embedded,
        reused=run.reused,
        removed=run.removed,
        unchanged=plan.unchanged + sum(stamps[name][1] for name in unread),
        seconds=time.monotonic() - begun,
        complete=problem is None,
        problem=problem,
    )


@dataclass
class _Run:
    embedder: Embedder
    store: IndexableStore
    progress: Progress | None
    plan: EmbeddingPlan
    embedded: int = 0
    reused: int = 0
    removed: int = 0
    _vectors: dict[str, Vectors] = field(default_factory=dict)
    _uses: Counter[str] = field(default_factory=Counter)

    def execute(self, batch_texts: int, stop: Callable[[], bool]) -> str | None:
        """Returns why vectors are missing, None when none is."""
        self._uses = Counter(chunk.content_hash for page in self.plan.pages for chunk in page.changed)
        # Before anything is deleted: a text that moves between pages keeps its vector.
        self._vectors = self._known()
        pace = _Pace(self.plan, self._vectors)
        for batch in self._batches(batch_texts):
            if stop():
                return "stopped before all texts were embedded"
            try:
                made = self._embed(batch, batch_texts)
            except ProviderError as error:
                return str(error)
            self._apply(batch, made)
            pace.advance(batch)
            if self.progress is not None and self.plan.texts:
                self.progress.update("embeddings", pace.done, self.plan.texts, pace.left())
        if self.plan.gone:
            self._store([], self.plan.gone, {name: ("", 0) for name, _ in self.plan.gone})
        return None

    def _known(self) -> dict[str, Vectors]:
        wanted = list(self._uses)
        known: dict[str, Vectors] = {}
        for begin in range(0, len(wanted), LOOK_UP):
            known |= self.store.known_vectors(self.embedder.model_version, wanted[begin : begin + LOOK_UP])
        return known

    def _batches(self, size: int) -> Iterator[list[PagePlan]]:
        """Whole pages, until together they have ``size`` texts that need a call."""
        batch: list[PagePlan] = []
        texts, limit = 0, min(FIRST_BATCH_TEXTS, size)
        for page in self.plan.pages:
            batch.append(page)
            texts += sum(1 for chunk in page.changed if chunk.content_hash not in self._vectors)
            if texts >= limit or len(batch) >= 4 * size:
                yield batch
                batch, texts, limit = [], 0, size
        if batch:
            yield batch

    def _embed(self, batch: Sequence[PagePlan], most: int) -> int:
        """Makes the vectors that are missing; returns how many."""
        missing = {
            chunk.content_hash: chunk.embed_text
            for page in batch
            for chunk in page.changed
            if chunk.content_hash not in self._vectors
        }
        hashes = list(missing)
        for begin in range(0, len(hashes), most):
            part = hashes[begin : begin + most]
            made = self.embedder.embed_passages([missing[content_hash] for content_hash in part])
            for content_hash, vector in zip(part, made, strict=True):
                self._vectors[content_hash] = vector.reshape(1, -1)
        return len(missing)

    def _apply(self, batch: Sequence[PagePlan], made: int) -> None:
        chunks = [chunk for page in batch for chunk in page.changed]
        self._store(
            [(chunk, self._vectors[chunk.content_hash]) for chunk in chunks],
            [key for page in batch for key in page.removed],
            {page.concept_name: (page.stamp, page.rows) for page in batch},
        )
        self.embedded += made
        self.reused += len(chunks) - made
        for chunk in chunks:
            self._uses[chunk.content_hash] -= 1
            if not self._uses[chunk.content_hash]:
                del self._vectors[chunk.content_hash]  # memory stays flat over a long build

    def _store(
        self,
        upserts: Sequence[tuple[Chunk, Vectors]],
        removed: Sequence[Key],
        pages: Mapping[str, tuple[str, int]],
    ) -> None:
        self.store.apply(self.embedder.model_version, self.embedder.dimensions, upserts, removed, pages)
        self.removed += len(removed)


class _Pace:
    """How far a build is and how long it will take, by the size of the texts that need a call."""

    def __init__(self, plan: EmbeddingPlan, known: Collection[str]) -> None:
        self.done = 0
        self._work = {
            chunk.content_hash: estimate_tokens(chunk.embed_text)
            for page in plan.pages
            for chunk in page.changed
            if chunk.content_hash not in known
        }
        self._total = sum(self._work.values())
        self._finished = 0
        self._begun = time.monotonic()

    def advance(self, batch: Sequence[PagePlan]) -> None:
        for page in batch:
            for chunk in page.changed:
                self.done += 1
                self._finished += self._work.pop(chunk.content_hash, 0)

    def left(self) -> str:
        """Such as ``about 3 min left``; empty when nothing is, or nothing was measured yet."""
        if not self._finished or not self._work:
            return ""
        seconds = (time.monotonic() - self._begun) / self._finished * (self._total - self._finished)
        if seconds < 90:
            return f"about {max(1, round(seconds))} s left"
        if seconds < 5400:
            return f"about {round(seconds / 60)} min left"
        return f"about {seconds / 3600:.1f} h left"
