"""Writing the keyword index: the first time, and again after some pages changed.

Belongs here: what is analysed anew, what is taken over, when segments are joined. Does not belong here: the file format
(``sparse_segment``), scores (``sparse_index``).

An index is a folder: ``index.json`` and immutable segment files. A build after the first one hard-links the segments of
the former index, masks the sections that are gone, and writes one small segment with the new ones: a changed page costs
its own sections, at any size. Scores depend on nothing but integers that add up alike in any order (counts, lengths), so
an incremental index answers exactly like one built at once.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kb_pipeline.errors import SnapshotCorruptError
from kb_pipeline.text.analyser import ANALYSER_VERSION
from kb_pipeline.text.sparse_collect import FIELD_WEIGHTS, SectionCollector
from kb_pipeline.text.sparse_segment import DIGEST_BYTES, Postings, Segment, merge_segments, write_segment

FORMAT = 1
DESCRIPTION = "index.json"
_GROWTH = 8
"""A segment is joined with the next smaller one before that has an eighth of its sections."""


@dataclass(frozen=True, slots=True)
class IndexedSection:
    """A section to index. ``key`` is ``path.md#section_id``, unique; ``fields`` maps the names of FIELD_WEIGHTS to text.

    ``digest`` may name the content (any text that changes with it) when the caller knows one; else it is computed.
    """

    key: str
    fields: Mapping[str, str]
    digest: str | None = None


@dataclass(frozen=True, slots=True)
class IndexReport:
    """``sections`` in the index now; of them ``analysed`` anew and ``reused``; ``dropped`` from the former index."""

    sections: int
    analysed: int
    reused: int
    dropped: int
    segments: int


def build_index(
    folder: Path,
    sections: Iterable[IndexedSection],
    previous: Path | None = None,
    weights: Mapping[str, float] = FIELD_WEIGHTS,
) -> IndexReport:
    """Index exactly these sections into ``folder``, taking unchanged ones over from ``previous``.

    ``previous`` may be missing, broken or of another version: then all is analysed. It may be ``folder`` itself.
    """
    former = _former(previous, weights)
    fresh = SectionCollector(weights)
    seen: set[bytes] = set()
    kept = [np.zeros(len(segment), dtype=np.bool_) for segment in former]
    known = _known(former)
    for section in sections:
        key = section.key.encode("utf-8", "surrogatepass")
        if key in seen:
            raise ValueError(f"section {section.key!r} was given twice: keys must be unique")
        seen.add(key)
        digest = _digest(section)
        place = known.get(key)
        if place is not None and place[2] == digest:
            kept[place[0]][place[1]] = True
        else:
            fresh.add(key, digest, section.fields)
    dropped = sum(segment.live for segment in former) - sum(int(mask.sum()) for mask in kept)
    return _write(folder, former, kept, fresh, weights, dropped)


def update_index(
    folder: Path,
    previous: Path,
    changed: Mapping[str, Iterable[IndexedSection]],
    removed: Iterable[str] = (),
    weights: Mapping[str, float] = FIELD_WEIGHTS,
) -> IndexReport:
    """Write into ``folder`` what ``previous`` holds, with the sections of some pages replaced or gone.

    ``changed`` maps page paths to all their sections now (new pages too); ``removed`` are paths of vanished pages.
    Unlike :func:`build_index` it never looks at the other pages. Raises SnapshotCorruptError when ``previous`` cannot
    be used: build then.
    """
    former = open_segments(previous, weights)
    kept = [np.ones(len(s), dtype=np.bool_) if s.alive is None else s.alive.copy() for s in former]
    dropped = 0
    for page in {*changed, *removed}:
        for segment, mask in zip(former, kept, strict=True):
            where = segment.page_range(page.encode("utf-8", "surrogatepass"))
            dropped += int(mask[where.start : where.stop].sum())
            mask[where.start : where.stop] = False
    fresh = SectionCollector(weights)
    seen: set[str] = set()
    for page, its_sections in changed.items():
        for section in its_sections:
            if not section.key.startswith(page + "#"):
                raise ValueError(f"section {section.key!r} does not belong to page {page!r}")
            if section.key in seen:
                raise ValueError(f"section {section.key!r} was given twice: keys must be unique")
            seen.add(section.key)
            fresh.add(section.key.encode("utf-8", "surrogatepass"), _digest(section), section.fields)
    return _write(folder, former, kept, fresh, weights, dropped)


def open_segments(folder: Path, weights: Mapping[str, float] | None = None) -> list[Segment]:
    """The segments of an index, made with ``weights`` if given. Raises SnapshotCorruptError for anything else."""
    try:
        description = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        if description["format"] != FORMAT or description["analyser"] != ANALYSER_VERSION:
            raise SnapshotCorruptError(f"the keyword index in {folder} was made by another version: build again")
        if weights is not None and description["weights"] != dict(weights):
            raise SnapshotCorruptError(f"the keyword index in {folder} was made with other field weights: build again")
        return [_open_segment(folder, entry) for entry in description["segments"]]
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise SnapshotCorruptError(
            f"the keyword index in {folder} cannot be read ({problem}): build again"
        ) from problem


def _open_segment(folder: Path, entry: Mapping[str, object]) -> Segment:
    name, places, alive_file = str(entry["file"]), entry["arrays"], entry["alive"]
    if not isinstance(places, dict):
        raise TypeError("arrays")
    alive = None if alive_file is None else np.load(folder / str(alive_file))
    segment = Segment(folder / name, {key: (str(a), int(b), int(c)) for key, (a, b, c) in places.items()}, alive)
    if alive is not None and len(alive) != len(segment):
        raise ValueError(f"{alive_file} does not fit {name}")
    return segment


def _former(folder: Path | None, weights: Mapping[str, float]) -> list[Segment]:
    if folder is None:
        return []
    try:
        return open_segments(folder, weights)
    except SnapshotCorruptError:
        return []


def _known(segments: Sequence[Segment]) -> dict[bytes, tuple[int, int, bytes]]:
    """Key → segment, place in it, digest; of valid sections."""
    found: dict[bytes, tuple[int, int, bytes]] = {}
    for number, segment in enumerate(segments):
        digests = segment.digests
        for at, key in enumerate(segment.keys.all()):
            if segment.is_alive(at):
                found[key] = (number, at, digests[at * DIGEST_BYTES : (at + 1) * DIGEST_BYTES])
    return found


def _digest(section: IndexedSection) -> bytes:
    hashed = hashlib.blake2b(digest_size=DIGEST_BYTES)
    if section.digest is not None:
        hashed.update(section.digest.encode("utf-8", "surrogatepass"))
    else:
        for name in sorted(section.fields):
            text = section.fields[name].encode("utf-8", "surrogatepass")
            hashed.update(f"{name}:{len(text)}:".encode())
            hashed.update(text)
    return hashed.digest()


def _write(
    folder: Path,
    former: Sequence[Segment],
    kept: Sequence[NDArray[np.bool_]],
    fresh: SectionCollector,
    weights: Mapping[str, float],
    dropped: int,
) -> IndexReport:
    folder.mkdir(parents=True, exist_ok=True)
    pieces: list[Segment] = []
    for segment, mask in zip(former, kept, strict=True):
        segment_now = segment if mask.all() else Segment(segment.path, segment.places, mask)
        if mask.all() and segment.alive is not None:
            segment_now = Segment(segment.path, segment.places, None)
        if segment_now.live:
            pieces.append(segment_now)
    if len(fresh):
        pieces.append(_new_segment(folder, fresh.postings()))
    pieces = _joined(folder, pieces)
    entries = [_place_in(folder, piece) for piece in pieces]
    total = sum(piece.live for piece in pieces)
    description = {
        "format": FORMAT,
        "analyser": ANALYSER_VERSION,
        "weights": dict(weights),
        "segments": entries,
    }
    unfinished = folder / (DESCRIPTION + ".tmp")
    unfinished.write_text(json.dumps(description, ensure_ascii=False, sort_keys=True), encoding="utf-8")
    unfinished.replace(folder / DESCRIPTION)
    _clear(folder, {str(name) for entry in entries for name in (entry["file"], entry["alive"]) if name})
    return IndexReport(total, len(fresh), total - len(fresh), dropped, len(pieces))


def _clear(folder: Path, used: set[str]) -> None:
    """Segments that were joined, and those of a former index in the same folder, are of no use any more."""
    for file in folder.glob("segment-*"):
        if file.name not in used:
            file.unlink(missing_ok=True)


def _joined(folder: Path, segments: Sequence[Segment]) -> list[Segment]:
    """Segments of geometrically falling size: as in a log-structured merge tree, each entry is rewritten seldom."""
    ordered = sorted(segments, key=lambda segment: -segment.live)
    kept: list[Segment] = []
    while ordered:
        group = [ordered.pop()]
        size = group[0].live
        while ordered and ordered[-1].live < _GROWTH * size:
            group.append(ordered.pop())
            size += group[-1].live
        wasteful = size * 2 < sum(map(len, group))
        kept.append(_new_segment(folder, merge_segments(group)) if len(group) > 1 or wasteful else group[0])
    return kept[::-1]


def _new_segment(folder: Path, postings: Postings) -> Segment:
    name = hashlib.blake2b(postings.digests + b"\0".join(postings.keys), digest_size=8).hexdigest()
    path = folder / f"segment-{name}.bin"
    return Segment(path, write_segment(path, postings), None)


def _place_in(folder: Path, segment: Segment) -> dict[str, object]:
    """See that a segment's file and mask stand in ``folder``: linked where the file system can, else copied."""
    path = folder / segment.path.name
    if not path.exists():
        try:
            os.link(segment.path, path)
        except OSError:
            shutil.copyfile(segment.path, path)
    alive_file: str | None = None
    if segment.alive is not None:
        alive_file = f"{path.stem}.alive.npy"
        unfinished = folder / f"{path.stem}.alive.tmp.npy"
        np.save(unfinished, segment.alive)
        unfinished.replace(folder / alive_file)
    return {"file": path.name, "arrays": segment.places, "alive": alive_file, "sections": len(segment)}
