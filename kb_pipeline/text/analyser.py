"""Text → tokens, alike for index and query (SPEC 13, keyword).

Belongs here: what a token is. Does not belong here: weights, synonyms, the index.

Chinese, Japanese and Korean runs give each character and each pair of neighbours. Latin words are lower-cased, freed of
English stop words and stemmed. Identifiers (snake_case, camelCase, dotted.path, kebab-case, a/path) are kept whole,
lower-cased, and split into their words; versions, addresses and codes (``v1.2.3``, ``E1001``) are kept whole. Width and
script are folded first. Costs: 3 MB of Chinese or English text a second on one core.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from operator import add

from kb_pipeline.text.folding import fold_script
from kb_pipeline.text.snowball import stem_english
from kb_pipeline.text.wordlists import word_set

ANALYSER_VERSION = "1"
"""Changes whenever the same text gives other tokens: an index made by another version is built anew."""

STOP_WORDS = word_set(
    """a about above after again all also am an and any are as at be because been before being below between both but
    by can could did do does doing down during each few for from further had has have having he her here hers herself
    him himself his how i if in into is it its itself just me more most my myself no nor not now of off on once only or
    other our ours ourselves out over own same she should so some such than that the their theirs them themselves then
    there these they this those through to too under until up very was we were what when where which while who whom why
    will with would you your yours yourself yourselves
    ain't aren't can't cannot couldn't didn't doesn't don't hadn't hasn't haven't i'd i'll i'm i've isn't it's let's
    mustn't shan't shouldn't that's there's they're wasn't we'll we're we've weren't what's who's won't wouldn't
    you'll you're you've"""
)

CJK = (
    "\u2e80-\u2fdf\u3005-\u3007\u3031-\u3035\u303b\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U000323af"
)
"""Ranges, for a character class, of the scripts that are written without blanks (radicals, kana, bopomofo, Hangul)."""

FIRST_CJK = "\u2e80"
"""Every token of those scripts sorts at or after this, every Latin one before."""

_LETTER = rf"[^\W_{CJK}]"
_RUN = re.compile(
    rf"[{CJK}]+"
    r"|\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?"
    rf"|{_LETTER}+(?:(?:[._\-/\\'’]|::|__+){_LETTER}+)*(?:\+\+|\#(?!{_LETTER}))?"
)
_JOINT = re.compile(r"[_\-/\\]+|::|\.")
_PATH_JOINT = re.compile(r"[/\\]+|::")
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_HUMP = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+|[^\WA-Za-z0-9_]+")
_NUMERIC = re.compile(r"v?\d+(?:[.\-_]\d+)*(?:[.\-_]?(?:a|b|rc|alpha|beta|dev|post|lts)[.\-]?\d*)?", re.IGNORECASE)


def analyse(text: str) -> list[str]:
    """Tokens of a text in order, repeats included. Stop words stand only where there is nothing else."""
    if not text.isascii():
        text = fold_script(unicodedata.normalize("NFKC", text))
    runs: list[str] = _RUN.findall(text)
    tokens: list[str] = []
    for run in runs:
        if run[0] < FIRST_CJK:
            tokens += _latin(run)
        elif len(run) == 1:
            tokens.append(run)
        else:
            tokens += run
            tokens += map(add, run, run[1:])
    return tokens or [run.lower() for run in runs]


@lru_cache(maxsize=100_000)
def _latin(run: str) -> tuple[str, ...]:
    """Tokens of one Latin run: a word, a number, or an identifier whole and split."""
    run = run.replace("’", "'")
    if "," in run:
        return (run.replace(",", ""),)
    if _NUMERIC.fullmatch(run):
        lowered = run.lower()
        return (lowered, lowered[1:]) if lowered[0] == "v" and "." in lowered else (lowered,)
    if run.isalpha() and not _CAMEL.search(run):
        return _word(run)
    return tuple(dict.fromkeys(_identifier(run)))


def _identifier(run: str) -> list[str]:
    tokens: list[str] = []
    name = run.removesuffix("++").removesuffix("#")
    if name != run:
        tokens.append(run.lower())
    pieces = _JOINT.split(name)
    if len(pieces) > 1:
        tokens.append(name.lower())
        parts = _PATH_JOINT.split(name)
        if len(parts) > 1:
            tokens += [part.lower() for part in parts if _JOINT.search(part)]
    for piece in pieces:
        tokens += _word(piece)
        if _CAMEL.search(piece):
            for hump in _HUMP.findall(piece):
                if 1 < len(hump) < len(piece):
                    tokens += _word(hump)
    return tokens


def _word(word: str) -> tuple[str, ...]:
    lowered = word.lower()
    if not lowered or lowered in STOP_WORDS:
        return ()
    return (stem_english(lowered) if lowered.isascii() else lowered,)
