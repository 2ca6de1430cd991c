"""Titles of equal name, told apart by their scope: ``安裝（測試環境）`` (SPEC 6.5).

Pages of one scope and one title, as twenty READMEs called "Troubleshooting" are, get the name of their folder, else of
their file: ``Troubleshooting (redis)``. Whether two pages say the same is for ``lint`` (near-duplicate) to find.

Belongs here: which pages get a mark in the title, and what that changes in their H1. Does not belong here: resolving.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kb_pipeline.models import UNRESOLVED_SCOPE, Finding, Severity, WikiPage

_MARKUP = re.compile(r"[*_`\[\]<>\\&#|~\n]")


@dataclass(frozen=True, slots=True)
class BodyEdit:
    """Replace ``start:end`` of a body by ``text``."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Naming:
    """``titles``: the new title of each page that gets another. ``bases``: the title without the mark, of each page
    whose title has one (then). ``edits``: the change of the H1 that goes with a new title."""

    titles: Mapping[str, str]
    bases: Mapping[str, str]
    edits: Mapping[str, BodyEdit]
    findings: tuple[Finding, ...]


def distinguish(pages: Mapping[str, WikiPage], bases: Mapping[str, str | None], languages: Mapping[str, str]) -> Naming:
    """``bases``: each page that may be changed → the title it had before its scope was added, None when it was not.

    ``languages``: of each of these pages.
    """
    before: dict[str, str] = {}
    groups: dict[str, list[WikiPage]] = defaultdict(list)
    for path, page in pages.items():
        base = bases.get(path)
        before[path] = base if base is not None and page.title.startswith(base) else page.title
        if not page.is_draft and before[path]:
            groups[unicodedata.normalize("NFKC", before[path]).casefold().strip()].append(page)
    marks = {path: mark for group in groups.values() if len(group) > 1 for path, mark in _marks(group).items()}
    titles: dict[str, str] = {}
    edits: dict[str, BodyEdit] = {}
    findings: list[Finding] = []
    for path in sorted(bases):
        page, base = pages[path], before[path]
        title = base + _suffix(marks[path], languages[path]) if marks.get(path) else base
        if title == page.title:
            continue
        edit = _edit_of_h1(page, page.title[len(base) :], title[len(base) :])
        if edit is None:
            message = (
                f"title {page.title!r} should be {title!r} to tell it from its namesakes; its H1 is not that plain"
            )
            findings.append(
                Finding("title-not-distinguished", Severity.WARNING, path, message, field="title", own=False)
            )
            continue
        titles[path], edits[path] = title, edit
    suffixed = {path for path in bases if titles.get(path, pages[path].title) != before[path]}
    return Naming(titles, {path: before[path] for path in suffixed}, edits, tuple(findings))


def _scope(page: WikiPage) -> str:
    return "" if page.scope == UNRESOLVED_SCOPE or _MARKUP.search(page.scope) else page.scope.strip()


def _marks(group: Sequence[WikiPage]) -> dict[str, tuple[str, ...]]:
    """What tells each page of one title from the others: its scope, and where that is shared, its folder or file."""
    by_scope: dict[str, list[WikiPage]] = defaultdict(list)
    for page in group:
        by_scope[_scope(page)].append(page)
    marks: dict[str, tuple[str, ...]] = {}
    for scope, members in by_scope.items():
        own = (scope,) if scope and len(by_scope) > 1 else ()
        places = _places(members) if len(members) > 1 else {}
        marks |= {page.path: own + ((places[page.path],) if page.path in places else ()) for page in members}
    return marks


def _places(members: Sequence[WikiPage]) -> dict[str, str]:
    """The shortest of these that tells all of them apart: nearest folder, file name, all folders, the whole path."""
    whole = {page.path: page.path.removesuffix(".md") for page in members}
    folders = {path: name.rpartition("/")[0] for path, name in whole.items()}
    nearest = {path: name.rpartition("/")[2] for path, name in folders.items()}
    files = {path: name.rpartition("/")[2] for path, name in whole.items()}
    for names in (nearest, files, folders):
        if all(names.values()) and len(set(names.values())) == len(members):
            break
    else:
        names = whole
    return {path: name for path, name in names.items() if not _MARKUP.search(name)}


def _suffix(marks: Sequence[str], language: str) -> str:
    return f" ({', '.join(marks)})" if language == "en" else f"（{'、'.join(marks)}）"


def _edit_of_h1(page: WikiPage, old: str, new: str) -> BodyEdit | None:
    """Exchange the end of the H1's line; None unless the H1 is the title and its line ends as the title does."""
    heading = next((heading for heading in page.outline.headings if heading.level == 1), None)
    if heading is None or heading.text != page.title:
        return None
    start = 0
    for _ in range(heading.line - page.body_line):
        start = page.body.index("\n", start) + 1
    line = page.body[start:].partition("\n")[0].rstrip()
    if not line.endswith(old) or line.endswith("#"):
        return None
    return BodyEdit(start + len(line) - len(old), start + len(line), new)
