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
from kb_pipeline.rewriting.inline import plain
from kb_pipeline.rewriting.language import has_cjk
from kb_pipeline.rewriting.splitting import Part
from kb_pipeline.rewriting.structure import Section, is_generic
from kb_pipeline.text.folding import fold
from kb_pipeline.text.glossary import Glossary

FEWEST, MOST = 3, 12
_LONGEST = 40
_WRITTEN = 12.0
"""Weight of the author's own keywords: above all that is found."""

_LATIN_STOP = frozenset(
    # Function words, and words that stand in every manual: nobody finds one page among many by them.
    "a able about above access add after all allow also am an and another any app application apply are article as at "
    "available back basic be because been before being below best between both but by can case change check click code "
    "command commands common complete configuration configure contains could create data default define delete details "
    "did different do document does doing done down each edit either else enable end ensure error errors etc every "
    "example examples existing false few file files find first follow following for format from full function get give "
    "go good guide had handle has have having help here high how however http https if important in include including "
    "info information input instance instead into is issue issues it item its just keep know known last later learn left "
    "less let level like line link list local log logs look low made make manage many may me mean message method might "
    "more most move much must my name need never new next no none not note notes now number of off often ok old on once "
    "one only open option optional options or order other our out output over own page parameter part parts path per "
    "point possible prerequisites process provide put query read reason recommended reference related remove required "
    "requirement result results return right run running same sample sections section see select set setting settings "
    "setup several should show simple since single size so some source specific specified start state status step steps "
    "still stop string such sure system table take tell test text than that the their them then there these they thing "
    "this those through time times to todo too true try two type types under up update upon us usage use used user users "
    "uses using value values various version very via view want was way we well were what when where whether which while "
    "who why will with within without work works would write yes yet you your readme index md www com org net html".split()
)
_CJK_STOP = re.compile(
    r"的|了|在|是|和|與|及|或|為|於|以|將|可以|可|請|若|如果|您|你|我們|我|他|它|這|那|此|其|該|個|些|種|有|不|未|無|會|要|能|並|而"
    r"|但|也|都|就|從|到|由|被|把|讓|使|對|向|等|所有|所|每|各|之|則|至|後|前|時|中|上|下|內|外|如何|什麼|哪|何|一|二|三|兩"
)
_CJK_NOISE = frozenset(
    "使用 進行 設定 建立 如下 下列 以下 以上 說明 內容 相關 介紹 範例 步驟 結果 問題 方法 方式 功能 資料 資訊 文件 注意 選取 選擇 新增 "
    "刪除 修改 更新 指定 提供 支援 需要 必須 應該 目前 現在 已經 其他 不同 多個 一個 本文 章節 概述 總覽 簡介 背景 目的 結論 參考 執行 處理 "
    "產生 包含 包括 允許 啟用 輸入 輸出 類型 名稱 參數 描述 傳回 查詢 預設 命令 語法 引數 必要 備註 另外 因此 之後 之前 開始 完成 情況 部分 "
    "先決條件 後續 後續步驟 詳細 詳細資訊 更多 表示 作為 同時 例如 透過 根據 關於 所需 適用 格式".split()
)
_PAREN = re.compile(r"[（(]\s*([^（()）\n]{2,50}?)\s*[)）]")
_BEFORE_PAREN = re.compile(r"[\u4e00-\u9fffA-Za-z0-9][\u4e00-\u9fffA-Za-z0-9 .+/_-]*\s*$")
_ABBREVIATION = re.compile(r"(?<![A-Za-z0-9_])[A-Z][A-Z0-9]{1,5}(?:[-/][A-Z0-9]{1,6})?(?![A-Za-z0-9_])")
_NOT_ABBREVIATION = frozenset("TODO NOTE OK AND OR NOT THE FOR YES NO FAQ DO IF IN TO WIP TBD FIXME NB IMPORTANT WARNING TIP CAUTION".split())
_IDENTIFIER = re.compile(r"`([A-Za-z][\w./:-]{2,38})`")
_COMPOUND = re.compile(
    r"(?<![\w/.-])(?:[A-Za-z][a-z0-9]+[A-Z][A-Za-z0-9]*|[a-z][a-z0-9]*(?:[_-][a-z0-9]+)+|[A-Z]{2,}(?:_[A-Z0-9]+)+)(?![\w/-])"
)
_LATIN_WORD = re.compile(r"[A-Za-z][A-Za-z0-9.+#]*(?:[-_][A-Za-z0-9]+)*[A-Za-z0-9+#]|[A-Za-z]")
_ADDRESS = re.compile(r"https?://\S+|(?:[\w-]+\.){2,}[\w-]+|(?<!\w)(?:\.{0,2}/)?[\w.-]+/[\w./-]+")
_CJK_RUN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]{2,}")


@dataclass(slots=True)
class _Bag:
    """Candidates by folded form, with their weight and the form first seen; insertion order breaks ties."""

    weights: dict[str, float]
    written: dict[str, str]

    def add(self, term: str, weight: float) -> None:
        term = term.strip(" .,:;，。、：；-_/'\"“”*`")
        if not 2 <= len(term) <= _LONGEST or not re.search(r"[^\W\d_]", term):
            return
        key = fold(term)
        self.written.setdefault(key, term)
        self.weights[key] = self.weights.get(key, 0.0) + weight


@dataclass(frozen=True, slots=True)
class DocumentTerms:
    """What is counted once for all pages of a document: how often each Chinese word-like piece is said."""

    cjk: Counter[str]
    words: tuple[tuple[str, int], ...]
    """The most frequent of them that are words of their own."""

    @classmethod
    def of(cls, text: str) -> DocumentTerms:
        counts = _cjk_counts(text)
        return cls(counts, tuple(_cjk_words(counts)))


def choose_keywords(
    *,
    lines: Sequence[tuple[str, float]],
    part: Part,
    document: str,
    terms: DocumentTerms,
    file_name: str,
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
        for term in _line_terms(line, terms.cjk):
            bag.add(term, weight if weight > 2 or not term.isascii() or not term.islower() else weight / 2)
    titles = "\n".join(line for line, _ in lines)
    words = plain_lines(f"{titles}\n{text}")
    for term, inner in _parenthesised(words):
        bag.add(term, 2.2)
        bag.add(inner, 2.2)
    _frequent(bag, text, words, terms.words)
    _add_glossary(bag, glossary, f"{titles}\n{text}")
    chosen = _ranked(bag)
    if len(chosen) < FEWEST:
        for term in _fallback(titles, document, file_name):
            bag.add(term, 0.01)
        chosen = _ranked(bag)
    return tuple(chosen)


def _ranked(bag: _Bag) -> list[str]:
    order = {key: place for place, key in enumerate(bag.weights)}
    ranked = sorted(bag.weights, key=lambda key: (-bag.weights[key], order[key]))
    chosen: list[str] = []
    for key in ranked:
        if len(chosen) >= MOST:
            break
        # A shorter Chinese word inside a longer chosen one is found by substring anyway.
        if has_cjk(key) and bag.weights[key] < _WRITTEN and any(key in fold(other) for other in chosen):
            continue
        chosen.append(bag.written[key])
    return chosen


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
        words = [word for word in run.split() if word.casefold().strip(".'") not in _LATIN_STOP]
        if 2 <= len(words) <= 3 and len(words) == len(run.split()):
            yield run
        yield from (word for word in words if len(word) > 1 and not word.endswith("ing"))
    for run in _CJK_RUN.findall(line):
        for chunk in _CJK_STOP.split(run):
            yield from _cjk_terms(chunk, counts)


def _cjk_terms(chunk: str, counts: Counter[str]) -> Iterator[str]:
    """Chinese has no word edges: a short chunk is a term, a long one is cut where both halves are said elsewhere."""
    if len(chunk) < 2 or chunk in _CJK_NOISE:
        return
    if len(chunk) > 3:
        cut = max(range(2, len(chunk) - 1), key=lambda k: min(counts[chunk[:k]], counts[chunk[k:]]))
        apart = min(counts[chunk[:cut]], counts[chunk[cut:]])
        if apart >= 2 and apart > (1.2 if len(chunk) > 4 else 3) * counts[chunk]:
            yield from _cjk_terms(chunk[:cut], counts)
            yield from _cjk_terms(chunk[cut:], counts)
            return
        for noise in (chunk[:2], chunk[:3]):
            if noise in _CJK_NOISE and len(chunk) - len(noise) >= 2 and counts[chunk] <= 1:
                yield from _cjk_terms(chunk[len(noise) :], counts)
                return
    if len(chunk) <= 8:
        yield chunk


def _cjk_counts(text: str) -> Counter[str]:
    """Chunks between function words, with their beginnings and ends: a word stands at an edge sooner or later."""
    found: list[str] = []
    for run in _CJK_RUN.findall(text[:40_000]):
        for chunk in _CJK_STOP.split(run):
            length = len(chunk)
            if length < 2:
                continue
            found.append(chunk[:12])
            for size in range(2, min(7, length)):
                found += (chunk[:size], chunk[-size:])
    return Counter(found)


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
            if not has_cjk(inner) or (len(inner) <= 6 and not _CJK_STOP.search(inner)):
                yield _last_cjk(term), inner
        elif inner.isupper() or has_cjk(inner):
            yield _expansion(term, inner), inner


def plain_lines(text: str) -> str:
    """Links and code without their marks, line by line."""
    return re.sub(r"\]\([^)\s]*\)|\]\[[^\]\n]*\]|[\[`*]|\]", "", text)


def _is_sentence(text: str) -> bool:
    words = text.split()
    return len(words) > 4 or bool(re.search(r"[,，。;；:：=<>]|\b(?:is|are|e\.g|i\.e|see|the|if|or|and)\b", text, re.I))


def _last_cjk(term: str) -> str:
    """The Chinese words right before a parenthesis, without the sentence that leads to them."""
    chunk = re.split(r"[^\u4e00-\u9fffA-Za-z0-9 .+-]", term)[-1]
    runs = _CJK_RUN.findall(chunk)
    if not runs or not chunk.rstrip().endswith(runs[-1]):
        return chunk if len(chunk) <= 24 else ""
    last = [piece for piece in _CJK_STOP.split(runs[-1]) if piece]
    word = last[-1] if last else ""
    return word if 2 <= len(word) <= 8 and word not in _CJK_NOISE else ""


def _expansion(term: str, inner: str) -> str:
    """The words that an abbreviation stands for: as many as it has letters, if they begin with them."""
    words = re.split(r"[\s-]+", term)
    letters = re.sub(r"[^A-Za-z]", "", inner)
    tail = words[-len(letters) :] if 2 <= len(letters) <= len(words) else []
    if tail and "".join(word[:1] for word in tail).casefold() == letters.casefold():
        return " ".join(tail)
    return words[-1] if has_cjk(inner) and words[-1].casefold() not in _LATIN_STOP else ""


def _frequent(bag: _Bag, text: str, words: str, cjk: Sequence[tuple[str, int]]) -> None:
    """Identifiers, abbreviations, compounds and words that a page says again and again."""
    for term, count in Counter(_IDENTIFIER.findall(text)).items():
        if not re.search(r"\.\.|//|^\W|:$", term):
            bag.add(term, 0.5 + 0.35 * min(count, 6))
    words = _ADDRESS.sub(" ", words)
    for term, count in Counter(_ABBREVIATION.findall(words)).items():
        if term not in _NOT_ABBREVIATION and term.casefold() not in _LATIN_STOP:
            bag.add(term, 0.4 + 0.3 * min(count, 6))
    for term, count in Counter(_COMPOUND.findall(words)).items():
        bag.add(term, 0.2 + 0.3 * min(count, 6))
    for term, count in Counter(_LATIN_WORD.findall(words)).items():
        if count >= (3 if term.islower() else 2) and len(term) > 2 and term.casefold() not in _LATIN_STOP:
            bag.add(term, (0.12 if term.endswith(("ing", "ed")) else 0.2) * min(count, 8))
    for term, count in cjk:
        here = words.count(term)
        if here >= 2:
            bag.add(term, 0.12 * min(here, count, 10) * (len(term) - 1) ** 0.5)


def _cjk_words(cjk: Counter[str]) -> list[tuple[str, int]]:
    """The most frequent pieces that are words: not part of a longer one that is said nearly as often."""
    often = [(term, count) for term, count in cjk.most_common(120) if count >= 3 and len(term) <= 8]
    kept: list[tuple[str, int]] = []
    for term, count in often:
        inside = any(term in other and term != other and number >= 0.6 * count for other, number in often)
        if not inside and term not in _CJK_NOISE and term[:2] not in _CJK_NOISE and term[-2:] not in _CJK_NOISE:
            kept.append((term, count))
    return kept[:30]


def _add_glossary(bag: _Bag, glossary: Glossary, text: str) -> None:
    if not glossary:
        return
    folded = fold(text)
    for entry in glossary.terms_in(text):
        weight = 1.2 + 0.3 * min(4, max(folded.count(fold(form)) for form in entry.forms))
        for form in entry.proper_forms:
            bag.add(form, weight)


def _fallback(title: str, document: str, file_name: str) -> Iterator[str]:
    """For a document with hardly a term: words of its title, name and text as they come."""
    stem = re.sub(r"\.(?:md|markdown|mdx|txt)$", "", file_name, flags=re.IGNORECASE)
    for text in (title, stem, plain_lines(document)[:3000]):
        yield from (word for word in _LATIN_WORD.findall(text) if word.casefold() not in _LATIN_STOP and len(word) > 1)
        for run in _CJK_RUN.findall(text):
            yield from (piece for piece in _CJK_STOP.split(run) if 2 <= len(piece) <= 8)
    for text in (title, stem, plain_lines(document)[:3000]):
        yield from (word for word in _LATIN_WORD.findall(text) if len(word) > 1)
        yield from (run[:4] for run in _CJK_RUN.findall(text))
        yield from re.findall(r"[^\W\d_]{2,}", text)
