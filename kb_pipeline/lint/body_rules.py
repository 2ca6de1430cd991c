"""Rules about the body of one page, from its outline: no markdown is parsed here (SPEC 5, 9)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from kb_pipeline.lint import catalogue as rules
from kb_pipeline.lint.front_matter_rules import INBOX
from kb_pipeline.lint.policy import LintPolicy
from kb_pipeline.lint.vocabulary import ANNOUNCEMENT
from kb_pipeline.models import Finding, PageStatus, WikiPage
from kb_pipeline.text.backticks import code_spans

_NO_PARAGRAPH = re.compile(r"[-*+]\s|\d+[.)]\s|\||```|~~~|<(?!!--)")
_MARKUP = str.maketrans("", "", "`*\\")


def comparable(heading: str) -> str:
    """Title and H1 are equal but for markup, width of spaces and Unicode form."""
    return " ".join(unicodedata.normalize("NFC", heading).translate(_MARKUP).split())


def length_rules(page: WikiPage, policy: LintPolicy) -> Iterator[Finding]:
    length = len(page.body.strip())
    low, high = policy.advised
    if page.path.startswith(INBOX + "/"):
        return
    if length > policy.max_body:
        block = _longest_block(page)
        # One block that fills a page, with too little beside it for a page of its own, cannot be split.
        if block >= policy.max_body - policy.min_body and length - block <= low:
            yield rules.BODY_ONE_BLOCK.at(page, length=length, most=policy.max_body)
        else:
            yield rules.BODY_TOO_LONG.at(page, length=length, most=policy.max_body)
    elif length > high:
        yield rules.BODY_LENGTH_ADVISED.at(
            page, length=length, low=low, high=high, advice="see whether a section answers a question of its own"
        )
    elif page.kind == "index" or page.status is PageStatus.DEPRECATED:
        return
    elif length < policy.min_body:
        yield rules.BODY_TOO_SHORT.at(page, length=length, least=policy.min_body)
    elif length < low:
        yield rules.BODY_LENGTH_ADVISED.at(
            page, length=length, low=low, high=high, advice="see whether it belongs into another page"
        )


def _longest_block(page: WikiPage) -> int:
    """Code points of the longest table or code block, 0 without one."""
    spans = [(fence.line, fence.end_line) for fence in page.outline.fences]
    spans += [(table.line, table.end_line) for table in page.outline.tables]
    if not spans:
        return 0
    lines = page.body.split("\n")
    first = page.body_line
    return max(sum(len(line) + 1 for line in lines[start - first : end - first + 1]) for start, end in spans)


def heading_rules(page: WikiPage) -> Iterator[Finding]:
    tops = [heading for heading in page.outline.headings if heading.level == 1]
    if len(tops) != 1:
        which = " (lines " + ", ".join(str(heading.line) for heading in tops) + ")" if tops else ""
        line = tops[1].line if tops else page.body_line
        mendable = not tops and bool(page.title.strip())
        yield rules.H1_COUNT.at(page, line=line, fixable=mendable, count=len(tops), which=which)
    elif page.title.strip() and comparable(tops[0].text) != comparable(page.title):
        yield rules.H1_TITLE.at(page, line=tops[0].line, field="title", title=page.title.strip(), heading=tops[0].text)
    deep = [heading for heading in page.outline.headings if heading.level > 3]
    if deep:
        more = f" (and {len(deep) - 1} more of H4 or below)" if len(deep) > 1 else ""
        yield rules.HEADING_TOO_DEEP.at(page, line=deep[0].line, heading=deep[0].text, level=deep[0].level, more=more)


_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_TABLE_OPENED = re.compile(r"<table(?=[\s>])", re.IGNORECASE)
_TABLE_CLOSED = re.compile(r"</table\s*>", re.IGNORECASE)


def table_rules(page: WikiPage) -> Iterator[Finding]:
    """Rows that go on after a heading: CommonMark ends the table there, so that they have lost their header."""
    outline = page.outline
    html = _TABLE_OPENED.search(page.body) is not None
    if not outline.tables and not html:
        return
    lines = page.body.split("\n")
    starts = {table.line for table in outline.tables}
    ends = {table.end_line for table in outline.tables}
    for heading in outline.headings:
        if heading.level < 2:
            continue
        at = heading.line - page.body_line
        above = _next_written(lines, at - 1, -1)
        below = _next_written(lines, at + 1, 1)
        split = (
            below is not None
            and _is_row(lines[below])
            and below + page.body_line not in starts
            and above is not None
            and above + page.body_line in ends
        )
        if split or (html and _open_html_tables(page, lines[:at]) > 0):
            yield rules.TABLE_ACROSS_SECTIONS.at(page, line=heading.line, heading=heading.text)


def _next_written(lines: list[str], at: int, step: int) -> int | None:
    """Index of the nearest line that is not blank, from ``at`` on."""
    while 0 <= at < len(lines):
        if lines[at].strip():
            return at
        at += step
    return None


def _is_row(line: str) -> bool:
    return line.lstrip().startswith("|") and line.count("|") > 1


def _open_html_tables(page: WikiPage, lines: list[str]) -> int:
    """How many ``<table>`` outside code are not closed at the end of ``lines``, the body's first ones."""
    fenced = {number for fence in page.outline.fences for number in range(fence.line, fence.end_line + 1)}
    prose = "\n".join(line for number, line in enumerate(lines, page.body_line) if number not in fenced)
    prose = "\n".join(map(_without_code, _BLANK_LINE.split(prose)))
    return len(_TABLE_OPENED.findall(prose)) - len(_TABLE_CLOSED.findall(prose))


def _without_code(paragraph: str) -> str:
    for start, end, _, _ in reversed(list(code_spans(paragraph))):
        paragraph = paragraph[:start] + paragraph[end:]
    return paragraph


def fence_rules(page: WikiPage) -> Iterator[Finding]:
    for fence in page.outline.fences:
        if not fence.language.strip():
            yield rules.FENCE_LANGUAGE.at(page, line=fence.line)


def conclusion_rules(page: WikiPage) -> Iterator[Finding]:
    if page.kind == "index" or not page.outline.sections:
        return
    lead = page.outline.sections[0]
    written = lead.text.strip() if lead.level == 1 else ""
    paragraph = page.outline.first_paragraph.strip()
    why = None
    if not written:
        why = "there is no text before the first section"
    elif _NO_PARAGRAPH.match(written):
        return  # A list or table of facts may well be the conclusion; the first paragraph stands somewhere below.
    elif ANNOUNCEMENT.search(paragraph):
        why = "the first paragraph announces what follows"
    elif paragraph.endswith((":", "：")) and written.endswith(paragraph):
        why = "the first paragraph only leads to what follows"
    elif paragraph.endswith(("?", "？")):
        why = "the first paragraph is a question"
    if why is not None:
        yield rules.CONCLUSION_FIRST.at(page, line=lead.line if written else page.body_line, why=why)
