"""Current pages whose bodies are nearly the same (SPEC 9, near-duplicate). Linear in the text of the wiki.

Two bodies are compared by the sentences that they share to the letter, weighted by length: a sentence is a long shingle,
and one dictionary finds all pairs. A change of wording inside every sentence is a rewrite, and not found here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kb_pipeline.lint import catalogue as rules
from kb_pipeline.lint.policy import LintPolicy
from kb_pipeline.models import Finding, PageStatus, WikiPage

COMMON = 24
"""A sentence on more pages than this is boilerplate, or a large family: it counts between each and the first only."""

_LEAST = 8
_SENTENCE_END = re.compile(r"[。；;!?！？\n]|\.(?=\s)")
_MARKS = " \t-*+>#|`0123456789."
_LENGTH_BITS = 12


@dataclass(frozen=True, slots=True)
class _Body:
    page: WikiPage
    sentences: frozenset[int]
    length: int


class DuplicateIndex:
    """Sentences of all pages. ``update`` costs what the changed pages hold; ``findings`` the number of pairs."""

    def __init__(self, policy: LintPolicy) -> None:
        self._policy = policy
        self._bodies: dict[str, _Body] = {}
        self._owners: dict[int, str | set[str]] = {}
        self._first: dict[int, str] = {}
        self._pairs: dict[str, dict[str, float]] = {}

    def update(self, changed: Iterable[WikiPage], removed: Iterable[str]) -> None:
        changed = list(changed)
        for path in (*removed, *(page.path for page in changed)):
            self._forget(path)
        for page in changed:
            self._add(page)
        for page in changed:
            self._compare(page.path)

    def findings(self) -> Iterator[Finding]:
        """One for each page that repeats another, on the later path, against the first of its kind."""
        for path in sorted(self._pairs):
            earlier = min(self._pairs[path], default=path)
            if earlier < path:
                share = self._pairs[path][earlier]
                yield rules.NEAR_DUPLICATE.at(self._bodies[path].page, share=share, other=earlier)

    def _add(self, page: WikiPage) -> None:
        # Below the least length two pages may well be equal by chance, and have another finding already.
        short = len(page.body) < self._policy.min_body
        if page.status is not PageStatus.CURRENT or page.kind == "index" or short:
            return
        sentences = frozenset(_sentences(page.body))
        body = _Body(page, sentences, sum(key & (1 << _LENGTH_BITS) - 1 for key in sentences))
        self._bodies[page.path] = body
        for key in sentences:
            owner = self._owners.setdefault(key, page.path)
            if isinstance(owner, set):
                owner.add(page.path)
                if page.path < self._first.get(key, ""):
                    self._first[key] = page.path
            elif owner is not page.path:
                # Nearly every sentence has one owner: a set for each would cost more than the texts.
                self._owners[key] = {owner, page.path}

    def _forget(self, path: str) -> None:
        body = self._bodies.pop(path, None)
        if body is None:
            return
        for key in body.sentences:
            owner = self._owners[key]
            if isinstance(owner, str):
                del self._owners[key]
                continue
            owner.discard(path)
            if self._first.get(key) == path:
                del self._first[key]
            if len(owner) == 1:
                self._owners[key] = owner.pop()
                self._first.pop(key, None)
        for other in self._pairs.pop(path, {}):
            del self._pairs[other][path]
            if not self._pairs[other]:
                del self._pairs[other]

    def _compare(self, path: str) -> None:
        body = self._bodies.get(path)
        if body is None:
            return
        shared: defaultdict[str, int] = defaultdict(int)
        for key in body.sentences:
            owner = self._owners[key]
            if isinstance(owner, str):
                continue
            for other in self._partners(key, owner, path):
                if other != path:
                    shared[other] += key & (1 << _LENGTH_BITS) - 1
        for other, length in shared.items():
            share = length / max(body.length, self._bodies[other].length)
            if share >= self._policy.near_duplicate:
                self._pairs.setdefault(path, {})[other] = share
                self._pairs.setdefault(other, {})[path] = share

    def _partners(self, key: int, owners: set[str], path: str) -> Iterable[str]:
        """With whom a page shares a sentence: all, or of a common one the first by path alone."""
        if len(owners) <= COMMON:
            return owners
        first = self._first.get(key)
        if first is None:
            first = self._first[key] = min(owners)
        return owners if first == path else (first,)


def _sentences(body: str) -> Iterator[int]:
    """A key for each sentence: its hash and, in the low bits, its length. The H1 is the title and does not count."""
    text = body.strip()
    if text.startswith("# "):
        text = text.partition("\n")[2]
    for sentence in _SENTENCE_END.split(text):
        plain = sentence.strip(_MARKS)
        if len(plain) >= _LEAST:
            yield hash(plain) << _LENGTH_BITS | min(len(plain), (1 << _LENGTH_BITS) - 1)
