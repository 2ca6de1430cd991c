"""Sentences that lost or gained a "not" on their way from raw document to page (SPEC 6.3 "negations").

Belongs here: pairing sentences by their words and comparing what they deny. Does not belong here: which words negate
(``text.negation``), what follows (``gates``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from kb_pipeline.text.negation import FORBIDDEN, NEVER, NOT, UNLESS, negations
from kb_pipeline.text.sentences import split_sentences
from kb_pipeline.text.similarity import words

ALIKE = 0.5
"""Shared words, as a share of both sentences' words, from which one is taken for the other's rewording."""

_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})(.*)")
_CLAUSE = re.compile(r"[，,、；;：:。.!?！？|]+\s*")
_TARGET = re.compile(r"(?<=\])\(<?[^()\n]*>?\)|<a\s[^>\n]*>|\w+://[^\s)\]]+")
"""Where a link leads is not said: ``ingest-data-no-code.md`` denies nothing."""
_PARAGRAPH = re.compile(r"((?:\n[ \t]*){2,})")
_COMMON = 0.2
"""Words in more than this share of the sentences pair nothing."""


@dataclass(frozen=True, slots=True)
class Change:
    """``sentence`` as written, on ``line`` (1-based) of text ``number``; ``counterpart`` on the other side, if any."""

    number: int
    line: int
    sentence: str
    counterpart: str | None


@dataclass(frozen=True, slots=True)
class _Sentence:
    number: int
    line: int
    text: str
    words: tuple[str, ...]


class Prose:
    """Sentences of texts outside code. ``beside``: what is said there too and need not be repeated: front matter."""

    def __init__(self, texts: Sequence[str], beside: str = "") -> None:
        self._texts = [_TARGET.sub("", without_code(text)) for text in texts]
        self._beside = beside

    @cached_property
    def forms(self) -> frozenset[str]:
        """The ways in which something is denied at all."""
        return frozenset(negations("\n".join(self._texts)))

    @cached_property
    def words(self) -> tuple[list[str], ...]:
        """Words of each text, in order."""
        return tuple(words(text) for text in self._texts)

    @cached_property
    def squeezed(self) -> str:
        """All words without what is between them: a sentence taken over as it was is found in it, whatever its marks."""
        return "\n".join("".join(each) for each in (*self.words, words(self._beside)))

    @cached_property
    def sentences(self) -> tuple[_Sentence, ...]:
        return tuple(
            sentence for number, text in enumerate(self._texts) for sentence in _sentences(text, number, line=1)
        )

    def denying(self) -> Iterator[_Sentence]:
        """Sentences of the paragraphs that deny anything; most texts have few."""
        for number, text in enumerate(self._texts):
            line = 1
            for paragraph in _PARAGRAPH.split(text):
                if negations(paragraph):
                    yield from _sentences(paragraph, number, line)
                line += paragraph.count("\n")

    @cached_property
    def _by_word(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for index, sentence in enumerate(self.sentences):
            for word in set(sentence.words):
                places.setdefault(word, []).append(index)
        most = max(8, int(len(self.sentences) * _COMMON))
        return {word: indexes for word, indexes in places.items() if len(indexes) <= most}

    def counterpart(self, sentence: _Sentence) -> _Sentence | None:
        """The sentence that says the same in other words."""
        own = set(sentence.words)
        shared: Counter[int] = Counter()
        for word in own:
            shared.update(self._by_word.get(word, ()))
        best, best_score = None, ALIKE
        for index, _ in shared.most_common(5):
            other = set(self.sentences[index].words)
            score = len(own & other) / len(own | other)
            if score >= best_score:
                best, best_score = self.sentences[index], score + 1e-9
        return best


def compare_negations(raw: Prose, pages: Prose) -> tuple[list[Change], list[Change]]:
    """Dropped ones, as sentences of the raw document; added ones, as sentences of the pages.

    A sentence that was left out as a whole counts as dropped only when it forbids or excepts something: that a page
    says less is fidelity's matter.
    """
    dropped = [
        change
        for change, forms, kept in _changes(raw, pages)
        if change.counterpart is not None or (forms & {FORBIDDEN, NEVER, UNLESS} and not kept)
    ]
    added = [
        change for change, forms, _ in _changes(pages, raw) if change.counterpart is not None or not forms & raw.forms
    ]
    return dropped, added


def _changes(one: Prose, other: Prose) -> list[tuple[Change, set[str], bool]]:
    """Sentences of ``one`` that deny something which ``other`` does not; the forms; whether there is a counterpart."""
    found = []
    for sentence in one.denying():
        if not sentence.words or "".join(sentence.words) in other.squeezed:
            continue
        # A clause that was taken over as it is denies what it denied, whatever was joined to it.
        changed = [clause for clause in _CLAUSE.split(sentence.text) if "".join(words(clause)) not in other.squeezed]
        forms = set(negations("\n".join(changed)))
        if not forms:
            continue
        counterpart = other.counterpart(sentence)
        if counterpart is not None and not _differs(forms, set(negations(counterpart.text))):
            continue
        text = counterpart.text if counterpart else None
        found.append((Change(sentence.number, sentence.line, sentence.text, text), forms, counterpart is not None))
    return found


def _sentences(text: str, number: int, line: int) -> Iterator[_Sentence]:
    for piece in split_sentences(text):
        lead = len(piece) - len(piece.lstrip())
        if piece.strip():
            start = line + piece.count("\n", 0, lead)
            yield _Sentence(number, start, " ".join(piece.split()), tuple(words(piece)))
        line += piece.count("\n")


def _differs(forms: set[str], others: set[str]) -> bool:
    """How strongly something is denied may change (不要, 禁止); that it is may not, nor that there is an exception."""
    plain = {NOT, NEVER, FORBIDDEN}
    return bool(forms & plain) > bool(others & plain) or (UNLESS in forms and UNLESS not in others)


def without_code(text: str, mark: str = "") -> str:
    """The same lines, ``mark`` in place of those of fenced code."""
    if "```" not in text and "~~~" not in text:
        return text
    lines, fence = [], ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if fence:
            if found and found[1].startswith(fence) and not found[2].strip():
                fence = ""
            lines.append(mark)
        elif found and not (found[1][0] == "`" and "`" in found[2]):
            fence = found[1]
            lines.append(mark)
        else:
            lines.append(line)
    return "\n".join(lines)
