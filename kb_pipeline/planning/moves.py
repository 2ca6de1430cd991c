"""Which vanished document is which new one (SPEC 3 "moved or renamed").

Belongs here: matching by content hash. Not here: what a move means for pages (the planner re-keys the evidence, the
sync re-keys the pages).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping

from kb_pipeline.models import Move


def find_moves(vanished: Mapping[str, Iterable[str]], appeared: Mapping[str, str]) -> list[Move]:
    """Pair names one to one.

    ``vanished``: name → every hash it is known by. ``appeared``: name → its hash. Where several have one hash, equal
    base names go together first, then the sorted order decides: the same input gives the same pairs in any order.
    """
    wanted = set(appeared.values())
    olds: dict[str, list[str]] = defaultdict(list)
    for name in sorted(vanished):
        for sha256 in wanted.intersection(vanished[name]):
            olds[sha256].append(name)
    news: dict[str, list[str]] = defaultdict(list)
    for name in sorted(appeared):
        if appeared[name] in olds:
            news[appeared[name]].append(name)
    taken: set[str] = set()
    moves: list[Move] = []
    left: list[tuple[list[str], list[str]]] = []  # a hash's old names, and its new ones without a pair
    for sha256 in sorted(news):
        pairs, unmatched = _by_base_name(olds[sha256], news[sha256], taken)
        moves += pairs
        left.append((olds[sha256], unmatched))
    for known, unmatched in left:
        free = [name for name in known if name not in taken]
        pairs = list(map(Move, free, unmatched))
        taken.update(pair.old for pair in pairs)
        moves += pairs
    return sorted(moves, key=lambda move: (move.old, move.new))


def _by_base_name(olds: list[str], news: list[str], taken: set[str]) -> tuple[list[Move], list[str]]:
    """Pairs of equal base names, in sorted order, and the new names that found none; ``taken`` grows."""
    free: dict[str, deque[str]] = defaultdict(deque)
    for old in olds:
        if old not in taken:
            free[_base(old)].append(old)
    pairs, unmatched = [], []
    for new in news:
        if free[_base(new)]:
            old = free[_base(new)].popleft()
            taken.add(old)
            pairs.append(Move(old, new))
        else:
            unmatched.append(new)
    return pairs, unmatched


def _base(path: str) -> str:
    return path.rpartition("/")[2]
