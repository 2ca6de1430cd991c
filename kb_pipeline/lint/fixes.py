"""``fix_page``: the mends of one page that need no judgement (SPEC 9, ``--fix``). Pure: text in, text out.

A mend never drops text (what a heading loses, ``aliases`` keeps), a second run changes nothing, line ends stay, and a
compiled page is stamped anew only if it was as the product wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kb_pipeline.errors import PageWriteError
from kb_pipeline.lint import catalogue as rules
from kb_pipeline.lint.block_fixes import mended_block, title_cut_by_comment, with_title_line
from kb_pipeline.lint.body_rules import comparable, heading_rules
from kb_pipeline.lint.front_matter_rules import FATAL, reading_rules, required_rules
from kb_pipeline.lint.policy import LintPolicy
from kb_pipeline.lint.silencing import silenced_rules
from kb_pipeline.lint.vocabulary import folded
from kb_pipeline.lint.written_forms import LISTS, date_as_written, form_rules
from kb_pipeline.markdown.front_matter import as_text_list, set_fields, split_front_matter
from kb_pipeline.markdown.pages import read_page, restamp
from kb_pipeline.models import Finding, Heading, WikiPage

_FENCE = re.compile(r"(?P<mark>[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?:`{3,}|~{3,}))(?P<tail>[ \t\r]*)")
_UNDERLINE = re.compile(r" {0,3}=+[ \t\r]*")
_CODE_WITHOUT_LANGUAGE = "text"


@dataclass(frozen=True, slots=True)
class FixResult:
    """``text`` is the whole file again; ``fixed`` the findings that are gone."""

    text: str
    fixed: tuple[Finding, ...] = ()


Mend = Callable[[str, WikiPage], tuple[str, Sequence[Finding]]]


def fix_page(text: str, page: WikiPage, policy: LintPolicy) -> FixResult:
    """Mend what one page alone decides. ``text`` is the decoded file with its own line ends, ``page`` what it reads as.

    Rules that are silenced for the page are left alone.
    """
    if re.search(r"\r(?!\n)", text):
        return FixResult(text)  # A lone CR is a line end for the reader only: lines could not be told apart here.
    was_as_written = page.compiled is not None and not page.edited_by_hand
    silenced = silenced_rules(page, policy)
    fixed: list[Finding] = []
    mends: tuple[Mend, ...] = (_mend_block, _mend_title, _mend_updated, _mend_lists, _mend_heading, _mend_fences)
    current = text
    for mend in mends:
        if mend is not _mend_block and (page.is_draft or any(found.rule in FATAL for found in reading_rules(page))):
            continue
        changed, findings = mend(current, page)
        if changed == current or any(finding.rule in silenced for finding in findings):
            continue
        current, page = changed, read_page(page.path, changed.encode("utf-8", "surrogatepass"))
        fixed.extend(findings)
    if was_as_written and current != text:
        current = restamp(current)
    return FixResult(current, tuple(fixed))


def _mend_block(text: str, page: WikiPage) -> tuple[str, Sequence[Finding]]:
    faults = {rules.FRONT_MATTER_YAML.id, rules.FRONT_MATTER_DUPLICATE_KEY.id}
    findings = [finding for finding in reading_rules(page) if finding.rule in faults]
    return (mended_block(text), findings) if findings else (text, [])


def _mend_title(text: str, page: WikiPage) -> tuple[str, Sequence[Finding]]:
    """A title that is missing, or that YAML cut at `` #``, is taken from the H1."""
    heading = _only_h1(page)
    front = split_front_matter(text)
    if heading is None or front.block is None:
        return text, []
    if not page.title.strip():
        findings = [found for found in required_rules(page) if found.field == "title" and found.fixable]
        return (_with_fields(text, {"title": heading.text}), findings) if findings else (text, [])
    written = title_cut_by_comment(front.block, page.title.strip())
    if written is None or comparable(written) != comparable(heading.text):
        return text, []
    start = text.index("\n") + 1
    changed = text[:start] + with_title_line(front.block, heading.text) + text[start + len(front.block) :]
    return changed, [found for found in heading_rules(page) if found.rule == rules.H1_TITLE.id]


def _mend_updated(text: str, page: WikiPage) -> tuple[str, Sequence[Finding]]:
    front = split_front_matter(text)
    day = date_as_written(front.fields.get("updated"))
    if day is None or front.fields.get("updated") == day.isoformat():
        return text, []
    candidates = (*reading_rules(page), *form_rules(page, front.fields))
    findings = [found for found in candidates if found.field == "updated"]
    return _with_fields(text, {"updated": day}), findings


def _mend_lists(text: str, page: WikiPage) -> tuple[str, Sequence[Finding]]:
    front = split_front_matter(text)
    lines = text.split("\n")
    changes: dict[str, object] = {}
    for name in LISTS:
        items = as_text_list(front.fields.get(name)) if isinstance(front.fields.get(name), str) else ()
        # A comment behind the text may be the end of its last item (``a, b #2``), and a text of several lines most
        # likely lacks a quote: a person has to say.
        if items and name not in front.comments and all(item in lines[front.lines[name] - 1] for item in items):
            changes[name] = list(items)
    findings = [found for found in form_rules(page, front.fields) if found.field in changes]
    return (_with_fields(text, changes), findings) if changes else (text, [])


def _mend_heading(text: str, page: WikiPage) -> tuple[str, Sequence[Finding]]:
    """The H1 takes the title; what it said before stays as an alias, by which links still find the page."""
    findings = [found for found in heading_rules(page) if found.rule in {rules.H1_COUNT.id, rules.H1_TITLE.id}]
    title = page.title.strip()
    if not findings or not findings[0].fixable or not title:
        return text, []
    changed = text
    heading = _only_h1(page)
    if heading is None:
        changed = _with_h1_first(text, title)
    else:
        replaced = _with_h1(text, heading, title)
        if replaced is None:
            return text, []
        changed = replaced
        if folded(heading.text) not in {folded(alias) for alias in (title, *page.aliases)}:
            changed = _with_fields(changed, {"aliases": [*page.aliases, heading.text]})
            if changed == replaced:
                return text, []
    left = list(heading_rules(read_page(page.path, changed.encode("utf-8", "surrogatepass"))))
    return (text, []) if any(found.rule == findings[0].rule for found in left) else (changed, findings)


def _only_h1(page: WikiPage) -> Heading | None:
    tops = [heading for heading in page.outline.headings if heading.level == 1]
    return tops[0] if len(tops) == 1 else None


def _with_h1(text: str, heading: Heading, title: str) -> str | None:
    """The heading's lines replaced by ``# title``; None where they hold more than the plain words of the heading."""
    lines = text.split("\n")
    first = heading.line - 1
    words = lines[first].strip()
    last = first
    if words.startswith("#"):
        words = words.strip("#")
    elif first + 1 < len(lines) and _UNDERLINE.fullmatch(lines[first + 1]):
        last = first + 1
    else:
        return None  # A paragraph of several lines that a row of = made a heading, most likely unmeant.
    if comparable(words) != comparable(heading.text):
        return None  # Anchors, links, pictures or comments in the heading: a person has to decide.
    line_end = "\r" if lines[first].endswith("\r") else ""
    return "\n".join([*lines[:first], f"# {title}{line_end}", *lines[last + 1 :]])


def _with_h1_first(text: str, title: str) -> str:
    front = split_front_matter(text)
    head = text[: len(text) - len(front.body)]
    line_end = "\r\n" if head.endswith("\r\n") else "\n"
    rest = front.body.lstrip("\r\n")
    blank = front.body[: len(front.body) - len(rest)] or line_end
    gap = "" if head.endswith("\n") else line_end
    return f"{head}{gap}{blank}# {title}{line_end}{line_end}{rest}"


def _mend_fences(text: str, page: WikiPage) -> tuple[str, Sequence[Finding]]:
    lines = text.split("\n")
    findings: list[Finding] = []
    for fence in page.outline.fences:
        found = _FENCE.fullmatch(lines[fence.line - 1]) if fence.line <= len(lines) else None
        if not fence.language.strip() and found is not None:
            lines[fence.line - 1] = found["mark"] + _CODE_WITHOUT_LANGUAGE + found["tail"]
            findings.append(rules.FENCE_LANGUAGE.at(page, line=fence.line))
    return "\n".join(lines), findings


def _with_fields(text: str, changes: Mapping[str, object]) -> str:
    """The text itself where its block cannot be changed without loss."""
    try:
        return set_fields(text, changes)
    except PageWriteError:
        return text
