"""Where pages live: the page path of each raw document, and the paths of the parts of a long one.

Belongs here: names only, computed from names; the same input gives the same names in any order of processing
(SPEC 5, 6.1; cases ingest-same-basename, ingest-nonlatin-slugs). Does not belong here: slugs themselves
(``markdown.slugs``), moving or writing files.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kb_pipeline.markdown.slugs import page_slug
from kb_pipeline.models import UNRESOLVED_SCOPE, WikiPage
from kb_pipeline.rewriting.vocabulary import DOCUMENT_TYPES

MAX_COMPONENT_BYTES = 100
"""Of a file or folder name with its suffix: far below every file system's limit, so that hashes and dates fit on."""

MAX_FOLDERS = 2

_INDEX_NAMES = frozenset({"readme", "index", "_index"})
_DATE_PREFIX = re.compile(
    r"^(?:(?:19|20)\d{2}[-_.]?(?:0[1-9]|1[0-2])[-_.]?(?:0[1-9]|[12]\d|3[01])"
    r"|1[0-2]\d[-_.](?:0?[1-9]|1[0-2])[-_.](?:0?[1-9]|[12]\d|3[01]))"
    r"(?:[tT ]?\d{2}[-:]?\d{2})?[-_.\s]+(?=\S)"
)
PART_SEPARATOR = "--"
"""Between a document's base name and a part's heading. ``page_slug`` never makes two hyphens, so a part of one document
can never take the page of another, whatever the order in which they are compiled and without knowing them."""


@dataclass(frozen=True, slots=True)
class NamingHints:
    """What is known of a document beside its path: a configured ``domain``, and its ``scope`` if it has one."""

    domain: str | None = None
    scope: str | None = None


def assign_paths(
    documents: Mapping[str, NamingHints],
    taken: Mapping[str, str],
    existing: Mapping[str, str],
) -> dict[str, str]:
    """Raw path → page path without ``.md``, unique without regard to case.

    ``taken`` maps page paths (with ``.md``) to their owner ("" for a page written by hand); ``existing`` maps raw paths
    to the base that their pages have now, which they keep. Where several documents want one name, the one whose own
    name it is gets it; otherwise each of them gets a longer one.
    """
    chosen = {path: existing[path] for path in documents if path in existing}
    occupied = {_fold(base) for base in chosen.values()}
    occupied.update(_fold(page.removesuffix(".md")) for page, owner in taken.items() if owner not in chosen)
    waiting = {path: _candidates(path, hints) for path, hints in documents.items() if path not in chosen}
    while waiting:
        claims: dict[str, list[str]] = defaultdict(list)
        for path, candidates in waiting.items():
            claims[_fold(candidates[0].base)].append(path)
        winners = [
            winner
            for base, paths in claims.items()
            if base not in occupied and (winner := _winner(paths, waiting)) is not None
        ]
        for path in winners:
            chosen[path] = waiting.pop(path)[0].base
        occupied.update(_fold(chosen[path]) for path in winners)
        for candidates in waiting.values():
            lost = candidates.pop(0)
            if not candidates:  # even the hash is taken: count on, so that this always ends
                stem, _, number = lost.base.rpartition("-")
                again = f"{stem}-{int(number) + 1}" if number.isdecimal() and len(number) < 4 else f"{lost.base}-2"
                candidates.append(_Candidate(again, natural=False))
    return dict(sorted(chosen.items()))


def part_paths(base: str, titles: Sequence[str], headings: Sequence[str], existing: Sequence[WikiPage]) -> list[str]:
    """Page paths (with ``.md``) of a document's parts.

    ``titles`` are the parts' page titles and ``headings`` what tells each part from the others. The first part always
    lives at ``base``. A further one keeps the page of an existing part with its title, else of the part with its index,
    else it gets ``base--<heading slug>.md``.
    """
    first = f"{base}.md"
    others = [page for page in existing if _fold(page.path) != _fold(first)]
    paths: list[str | None] = [first] + [None] * (len(titles) - 1)
    free = {page.path: page for page in others}
    for index, title in enumerate(titles[1:], start=1):
        for page in others:
            if page.path in free and page.title == title:
                paths[index] = page.path
                del free[page.path]
                break
    by_index = {page.compiled.index - 1: path for path, page in free.items() if page.compiled is not None}
    wanted = set(titles)
    for index in range(1, len(titles)):
        path = by_index.get(index)
        if paths[index] is None and path in free and free[path].title not in wanted:
            paths[index] = path
            del free[path]
    used = {_fold(path) for path in paths if path is not None}
    folder, _, name = base.rpartition("/")
    prefix = f"{folder}/" if folder else ""
    for index, path in enumerate(paths):
        if path is not None:
            continue
        for candidate in _part_names(name, headings[index], index):
            if _fold(f"{prefix}{candidate}.md") not in used:
                paths[index] = f"{prefix}{candidate}.md"
                used.add(_fold(f"{prefix}{candidate}.md"))
                break
    return [path for path in paths if path is not None]


def date_prefix_of(name: str) -> str:
    """The date that a file name begins with, its separator included; "" without one."""
    match = _DATE_PREFIX.match(name)
    return match.group(0) if match else ""


def humanised(raw_path: str) -> str:
    """A title from a file name: date dropped, separators to spaces; a README is called after its folder."""
    *folders, name = unicodedata.normalize("NFC", raw_path).split("/")
    stem = _stem(name)
    if stem.casefold() in _INDEX_NAMES and folders:
        stem = folders[-1]
    stem = stem.removeprefix(date_prefix_of(stem))
    if not re.search(r"[^\W\d_]", stem):
        return stem  # a bare date stays readable as one
    words = re.sub(r"\s+", " ", re.sub(r"[_\-\s]+", " ", stem)).strip() or stem
    return words[:1].upper() + words[1:]


def written_stem(raw_path: str) -> str:
    """The name by which other notes link a document: its file name without suffix, as written."""
    return _stem(raw_path.rpartition("/")[2])


@dataclass(frozen=True, slots=True)
class _Candidate:
    base: str
    natural: bool
    """Nothing was dropped from the document's own name to get it."""


def _candidates(raw_path: str, hints: NamingHints) -> list[_Candidate]:
    """Names for a document, best first; the last holds a hash of its path."""
    *folders, file_name = unicodedata.normalize("NFC", raw_path).split("/")
    stem = _stem(file_name)
    slugs = [_capped(page_slug(folder)) for folder in folders if folder not in {".", ".."}]
    subjects = [slug for slug in slugs if slug not in DOCUMENT_TYPES and not slug.startswith("_")]
    if hints.domain:
        domain = _capped(page_slug(hints.domain))
        subjects = [domain, *(slug for slug in subjects if slug != domain)]
    elif not subjects and hints.scope and hints.scope != UNRESOLVED_SCOPE:
        subjects = [_capped(page_slug(hints.scope))]
    prefix = "".join(f"{folder}/" for folder in subjects[:MAX_FOLDERS])
    found: dict[str, _Candidate] = {}

    def offer(name: str, *, natural: bool = False) -> None:
        base = prefix + _capped(name)
        found.setdefault(_fold(base), _Candidate(base, natural))

    own = page_slug(stem)
    named_by_folder = stem.casefold() in _INDEX_NAMES and bool(folders)
    undated = page_slug(stem.removeprefix(date_prefix_of(stem)))
    if named_by_folder:
        offer(slugs[-1] if slugs else own)
    elif undated != own:
        offer(undated)
    offer(f"{slugs[-1]}-{own}" if named_by_folder and slugs else own, natural=not named_by_folder)
    dropped = [slug for slug in slugs if slug not in subjects[:MAX_FOLDERS]]
    for count in range(1, len(dropped) + 1):
        offer("-".join([*dropped[-count:], own]))
    digest = hashlib.sha256(raw_path.encode("utf-8", "surrogatepass")).hexdigest()
    offer(f"{_capped(own, MAX_COMPONENT_BYTES - 12)}-{digest[:6]}")
    return list(found.values())


def _winner(paths: Sequence[str], waiting: Mapping[str, Sequence[_Candidate]]) -> str | None:
    """The one of several claimants that gets the name: the only one there is, or the only one whose own name it is."""
    if len(paths) == 1:
        return paths[0]
    natural = [path for path in paths if waiting[path][0].natural]
    return natural[0] if len(natural) == 1 else None


def _part_names(name: str, heading: str, index: int) -> Iterator[str]:
    slug = page_slug(heading) if heading else ""
    room = MAX_COMPONENT_BYTES - len(".md")
    stem = _capped(name, max(room // 2, room - len(slug.encode()) - 2))
    if slug:
        yield _capped(f"{stem}{PART_SEPARATOR}{slug}", room)
    yield f"{_capped(name, room - 8)}{PART_SEPARATOR}{index + 1}"
    number = 2
    while True:
        yield f"{_capped(name, room - 16)}{PART_SEPARATOR}{index + 1}-{number}"
        number += 1


def _capped(name: str, limit: int = MAX_COMPONENT_BYTES - 3) -> str:
    """Cut to ``limit`` bytes of UTF-8 at a character, without a hyphen at the end."""
    raw = name.encode("utf-8", "surrogatepass")
    return name if len(raw) <= limit else raw[:limit].decode("utf-8", "ignore").rstrip("-")


def _stem(name: str) -> str:
    stem, dot, suffix = name.rpartition(".")
    return stem if dot and stem and suffix.casefold() in {"md", "markdown", "mdx", "txt"} else name


def _fold(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()
