"""Terms of Chinese text without a dictionary: what stands between function words, and how often.

Belongs here: cutting runs of Chinese characters into likely words. Does not belong here: which of them describe a page
(``keywords``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from kb_pipeline.rewriting.vocabulary import CHINESE_NOISE, CHINESE_VERBS

LONGEST_TERM = 8
_COUNTED = 40_000

RUN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]{2,}")
"""Two or more Chinese characters."""

FUNCTION_WORDS = re.compile(
    r"[的了在是和與或於于您你我他她它這那此該些並也都就把被讓]|及(?!格|時)|為(?!止)|以(?!太|色)|將(?!軍)|從(?!屬)|由(?!來)|(?<![拿提高達])到(?!期|達)"
    r"|(?<!未|原)來(?!源|自|回|電)|可(?:以|讓)|請|如果|若|如何|什麼|哪些?|所有|某些|已(?!讀|知)|不(?:會|能|是|要|用)|會(?![議員話計])|而(?!已)|但|其(?!他)"
    r"|則(?=[會是將])|各(?:個|種)|每個|一(?:個|些|種|項|般)|兩個|以及|適用|例如|比如|因此|因為|所以|然後|接著|只有|只要|就是|沒有"
)
"""Where a run is cut: words that are part of no term."""

_LOOSE = re.compile(
    r"^(?:用(?![戶於途量法語例])|供(?![應給需])|先(?![前決])|對(?![應象話稱外])|要(?![求素點])|有(?![效關限害序無機])|[與及還再])|[中內裡至]$"
)
"""Single characters at the edge of a chunk that are rarely part of a term."""

_VERB = re.compile("|".join(CHINESE_VERBS))


def terms_of(chunk: str, counts: Counter[str]) -> Iterator[str]:
    """Chinese has no word edges: a short chunk is a term, a long one is cut where both halves are said elsewhere."""
    chunk = bare_term(chunk)
    if len(chunk) < 2 or chunk in CHINESE_NOISE:
        return
    if len(chunk) > 3:
        cut = max(range(2, len(chunk) - 1), key=lambda k: min(counts[chunk[:k]], counts[chunk[k:]]))
        apart = min(counts[chunk[:cut]], counts[chunk[cut:]])
        if apart >= 2 and apart > (1.2 if len(chunk) > 4 else 3) * counts[chunk]:
            yield from terms_of(chunk[:cut], counts)
            yield from terms_of(chunk[cut:], counts)
            return
    if len(chunk) <= LONGEST_TERM:
        yield chunk


def bare_term(chunk: str) -> str:
    """A chunk without the verbs and single characters that stand before a term."""
    while True:
        bare = _LOOSE.sub("", chunk)
        verb = _VERB.match(bare)
        bare = bare[verb.end() :] if verb else bare
        if bare == chunk or len(bare) < 2:
            return chunk
        chunk = bare


def count_pieces(text: str) -> Counter[str]:
    """Chunks between function words, with their beginnings and ends: a word stands at an edge sooner or later."""
    found: list[str] = []
    for run in RUN.findall(text[:_COUNTED]):
        for chunk in FUNCTION_WORDS.split(run):
            chunk = bare_term(chunk)  # noqa: PLW2901 - the same chunk without what surrounds it
            length = len(chunk)
            if length < 2:
                continue
            found.append(chunk[:12])
            for size in range(2, min(7, length)):
                found += (chunk[:size], chunk[-size:])
    return Counter(found)


def frequent_words(pieces: Counter[str]) -> list[tuple[str, int]]:
    """The most frequent pieces that are words: not part of a longer one that is said nearly as often."""
    often = [(term, count) for term, count in pieces.most_common(120) if count >= 3 and len(term) <= LONGEST_TERM]
    kept: list[tuple[str, int]] = []
    for term, count in often:
        inside = any(term in other and term != other and number >= 0.6 * count for other, number in often)
        if (
            not inside
            and term not in CHINESE_NOISE
            and term[:2] not in CHINESE_NOISE
            and term[-2:] not in CHINESE_NOISE
        ):
            kept.append((term, count))
    return kept[:30]
