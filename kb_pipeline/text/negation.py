"""How often a text says no, in Chinese and English (the negation gate of SPEC 6.3).

Belongs here: counting by normal form, so that 不可 and 禁止, "don't" and "do not" compare equal. Does not belong here:
what a difference means (``rewriting.gates``).
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from kb_pipeline.text.folding import fold

NOT = "not"
NEVER = "never"
FORBIDDEN = "forbidden"
UNLESS = "unless"

# Words that hold a negating character and do not negate. Folded: Simplified characters.
_INNOCENT = """不同 不过 不仅 不但 不只 不论 不管 不断 不久 不妨 不错 不如 不久 不禁 不愧 不惜 不料 不时 不由 不光 不单 不独 不然
不外乎 差不多 不得不 不得已 不可或缺 不可避免 不二 不等 不少 不停 不免 要不 要不然 好不容易 不好意思 不变量 不妨碍
无论 无线 无限 无人机 无障碍 无状态 无服务器 无头 无缝 无疑 无数 无所谓 无意间
未来 未免 未婚
非常 非洲 非得 是非 非法 并非不 莫非 绝非偶然
别人 别的 别名 别处 别墅 区别 分别 个别 类别 级别 识别 辨别 性别 特别 差别 告别 鉴别 有别 派别 别针 别称 判别 国别 组别
没错 沒错""".split()

_CHINESE: dict[str, str] = {
    **dict.fromkeys("除非 除了 除外".split(), UNLESS),
    **dict.fromkeys("从不 从未 永不 绝不 决不 绝非 从来不 从来没 从没 永远不".split(), NEVER),
    **dict.fromkeys(
        "禁止 严禁 切勿 请勿 勿 不得 不可 不可以 不准 不许 不允许 不能 不要 不应 不应该 不该 不宜 避免 毋 莫 别 切莫 切忌 禁用 不建议".split(),
        FORBIDDEN,
    ),
    **dict.fromkeys("不 未 无 没 没有 并未 并非 非 尚未 无法 无须 无需 毋须 不用 不必 不需 不需要 不会 不是 免".split(), NOT),
    "无须": NOT,
}
_ENGLISH = re.compile(
    r"\b(?:(?P<unless>unless|except(?:ing)?|other\s+than)"
    r"|(?P<never>never|under\s+no\s+circumstances|at\s+no\s+time)"
    r"|(?P<forbidden>(?:must|may|should|shall|can)(?:\s+not|n['’]?t)\b|do\s+not|don['’]?t|cannot|can['’]t|forbid(?:s|den)?|prohibit(?:s|ed)?"
    r"|disallow(?:s|ed)?|avoid(?:s|ed)?|not\s+allowed|not\s+permitted)"
    r"|(?P<not>not|no(?!\.\s*\d)|none|nor|neither|nothing|nobody|nowhere|without|lacks?|(?:is|are|was|were|does|did|has|have|had|would|could|wo|ai)n['’]?t|unable|fails?\s+to))\b"
)


@lru_cache(maxsize=1)
def _chinese() -> re.Pattern[str]:
    words = sorted({*_INNOCENT, *_CHINESE}, key=lambda word: (-len(word), word))
    return re.compile("|".join(map(re.escape, words)))


def negations(text: str) -> Counter[str]:
    """Count of each of ``not``, ``never``, ``forbidden``, ``unless``; absent ones are absent from the counter."""
    folded = fold(text)
    found: Counter[str] = Counter()
    if not folded.isascii():
        for match in _chinese().finditer(folded):
            form = _CHINESE.get(match.group())
            if form is not None:
                found[form] += 1
    for match in _ENGLISH.finditer(folded):
        found[match.lastgroup or NOT] += 1
    return found
