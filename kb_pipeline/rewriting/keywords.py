"""The ``keywords`` of a page: the words that people and agents will look for it by (SPEC 5, 6.9).

Belongs here: finding terms that stand in the raw document, and their glossary synonyms. Does not belong here: inventing
any; every keyword occurs in the raw text, its front matter, its file name, or the glossary.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kb_pipeline.rewriting.blocks import BlockKind
from kb_pipeline.rewriting.chinese_terms import (
    FUNCTION_WORDS,
    LONGEST_TERM,
    RUN,
    bare_term,
    count_pieces,
    frequent_words,
    terms_of,
)
from kb_pipeline.rewriting.inline import plain
from kb_pipeline.rewriting.language import has_cjk
from kb_pipeline.rewriting.splitting import Part
from kb_pipeline.rewriting.structure import Section
from kb_pipeline.rewriting.titles import is_generic
from kb_pipeline.rewriting.vocabulary import CHINESE_NOISE, LATIN_STOP, NO_ABBREVIATIONS
from kb_pipeline.text.folding import fold
from kb_pipeline.text.glossary import Glossary

FEWEST, MOST = 3, 9
_LONGEST = 40
_MOST_NUMBERED = 2
"""Of names that differ in their numbers only (srv-0001, srv-0002 …): a table of them tells nothing else."""

_DIGITS = re.compile(r"\d+")
_WRITTEN = 12.0
"""Weight of the author's own keywords: above all that is found."""

_PAREN = re.compile(r"[（(]\s*([^（()）\n]{2,50}?)\s*[)）]")
_BEFORE_PAREN = re.compile(r"[\u4e00-\u9fffA-Za-z0-9][\u4e00-\u9fffA-Za-z0-9 .+/_-]*\s*$")
_ABBREVIATION = re.compile(r"(?<![A-Za-z0-9_])[A-Z][A-Z0-9]{1,5}(?:[-/][A-Z0-9]{1,6})?(?![A-Za-z0-9_])")
_IDENTIFIER = re.compile(r"`([A-Za-z][\w./:-]{2,38})`")
_COMPOUND = re.compile(
    r"(?<![\w/.-])(?:[A-Za-z][a-z0-9]+[A-Z][A-Za-z0-9]*|[a-z][a-z0-9]*(?:[_-][a-z0-9]+)+|[A-Z]{2,}(?:_[A-Z0-9]+)+)(?![\w/-])"
)
_LATIN_WORD = re.compile(
    r"(?<![A-Za-z0-9_.])[A-Za-z](?:[A-Za-z0-9.+#]*[A-Za-z0-9+#])?(?:[-_][A-Za-z0-9+#]+)*(?![A-Za-z0-9_])"
)
_TARGET = re.compile(
    r"https?://\S+|\]\((?:<[^>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+[\"'(][^\n]*?[\"')])?\)|\]\[[^\]\n]*\]"
)
_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|\n]*\|([^\[\]\n]*)|(?:[^\[\]|#\n]*/)?([^\[\]|#/\n]*)(?:#[^\[\]|\n]*)?)\]\]")
"""By its label, else by the name of the page alone: a folder or an anchor is nothing that its readers would look for."""

_ADDRESS = re.compile(r"https?://\S+|(?:[\w-]+\.){2,}[\w-]+|(?<!\w)(?:\.{0,2}/)?[\w.-]+/[\w./-]+")


@dataclass(slots=True)
class _Bag:
    """Candidates by folded form, with their weight and the form first seen; insertion order breaks ties."""

    weights: dict[str, float]
    written: dict[str, str]

    def add(self, term: str, weight: float, *, named: bool = False) -> None:
        """A stop word is a keyword only where the author or the glossary (``named``) says so."""
        term = term.strip(" .,:;，。、：；-_/'\"“”*`")
        if not 2 <= len(term) <= _LONGEST or not re.search(r"[^\W\d_]", term):
            return
        key = fold(term)
        if weight < _WRITTEN and not named and key.strip("'") in LATIN_STOP:
            return
        self.written.setdefault(key, term)
        self.weights[key] = self.weights.get(key, 0.0) + weight


@dataclass(frozen=True, slots=True)
class DocumentTerms:
    """What is gathered once for all pages of a document.

    ``evidence`` is all that the raw document says, folded: a keyword stands in it. ``pieces`` counts Chinese word-like
    pieces, ``words`` are the most frequent that are words of their own.
    """

    evidence: str
    pieces: Counter[str]
    words: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, text: str, others: Sequence[str]) -> DocumentTerms:
        """``text``: the raw body; ``others``: what else belongs to the raw document (front matter, file name)."""
        pieces = count_pieces("\n".join([*others, text]))
        return cls(fold("\n".join([text, *others])), pieces, tuple(frequent_words(pieces)))


def choose_keywords(
    *,
    lines: Sequence[tuple[str, float]],
    part: Part,
    document: str,
    terms: DocumentTerms,
    path: str,
    glossary: Glossary,
    written: Sequence[str] = (),
) -> tuple[str, ...]:
    """Three to twelve keywords, best first; fewer than three only where the document has no words.

    ``lines`` are titles and the like with their weight; ``document`` is the raw body; ``written`` are keywords and tags
    of its front matter, kept before all others.
    """
    bag = _Bag({}, {})
    text = _part_text(part)
    headings = [plain(heading) for heading in _headings(part.sections)]
    for keyword in written:
        bag.add(keyword, _WRITTEN)
    for line, weight in [*lines, *((heading, 1.6) for heading in headings)]:
        for term in _line_terms(line, terms.pieces):
            bag.add(term, weight if weight > 2 or not term.isascii() or not term.islower() else weight / 2)
    titles = "\n".join(line for line, _ in lines)
    words = plain_lines(f"{titles}\n{text}")
    for term, inner in _parenthesised(words):
        bag.add(term, 2.2)
        bag.add(inner, 2.2)
    _frequent(bag, text, words, terms.words)
    known = _add_glossary(bag, glossary, f"{titles}\n{text}")
    chosen = _ranked(bag, terms.evidence, known)
    if len(chosen) < FEWEST:
        for term in _fallback(titles, document, path):
            bag.add(term, 0.01)
        chosen = _ranked(bag, terms.evidence, known)
    return tuple(chosen)


def _ranked(bag: _Bag, evidence: str, known: frozenset[str]) -> list[str]:
    order = {key: place for place, key in enumerate(bag.weights)}
    ranked = sorted(bag.weights, key=lambda key: (-bag.weights[key], order[key]))
    chosen: list[str] = []
    contained: list[str] = []
    numbered: Counter[str] = Counter()
    for key in ranked:
        if len(chosen) >= MOST:
            break
        if key not in evidence and key not in known:
            continue
        # A shorter Chinese word inside a longer chosen one is found by substring anyway.
        if has_cjk(key) and bag.weights[key] < _WRITTEN and any(key in fold(other) for other in chosen):
            contained.append(bag.written[key])
            continue
        if bag.weights[key] < _WRITTEN and key not in known and _DIGITS.search(key):
            series = _DIGITS.sub("0", key)
            numbered[series] += 1
            if numbered[series] > _MOST_NUMBERED:
                continue
        chosen.append(bag.written[key])
    return chosen + contained[: max(0, FEWEST - len(chosen))]


def _headings(sections: Sequence[Section]) -> Iterator[str]:
    for section in sections:
        if not is_generic(section.heading):
            yield re.sub(r"（續）$| \(continued\)$", "", section.heading)
        yield from _headings(section.children)


def _part_text(part: Part) -> str:
    pieces = [block.text for block in part.lead if block.kind is not BlockKind.CODE]
    for section in part.sections:
        pieces += _section_lines(section)
    return "\n".join(pieces)


def _section_lines(section: Section) -> Iterator[str]:
    yield section.heading
    for block in section.blocks:
        if block.kind is not BlockKind.CODE:
            yield block.text
    for child in section.children:
        yield from _section_lines(child)


def _line_terms(line: str, counts: Counter[str]) -> Iterator[str]:
    """Terms of a title or heading: Latin words and their run, Chinese chunks between function words."""
    for run in re.findall(r"[A-Za-z][A-Za-z0-9.+#'_/-]*(?: [A-Za-z0-9][A-Za-z0-9.+#'_/-]*)*", line):
        words = [word for word in run.split() if word.casefold().strip(".'") not in LATIN_STOP]
        if 2 <= len(words) <= 3 and len(words) == len(run.split()) and not re.search(r"\d{4}", run):
            yield run
        yield from (word for word in words if len(word) > 1 and not word.endswith("ing"))
    for run in RUN.findall(line):
        for chunk in FUNCTION_WORDS.split(run):
            yield from terms_of(chunk, counts)


def _parenthesised(text: str) -> Iterator[tuple[str, str]]:
    """``權杖（token）`` and ``Service Level Objective (SLO)``: two names of one thing."""
    for match in _PAREN.finditer(text):
        inner = match.group(1)
        if _is_sentence(inner) or inner[0].isdigit():
            continue
        before = _BEFORE_PAREN.search(text[max(0, match.start() - 50) : match.start()])
        term = before.group(0).strip() if before else ""
        if not term:
            continue
        if has_cjk(term):
            if not has_cjk(inner) or (len(inner) <= 6 and not FUNCTION_WORDS.search(inner)):
                yield _last_cjk(term), inner
        elif inner.isupper() or has_cjk(inner):
            yield _expansion(term, inner), inner


def plain_lines(text: str) -> str:
    """Links and code without their marks and addresses, line by line."""
    bare = _WIKILINK.sub(r" \1\2 ", text)
    bare = _TARGET.sub("\x00", bare)
    return re.sub(r"[\[\]\x00]", " ", re.sub(r"[`*]", "", bare))


def _is_sentence(text: str) -> bool:
    words = text.split()
    return len(words) > 4 or bool(re.search(r"[,，。;；:：=<>]|\b(?:is|are|e\.g|i\.e|see|the|if|or|and)\b", text, re.I))


def _last_cjk(term: str) -> str:
    """The Chinese words right before a parenthesis, without the sentence that leads to them."""
    chunk = re.split(r"[^\u4e00-\u9fffA-Za-z0-9 .+-]", term)[-1]
    runs = RUN.findall(chunk)
    if not runs or not chunk.rstrip().endswith(runs[-1]):
        return chunk if len(chunk) <= 24 else ""
    last = [piece for piece in FUNCTION_WORDS.split(runs[-1]) if piece]
    word = bare_term(last[-1]) if last else ""
    return word if 2 <= len(word) <= LONGEST_TERM and word not in CHINESE_NOISE else ""


def _expansion(term: str, inner: str) -> str:
    """The words that an abbreviation stands for: as many as it has letters, if they begin with them."""
    words = list(re.finditer(r"[^\s-]+", term))
    letters = re.sub(r"[^A-Za-z]", "", inner)
    tail = words[-len(letters) :] if 2 <= len(letters) <= len(words) else []
    if tail and "".join(word.group()[:1] for word in tail).casefold() == letters.casefold():
        return term[tail[0].start() :]
    last = words[-1].group() if words else ""
    return last if has_cjk(inner) and last.casefold() not in LATIN_STOP else ""


def _frequent(bag: _Bag, text: str, words: str, cjk: Sequence[tuple[str, int]]) -> None:
    """Identifiers, abbreviations, compounds and words that a page says again and again."""
    for term, count in Counter(_IDENTIFIER.findall(text)).items():
        if not re.search(r"\.\.|//|^\W|:$", term):
            bag.add(term, 0.5 + 0.35 * min(count, 6))
    words = _ADDRESS.sub(" ", words)
    for term, count in Counter(_ABBREVIATION.findall(words)).items():
        if term not in NO_ABBREVIATIONS and term.casefold() not in LATIN_STOP:
            bag.add(term, 0.4 + 0.3 * min(count, 6))
    for term, count in Counter(_COMPOUND.findall(words)).items():
        bag.add(term, 0.2 + 0.3 * min(count, 6))
    for term, count in Counter(_LATIN_WORD.findall(words)).items():
        if count >= (3 if term.islower() else 2) and len(term) > 2 and term.casefold() not in LATIN_STOP:
            bag.add(term, (0.12 if term.endswith(("ing", "ed")) else 0.2) * min(count, 8))
    for term, count in cjk:
        here = words.count(term)
        if here >= 2:
            bag.add(term, 0.12 * min(here, count, 10) * (len(term) - 1) ** 0.5)


def _add_glossary(bag: _Bag, glossary: Glossary, text: str) -> frozenset[str]:
    """Adds all proper forms of the entries that the text uses, and tells them folded."""
    known: set[str] = set()
    if not glossary:
        return frozenset()
    folded = fold(text)
    for entry in glossary.terms_in(text):
        weight = 1.2 + 0.3 * min(4, max(folded.count(fold(form)) for form in entry.forms))
        for form in entry.proper_forms:
            bag.add(form, weight, named=True)
            known.add(fold(form))
    return frozenset(known)


def _fallback(title: str, document: str, path: str) -> Iterator[str]:
    """For a document with hardly a term: words of its title, name and text as they come, and its names as a whole."""
    stem = re.sub(r"\.(?:md|markdown|mdx|txt)$", "", path.rpartition("/")[2], flags=re.IGNORECASE)
    texts = (title, stem, plain_lines(document[:6000])[:3000])
    for text in texts:
        yield from (word for word in _LATIN_WORD.findall(text) if word.casefold() not in LATIN_STOP and len(word) > 1)
        for run in RUN.findall(text):
            yield from (piece for piece in FUNCTION_WORDS.split(run) if 2 <= len(piece) <= LONGEST_TERM)
    yield from (*title.split("\n"), stem)
    for text in texts:
        yield from (run[:4] for run in RUN.findall(text))
        yield from re.findall(r"[^\W\d_]{2,}", text)
    yield from reversed(path.split("/"))
