"""Text → tokens, alike for index and query (SPEC 13, keyword).

Belongs here: what a token is. Does not belong here: weights, synonyms, the index.

Chinese, Japanese and Korean runs give each character and each pair of neighbours. Latin words are lower-cased, freed of
English stop words and stemmed. Identifiers (snake_case, camelCase, dotted.path, kebab-case, a/path) are kept whole,
lower-cased, and split into their words; versions, addresses and codes (``v1.2.3``, ``E1001``) are kept whole. Script
and width are folded first. Costs: about 2 MB of mixed text a second on one core.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from kb_pipeline.text.folding import traditional_to_simplified
from kb_pipeline.text.snowball import stem_english

ANALYSER_VERSION = "1"
"""Changes whenever the same text gives other tokens: an index made by another version is built anew."""

STOP_WORDS = frozenset(
    """a about above after again all also am an and any are as at be because been before being below between both but
    by can could did do does doing down during each few for from further had has have having he her here hers herself
    him himself his how i if in into is it its itself just me more most my myself no nor not now of off on once only or
    other our ours ourselves out over own same she should so some such than that the their theirs them themselves then
    there these they this those through to too under until up very was we were what when where which while who whom why
    will with would you your yours yourself yourselves
    ain't aren't can't cannot couldn't didn't doesn't don't hadn't hasn't haven't i'd i'll i'm i've isn't it's let's
    mustn't shan't shouldn't that's there's they're wasn't we'll we're we've weren't what's who's won't wouldn't
    you'll you're you've""".split()
)

_CJK = "\u2e80-\u2fdf\u3005-\u3007\u3031-\u3035\u303b\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U000323af"  # noqa: E501
_LETTER = rf"[^\W_{_CJK}]"
_RUN = re.compile(
    rf"[{_CJK}]+"
    rf"|\d{{1,3}}(?:,\d{{3}})+(?![\d,])(?:\.\d+)?"
    rf"|{_LETTER}+(?:(?:[._\-/\\'’]|::|__+){_LETTER}+)*(?:\+\+|\#(?!{_LETTER}))?"
)
_FIRST_CJK = "\u2e80"
_JOINT = re.compile(r"[_\-/\\]+|::|\.")
_PATH_JOINT = re.compile(r"[/\\]+|::")
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_HUMP = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+|[^\WA-Za-z0-9_]+")
_NUMERIC = re.compile(r"v?\d+(?:[.\-_]\d+)*(?:[.\-_]?(?:a|b|rc|alpha|beta|dev|post|m|lts)[.\-]?\d*)?", re.IGNORECASE)


def analyse(text: str) -> list[str]:
    """Tokens of a text in order, repeats included. Stop words only where there is nothing else."""
    tokens: list[str] = []
    append, extend = tokens.append, tokens.extend
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(traditional_to_simplified())
    for run in _RUN.findall(text):
        if run[0] >= _FIRST_CJK and not run[0].isascii() and _is_cjk(run[0]):
            if len(run) == 1:
                append(run)
            else:
                extend(run)
                extend(map(str.__add__, run, run[1:]))
        else:
            extend(_latin(run))
    if tokens:
        return tokens
    return [word for run in _RUN.findall(text) for word in (run.lower(),)]


def _is_cjk(char: str) -> bool:
    return char >= _FIRST_CJK


@lru_cache(maxsize=200_000)
def _latin(run: str) -> tuple[str, ...]:
    """Tokens of one Latin run: a word, a number, or an identifier whole and split."""
    run = run.replace("’", "'")
    if "," in run:
        return (run.replace(",", ""),)
    if run.isalpha() and not _CAMEL.search(run):
        return _word(run)
    if _NUMERIC.fullmatch(run):
        lowered = run.lower()
        return (lowered, lowered[1:]) if lowered[0] == "v" and "." in lowered else (lowered,)
    return tuple(dict.fromkeys(_compound(run)))


def _compound(run: str) -> list[str]:
    tokens: list[str] = []
    suffix = "++" if run.endswith("++") else "#" if run.endswith("#") else ""
    if suffix:
        tokens.append(run.lower())
        run = run[: -len(suffix)]
    pieces = _JOINT.split(run)
    if len(pieces) > 1:
        tokens.append(run.lower())
        names = _PATH_JOINT.split(run)
        if len(names) > 1:
            tokens.extend(name.lower() for name in names if _JOINT.search(name))
    for piece in pieces:
        tokens.extend(_word(piece))
        if _CAMEL.search(piece):
            for hump in _HUMP.findall(piece):
                if len(hump) > 1 and len(hump) < len(piece):
                    tokens.extend(_word(hump))
    return tokens


def _word(word: str) -> tuple[str, ...]:
    lowered = word.lower()
    if not lowered or lowered in STOP_WORDS:
        return ()
    return (stem_english(lowered) if lowered.isascii() else lowered,)
