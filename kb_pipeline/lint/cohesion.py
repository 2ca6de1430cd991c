"""Whether the H2 sections of a page have a term in common (SPEC 9: a page that answers unrelated questions).

Its terms are rough on purpose: Latin words and pairs of CJK characters without function words, taken as written. The
analyser of the index is several times dearer, and this runs on each page at each lint.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb_pipeline.lint import catalogue as rules
from kb_pipeline.lint.vocabulary import folded, word_set
from kb_pipeline.models import Finding, WikiPage

STRUCTURAL = word_set(
    """
    引數 參數 語法 傳回 傳回值 範例 例子 用法 先決條件 前置條件 必要條件 後續步驟 下一步 限制 備註 附註 參考 參考資料 相關內容 相關連結
    另請參閱 變更紀錄 arguments parameters syntax returns example examples usage prerequisites requirements next-steps
    limitations notes remarks references related see-also links changelog
    """
)
"""Headings that name a part of any page and not a subject."""

LEAST_SECTION = 80
"""Code points of an H2 with its sub-sections; shorter ones say too little to be called unrelated."""

_WORD = re.compile(r"[a-z0-9]{3,}|[\u3400-\u4dbf\u4e00-\u9fff]{2,}")
_FUNCTION = str.maketrans(
    dict.fromkeys(
        "的了是在和與或及並也都就不未無有可以這那會要請將被於從到對把讓由因為所而且但如若則其之此該每各個時後前中上下內外一二三",
        " ",
    )
)
_STOP = word_set(
    "the and for that this with from are was were not but you your can will have has had its all any one two our their "
    "they them then than when what which who how why where there here only also into over under each per via use used "
    "using should must may more most other some such very just https http www com"
)


def _terms(text: str) -> set[str]:
    found: set[str] = set()
    for run in _WORD.findall(text.lower().translate(_FUNCTION)):
        if run.isascii():
            found.add(run)
        else:
            found.update(map(str.__add__, run, run[1:]))
    return found - _STOP


def _h2_sections(page: WikiPage) -> list[tuple[str, int, str]]:
    """(heading, line, text with all sub-sections) of each H2."""
    found: list[tuple[str, int, list[str]]] = []
    for section in page.outline.sections:
        if section.level == 2:
            found.append((section.title, section.line, [section.title, section.text]))
        elif section.level > 2 and found:
            found[-1][2].extend((section.title, section.text))
    return [(heading, line, "\n".join(parts)) for heading, line, parts in found]


def cohesion_rules(page: WikiPage) -> Iterator[Finding]:
    """One finding for each H2 that shares no term with the title or any other H2."""
    if page.kind == "index":
        return
    sections = _h2_sections(page)
    if len(sections) < 2:
        return
    title = _terms(page.title)
    loose = [
        index
        for index, (heading, _, text) in enumerate(sections)
        if len(text) >= LEAST_SECTION and not _structural(heading) and not any(term in text.lower() for term in title)
    ]
    if not loose:
        return  # The common case: each section names the page's subject, and no terms need be collected.
    terms = [_terms(text) for _, _, text in sections]
    for index in loose:
        if all(terms[index].isdisjoint(other) for place, other in enumerate(terms) if place != index):
            heading, line, _ = sections[index]
            yield rules.SECTIONS_UNRELATED.at(page, line=line, heading=heading)


def _structural(heading: str) -> bool:
    return folded(heading).strip(" :：").replace(" ", "-") in STRUCTURAL
