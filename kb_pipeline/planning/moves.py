"""Which vanished document is which new one (SPEC 3 "moved or renamed").

Belongs here: matching by content hash. Not here: what a move means for pages (the planner re-keys the evidence, the
sync re-keys the pages).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from kb_pipeline.models import Move


def find_moves(vanished: Mapping[str, Iterable[str]], appeared: Mapping[str, str]) -> list[Move]:
    """Pair names one to one.

    ``vanished``: name → every hash it is known by. ``appeared``: name → its hash. Where several have one hash, equal
    base names go together first, then the sorted order decides: the same input gives the same pairs in any order.
    """
    olds: dict[str, list[str]] = defaultdict(list)
    wanted = set(appeared.values())
    for name in sorted(vanished):
        for sha256 in vanished[name]:
            if sha256 in wanted:
                olds[sha256].append(name)
    if not olds:
        return []
    news: dict[str, list[str]] = defaultdict(list)
    for name in sorted(appeared):
        if appeared[name] in olds:
            news[appeared[name]].append(name)
    moves: list[Move] = []
    taken: set[str] = set()
    left: list[tuple[str, list[str]]] = []
    for sha256 in sorted(news):
        by_name: dict[str, list[str]] = defaultdict(list)
        for old in reversed(olds[sha256]):
            by_name[_base(old)].append(old)
        unmatched = []
        for new in news[sha256]:
            old_name = _next_free(by_name.get(_base(new), []), taken)
            if old_name is None:
                unmatched.append(new)
            else:
                moves.append(Move(old_name, new))
        left.append((sha256, unmatched))
    for sha256, unmatched in left:
        stack = list(reversed(olds[sha256]))
        for new in unmatched:
            old_name = _next_free(stack, taken)
            if old_name is None:
                break
            moves.append(Move(old_name, new))
    return sorted(moves, key=lambda move: (move.old, move.new))


def _base(path: str) -> str:
    return path.rpartition("/")[2]


def _next_free(stack: list[str], taken: set[str]) -> str | None:
    """The next name of a reversed, sorted list that no earlier pair has used; marks it as used."""
    while stack:
        name = stack.pop()
        if name not in taken:
            taken.add(name)
            return name
    return None
