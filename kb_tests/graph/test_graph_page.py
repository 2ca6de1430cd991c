"""``graph.html``: one file that needs nothing else, whatever the titles hold."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from typing import Any

import pytest

from kb_pipeline.graph.render import embed_json, render_html
from kb_pipeline.graph.wiki_graph import WikiGraph
from kb_tests.fakes.wiki import page_text, parsed

EVIL = '</script><script>alert(1)</script><!-- "x" & \u2028 <img src=x onerror=alert(2)>'


def page_of(texts: dict[str, str], language: str = "zh-TW") -> str:
    return render_html(WikiGraph.from_pages(parsed(texts)), language)


def content(html: str) -> Any:
    found = re.search(r'<script type="application/json" id="graph">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_no_text_of_a_page_becomes_markup_and_all_of_it_arrives() -> None:
    texts = {"a.md": page_text(json.dumps(EVIL, ensure_ascii=False), "[[b]]"), "b.md": page_text("乙")}
    html = page_of(texts)
    assert "<script>alert" not in html
    assert "<img" not in html
    assert html.count("<script") == html.count("</script>") == 2
    title = parsed(texts)[0].title
    assert "</script>" in title
    assert content(html)["nodes"][0][1] == title


def test_embedded_json_survives_every_character_that_could_end_it() -> None:
    value = {"t": "</SCRIPT><!--&\u2028\u2029\ud800"}
    embedded = embed_json(value)
    assert not set("<>&\u2028\u2029") & set(embedded)
    assert json.loads(embedded) == value


def test_nothing_is_loaded_from_elsewhere_and_the_policy_says_so() -> None:
    html = page_of({"a.md": page_text("甲")})
    assert not re.findall(r"""(?:src|href)\s*=(?!\s*["']?data:)""", html)
    assert not re.findall(r"\bimport\b|@import|url\(|fetch\(|XMLHttpRequest", html)
    script = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    style = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    for kind, (text,) in (("script", script), ("style", style)):
        digest = b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in html


@pytest.mark.parametrize(
    ("language", "title"), [("zh-TW", "知識圖譜"), ("en", "Knowledge graph"), ("fr", "Knowledge graph")]
)
def test_labels_are_in_the_language_of_the_wiki(language: str, title: str) -> None:
    html = page_of({"a.md": page_text("甲")}, language)
    assert f"<title>{title}</title>" in html
    assert content(html)["language"] == ("zh-TW" if language == "zh-TW" else "en")


def test_equal_wikis_give_equal_bytes() -> None:
    texts = {f"{n}.md": page_text(f"頁{n}", f"[[{(n + 1) % 30}]]", keywords=(f"k{n % 7}",)) for n in range(30)}
    assert page_of(texts) == page_of(dict(reversed(texts.items())))


def test_a_page_holds_nodes_edges_kinds_and_comments_by_number() -> None:
    found = content(
        page_of({"a/x.md": page_text("甲", related=["b/y.md # 見"]), "b/y.md": page_text("乙", status="deprecated")})
    )
    assert found["domains"] == ["a", "b"]
    assert [(row[0], row[4]) for row in found["nodes"]] == [("a/x.md", 0), ("b/y.md", 1)]
    ((source, target, inferred, weight, kinds, comment),) = found["edges"]
    assert (source, target, inferred, weight, [found["kinds"][k] for k in kinds], comment) == (
        0,
        1,
        0,
        1.0,
        ["related"],
        "見",
    )


def test_of_very_many_inferred_edges_the_weaker_are_counted_and_not_drawn() -> None:
    texts = {f"{n:03}.md": page_text(f"頁{n}", keywords=(f"a{n // 20}", f"b{n // 18}")) for n in range(1_000) if n % 2}
    texts |= {f"{n:03}.md": page_text(f"頁{n}", keywords=(f"a{n // 20}",)) for n in range(1_000) if n % 2 == 0}
    found = content(page_of(texts))
    assert found["omitted"] > 0
    assert len(found["edges"]) < 5_000


def test_an_empty_wiki_has_a_page_too() -> None:
    assert content(page_of({}))["nodes"] == []
