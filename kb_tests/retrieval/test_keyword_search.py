"""Keyword search over a published snapshot."""

from __future__ import annotations

import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_pipeline.models import SearchAnswer
from kb_pipeline.retrieval.keyword import keyword_search
from kb_pipeline.retrieval.query import MOST_TERMS, parse_query
from kb_pipeline.storage.snapshots import Snapshot
from kb_pipeline.text.glossary import parse_glossary
from kb_tests.fakes.wiki import START, Press, page_text, read_folder


def own_page(title: str, body: str, **more: Any) -> str:
    """A page whose summary shares no word with the others."""
    return page_text(title, body, **{"summary": f"{title}的事實", **more})


TEXTS = {
    "auth/token.md": own_page(
        "權杖輪替",
        "每九十天輪替一次。\n\n## 換發端點\n\n呼叫 `POST /refresh` 換發，寬限五分鐘。\n\n## 過期之後\n\n回傳 401。",
        summary="90 天輪替、/refresh 換發、5 分鐘寬限",
        keywords=("權杖", "token"),
        scope="API Gateway",
    ),
    "ops/backup.md": own_page("資料庫備份", "每天凌晨兩點備份，保留十四天。", keywords=("備份", "backup")),
    "ops/old.md": own_page("磁帶作業", "每週日備份。", keywords=("磁帶", "tape"), status="deprecated"),
    "deploy/run.md": own_page("Deploy 流程", "run `deploy.sh`，設定 `retry_limit`。", keywords=("deploy", "上線")),
    "ops/draft.md": own_page("草稿", "獨角獸備份。", status="draft"),
}


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return Press(tmp_path_factory.mktemp("kb") / "build").publish(TEXTS)


def search(snapshot: Snapshot, query: str, top_k: int = 5, **more: Any) -> SearchAnswer:
    return keyword_search(snapshot, query, top_k=top_k, now=START, **more)


def paths(answer: SearchAnswer) -> list[str]:
    return [hit.path for hit in answer.results]


def case_queries() -> list[dict[str, Any]]:
    return [
        {"q": "權杖輪替", "top": "a.md"},
        {"q": "換發", "top": "a.md"},
        {"q": "凌晨備份", "top": "b.md"},
        {"q": "deploy流程", "top": "c.md"},
        {"q": "deploy.sh", "top": "c.md"},
        {"q": "備份", "top": "b.md"},
        {"q": "量子糾纏", "top": None},
    ]


@pytest.mark.parametrize("wanted", case_queries(), ids=lambda wanted: wanted["q"])
def test_handed_case_of_chinese_queries(cases: Path, tmp_path: Path, wanted: dict[str, Any]) -> None:
    folder = cases / "search-cjk"
    stated = yaml.safe_load((folder / "case.yaml").read_text())["expect"]["values"]["queries"]
    assert any(item["q"] == wanted["q"] for item in stated)
    snapshot = Press(tmp_path / "build").publish(read_folder(folder / "files" / "knowledge"))
    found = paths(search(snapshot, wanted["q"]))
    assert found[:1] == ([wanted["top"]] if wanted["top"] else [])


def test_handed_case_of_an_edit_finds_the_new_and_nothing_of_the_old(cases: Path, tmp_path: Path) -> None:
    folder, press = cases / "search-stale-after-edit" / "files", Press(tmp_path / "build")
    assert paths(search(press.publish(read_folder(folder / "before")), "紫水晶")) == ["b.md"]
    snapshot = press.publish(read_folder(folder / "after"))
    assert paths(search(snapshot, "紫水晶")) == []
    hits = search(snapshot, "舊節 42 號埠 新值").results
    assert [hit.path for hit in hits] == ["a.md"]
    assert hits[0].section_title == "新節"


def test_a_hit_is_the_best_section_of_its_page_with_all_that_a_reader_needs(snapshot: Snapshot) -> None:
    hit = search(snapshot, "換發端點").results[0]
    assert (hit.path, hit.section_title, hit.address) == ("auth/token.md", "換發端點", "auth/token.md#換發端點")
    assert (hit.title, hit.scope, hit.status, str(hit.updated)) == ("權杖輪替", "API Gateway", "current", "2026-08-18")
    assert hit.snippet == "呼叫 POST /refresh 換發，寬限五分鐘。"
    assert hit.score > 0
    assert hit.breakdown == {"keyword": hit.score}
    assert not hit.stale


def test_each_page_is_told_once_and_drafts_never(snapshot: Snapshot) -> None:
    found = paths(search(snapshot, "備份 權杖 deploy 獨角獸"))
    assert len(found) == len(set(found))
    assert "ops/draft.md" not in found
    assert len(paths(search(snapshot, "備份 權杖 deploy", top_k=2))) == 2


@pytest.mark.parametrize(
    ("query", "top"),
    [
        ("权杖轮替", "auth/token.md"),
        ("ＴＯＫＥＮ", "auth/token.md"),
        ("Refresh", "auth/token.md"),
        ("retry limit", "deploy/run.md"),
        ("retry_limit", "deploy/run.md"),
        ("auth/token.md", "auth/token.md"),
        ("磁帶", "ops/old.md"),
    ],
)
def test_script_width_case_and_spelling_of_a_query_do_not_matter(snapshot: Snapshot, query: str, top: str) -> None:
    assert paths(search(snapshot, query))[0] == top


@pytest.mark.parametrize("query", ["", "   ", "\n\t", "。，！？", "()[]{}*?\\", "\x00", "\u200b"])
def test_a_query_without_words_finds_nothing(snapshot: Snapshot, query: str) -> None:
    assert search(snapshot, query).results == ()


@pytest.mark.parametrize(
    "query",
    [
        '備份"',
        "備份 AND (",
        "title:備份^9",
        "備份*",
        "-備份",
        "備份' OR 1=1 --",
        "/備份/",
        "備份~2",
        "{{備份}}",
        "%E5備份",
    ],
)
def test_a_query_is_text_and_never_syntax(snapshot: Snapshot, query: str) -> None:
    assert paths(search(snapshot, query))[0] == "ops/backup.md"


def test_nothing_in_common_but_single_characters_is_no_answer(snapshot: Snapshot) -> None:
    assert paths(search(snapshot, "點數")) == []
    assert paths(search(snapshot, "份")) != []


@settings(max_examples=40, deadline=None)
@given(query=st.text(max_size=200))
def test_any_query_gets_an_answer(snapshot: Snapshot, query: str) -> None:
    for hit in search(snapshot, query).results:
        assert len(hit.snippet) <= 160
        assert "\n" not in hit.snippet


def test_a_huge_query_is_cut_and_quick(snapshot: Snapshot) -> None:
    begin = time.perf_counter()
    assert paths(search(snapshot, "資料庫備份 " * 100_000))[0] == "ops/backup.md"
    assert time.perf_counter() - begin < 2.0
    assert len(parse_query("".join(map(chr, range(0x4E00, 0x9000)))).terms) <= MOST_TERMS


def test_words_of_the_glossary_find_what_is_called_otherwise_and_weigh_less(snapshot: Snapshot) -> None:
    glossary = parse_glossary("terms:\n  - term: 權杖\n    en: [bearer credential]\n    synonyms: [通行證]\n")
    assert paths(search(snapshot, "通行證")) == []
    assert paths(search(snapshot, "通行證", glossary=glossary)) == ["auth/token.md"]
    own = parse_query("通行證 x", glossary).terms
    assert own["通行"] == 1.0
    assert own["权杖"] == 0.5


def test_the_reason_names_the_words_found_and_where(snapshot: Snapshot, tmp_path: Path) -> None:
    assert search(snapshot, "權杖輪替").results[0].reason == "標題、關鍵字、摘要、內文有「權杖輪替」"
    from kb_pipeline.building.publishing import PublishSettings

    english = Press(tmp_path / "build", PublishSettings(language="en")).publish(
        {"a.md": page_text("Token policies", "Rotate tokens.", keywords=("token", "x"), summary="every 90 days")}
    )
    assert search(english, "policy for tokens").results[0].reason == 'title, keywords, text: "policies", "tokens"'


def test_a_hit_whose_file_changed_since_is_marked_stale(snapshot: Snapshot) -> None:
    now = dict(snapshot.page_hashes)
    assert not search(snapshot, "備份", current_hash=now.get).results[0].stale
    now["ops/backup.md"] = "other"
    del now["ops/old.md"]
    stale = {hit.path: hit.stale for hit in search(snapshot, "備份", current_hash=now.get).results}
    assert stale == {"ops/backup.md": True, "ops/old.md": True}


def test_an_answer_tells_which_snapshot_and_how_old(snapshot: Snapshot) -> None:
    answer = keyword_search(snapshot, "備份", now=snapshot.published_at + timedelta(seconds=90))
    assert (answer.mode, answer.snapshot_id, answer.snapshot_age_seconds) == ("keyword", snapshot.id, 90)
    assert answer.degradation == ()
    assert answer.stats["total_ms"] > 0


def test_searching_imports_no_heavy_package(snapshot: Snapshot) -> None:
    code = (
        "import sys; from datetime import *; from pathlib import Path\n"
        "from kb_pipeline.storage.snapshots import SnapshotStore\n"
        "from kb_pipeline.retrieval.keyword import keyword_search\n"
        f"s = SnapshotStore(Path({str(snapshot.folder.parent.parent)!r})).required()\n"
        "assert keyword_search(s, '備份 backup', now=datetime.now(UTC)).results\n"
        "heavy = {'networkx','sklearn','scipy','psycopg','opencc','markdown_it','ruamel','dagster','pydantic'}\n"
        "print(sorted(heavy & {name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
