"""Facts of a text: which, of what kind, where, in what normal form (SPEC 1, 6.3)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.models import FactKind
from kb_pipeline.text.facts import extract_facts

NUMBER, DATE, VERSION = FactKind.NUMBER, FactKind.DATE, FactKind.VERSION
IDENTIFIER, URL, COMMAND, PATH, SETTING = (
    FactKind.IDENTIFIER,
    FactKind.URL,
    FactKind.COMMAND,
    FactKind.PATH,
    FactKind.SETTING,
)


def facts(text: str) -> list[tuple[FactKind, str]]:
    return [(fact.kind, fact.normal) for fact in extract_facts(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # numbers with unit
        ("逾時為 5 分鐘", [(NUMBER, "5 min")]),
        ("逾時為５分鐘", [(NUMBER, "5 min")]),
        ("a 5-minute timeout", [(NUMBER, "5 min")]),
        ("within 5min", [(NUMBER, "5 min")]),
        ("每五分鐘輪替", [(NUMBER, "5 min")]),
        ("every five minutes", [(NUMBER, "5 min")]),
        ("共 1,000 筆", [(NUMBER, "1000 record")]),
        ("共１，０００筆", [(NUMBER, "1000 record")]),
        ("1000 records", [(NUMBER, "1000 record")]),
        ("3 萬筆", [(NUMBER, "30000 record")]),
        ("3.5 萬人", [(NUMBER, "35000 person")]),
        ("預算 50 萬", [(NUMBER, "500000")]),
        ("10k requests", [(NUMBER, "10000")]),
        ("佔 50%", [(NUMBER, "50 %")]),
        ("佔５０％", [(NUMBER, "50 %")]),
        ("50 percent", [(NUMBER, "50 %")]),
        ("百分之五十", [(NUMBER, "50 %")]),
        ("百分之 99.9", [(NUMBER, "99.9 %")]),
        ("1.50 秒", [(NUMBER, "1.5 s")]),
        ("5–10 分鐘", [(NUMBER, "5 min"), (NUMBER, "10 min")]),
        ("5 到 10 分鐘", [(NUMBER, "5 min"), (NUMBER, "10 min")]),
        ("5 to 10 minutes", [(NUMBER, "5 min"), (NUMBER, "10 min")]),
        ("一個半小時", [(NUMBER, "1.5 h")]),
        ("三個月後", [(NUMBER, "3 month")]),
        ("512 MB 記憶體", [(NUMBER, "512 mb")]),
        ("100 MB/s", [(NUMBER, "100 mb/s")]),
        ("2 次/秒", [(NUMBER, "2 time/s")]),
        ("NT$1,200", [(NUMBER, "1200 twd")]),
        ("1,200 元", [(NUMBER, "1200 twd")]),
        ("US$5", [(NUMBER, "5 usd")]),
        ("-5°C", [(NUMBER, "-5 °c")]),
        ("64 位元", [(NUMBER, "64 bit")]),
        ("64位處理器", [(NUMBER, "64 bit")]),
        ("解析度 1920×1080", [(NUMBER, "1920x1080")]),
        ("連接埠 8401", [(NUMBER, "port 8401")]),
        ("on port 8401", [(NUMBER, "port 8401")]),
        ("回 HTTP 429", [(NUMBER, "http 429")]),
        ("狀態碼為 503", [(NUMBER, "http 503")]),
        ("3 個副本", [(NUMBER, "3 replica")]),
        ("3 replicas", [(NUMBER, "3 replica")]),
        ("最多重試 3 次", [(NUMBER, "3 time")]),
        ("連接埠 (8300)", [(NUMBER, "port 8300")]),
        ("**目的地埠**：443", [(SETTING, "port 443")]),
        ("出現 error 502", [(NUMBER, "http 502")]),
        ("共 500000筆記錄", [(NUMBER, "500000 record")]),
        ("面積 16 平方公里", [(NUMBER, "16 km2")]),
        # dates and times
        ("2026-08-18", [(DATE, "2026-08-18")]),
        ("2026/8/18", [(DATE, "2026-08-18")]),
        ("２０２６年８月１８日", [(DATE, "2026-08-18")]),
        ("2026 年 8 月 18 日", [(DATE, "2026-08-18")]),
        ("民國115年8月18日", [(DATE, "2026-08-18")]),
        ("民國 115/08/18", [(DATE, "2026-08-18")]),
        ("115年8月18日", [(DATE, "2026-08-18")]),
        ("115/08/18", [(DATE, "2026-08-18")]),
        ("民國一百一十五年八月十八日", [(DATE, "2026-08-18")]),
        ("二〇二六年八月十八日", [(DATE, "2026-08-18")]),
        ("Aug 18, 2026", [(DATE, "2026-08-18")]),
        ("18 August 2026", [(DATE, "2026-08-18")]),
        ("8/18/2026", [(DATE, "2026-08-18")]),
        ("2026年8月", [(DATE, "2026-08")]),
        ("August 2026", [(DATE, "2026-08")]),
        ("自 2026 年起", [(DATE, "2026")]),
        ("18-08-2026", [(DATE, "2026-08-18")]),
        ("released in 2026.", [(DATE, "2026")]),
        ("8月18日", [(DATE, "--08-18")]),
        ("2026 Q3", [(DATE, "2026-Q3")]),
        ("2026年第三季", [(DATE, "2026-Q3")]),
        ("每日 03:00", [(DATE, "T03:00")]),
        ("於2026-08-18發生", [(DATE, "2026-08-18")]),
        ("於03:00發生", [(DATE, "T03:00")]),
        ("升到v1.2版", [(VERSION, "1.2")]),
        ("用Python 3.11跑", [(VERSION, "3.11")]),
        ("等5min後", [(NUMBER, "5 min")]),
        ("5\u00a0MB", [(NUMBER, "5 mb")]),
        ("改max_conn=5後", [(SETTING, "max_conn=5")]),
        ("呼叫foo_bar後", [(IDENTIFIER, "foo_bar")]),
        ("凌晨 3 點", [(DATE, "T03:00")]),
        ("下午三點半", [(DATE, "T15:30")]),
        ("3:30 pm", [(DATE, "T15:30")]),
        ("2026-08-18T03:00:00Z", [(DATE, "2026-08-18"), (DATE, "T03:00")]),
        # versions
        ("v1.2.3", [(VERSION, "1.2.3")]),
        ("1.2.3-rc1", [(VERSION, "1.2.3-rc1")]),
        ("版本 2.0", [(VERSION, "2.0")]),
        ("2.0 版", [(VERSION, "2.0")]),
        ("Python 3.11", [(VERSION, "3.11")]),
        ("PostgreSQL 16", [(VERSION, "postgresql 16")]),
        ("API v2", [(VERSION, "2")]),
        ("SQL Server 2022", [(VERSION, "sql server 2022")]),
        ("Redis 3 個節點", [(NUMBER, "3 node")]),
        # names
        ("設定 max_retry_count", [(IDENTIFIER, "max_retry_count")]),
        ("呼叫 getUserId", [(IDENTIFIER, "getUserId")]),
        ("呼叫 refresh()", [(IDENTIFIER, "refresh")]),
        ("拋出 TokenExpiredError", [(IDENTIFIER, "TokenExpiredError")]),
        ("錯誤 E1001", [(IDENTIFIER, "E1001")]),
        ("見 OPS-1234", [(IDENTIFIER, "OPS-1234")]),
        ("os.path.join", [(IDENTIFIER, "os.path.join")]),
        ("加上 --dry-run", [(IDENTIFIER, "--dry-run")]),
        ("讀 $KB_HOME", [(IDENTIFIER, "KB_HOME")]),
        ("讀 ${KB_HOME}", [(IDENTIFIER, "KB_HOME")]),
        ("主機 10.0.0.1", [(IDENTIFIER, "10.0.0.1")]),
        ("寄到 Ops@Example.com", [(IDENTIFIER, "ops@example.com")]),
        ("模型 gpt-4o-mini", [(IDENTIFIER, "gpt-4o-mini")]),
        ("`async`", [(IDENTIFIER, "async")]),
        # URLs
        ("見 https://Example.com/a/。", [(URL, "https://example.com/a")]),
        ("https://example.com:443", [(URL, "https://example.com")]),
        ("(https://example.com/a_(b))", [(URL, "https://example.com/a_(b)")]),
        ("[站](https://example.com/x)", [(URL, "https://example.com/x")]),
        ("到https://example.com的首頁", [(URL, "https://example.com")]),
        ("https://zh.wikipedia.org/wiki/權杖", [(URL, "https://zh.wikipedia.org/wiki/權杖")]),
        # paths
        ("改 /etc/nginx/nginx.conf", [(PATH, "/etc/nginx/nginx.conf")]),
        ("改 ./config/kb.yml", [(PATH, "config/kb.yml")]),
        ("在docs/setup/目錄", [(PATH, "docs/setup")]),
        ("見 raw/筆記.md", [(PATH, "raw/筆記.md")]),
        (r"C:\Users\me", [(PATH, "C:/Users/me")]),
        ("GET /api/v1/users", [(PATH, "/api/v1/users")]),
        # commands
        ("執行 `kb build --full`", [(COMMAND, "kb build --full")]),
        ("```bash\n$ kb  build\nok\n```", [(COMMAND, "kb build")]),
        ("```sh\nkubectl get pods \\\n  -n prod\n```", [(COMMAND, "kubectl get pods -n prod")]),
        ("```\ngit pull\n```", [(COMMAND, "git pull")]),
        # settings
        ("`timeout` 設為 30 秒", [(SETTING, "timeout=30 s")]),
        ("max_retries 預設為 3", [(SETTING, "max_retries=3")]),
        ("`max_retries` defaults to 3", [(SETTING, "max_retries=3")]),
        ("LOG_LEVEL=debug", [(SETTING, "log_level=debug")]),
        ("- TTL: 5 min", [(SETTING, "ttl=5 min")]),
        ("| max_retries | 3 |", [(SETTING, "max_retries=3")]),
        ('```yaml\ntimeout: "30s"  # why\n```', [(SETTING, "timeout=30 s")]),
        ("連接埠：8401", [(SETTING, "port 8401")]),
        ("```ini\nport = 8401\n```", [(SETTING, "port 8401")]),
    ],
)
def test_a_fact_is_found_with_its_kind_and_normal_form(text: str, expected: list[tuple[FactKind, str]]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "1. 第一步",
        "2) second",
        "（3）第三",
        "## 3.2 安裝",
        "## 2. 步驟",
        "第 3 章",
        "第 3 次嘗試",
        "分為 3 個步驟",
        "共 5 項",
        "three ways",
        "see Figure 3",
        "圖 2",
        "room 2026",
        "一次就好",
        "一些人",
        "兩者皆可",
        "和/或",
        "and/or",
        "CI/CD 與 I/O",
        "TCP/IP",
        "24/7",
        "read/write",
        "e.g. this",
        "GitHub 與 PostgreSQL 與 JavaScript",
        "Node.js",
        "注意：請先備份",
        "Note: back up first",
        "Status: done",
        "[說明](../a/b.md)",
        "[[auth/token|權杖]]",
        "![圖](media/a.png)",
        "[^1] 註",
        "<!-- 5 分鐘 -->",
        "3 元件",
        "五分之一",
        "3 組件",
        "May I",
        "state-of-the-art",
        ':::image type="content" source="a/b.png":::',
        "",
    ],
)
def test_what_is_no_fact_is_not_found(text: str) -> None:
    assert facts(text) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("１，０００ 筆", "1000 rows"),
        ("５０％", "50 percent"),
        ("民國 115 年 8 月 18 日", "2026-08-18"),
        ("v1.2", "版本 1.2"),
        ("https://Example.com/a/", "https://example.com/a"),
        ("30 秒", "30s"),
        ("連接埠 8401", "port 8401"),
        ("`timeout` 設為 30 秒", "timeout = 30s"),
        ("權限 `0644`", "權限 `0644`"),
        ("2 GB", "2GB"),
        ("三小時", "3 hours"),
        ("下午 3:30", "15:30"),
        ("./src/a.py", "src/a.py"),
    ],
)
def test_the_same_fact_in_other_words_has_one_normal_form(one: str, other: str) -> None:
    assert [fact.normal for fact in extract_facts(one)] == [fact.normal for fact in extract_facts(other)] != []


@pytest.mark.parametrize(
    ("one", "other"),
    [("5 分鐘", "5 秒"), ("5 GB", "5 MB"), ("v1.2.0", "v1.2"), ("2026-08-18", "2026-08-19"), ("/a/b.md", "a/b.md")],
)
def test_different_facts_have_different_normal_forms(one: str, other: str) -> None:
    assert facts(one) != facts(other)


def test_facts_carry_line_and_offsets_of_the_text_as_written() -> None:
    text = "# 標題\n\n逾時５分鐘，見 `kb build`。\n\n```bash\n$ curl x \\\n   -v\n```\n"
    found = extract_facts(text)
    assert [(fact.line, fact.text, text[fact.start : fact.end]) for fact in found] == [
        (3, "５分鐘", "５分鐘"),
        (3, "`kb build`", "`kb build`"),
        (6, "curl x \\\n   -v", "curl x \\\n   -v"),
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Docs：IPv4/IPv6 都可", "IPv4/IPv6"),
        ("見 Docs：src/app/main.py", "src/app/main.py"),
        ("檔案：src/a.py", "src/a.py"),
    ],
)
def test_a_full_width_colon_is_no_part_of_a_path(text: str, name: str) -> None:
    assert [fact.text for fact in extract_facts(text)] == [name]


def test_a_full_width_colon_still_labels_a_port_and_parts_a_time() -> None:
    assert facts("連接埠：8401") == facts("連接埠: 8401") != []
    assert facts("每天 09：30 執行") == facts("每天 09:30 執行") != []


def test_a_stray_backtick_spoils_its_own_line_only() -> None:
    assert facts("it`s odd\n\nrun `kb build` now") == [(COMMAND, "kb build")]


def test_backticks_of_different_length_do_not_close_each_other() -> None:
    assert facts("``a `b` c`` 與 `kb build`") == [(COMMAND, "a `b` c"), (COMMAND, "kb build")]


def test_output_between_prompts_is_no_command() -> None:
    text = "```console\n$ kb status\nall fine now\n$ kb build\n```"
    assert facts(text) == [(COMMAND, "kb status"), (COMMAND, "kb build")]


def test_a_fence_in_a_list_or_left_open_is_still_code() -> None:
    assert facts("- 步驟\n  ```bash\n  kb build\n  ```\n") == [(COMMAND, "kb build")]
    assert facts("~~~sh\nkb build") == [(COMMAND, "kb build")]


def test_code_that_is_no_shell_gives_its_names_and_no_commands() -> None:
    assert facts("```python\nresult = fetch_user(42)  # 5 ms\n```") == [(IDENTIFIER, "fetch_user"), (NUMBER, "5 ms")]


def test_sql_parameters_are_no_money_in_code() -> None:
    assert facts("```sql\nSELECT 1 WHERE id = $1\n```") == []


def test_lenient_finds_turns_of_phrase_too() -> None:
    assert [fact.normal for fact in extract_facts("重試三次，分為 3 個步驟", lenient=True)] == ["3 time", "3 step"]
    assert extract_facts("重試三次，分為 3 個步驟") == []


PIECES = [
    "5 分鐘",
    "`a b`",
    "https://x.tw/a",
    "a/b.md",
    "v1.2.3",
    "2026-08-18",
    "foo_bar",
    "k=v",
    "|",
    "\n",
    "```sh\n",
    "```\n",
    "文",
    "，",
    " ",
]


@given(st.lists(st.sampled_from(PIECES), max_size=14))
def test_facts_never_overlap_and_offsets_give_the_text(pieces: list[str]) -> None:
    text = "".join(pieces)
    found = extract_facts(text)
    assert all(before.end <= after.start for before, after in pairwise(found))
    assert all(text[fact.start : fact.end] == fact.text and fact.normal for fact in found)
    assert all(text.count("\n", 0, fact.start) + 1 == fact.line for fact in found)


@given(st.text(max_size=80))
def test_any_text_can_be_searched(text: str) -> None:
    assert all(0 <= fact.start < fact.end <= len(text) for fact in extract_facts(text, lenient=True))


UNITS = [
    "a",
    "aB",
    "-",
    "`",
    "` ",
    "[",
    "[[",
    "](",
    "<!--",
    "%%",
    "~~~\n",
    "```\n",
    "#",
    ".",
    "://",
    "1,",
    "1年",
    "k=",
    "a/",
    "$",
    "{",
    "一",
    "| a | 1 |\n",
]


@pytest.mark.parametrize("unit", UNITS)
def test_no_repetition_makes_the_search_slow(unit: str) -> None:
    """A pattern that tried every start against every end would need minutes here."""
    extract_facts(unit * 20_000 + "z")


def test_a_long_table_of_numbers_is_read_in_linear_time() -> None:
    rows = "\n".join(f"| job_{number} | {number} ms | 2026-08-{number % 28 + 1:02} |" for number in range(3000))
    assert len(extract_facts(rows)) == 9000
