"""The links of one page: each given the destination that it means now, or made plain text until it has one.

Belongs here: walking over a body's links, and what of them is remembered in the front matter. Does not belong here:
other pages, ``related``, titles (``linking`` puts them together).
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kb_pipeline.models import Link, WikiPage
from kb_pipeline.rewriting.link_state import LinkState
from kb_pipeline.rewriting.link_targets import Elsewhere, LinkTargets, Nowhere, Target, ToFile, ToPage
from kb_pipeline.rewriting.link_text import Reference, WrittenLink, label_range, parse_written, take_apart
from kb_pipeline.rewriting.namesakes import BodyEdit

_LANGUAGES = ("zh-TW", "en")
_IN_HEADING = "# "
"""Before a pending link that stands in a heading: there only its label is left, so that the heading's anchor stays."""
_INSIDE = "> "
"""Before a pending picture that stands in the label of the pending link before it."""


@dataclass(frozen=True, slots=True)
class PendingLink:
    """A link that leads nowhere yet. ``target`` as the raw document wrote it; ``line`` 1-based in the page's file."""

    page: str
    line: int
    target: str
    reason: str


@dataclass(frozen=True, slots=True)
class PageLinks:
    """``body`` as it should be; ``targets``: pages that it links to, each once a link."""

    body: str
    state: LinkState
    targets: tuple[str, ...]
    pending: tuple[PendingLink, ...]


def link_page(
    page: WikiPage,
    state: LinkState,
    targets: LinkTargets,
    *,
    base_title: str | None,
    title_edit: BodyEdit | None,
    raw_folder: str,
    language: str,
) -> PageLinks:
    """Resolve all links of a page that the product may change.

    ``base_title``: the title without its scope, if it has that now; ``title_edit``: the change of the H1 for it.
    """
    spots: list[_Spot] = [_Spot(link.start, link.end, link=link) for link in page.outline.links]
    spots += _pending_spots(page, state.pending, language)
    if title_edit:
        spots.append(_Spot(title_edit.start, title_edit.end, text=title_edit.text))
    if not spots:
        return PageLinks(page.body, LinkState(base_title), (), ())
    spots.sort(key=lambda spot: (spot.start, -spot.end))
    walk = _Walk(page, state, targets, raw_folder, language)
    body = walk.rewrite(0, len(page.body), spots)
    after = LinkState(base_title, walk.remembered(), tuple(walk.waiting))
    return PageLinks(body, after, tuple(walk.linked), tuple(walk.pending))


@dataclass(frozen=True, slots=True)
class _Spot:
    """A stretch of the body: a link, the text of a pending one, or text that is exchanged."""

    start: int
    end: int
    link: Link | None = None
    waiting: WrittenLink | None = None
    in_heading: bool = False
    text: str = ""


def _pending_spots(page: WikiPage, entries: Sequence[str], language: str) -> Iterator[_Spot]:
    """Where the pending links stand: entries are in the order of the text."""
    cursor, outer = 0, (0, 0)
    for entry in entries:
        inside, in_heading = entry.startswith(_INSIDE), entry.removeprefix(_INSIDE).startswith(_IN_HEADING)
        written = parse_written(entry.removeprefix(_INSIDE).removeprefix(_IN_HEADING))
        if written is None:
            continue
        languages = dict.fromkeys((language, *_LANGUAGES))
        for text in [written.as_heading_text()] if in_heading else map(written.as_text, languages):
            start = _find(page, text, outer[0] if inside else cursor, in_heading)
            end = start + len(text)
            if start >= 0 and not (inside and end > outer[1]):
                yield _Spot(start, end, waiting=written, in_heading=in_heading)
                if inside:
                    outer = end, outer[1]
                else:
                    cursor, outer = end, (start, end)
                break


def _find(page: WikiPage, text: str, start: int, in_heading: bool) -> int:
    if not in_heading:
        return page.body.find(text, start)
    lines = {heading.line - page.body_line for heading in page.outline.headings}
    offset = 0
    for number, line in enumerate(page.body.split("\n")):
        found = line.find(text, max(0, start - offset)) if number in lines else -1
        if found >= 0:
            return offset + found
        offset += len(line) + 1
    return -1


class _Walk:
    """One pass over the links of a body, in their order."""

    def __init__(self, page: WikiPage, state: LinkState, targets: LinkTargets, raw_folder: str, language: str) -> None:
        self._page = page
        self._folder = posixpath.dirname(page.path)
        self._state = state
        self._seen: dict[str, int] = {}
        self._targets = targets
        self._raw_folder = raw_folder
        self._language = language
        self._heading_lines = {heading.line for heading in page.outline.headings}
        self._pairs: list[tuple[Reference, Reference]] = []
        self.waiting: list[str] = []
        self.pending: list[PendingLink] = []
        self.linked: list[str] = []

    def rewrite(self, start: int, end: int, spots: Sequence[_Spot]) -> str:
        """The text of ``start:end`` with its spots replaced, those inside of others too."""
        body, pieces, position, index = self._page.body, [], start, 0
        while index < len(spots):
            spot = spots[index]
            behind = index + 1
            while behind < len(spots) and spots[behind].end <= spot.end and spots[behind].start < spot.end:
                behind += 1
            pieces += [body[position : spot.start], self._replaced(spot, spots[index + 1 : behind])]
            position, index = spot.end, behind
        return "".join([*pieces, body[position:end]])

    def remembered(self) -> dict[str, tuple[str, ...]]:
        """What to remember: only links that do not stand as the raw document wrote them."""
        if all(now == raw for now, raw in self._pairs):
            return {}
        by_now: dict[str, list[str]] = {}
        for now, raw in self._pairs:
            by_now.setdefault(str(now), []).append(str(raw))
        return {
            now: (raws[0],) if len(set(raws)) == 1 else tuple(raws)
            for now, raws in by_now.items()
            if any(raw != now for raw in raws)
        }

    def _replaced(self, spot: _Spot, inner: Sequence[_Spot]) -> str:
        if spot.link is not None:
            return self._link(spot.link, inner)
        if spot.waiting is not None:
            return self._waited(spot.waiting, spot, inner)
        return spot.text

    def _link(self, link: Link, inner: Sequence[_Spot]) -> str:
        stands = self._page.body[link.start : link.end]
        waiting_before = len(self.waiting)
        if inner:
            start, end = label_range(stands)
            label = self.rewrite(link.start + start, link.start + end, inner)
            stands = stands[:start] + label + stands[end:]
        now = Reference.of(link)
        meant = self._meant(now)
        target = self._targets.resolve(meant, self._page)
        if isinstance(target, Elsewhere):
            return stands
        if not isinstance(target, Nowhere):
            wanted = self._destination(meant, target, link.line in self._heading_lines)
        else:
            # When the raw document moved and its neighbours did not follow, the page is still where it was.
            still = self._targets.among_pages(now, self._page) if meant != now else None
            if still is None:
                written = self._for_place(take_apart(stands, now), link.line)
                in_heading = link.line in self._heading_lines
                return self._wait(written, meant, link.line, target.reason, in_heading, waiting_before)
            target, wanted = still, now
        self._remember(wanted, meant, target)
        # A link by [label][definition] becomes one of its own: it may have to change without the others.
        if wanted == now and (now.form != "markdown" or stands.endswith(")")):
            return stands
        written = self._for_place(take_apart(stands, now), link.line)
        return str(_as_picture(written, meant, target).pointing_at(wanted))

    def _waited(self, written: WrittenLink, spot: _Spot, inner: Sequence[_Spot]) -> str:
        stands = self._page.body[spot.start : spot.end]
        waiting_before = len(self.waiting)
        if inner and stands.startswith(written.label):
            label = self.rewrite(spot.start, spot.start + len(written.label), inner)
            written = replace(written, label=label)
        line = self._page.body_line + self._page.body.count("\n", 0, spot.start)
        written, meant = self._for_place(written, line), written.reference
        target = self._targets.resolve(meant, self._page)
        if isinstance(target, Nowhere):
            return self._wait(written, meant, line, target.reason, spot.in_heading, waiting_before)
        wanted = self._destination(meant, target, spot.in_heading)
        self._remember(wanted, meant, target)
        return str(written if wanted == meant else _as_picture(written, meant, target).pointing_at(wanted))

    def _remember(self, wanted: Reference, meant: Reference, target: Target) -> None:
        self._pairs.append((wanted, meant))
        if isinstance(target, ToPage):
            self.linked.append(target.path)

    def _meant(self, now: Reference) -> Reference:
        """What the raw document wrote where ``now`` stands."""
        if not self._state.links:
            return now
        written = str(now)
        raws = self._state.links.get(written)
        if not raws:
            return now
        count = self._seen.get(written, 0)
        self._seen[written] = count + 1
        return Reference.parse(raws[min(count, len(raws) - 1)])

    def _wait(
        self, written: WrittenLink, meant: Reference, line: int, reason: str, in_heading: bool, before: int
    ) -> str:
        """Make a link plain text. ``before``: how many waited before those in its label."""
        waiting = written if written.reference == meant else written.pointing_at(meant)
        inside = [entry if entry.startswith(_INSIDE) else _INSIDE + entry for entry in self.waiting[before:]]
        self.waiting[before:] = [f"{_IN_HEADING}{waiting}" if in_heading else str(waiting), *inside]
        self.pending.append(PendingLink(self._page.path, line, str(meant), reason))
        return waiting.as_heading_text() if in_heading else waiting.as_text(self._language)

    def _destination(self, meant: Reference, target: Target, in_heading: bool) -> Reference:
        if isinstance(target, ToFile):
            return Reference("markdown", _relative(posixpath.join(self._raw_folder, target.path), self._folder))
        if not isinstance(target, ToPage):
            return meant
        if meant.form == "markdown" or in_heading:
            return self._markdown(target)
        # A name that leads there as it is stays as it is: people know it.
        if self._targets.among_pages(meant, self._page) == target and (
            target.heading or target.block or not meant.anchor
        ):
            return meant
        anchor = target.block or (target.heading.text.strip() if target.heading else None)
        if anchor and any(mark in anchor for mark in "[]|#") and not target.block:
            anchor = target.heading.slug if target.heading else None
        path = "" if target.path == self._page.path and anchor else target.path.removesuffix(".md")
        wanted = Reference(meant.form, path, anchor)
        return wanted if not path or self._targets.among_pages(wanted, self._page) == target else self._markdown(target)

    def _markdown(self, target: ToPage) -> Reference:
        anchor = target.block or (target.heading.slug if target.heading else None)
        if target.path == self._page.path and anchor:
            return Reference("markdown", "", anchor)
        return Reference("markdown", _relative(target.path, self._folder), anchor)

    def _for_place(self, written: WrittenLink, line: int) -> WrittenLink:
        """In a table the bar before a wikilink's label is escaped."""
        in_table = any(table.line <= line <= table.end_line for table in self._page.outline.tables)
        return replace(written, bar="\\|") if in_table else written


def _as_picture(written: WrittenLink, meant: Reference, target: Target) -> WrittenLink:
    """An embedded file is written as a picture: a wikilink cannot leave the folder of pages."""
    return replace(written, is_picture=True) if meant.form == "embed" and isinstance(target, ToFile) else written


def _relative(path: str, folder: str) -> str:
    """``path`` as seen from ``folder``; both relative to ``knowledge/``, ``path`` may lead out of it."""
    here = [part for part in folder.split("/") if part]
    there = posixpath.normpath(path).split("/")
    shared = 0
    while shared < min(len(here), len(there) - 1) and here[shared] == there[shared]:
        shared += 1
    return "/".join([".."] * (len(here) - shared) + there[shared:])
