"""Where a link of a compiled page leads: raw names and raw headings to pages, parts and sections (SPEC 4, 6.5).

Belongs here: resolution, over names alone. Does not belong here: how links are written (``link_text``), changing pages
(``linking``).

A link means what the raw document meant by it, so it is looked up among the raw documents first, from the folder of the
one that the page comes from, and then among the pages: a rewriter may link to a page that it was shown, and people
name titles. Two exceptions come before both: an anchor of the document itself, which may stand in another part now,
and the path of another part of the same document, which only the rewriter can have written.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kb_pipeline.markdown.links import LinkResolver, Resolved
from kb_pipeline.markdown.slugs import heading_slug
from kb_pipeline.models import Heading, Link, LinkKind, WikiPage
from kb_pipeline.rewriting.link_text import Reference

_EXTERNAL = re.compile(r"(?:[a-z][a-z0-9+.-]+:|//)", re.IGNORECASE)
_SUFFIXES = (".md", ".markdown", ".mdx", ".txt")
_ENDINGS = (*_SUFFIXES, "/readme.md", "/index.md")
"""What a name is tried with that is no file's: a document without its suffix, the document of a folder."""
_REPEATED = re.compile(r"(.+)-([1-9]\d{0,2})")
_KINDS = {"wikilink": LinkKind.WIKILINK, "embed": LinkKind.EMBED, "markdown": LinkKind.MARKDOWN}


@dataclass(frozen=True, slots=True)
class ToPage:
    """``heading`` is None for the page as a whole; ``block`` is the mark of a ``#^block`` that the page has."""

    path: str
    heading: Heading | None = None
    block: str | None = None


@dataclass(frozen=True, slots=True)
class ToFile:
    """A file under ``raw/`` that is no document: a picture, a script. ``path`` is relative to ``raw/``."""

    path: str


@dataclass(frozen=True, slots=True)
class Nowhere:
    """``reason`` in words, for the list of pending links."""

    reason: str


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A URL: not ours to change."""


Target = ToPage | ToFile | Nowhere | Elsewhere


class RawNames:
    """Raw documents and other files by path, path suffix and base name; NFC and case-insensitive."""

    def __init__(self, documents: Iterable[str], files: Iterable[str]) -> None:
        self.documents = frozenset(documents)
        self._by_path: dict[str, str] = {}
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in (*sorted(self.documents), *sorted(frozenset(files) - self.documents)):
            self._by_path.setdefault(_folded(path), path)
            name = _folded(posixpath.basename(path))
            self._by_name[name].append(path)
            if path in self.documents and name.endswith(_SUFFIXES):
                self._by_name[name.rpartition(".")[0]].append(path)

    def find(self, target: str, folder: str) -> str | tuple[str, ...] | None:
        """The raw path that ``target`` names in a document of ``folder``; several when it could be any of them.

        Order of SPEC 4: relative path, path from the root, unique path suffix (the own folder first).
        """
        target = _folded(target)
        while target:
            # A leading slash means the root of the source, as on the sites that such documents come from.
            if not target.startswith("/"):
                found = self._at(posixpath.normpath(f"{_folded(folder)}/{target}" if folder else target))
                if found:
                    return found
            if folder or target.startswith("/"):
                found = self._at(posixpath.normpath(target.lstrip("/")))
                if found:
                    return found
            head, mark, _ = target.partition("?")
            if not mark:
                break
            target = head
        return self._by_suffix(target, folder)

    def _at(self, path: str) -> str | None:
        found = self._by_path.get(path)
        if found is None and not path.endswith(_SUFFIXES):
            for ending in _ENDINGS:
                found = self._by_path.get(path + ending if path != "." else ending[1:])
                if found:
                    break
        return found

    def _by_suffix(self, target: str, folder: str) -> str | tuple[str, ...] | None:
        wanted = posixpath.normpath(target.strip("/"))
        if wanted.startswith(".") or (target.startswith("/") and "/" not in wanted):
            return None
        name = posixpath.basename(wanted)
        ending = "/" + wanted
        paths = self._by_name.get(name, [])
        if "/" in wanted:
            paths = [path for path in paths if _folded(path).endswith((ending, *(ending + end for end in _SUFFIXES)))]
        if len(paths) > 1:
            paths = [path for path in paths if posixpath.dirname(path) == folder] or paths
        if len(paths) > 1:
            return tuple(sorted(paths))
        return paths[0] if paths else None


class LinkTargets:
    """Resolves references of pages.

    ``ownership``: raw path → its pages in order of part. ``titles``: page → the title that its document gave it, where
    the page was renamed.
    """

    def __init__(
        self,
        pages: Mapping[str, WikiPage],
        ownership: Mapping[str, Sequence[str]],
        raw: RawNames,
        resolver: LinkResolver,
        titles: Mapping[str, str],
    ) -> None:
        self._pages = pages
        self._titles = titles
        # Drafts are never published: for a reader they are not there.
        self._parts = {
            document: tuple(path for path in paths if path in pages and not pages[path].is_draft)
            for document, paths in ownership.items()
        }
        self._raw = raw
        self._resolver = resolver
        # Pages link to the same places again and again.
        self._raw_found: dict[tuple[str, str], str | tuple[str, ...] | None] = {}
        self._sections: dict[tuple[tuple[str, ...], str], ToPage] = {}

    def resolve(self, reference: Reference, page: WikiPage) -> Target:
        """Where a reference leads that stands in ``page`` as its raw document, or its rewriter, wrote it."""
        if reference.form == "markdown" and _EXTERNAL.match(reference.target):
            return Elsewhere()
        own = self._parts.get(page.owner or "", ())
        if page.path not in own:
            own = (page.path,)
        if not reference.target:
            return self._within(reference.anchor, page, own)
        part = _as_part(reference.target, page, own)
        if part is not None:
            return self._section((part,), reference.anchor, page)
        found = self._among_raw(reference, page)
        return found or self.among_pages(reference, page) or Nowhere("not found")

    def _among_raw(self, reference: Reference, page: WikiPage) -> Target | None:
        """What the name means in the page's raw documents; None when no raw document or file is called so."""
        reason: str | None = None
        for folder in dict.fromkeys(source.path.rpartition("/")[0] for source in page.sources):
            found = self._find(reference.target, folder)
            if isinstance(found, tuple):
                reason = "ambiguous: " + ", ".join(found)
            elif found is not None and found not in self._raw.documents:
                return ToFile(found)
            elif found is not None:
                parts = self._parts.get(found, ())
                if parts:
                    return self._section(parts, reference.anchor, page)
                reason = f"{found} has no page"
        return Nowhere(reason) if reason else None

    def among_pages(self, reference: Reference, page: WikiPage) -> ToPage | None:
        """Where a reference leads when it is read as a link between pages."""
        if not reference.target:
            return None
        link = Link(_KINDS[reference.form], reference.target, None, None, 0, 0, 0)
        found = self._resolver.resolve(link, page.path)
        if not isinstance(found, Resolved) or found.path not in self._pages or self._pages[found.path].is_draft:
            return None
        return self._section((found.path,), reference.anchor, page)

    def _find(self, target: str, folder: str) -> str | tuple[str, ...] | None:
        key = (folder, target)
        if key not in self._raw_found:
            self._raw_found[key] = self._raw.find(target, folder)
        return self._raw_found[key]

    def _within(self, anchor: str | None, page: WikiPage, own: tuple[str, ...]) -> Target:
        if not anchor:
            return Elsewhere()
        found = self._section(own, anchor, page)
        if found.heading is None and found.block is None and not self._is_title(anchor, own):
            return Nowhere(f"no heading {anchor!r} in the document's pages")
        return found

    def _is_title(self, anchor: str, own: Sequence[str]) -> bool:
        names = (self._titles.get(path) or self._pages[path].title for path in own)
        return heading_slug(anchor) in map(heading_slug, names) or any(self._slug(path, anchor) for path in own)

    def _section(self, parts: tuple[str, ...], anchor: str | None, page: WikiPage) -> ToPage:
        """The part that has the anchor; the first part as a whole when none has it, or when it names a title."""
        if anchor is None:
            return ToPage(parts[0])
        if page.path in parts:
            return self._find_section(parts, anchor, page.path)
        key = (parts, anchor)
        if key not in self._sections:
            self._sections[key] = self._find_section(parts, anchor, parts[0])
        return self._sections[key]

    def _find_section(self, parts: tuple[str, ...], anchor: str, first: str) -> ToPage:
        """``first`` is searched before the other parts."""
        ordered = (first, *(path for path in parts if path != first))
        if anchor.startswith("^"):
            block = next((path for path in ordered if self._has(path, anchor)), None)
            return ToPage(parts[0]) if block is None else ToPage(block, block=anchor)
        for path in ordered:
            slug = self._slug(path, anchor)
            if slug is not None:
                return self._at_heading(path, next(h for h in self._pages[path].outline.headings if h.slug == slug))
        repeated = _REPEATED.fullmatch(heading_slug(anchor))
        if repeated:
            # The third "setup" of a raw document is setup-2 there, and may be the first one of the part that holds it.
            alike = [
                (path, heading)
                for path in parts
                for heading in self._pages[path].outline.headings
                if heading_slug(heading.text) == repeated[1]
            ]
            if len(alike) > int(repeated[2]):
                return self._at_heading(*alike[int(repeated[2])])
        return ToPage(parts[0])

    def _at_heading(self, path: str, heading: Heading) -> ToPage:
        return ToPage(path, heading if heading.level > 1 else None)

    def _slug(self, path: str, anchor: str) -> str | None:
        found = self._resolver.resolve(_anchor_link(anchor), path)
        return found.section_slug if isinstance(found, Resolved) else None

    def _has(self, path: str, block: str) -> bool:
        found = self._resolver.resolve(_anchor_link(block), path)
        return isinstance(found, Resolved) and found.anchor_found


def _anchor_link(anchor: str) -> Link:
    return Link(LinkKind.WIKILINK, "", anchor, None, 0, 0, 0)


def _as_part(target: str, page: WikiPage, own: Sequence[str]) -> str | None:
    """The other part of the page's document that ``target`` names, relative to the page or from the root."""
    if len(own) < 2:
        return None
    target = unicodedata.normalize("NFC", target)
    for path in (posixpath.join(posixpath.dirname(page.path), target), target):
        path = posixpath.normpath(path)  # noqa: PLW2901 - the same path in its plain form
        for candidate in (path, f"{path}.md"):
            if candidate in own:
                return candidate
    return None


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()
