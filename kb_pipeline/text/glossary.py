"""``glossary.yml``: the words of a team, one source for keywords, query expansion and the script gate (SPEC 6.13).

Belongs here: reading the file and finding its words in a text. Does not belong here: what to do with a word that should
be avoided (``rewriting.gates``, ``lint``).

Format (every key but ``term`` may be left out; each list may be a comma string)::

    terms:
      - term: 權杖                 # the preferred form, what pages should say
        en: [token, access token]  # English forms
        synonyms: [通行證]          # other words for it, good in pages and queries alike
        abbreviations: [JWT]
        simplified: [令牌]          # how Simplified or mainland texts say it: found by queries, wrong in a zh-TW page
        avoid: [代幣]               # wrong or outdated in this team's pages; `term` is what to write instead
        note: free text, not used
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from kb_pipeline.markdown.yaml_safe import load_mapping
from kb_pipeline.models.page import ParseProblem
from kb_pipeline.text.folding import fold, narrow

_LISTS = ("en", "synonyms", "abbreviations", "simplified", "avoid")


@dataclass(frozen=True, slots=True)
class GlossaryTerm:
    """One entry. ``term`` is the preferred form; ``line`` is where the entry stands in the file (None: unknown)."""

    term: str
    en: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()
    abbreviations: tuple[str, ...] = ()
    simplified: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    line: int | None = None

    @property
    def forms(self) -> tuple[str, ...]:
        """Every way to say it, the preferred first, without repeats; ``avoid`` last: queries may use old words."""
        every = (self.term, *self.synonyms, *self.en, *self.abbreviations, *self.simplified, *self.avoid)
        return tuple(dict.fromkeys(every))

    @property
    def proper_forms(self) -> tuple[str, ...]:
        """What a page may carry as keyword: all but ``simplified`` and ``avoid``."""
        return tuple(dict.fromkeys((self.term, *self.synonyms, *self.en, *self.abbreviations)))


@dataclass(frozen=True, slots=True)
class AvoidedWord:
    """A word that a page should not use. ``start``/``end`` are code point offsets; ``line`` is 1-based."""

    text: str
    preferred: str
    line: int
    start: int
    end: int


@dataclass(frozen=True)
class Glossary:
    """The entries and what was wrong with the file. Immutable; the look-up tables are made when first asked for."""

    terms: tuple[GlossaryTerm, ...] = ()
    problems: tuple[ParseProblem, ...] = ()

    @classmethod
    def empty(cls) -> Glossary:
        return cls()

    def __bool__(self) -> bool:
        return bool(self.terms)

    @cached_property
    def _by_form(self) -> dict[str, tuple[GlossaryTerm, ...]]:
        found: dict[str, list[GlossaryTerm]] = {}
        for term in self.terms:
            for form in dict.fromkeys(map(fold, term.forms)):
                if form:
                    found.setdefault(form, []).append(term)
        return {form: tuple(terms) for form, terms in found.items()}

    @cached_property
    def _by_start(self) -> dict[str, tuple[str, ...]]:
        return _longest_first(self._by_form)

    @cached_property
    def _avoided(self) -> dict[str, GlossaryTerm]:
        """Wrong forms in the script they are written in: 软件 is found, 軟件 is another word unless listed."""
        found: dict[str, GlossaryTerm] = {}
        for term in self.terms:
            proper = set(map(_aligned, term.proper_forms))
            for form in map(_aligned, (*term.avoid, *term.simplified)):
                if form and form not in proper:
                    found.setdefault(form, term)
        return found

    @cached_property
    def _avoided_by_start(self) -> dict[str, tuple[str, ...]]:
        return _longest_first(self._avoided)

    def terms_in(self, text: str) -> tuple[GlossaryTerm, ...]:
        """Entries of which some form occurs in a text, in order of first occurrence; the longest form wins."""
        found: dict[GlossaryTerm, None] = {}
        for form, _ in _occurrences(fold(text), self._by_start):
            found.update(dict.fromkeys(self._by_form[form]))
        return tuple(found)

    def expand(self, query: str) -> tuple[str, ...]:
        """Other forms of the terms that a query uses, folded duplicates and those already in the query left out."""
        folded = fold(query)
        present = {form for form, _ in _occurrences(folded, self._by_start)}
        expansions: dict[str, str] = {}
        for term in self.terms_in(query):
            for form in term.forms:
                expansions.setdefault(fold(form), form)
        return tuple(form for key, form in expansions.items() if key and key not in present)

    def avoided_in(self, text: str) -> tuple[AvoidedWord, ...]:
        """Words of a text that are ``avoid`` or ``simplified`` forms of some entry, in order."""
        words = []
        for form, start in _occurrences(_aligned(text), self._avoided_by_start):
            end = start + len(form)
            line = text.count("\n", 0, start) + 1
            words.append(AvoidedWord(text[start:end], self._avoided[form].term, line, start, end))
        return tuple(words)


def _aligned(text: str) -> str:
    """Lower case and narrow, one character for one, script kept."""
    lowered = text.lower()
    return narrow(lowered if len(lowered) == len(text) else "".join(_lower(char) for char in text))


def _lower(char: str) -> str:
    lowered = char.lower()
    return lowered if len(lowered) == 1 else char


def _longest_first(forms: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    starts: dict[str, list[str]] = {}
    for form in forms:
        starts.setdefault(form[0], []).append(form)
    return {start: tuple(sorted(group, key=lambda form: (-len(form), form))) for start, group in starts.items()}


def _occurrences(text: str, by_start: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, int]]:
    """Leftmost-longest matches; a form that begins or ends with a Latin letter or digit needs a word's edge there."""
    position, end = 0, len(text)
    while position < end:
        for form in by_start.get(text[position], ()):
            if text.startswith(form, position) and _is_whole(text, position, position + len(form)):
                yield form, position
                position += len(form)
                break
        else:
            position += 1


def _is_whole(text: str, start: int, end: int) -> bool:
    return not (
        (start and _is_latin(text[start]) and _is_latin(text[start - 1]))
        or (end < len(text) and _is_latin(text[end - 1]) and _is_latin(text[end]))
    )


def _is_latin(char: str) -> bool:
    return char == "_" or (char < "\u2e80" and char.isalnum())


def parse_glossary(text: str) -> Glossary:
    """Read ``glossary.yml``. Never raises: what is wrong stands in ``problems`` with its line, the rest is used."""
    result = load_mapping(text)
    problems = list(result.problems)
    problems += [
        _problem(f"unknown key {key!r}; the only key is 'terms'", result.lines.get(key))
        for key in result.value
        if key != "terms"
    ]
    entries = result.value.get("terms")
    if entries is not None and not isinstance(entries, list):
        problems.append(_problem("'terms' must be a list of entries", result.lines.get("terms")))
    terms: dict[str, GlossaryTerm] = {}
    for number, entry in enumerate(entries if isinstance(entries, list) else ()):
        term = _entry(entry, f"terms.{number}", result.lines, problems)
        if term is None:
            continue
        if term.term in terms:
            problems.append(_problem(f"term {term.term!r} is listed twice; merge the two entries", term.line))
            continue
        terms[term.term] = term
    return Glossary(tuple(terms.values()), tuple(problems))


def _entry(entry: object, place: str, lines: Mapping[str, int], problems: list[ParseProblem]) -> GlossaryTerm | None:
    line = lines.get(place)
    if isinstance(entry, str):
        entry = {"term": entry}
    name = entry.get("term") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(name, str) or not name.strip():
        problems.append(_problem("an entry is a mapping with 'term', the preferred form", line))
        return None
    known = ("term", *_LISTS, "note")
    problems += [
        _problem(f"{name!r}: unknown key {key!r}; known are {', '.join(known)}", lines.get(f"{place}.{key}", line))
        for key in entry
        if key not in known
    ]
    forms: dict[str, tuple[str, ...]] = {}
    for key in _LISTS:
        read = _texts(entry.get(key))
        if read is None:
            where = lines.get(f"{place}.{key}", line)
            problems.append(_problem(f"{name!r}: {key!r} must be a list of words or a comma string", where))
        forms[key] = read or ()
    return GlossaryTerm(name.strip(), **forms, line=line)


def _texts(value: object) -> tuple[str, ...] | None:
    """A list or a comma string as words; None for anything else."""
    if value is None:
        return ()
    if isinstance(value, str):
        for mark in "，、;；":
            value = value.replace(mark, ",")
        return tuple(dict.fromkeys(part.strip() for part in value.split(",") if part.strip()))
    if isinstance(value, list) and all(isinstance(item, str) or item is None for item in value):
        return tuple(dict.fromkeys(item.strip() for item in value if item and item.strip()))
    return None


def _problem(message: str, line: int | None) -> ParseProblem:
    return ParseProblem("glossary", f"glossary: {message}", line)
