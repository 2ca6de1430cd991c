"""The ``link`` pass: what the raw documents' links, pictures and names become in the pages made from them (SPEC 6.5).

Belongs here: planning which pages change, and their new text. Deterministic, without a model; nothing but links, the
title of a namesake and front matter changes. Does not belong here: resolving (``link_targets``), the characters of a
link (``link_text``), choosing ``related`` (``relations``), writing files.

Rewriters leave links as the raw document wrote them. This pass changes them, and keeps what it changed under ``linked``
in the page's front matter::

    linked:
      title: 安裝                          # before the scope was added to tell it from its namesakes
      links:
        ../auth/token.md#過期: ../../auth/token.md#過期-時間    # as it stands now: as the raw document wrote it
      pending:
      - "[輪替](../auth/rotate.md)"         # stands in the text as 輪替（`../auth/rotate.md`）: no page yet

So the pass always starts from what was meant. A page that splits, moves or appears later is followed, a second pass
changes nothing, and a crash between compiling and linking is mended by the next pass; no state is kept elsewhere. The
key is not part of the fingerprint, and a newly compiled page has none. Pages that a person wrote or edited are never
changed; what would have to be is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from kb_pipeline.errors import PageWriteError
from kb_pipeline.markdown.front_matter import set_fields, split_front_matter
from kb_pipeline.markdown.links import LinkResolver, Resolved
from kb_pipeline.markdown.pages import render_page, restamp
from kb_pipeline.models import Finding, PageDraft, Related, Severity, WikiPage
from kb_pipeline.rewriting.language import detect_language
from kb_pipeline.rewriting.link_page import PageLinks, PendingLink, link_page
from kb_pipeline.rewriting.link_state import FIELD, LinkState
from kb_pipeline.rewriting.link_targets import LinkTargets, RawNames
from kb_pipeline.rewriting.namesakes import distinguish
from kb_pipeline.rewriting.relations import derive_relations


@dataclass(frozen=True, slots=True)
class LinkPlan:
    """``changes``: page path → new text of its file. ``pending``: links that lead nowhere, by page and line."""

    changes: Mapping[str, str]
    pending: tuple[PendingLink, ...]
    findings: tuple[Finding, ...]


def link_pass(
    pages: Mapping[str, WikiPage],
    ownership: Mapping[str, Sequence[str]],
    read_text: Callable[[str], str],
    *,
    files: Collection[str] = (),
    documents: Collection[str] = (),
    raw_folder: str = "../raw",
    language: str = "zh-TW",
) -> LinkPlan:
    """Plan the pass over all pages; only the pages that change are read again.

    ``ownership``: raw document → its pages in order of part. ``files``: other files under ``raw/``. ``documents``: raw
    documents without a page too. ``raw_folder``: the way from ``knowledge/`` to ``raw/``. ``read_text``: the file of a
    page as it is on disk (LF or CR LF). ``language``: of pages whose title and summary do not tell.
    """
    changeable = frozenset(path for path, page in pages.items() if _is_ours(page))
    states = {path: LinkState.of(pages[path]) for path in changeable}
    # Titles and summaries tell it, which this pass does not change: a mark in the text must not tip the balance.
    languages = {
        path: detect_language(f"{states[path].title or pages[path].title}\n{pages[path].summary}", language)
        for path in changeable
    }
    naming = distinguish(pages, {path: state.title for path, state in states.items()}, languages)
    named = {path: replace(pages[path], title=title) for path, title in naming.titles.items()}
    resolver = LinkResolver([named.get(path, page) for path, page in pages.items()])
    raw = RawNames({*documents, *ownership}, files)
    targets = LinkTargets(pages, ownership, raw, resolver, naming.bases)
    linked: dict[str, PageLinks] = {}
    for path in sorted(changeable):
        linked[path] = link_page(
            pages[path],
            states[path],
            targets,
            base_title=naming.bases.get(path),
            title_edit=naming.edits.get(path),
            raw_folder=raw_folder,
            language=languages[path],
        )

    def page_of(target: str, from_path: str) -> str | None:
        found = resolver.resolve_path(target, from_path)
        return found.path if isinstance(found, Resolved) else None

    pairs = [(path, target) for path, result in linked.items() for target in result.targets]
    pairs += _neighbours(pages, ownership)
    relations = derive_relations(pages, languages, pairs, page_of)
    changes: dict[str, str] = {}
    findings = [*naming.findings, *relations.findings]
    for path, result in linked.items():
        page = pages[path]
        edit = _Edit(result.body, naming.titles.get(path, page.title), relations.related[path], result.state)
        if not edit.differs(page):
            continue
        try:
            changes[path] = edit.apply(page, read_text(path))
        except PageWriteError as error:
            findings.append(Finding("links-not-written", Severity.WARNING, path, str(error), own=False))
    pending: list[PendingLink] = []
    for path, result in linked.items():
        # What the pass writes into the front matter moves the body down.
        moved = _front_lines(changes[path], result.body) + 1 - pages[path].body_line if path in changes else 0
        pending += [replace(item, line=item.line + moved) for item in result.pending]
    return LinkPlan(
        changes, tuple(pending), tuple(sorted(findings, key=lambda finding: (finding.path, finding.message)))
    )


def _front_lines(text: str, body: str) -> int:
    return text.count("\n") - body.count("\n")


def _is_ours(page: WikiPage) -> bool:
    return page.compiled is not None and not page.edited_by_hand and not page.problems


def _neighbours(pages: Mapping[str, WikiPage], ownership: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """Parts of one document that follow each other, both ways."""
    found = []
    for parts in ownership.values():
        present = [path for path in parts if path in pages]
        for one, other in pairwise(present):
            found += [(one, other), (other, one)]
    return found


@dataclass(frozen=True, slots=True)
class _Edit:
    """What a page should be."""

    body: str
    title: str
    related: tuple[Related, ...]
    state: LinkState

    def differs(self, page: WikiPage) -> bool:
        return (
            self.body != page.body
            or self.title != page.title
            or self.related != page.related
            or self.state.as_field() != page.extra.get(FIELD)
        )

    def apply(self, page: WikiPage, text: str) -> str:
        """The new text of the page's file, stamped. Raises PageWriteError when it would lose something."""
        stamp, draft = page.compiled, _as_draft(page)
        if draft and stamp and render_page(draft, page.sources, stamp.by, stamp.key, stamp.part) == text:
            # As the product wrote it to the byte: writing it anew costs a tenth of editing it in place.
            changed = replace(
                draft, body=self.body, title=self.title, related=self.related, extra=self._extra(page.extra)
            )
            return render_page(changed, page.sources, stamp.by, stamp.key, stamp.part)
        return self._in_place(page, text)

    def _extra(self, extra: Mapping[str, object]) -> dict[str, object]:
        kept = {name: value for name, value in extra.items() if name != FIELD}
        field = self.state.as_field()
        return kept if field is None else {**kept, FIELD: field}

    def _in_place(self, page: WikiPage, text: str) -> str:
        body = split_front_matter(text).body
        if body.replace("\r\n", "\n") != page.body:
            raise PageWriteError("the page changed while its links were resolved; build again")
        if self.body != page.body:
            new_body = self.body.replace("\n", "\r\n") if "\r\n" in body else self.body
            text = text[: len(text) - len(body)] + new_body
        fields: dict[str, object] = {}
        if self.title != page.title:
            fields["title"] = self.title
        if self.related != page.related:
            fields["related"] = list(self.related)
        if self.state.as_field() != page.extra.get(FIELD):
            fields[FIELD] = self.state.as_field()
        return restamp(set_fields(text, fields))


def _as_draft(page: WikiPage) -> PageDraft | None:
    if page.updated is None or page.status is None:
        return None
    return PageDraft(
        path=page.path,
        title=page.title,
        scope=page.scope,
        summary=page.summary,
        keywords=page.keywords,
        body=page.body,
        updated=page.updated,
        status=page.status,
        related=page.related,
        tags=page.tags,
        aliases=page.aliases,
        kind=page.kind,
        evergreen=page.evergreen,
        extra=page.extra,
    )


__all__ = ["LinkPlan", "PendingLink", "link_pass"]
