"""Technical notes that nobody wrote: Traditional Chinese mixed with English, about 2 KB each, the same for a seed.

Belongs here: raw documents, wiki pages and questions for the benchmarks. Does not belong here: measuring.

Each note has front matter, headings, prose, a list, a table, code, settings and links to other notes. Its names come
from a vocabulary of some thousands that are drawn as words are in real text (a few often, most rarely), since an index
or a duplicate search would look better than it is on notes that are all alike.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

AREAS = (
    "付款",
    "訂單",
    "通知",
    "會員",
    "庫存",
    "物流",
    "報表",
    "搜尋",
    "登入",
    "權限",
    "快取",
    "佇列",
    "排程",
    "備份",
    "監控",
    "日誌",
    "gateway",
    "billing",
    "shipping",
    "search",
    "auth",
    "cache",
    "queue",
    "backup",
    "metrics",
    "export",
)
ROLES = ("服務", "模組", "閘道", "代理程式", "工作", "worker", "API", "pipeline", "叢集", "資料庫")
TEAMS = ("平台組", "資料組", "支付組", "行動組", "SRE", "platform team", "data team")
SYLLABLES = [
    "ba",
    "ce",
    "di",
    "fo",
    "gu",
    "ha",
    "ji",
    "ko",
    "lu",
    "ma",
    "ne",
    "pi",
    "ro",
    "su",
    "ta",
    "ve",
    "wi",
    "xo",
    "yu",
    "za",
]
SIGNS = "安白本成達動分高光合回基建境開空連路明能平起清全日森時實水思泰通同外文無先新星元運正直中主資自"

CHINESE = (
    "{name} 的逾時設定為 {n} 秒，超過之後回傳 {code}，呼叫端必須自行重試，最多 {m} 次。",
    "正式環境的 {name} 不可以直接修改，所有變更都要經過 {team} 審查，並留下編號 CHG-{k}。",
    "每日 {h:02}:{mi:02} 由 {other} 執行清理，保留 {n} 天，超過的紀錄會移到 `s3://archive-{word}/{k}`。",
    "如果 {word} 出現 `{error}`，先確認 {other} 的連線數是否超過 {k}，再看 {name} 的佇列長度。",
    "設定檔在 `/etc/{word}/{slug}.yml`，變更之後要執行 `svc reload {slug}` 才會生效。",
    "{team} 在 {date} 把 {name} 從 {v} 升級到 {w}，升級前必須停掉 {other}，否則會遺失 {term} 的訊息。",
    "為了避免 {term} 重複送出，{name} 以 `{key}` 作為冪等鍵，有效時間 {m} 小時。",
    "{term} 的上限是每分鐘 {k} 次，超過會被 {other} 拒絕，直到下一個時段開始。",
    "這個問題的原因是 {other} 沒有釋放 {term} 的鎖，{team} 已在 {w} 修正，舊版需要手動解除。",
    "還原 {name} 需要 {m} 個步驟，演練每季一次，由 {team} 負責，紀錄放在 {term} 的頁面。",
)
ENGLISH = (
    "The {word} pool of {slug} holds {k} connections; a request waits at most {n} ms before it is refused with {code}.",
    "Never restart {slug} while {word} is draining: messages in flight are lost and have to be replayed by hand.",
    "Version {w} changed the default of `{key}` from {m} to {n}; set it explicitly when you depend on the old value.",
    "Owner of {slug} is the {team}; the on-call channel is #ops-{word} and pages go out after {m} failed probes.",
    "When {word} reports `{error}`, compare the lag of both replicas and fail over only if it is below {n} seconds.",
    "Credentials of {slug} rotate every {n} days; the rotation job writes {k} rows to the {word} audit table.",
)
HEADINGS = (
    "逾時與重試",
    "設定",
    "故障排除",
    "備份與還原",
    "Limits",
    "Deployment",
    "監控指標",
    "權限",
    "Rollback",
    "已知問題",
)
ERRORS = (
    "ECONNRESET",
    "deadline exceeded",
    "permission denied",
    "out of memory",
    "checksum mismatch",
    "too many open files",
)


@dataclass(frozen=True, slots=True)
class Note:
    """``path`` is relative to ``raw/``."""

    path: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class _Place:
    folder: str
    slug: str
    title: str


class Corpus:
    """``count`` notes. Note ``i`` depends on the seed, on ``i`` and, for its links, on ``count``."""

    def __init__(self, count: int, seed: int = 7) -> None:
        self.count = count
        self._seed = seed
        words = random.Random(f"{seed} words")
        self._words = sorted({"".join(words.choices(SYLLABLES, k=words.choice((2, 3, 3)))) for _ in range(3000)})
        self._terms = sorted({"".join(words.choices(SIGNS, k=words.choice((2, 2, 3)))) for _ in range(2000)})
        words.shuffle(self._words)
        words.shuffle(self._terms)
        self._places = [self._place(number) for number in range(count)]

    def notes(self) -> Iterator[Note]:
        for number in range(self.count):
            yield self.note(number)

    def note(self, number: int, *, revision: int = 0) -> Note:
        """The note, or a later ``revision`` of it, in which one sentence says something else."""
        draw = random.Random(f"{self._seed} {number}")
        place = self._places[number]
        day = date(2024, 1, 1) + timedelta(days=draw.randrange(800))
        parts = [f"---\ndate: {day}\n---\n# {place.title}\n", self._prose(draw, place, 3)]
        if revision:
            parts.append(f"第 {revision} 次修訂之後，{place.slug} 的寬限改為 {revision + 1} 分鐘。")
        for heading in draw.sample(HEADINGS, 3):
            parts.append(f"\n## {heading}\n")
            parts.append(self._prose(draw, place, 2))
            parts.append(draw.choice((self._list, self._table, self._code, self._links))(draw, place))
        return Note(f"{place.folder}/{place.slug}.md", place.title, "\n".join(parts) + "\n")

    def write(self, raw: Path) -> None:
        for note in self.notes():
            file = raw / note.path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(note.text, encoding="utf-8")

    def questions(self, count: int) -> list[str]:
        """What people type: a few words of one note each, in one language or both."""
        draw = random.Random(f"{self._seed} questions")
        asked = []
        for _ in range(count):
            place = self._places[draw.randrange(self.count)]
            asked.append(
                draw.choice(
                    (
                        f"{place.title} 逾時幾秒",
                        f"{self._rare(draw, self._terms)} 重複送出 怎麼處理",
                        f"{place.slug} connection pool limit",
                        f"why does {self._rare(draw, self._words)} report {draw.choice(ERRORS)}",
                        f"{self._rare(draw, self._words)} 的備份保留幾天，由誰負責還原？",
                        f"CHG-{draw.randrange(100, 9000)}",
                    )
                )
            )
        return asked

    def _place(self, number: int) -> _Place:
        draw = random.Random(f"{self._seed} place {number}")
        area, role = draw.choice(AREAS), draw.choice(ROLES)
        word = self._words[(number * 7) % len(self._words)]
        slug = f"{word}-{number}"
        return _Place(f"team-{number % 23:02}/area-{number % 7}", slug, f"{word} {area}{role} {number}")

    def _rare(self, draw: random.Random, words: list[str]) -> str:
        """Few words often, most of them seldom."""
        return words[int(len(words) * draw.random() ** 3)]

    def _prose(self, draw: random.Random, place: _Place, count: int) -> str:
        return "\n".join(self._sentence(draw, place) for _ in range(count)) + "\n"

    def _sentence(self, draw: random.Random, place: _Place) -> str:
        pattern = draw.choice(CHINESE if draw.random() < 0.65 else ENGLISH)
        return pattern.format(
            name=place.title,
            slug=place.slug,
            other=f"{self._rare(draw, self._words)}-{draw.randrange(40)}",
            word=self._rare(draw, self._words),
            term=self._rare(draw, self._terms),
            team=draw.choice(TEAMS),
            key=f"{self._rare(draw, self._words)}_{draw.choice(('limit', 'timeout_ms', 'retries', 'window'))}",
            error=draw.choice(ERRORS),
            code=draw.choice((429, 500, 502, 503, 504)),
            n=draw.randrange(2, 120),
            m=draw.randrange(2, 12),
            k=draw.randrange(100, 9000),
            h=draw.randrange(24),
            mi=draw.randrange(60),
            v=f"v{draw.randrange(1, 4)}.{draw.randrange(20)}.0",
            w=f"v{draw.randrange(4, 9)}.{draw.randrange(20)}.1",
            date=date(2024, 1, 1) + timedelta(days=draw.randrange(800)),
        )

    def _list(self, draw: random.Random, place: _Place) -> str:
        return "\n".join(f"- {self._sentence(draw, place)}" for _ in range(3)) + "\n"

    def _table(self, draw: random.Random, place: _Place) -> str:
        rows = "\n".join(
            f"| `{self._rare(draw, self._words)}_{draw.randrange(90)}` | {draw.randrange(1, 900)} | {self._rare(draw, self._terms)} |"
            for _ in range(4)
        )
        return f"| 設定 | 預設值 | 說明 |\n|---|---|---|\n{rows}\n"

    def _code(self, draw: random.Random, place: _Place) -> str:
        word = self._rare(draw, self._words)
        return (
            f"```bash\nkubectl -n {word} rollout restart deploy/{place.slug}\n"
            f"curl -fsS http://{word}.internal:{draw.randrange(2000, 9999)}/healthz\n```\n"
        )

    def _links(self, draw: random.Random, place: _Place) -> str:
        lines = []
        for _ in range(2):
            other = self._places[draw.randrange(self.count)]
            lines.append(f"- 參考 [{other.title}](../../{other.folder}/{other.slug}.md)：{self._sentence(draw, place)}")
        return "\n".join(lines) + "\n"
