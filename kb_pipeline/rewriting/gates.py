"""The gates that every draft passes, whoever wrote it: deterministic, without a model (SPEC 6.3).

Belongs here: putting the checks together, their thresholds and messages. Does not belong here: the comparisons
(``fidelity``, ``polarity``, ``text.similarity``), the page rules (``lint``, handed over as a callable), the repair round
and the review queue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kb_pipeline.markdown.front_matter import split_front_matter
from kb_pipeline.markdown.pages import read_page, render_page
from kb_pipeline.models import Fact, Finding, PageDraft, RawDocument, Severity, SourceRef, WikiPage
from kb_pipeline.ports import PageLint
from kb_pipeline.rewriting.fidelity import Fidelity, Side, compare_facts, content_of, names_of
from kb_pipeline.rewriting.polarity import Change, Prose, compare_negations, without_code
from kb_pipeline.text.folding import script_of
from kb_pipeline.text.glossary import Glossary
from kb_pipeline.text.similarity import shingles, words

FACTS_KEPT = 0.9
COPIED_WARNING, COPIED_ERROR = 0.5, 0.8
COPY_MATTERS = 600
"""Characters of a raw body from which a copy is an error: short texts leave little to say differently."""
MOST_SHOWN = 20
_CUT = "\0"

_HEAD = ("title", "summary", "keywords")

RenderDraft = Callable[[PageDraft], str]
"""The text of the file that a draft would become."""


@dataclass(frozen=True, slots=True)
class GateReport:
    """Findings (paths are the drafts', lines those of the file to be) and figures of one document."""

    findings: tuple[Finding, ...]
    metrics: Mapping[str, float]

    @property
    def passed(self) -> bool:
        """No error: the drafts may become pages; warnings are shown in review and reports."""
        return not any(finding.severity is Severity.ERROR for finding in self.findings)


@dataclass(frozen=True, slots=True)
class _Drafts:
    """All drafts of a document, as the pages that they would be read back as."""

    drafts: Sequence[PageDraft]
    pages: Sequence[WikiPage]


def run_gates(
    drafts: Sequence[PageDraft],
    document: RawDocument,
    *,
    page_lint: PageLint | None,
    model: bool,
    glossary: Glossary | None = None,
    render: RenderDraft | None = None,
) -> GateReport:
    """Check all drafts of a document together. ``model``: a model wrote them, so that copying is a fault.

    ``render``: None renders them as ``markdown.pages`` does, with the document as the only source.
    """
    pages = [_as_page(draft, document, f"{part}/{len(drafts)}", render) for part, draft in enumerate(drafts, 1)]
    written = _Drafts(drafts, pages)
    front = split_front_matter(document.text)
    raw_body = content_of(front.body)
    glossary = glossary or Glossary.empty()
    findings: list[Finding] = []
    for page in pages if page_lint else ():
        findings += page_lint(page) if page_lint else ()
    evidence = _evidence(document, front.block or "", drafts, glossary)
    raw = Side(raw_body, beside=evidence, wording="" if raw_body == front.body else front.body)
    fidelity = compare_facts(raw, [_side(page) for page in pages])
    findings += _fidelity_findings(fidelity, written, front.body_line)
    raw_prose, page_prose = Prose([raw_body], front.block or ""), Prose([page.body for page in pages])
    dropped, added = compare_negations(raw_prose, page_prose)
    findings += _negation_findings(dropped, added, written, front.body_line)
    copied = _copied(raw, page_prose)
    if model:
        findings += _copy_findings(copied, len(raw_body.strip()), written)
    findings += _script_findings(document.text, written, glossary)
    metrics = {
        "facts_raw": float(fidelity.raw_facts),
        "facts_page": float(fidelity.page_facts),
        "facts_kept": round(fidelity.kept, 4),
        "facts_invented": float(len(fidelity.invented)),
        "negations_dropped": float(len(dropped)),
        "negations_added": float(len(added)),
        "copied": round(copied, 4),
    }
    return GateReport(tuple(findings), metrics)


def _as_page(draft: PageDraft, document: RawDocument, part: str, render: RenderDraft | None) -> WikiPage:
    if render is None:
        text = render_page(draft, [SourceRef(document.path, document.sha256)], "draft", "", part)
    else:
        text = render(draft)
    return read_page(draft.path, text.encode("utf-8", "replace"))


def _side(page: WikiPage) -> Side:
    updated = page.updated.isoformat() if page.updated else ""
    return Side(page.body, "\n".join((page.title, page.summary, *page.keywords)), updated)


def _copied(raw: Side, pages: Prose) -> float:
    """Containment as ``text.similarity`` defines it, over what is already known: the raw's fact lines, all words."""
    lines = without_code(raw.text, mark=_CUT).split("\n")
    for fact in raw.facts:
        lines[fact.line - 1] = _CUT
    lines = [_CUT if line.lstrip().startswith("|") else line for line in lines]
    wanted: set[tuple[str, ...]] = set()
    for passage in "\n".join(lines).split(_CUT):
        wanted |= shingles(words(passage))
    written = set().union(*(shingles(each) for each in pages.words))
    return len(wanted & written) / len(wanted) if wanted else 0.0


def _evidence(document: RawDocument, block: str, drafts: Sequence[PageDraft], glossary: Glossary) -> str:
    """What beside the raw body a page may say: front matter, names, metadata, the glossary, its own addresses."""
    own = [name for draft in drafts for name in (draft.path, draft.path.removesuffix(".md"), names_of(draft.path))]
    parts = [f"{part}/{len(drafts)}\n{part}" for part in range(1, len(drafts) + 1)] if len(drafts) > 1 else []
    heads = "\n".join(word for draft in drafts for word in (draft.title, draft.summary, *draft.keywords))
    words = [form for term in glossary.terms_in(heads) for form in term.proper_forms] if glossary else []
    dated = [document.dated.isoformat()] if document.dated else []
    return "\n".join([block, names_of(document.path), *document.metadata.values(), *words, *own, *parts, *dated])


def _fidelity_findings(fidelity: Fidelity, written: _Drafts, raw_line: int) -> Iterator[Finding]:
    for number, fact, in_head in fidelity.invented[:MOST_SHOWN]:
        page = written.pages[number]
        message = f"{fact.kind.value} {_shown(fact)} does not occur in the raw document: correct or remove it"
        field = _HEAD[min(fact.line, len(_HEAD)) - 1] if in_head else None
        line = page.field_lines.get(field) if field else page.body_line + fact.line - 1
        yield Finding("fact-invented", Severity.ERROR, page.path, message, line, field)
    if fidelity.kept < FACTS_KEPT:
        lost = ", ".join(f"{_shown(fact)} (raw line {raw_line + fact.line - 1})" for fact in fidelity.lost[:MOST_SHOWN])
        kept = fidelity.raw_facts - len(fidelity.lost)
        more = "" if len(fidelity.lost) <= MOST_SHOWN else f" and {len(fidelity.lost) - MOST_SHOWN} more"
        message = f"only {kept} of {fidelity.raw_facts} facts of the raw document are kept; lost: {lost}{more}"
        path = written.pages[0].path if written.pages else ""
        yield Finding("facts-lost", Severity.ERROR, path, message)


def _negation_findings(
    dropped: Sequence[Change], added: Sequence[Change], written: _Drafts, raw_line: int
) -> Iterator[Finding]:
    first = written.pages[0].path if written.pages else ""
    for change in dropped[:MOST_SHOWN]:
        now = f'; the page says "{_cut(change.counterpart)}"' if change.counterpart else " and nothing like it is left"
        message = (
            f'raw line {raw_line + change.line - 1} says "{_cut(change.sentence)}"{now}: see that its "not" is kept'
        )
        yield Finding("negation-dropped", Severity.WARNING, first, message)
    for change in added[:MOST_SHOWN]:
        page = written.pages[change.number]
        before = (
            f'the raw document says "{_cut(change.counterpart)}"' if change.counterpart else "the raw document does not"
        )
        message = f'"{_cut(change.sentence)}" denies something; {before}: see that this is meant'
        yield Finding("negation-added", Severity.WARNING, page.path, message, page.body_line + change.line - 1)


def _copy_findings(copied: float, length: int, written: _Drafts) -> Iterator[Finding]:
    if copied < COPIED_WARNING or not written.pages:
        return
    severity = Severity.ERROR if copied >= COPIED_ERROR and length > COPY_MATTERS else Severity.WARNING
    message = f"{copied:.0%} of the raw document's prose is copied word for word: say it in the form of a page"
    yield Finding("copied", severity, written.pages[0].path, message)


def _script_findings(raw: str, written: _Drafts, glossary: Glossary) -> Iterator[Finding]:
    """Simplified characters and words to avoid that the raw document does not have itself."""
    if script_of(raw).leading == "simplified":
        return
    known = set(raw)
    tolerated = {word.text for word in glossary.avoided_in(raw)} if glossary else set()
    for page in written.pages:
        text = "\n".join((page.title, page.summary, page.body))
        foreign = sorted(char for char in set(text) - known if char > "\u2e80" and script_of(char).simplified)
        if foreign:
            first = min(text.index(char) for char in foreign)
            field, line = _place(page, text.count("\n", 0, first))
            message = f"Simplified characters {'、'.join(foreign[:MOST_SHOWN])} that the raw document does not use"
            yield Finding("script-simplified", Severity.ERROR, page.path, message, line, field)
        told = set(tolerated)
        for word in glossary.avoided_in(text) if glossary else ():
            if word.text in told:
                continue
            told.add(word.text)
            field, line = _place(page, word.line - 1)
            message = f"'{word.text}' is to be avoided: write '{word.preferred}'"
            yield Finding("term-avoided", Severity.ERROR, page.path, message, line, field)


def _place(page: WikiPage, index: int) -> tuple[str | None, int | None]:
    """Field and file line of the line with this index in title, summary and body."""
    if index < 2:
        return _HEAD[index], page.field_lines.get(_HEAD[index])
    return None, page.body_line + index - 2


def _shown(fact: Fact) -> str:
    return f"'{_cut(' '.join(fact.text.split()))}'"


def _cut(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:119]}…"
