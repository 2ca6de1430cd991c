"""An updated graph is the graph that a rebuild gives, whatever changed and in whatever order."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_pipeline.graph import notes
from kb_pipeline.graph.export import to_json
from kb_pipeline.graph.terms import GraphPolicy
from kb_pipeline.graph.wiki_graph import WikiGraph
from kb_tests.fakes.wiki import page_text, parsed

PATHS = [f"{folder}{name}.md" for folder in ("", "auth/", "ops/") for name in ("setup", "token", "Note")]
NAMES = ["setup", "token", "note", "auth/setup", "../setup", "登入", "換發", "nowhere", "ops/token.md"]
WORDS = ["權杖", "备份", "備份", "cache", "x"]


@st.composite
def page_texts(draw: st.DrawFn) -> str:
    links = draw(st.lists(st.sampled_from(NAMES), max_size=3))
    aliases = draw(st.lists(st.sampled_from(["登入", "換發", "setup"]), max_size=1))
    return page_text(
        draw(st.sampled_from(["登入", "換發", "設定", "token"])),
        " ".join(f"[[{name}]]" if "." not in name else f"[x]({name})" for name in links),
        keywords=draw(st.lists(st.sampled_from(WORDS), max_size=2, unique=True)),
        related=draw(st.lists(st.sampled_from(PATHS), max_size=1)),
        status=draw(st.sampled_from(["current", "current", "current", "draft", "deprecated"])),
        extra=f"aliases: [{', '.join(aliases)}]\ntags: [{draw(st.sampled_from(WORDS))}]\n",
    )


wikis = st.dictionaries(st.sampled_from(PATHS), page_texts(), max_size=len(PATHS))
changes = st.lists(st.tuples(wikis, st.sets(st.sampled_from(PATHS), max_size=3)), max_size=4)
POLICY = GraphPolicy(few_pages=3, communities_from=4)


@settings(max_examples=60, deadline=None)
@given(wikis, changes)
def test_any_sequence_of_updates_equals_a_rebuild(
    wiki: dict[str, str], steps: list[tuple[dict[str, str], set[str]]]
) -> None:
    graph = WikiGraph.from_pages(parsed(wiki), POLICY)
    for changed, removed in steps:
        graph.update(parsed(changed), removed - changed.keys())
        wiki = {**{path: text for path, text in wiki.items() if path not in removed}, **changed}
        rebuilt = WikiGraph.from_pages(parsed(wiki), POLICY)
        assert graph.edges == rebuilt.edges
        assert to_json(graph) == to_json(rebuilt)
        assert (graph.topology(), graph.signature()) == (rebuilt.topology(), rebuilt.signature())
        for node in rebuilt.nodes:
            near = {
                end
                for edge in rebuilt.edges
                for end in (edge.source, edge.target)
                if node.path in (edge.source, edge.target)
            }
            assert graph.adjacent(node.path) == near - {node.path}
            assert sorted(map(str, graph.edges_of(node.path))) == sorted(map(str, rebuilt.edges_of(node.path)))


def wiki(size: int) -> dict[str, str]:
    return {f"{n:03}.md": page_text(f"頁{n}", f"[[{(n + 1) % size:03}]]", keywords=(f"k{n}",)) for n in range(size)}


def test_a_changed_text_reads_the_references_of_that_page_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = WikiGraph.from_pages(parsed(wiki(50)))
    read: list[str] = []
    original = notes.mentions_of
    monkeypatch.setattr(notes, "mentions_of", lambda page, resolver: read.append(page.path) or original(page, resolver))
    graph.update(parsed({"007.md": page_text("頁7", "[[040]]", keywords=("k7",))}))
    assert read == ["007.md"]
    assert ("007.md", "040.md") in {(edge.source, edge.target) for edge in graph.edges}


def test_a_new_page_reads_again_only_those_whose_links_may_lead_to_it() -> None:
    texts = wiki(50)
    texts["030.md"] = page_text("頁30", "[[031]] [[將來]]", keywords=("k30",))
    graph = WikiGraph.from_pages(parsed(texts))
    touched = graph.update(parsed({"later/將來.md": page_text("以後的頁", keywords=("新",))}))
    assert touched == {"later/將來.md", "030.md"}
    assert graph.neighbours("later/將來.md") == {"030.md": 1}


def test_removing_a_page_takes_its_node_and_edges_and_reads_who_linked_to_it() -> None:
    graph = WikiGraph.from_pages(parsed(wiki(5)))
    assert graph.update([], ["002.md", "unknown.md"]) == {"001.md"}
    assert "002.md" not in graph
    assert graph.neighbours("001.md") == {"000.md": 1}
