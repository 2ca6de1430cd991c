"""How often a text says no, in Chinese and English (the negation gate of SPEC 6.3).

Belongs here: counting by normal form, so that 不可 and 禁止, "don't" and "do not", 不 and "not" compare equal. Does not
belong here: what a difference means (``rewriting.gates``).

Normal forms: ``not`` (不 未 無 沒 非, not no without), ``never`` (從不 絕不, never), ``forbidden`` (禁止 勿 不得 不可 不要, do not
must not cannot avoid), ``unless`` (除非 除外, unless except). A word counts once, for the longest form it holds.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from kb_pipeline.text.folding import fold
from kb_pipeline.text.wordlists import word_list

NOT = "not"
NEVER = "never"
FORBIDDEN = "forbidden"
UNLESS = "unless"

_CHINESE: dict[str, str] = {
    **dict.fromkeys(word_list("除非 除外"), UNLESS),
    **dict.fromkeys(
        word_list(
            "從不 从不 從未 从未 永不 絕不 绝不 決不 决不 絕非 绝非 從來不 从来不 從來沒 从来没 從沒 从没 永遠不 永远不"
        ),
        NEVER,
    ),
    **dict.fromkeys(
        word_list(
            "禁止 嚴禁 严禁 切勿 請勿 请勿 勿 不得 不可 不可以 不准 不許 不许 不允許 不允许 不能 不要 不應 不应 不應該 不应该 不該 不该"
            " 不宜 避免 毋 切莫 切忌 別再 别再 請別 请别 不建議 不建议"
        ),
        FORBIDDEN,
    ),
    **dict.fromkeys(
        word_list(
            "不 未 無 无 沒 没 沒有 没有 並未 并未 並非 并非 非 尚未 無法 无法 無須 无须 無需 无需 毋須 毋需 不用 不必 不需 不需要"
            " 不會 不会 不是 免除 免於"
        ),
        NOT,
    ),
}
"""Both scripts are listed so that a reader finds his own; they are compared folded."""

_INNOCENT = word_list(
    """不同 不過 不僅 不但 不只 不論 不管 不斷 不久 不妨 不錯 不如 不禁 不愧 不惜 不料 不時 不由 不光 不單 不然 不外乎 差不多 不得不
    不得已 不可或缺 不可避免 不二 不等 不少 不停 不免 不變 要不 要不然 好不容易 不好意思 不外 不下 不至於 不盡 不一 不一樣
    無論 無線 無限 無人機 無障礙 無狀態 無伺服器 無服務器 無頭 無縫 無疑 無數 無所謂 無痛 無償 無形
    未來 未免 未必 非常 非洲 非得 是非 非法 莫非 除非 非同小可 毋庸 沒錯 沒關係 沒問題"""
)
"""Words that hold a negating character without negating."""

_ENGLISH = re.compile(
    r"(?<![a-z0-9_])(?:(?P<unless>unless|except(?:ing)?(?!ion)|other\s+than)"
    r"|(?P<never>never|under\s+no\s+circumstances|at\s+no\s+time)"
    r"|(?P<forbidden>(?:must|may|should|shall|can)(?:\s+not|n['’]t)|do\s+not|don['’]t|cannot|can['’]t"
    r"|forbid(?:s|den)?|prohibit(?:s|ed)?|disallow(?:s|ed)?|avoid(?:s|ed)?|not\s+allowed|not\s+permitted)"
    r"|(?P<not>not(?!\s+only)|no(?!\.\s*\d)|none|nor|neither|nothing|nobody|nowhere|without|lacks?"
    r"|(?:is|are|was|were|does|did|has|have|had|would|could|wo|ai|need)n['’]t|unable|fails?\s+to))(?![a-z0-9_])"
)


@lru_cache(maxsize=1)
def _chinese() -> tuple[re.Pattern[str], dict[str, str]]:
    forms = {fold(word): form for word, form in _CHINESE.items()}
    words = {*forms, *(fold(word) for word in _INNOCENT if word not in _CHINESE)}
    ordered = sorted(words, key=lambda word: (-len(word), word))
    return re.compile("|".join(map(re.escape, ordered))), forms


def negations(text: str) -> Counter[str]:
    """Count of each of ``not``, ``never``, ``forbidden``, ``unless``; absent ones are absent from the counter."""
    folded = fold(text)
    found: Counter[str] = Counter()
    if not folded.isascii():
        pattern, forms = _chinese()
        found.update(forms[word] for word in pattern.findall(folded) if word in forms)
    for match in _ENGLISH.finditer(folded):
        found[match.lastgroup or NOT] += 1
    return found
