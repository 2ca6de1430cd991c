"""The graph of a wiki: what makes an edge, and what can be asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kb_pipeline.graph.communities import strongest
from kb_pipeline.graph.export import to_json
from kb_pipeline.graph.terms import GraphPolicy
from kb_pipeline.graph.wiki_graph import WikiGraph
from kb_pipeline.models import Confidence
from kb_tests.fakes.wiki import page_text, parsed, read_folder


def graph_of(texts: dict[str, str], policy: GraphPolicy | None = None) -> WikiGraph:
    return WikiGraph.from_pages(parsed(texts), policy)


def plain(title: str, body: str = "內容。", *, own: str = "", **more: object) -> str:
    """A page whose keywords nothing else has, unless given."""
    return page_text(title, body, **{"keywords": (f"詞{title}", own or f"w{title}"), **more})  # type: ignore[arg-type]


def pairs(graph: WikiGraph, confidence: Confidence | None = None) -> set[tuple[str, str]]:
    return {(e.source, e.target) for e in graph.edges if confidence is None or e.confidence is confidence}


def test_wikilinks_markdown_links_embeds_and_related_make_one_extracted_edge_with_all_its_kinds() -> None:
    graph = graph_of(
        {
            "a.md": plain("甲", "[[b]] [乙](b.md) ![[b]]", related=["b.md # 前一步"]),
            "b.md": plain("乙", related=["a.md # 後一步"]),
        }
    )
    (edge,) = graph.edges
    assert (edge.source, edge.target, edge.confidence, edge.weight) == ("a.md", "b.md", Confidence.EXTRACTED, 1.0)
    assert edge.kinds == ("embed", "markdown", "related", "wikilink")
    assert edge.comment == "前一步 / 後一步"
    assert edge.stated_by == ("a.md", "b.md")


def test_an_edge_tells_which_page_states_it() -> None:
    graph = graph_of({"a.md": plain("甲"), "b.md": plain("乙", "[[a]]")})
    assert graph.edges[0].stated_by == ("b.md",)


def test_links_to_the_page_itself_and_to_nothing_make_no_edge() -> None:
    assert graph_of({"a.md": plain("甲", "[[a]] [[#甲]] [[nowhere]] [x](https://example.com)")}).edges == ()


def test_drafts_have_no_node_and_no_edge() -> None:
    graph = graph_of({"a.md": plain("甲", "[[b]]"), "b.md": plain("乙", "[[a]]", status="draft")})
    assert [node.path for node in graph.nodes] == ["a.md"]
    assert graph.edges == ()


def test_a_node_shows_what_people_look_for() -> None:
    node = graph_of({"auth/a.md": plain("甲", status="deprecated")}).node("auth/a.md")
    assert (node.title, node.scope, node.domain, node.status, str(node.updated)) == (
        "甲",
        "測試環境",
        "auth",
        "deprecated",
        "2026-08-18",
    )


def test_pages_that_share_a_specific_tag_are_inferred_neighbours() -> None:
    graph = graph_of({f"{n}.md": plain(n, extra="tags: [快取]\n" if n in "ab" else "") for n in "abc"})
    (edge,) = graph.edges
    assert (edge.source, edge.target, edge.confidence, edge.kinds) == (
        "a.md",
        "b.md",
        Confidence.INFERRED,
        ("tag:快取",),
    )
    assert 0 < edge.weight < 1


def test_a_stated_link_outranks_a_shared_tag() -> None:
    graph = graph_of({"a.md": plain("甲", "[[b]]", extra="tags: [x]\n"), "b.md": plain("乙", extra="tags: [x]\n")})
    assert [(e.confidence, e.kinds, e.weight) for e in graph.edges] == [(Confidence.EXTRACTED, ("wikilink",), 1.0)]


@pytest.mark.parametrize(("sharing", "edges"), [(1, 0), (2, 1), (6, 15), (7, 0)])
def test_a_term_is_specific_on_two_to_six_pages_of_a_small_wiki(sharing: int, edges: int) -> None:
    texts = {f"{n:02}.md": plain(f"p{n}", own="共有" if n < sharing else "") for n in range(20)}
    assert len(graph_of(texts).edges) == edges


def test_in_a_large_wiki_two_percent_of_the_pages_may_share_a_term() -> None:
    policy = GraphPolicy()
    assert [policy.most_pages(n) for n in (10, 300, 400, 500, 1_000, 10_000)] == [6, 6, 8, 10, 20, 20]


def test_a_keyword_that_every_page_carries_ties_no_two_of_them() -> None:
    assert graph_of({f"{n}.md": plain(n, own="公司") for n in "abcd"}).edges == ()


def test_the_more_pages_share_a_term_the_weaker_the_edge_and_further_terms_strengthen_it() -> None:
    texts = {f"{n}.md": plain(n, own="常見" if n in "abcde" else "") for n in "abcdefgh"}
    texts |= {f"{n}.md": plain(n, own="少見") for n in "fg"}
    weights = {(e.source, e.target): e.weight for e in graph_of(texts).edges}
    assert weights["f.md", "g.md"] > weights["a.md", "b.md"]
    texts |= {f"{n}.md": plain(n, own="常見", extra="tags: [另一]\n") for n in "ab"}
    both = {(e.source, e.target): e.weight for e in graph_of(texts).edges}
    assert both["a.md", "b.md"] > both["a.md", "c.md"]


def test_terms_of_the_stop_list_make_no_edge_and_script_width_and_case_do_not_tell_terms_apart() -> None:
    texts = {"a.md": plain("甲", own="ＴＯＫＥＮ"), "b.md": plain("乙", own="token"), "c.md": plain("丙")}
    assert pairs(graph_of(texts)) == {("a.md", "b.md")}
    assert graph_of(texts, GraphPolicy(stop_terms=frozenset({"Token"}))).edges == ()
    scripts = {"a.md": plain("甲", own="權杖"), "b.md": plain("乙", own="权杖"), "c.md": plain("丙")}
    assert pairs(graph_of(scripts)) == {("a.md", "b.md")}


def chain() -> WikiGraph:
    links = {"a": "b", "b": "c", "c": "d", "d": "", "x": ""}
    return graph_of({f"{n}.md": plain(n, f"[[{to}]]" if to else "無") for n, to in links.items()})


def test_neighbours_to_a_depth_are_told_with_their_distance() -> None:
    assert chain().neighbours("b.md") == {"a.md": 1, "c.md": 1}
    assert chain().neighbours("a.md", 2) == {"b.md": 1, "c.md": 2}
    with pytest.raises(KeyError):
        chain().neighbours("nowhere.md")


def test_a_shortest_path_is_given_edge_by_edge() -> None:
    graph = chain()
    path = graph.shortest_path("a.md", "d.md")
    assert path is not None
    assert [(e.source, e.target) for e in path] == [("a.md", "b.md"), ("b.md", "c.md"), ("c.md", "d.md")]
    assert graph.shortest_path("a.md", "a.md") == ()
    assert graph.shortest_path("a.md", "x.md") is None
    with pytest.raises(KeyError):
        graph.shortest_path("a.md", "nowhere.md")


def test_of_two_ways_of_equal_length_the_stated_one_is_taken() -> None:
    texts = {
        "a.md": plain("a", "[[z]]", own="共"),
        "b.md": plain("b", own="共"),
        "z.md": plain("z", "[[end]]"),
        "end.md": plain("end", "[[b]]"),
        "more.md": plain("more"),
    }
    path = graph_of(texts).shortest_path("a.md", "end.md")
    assert path is not None
    assert [e.confidence for e in path] == [Confidence.EXTRACTED] * 2


def test_orphans_are_pages_that_no_link_reaches_or_leaves() -> None:
    assert chain().orphans() == ("x.md",)


def test_central_pages_have_the_most_and_strongest_edges() -> None:
    graph = graph_of({"hub.md": plain("hub", "[[a]] [[b]] [[c]]"), **{f"{n}.md": plain(n) for n in "abc"}})
    assert graph.central(2) == (("hub.md", 3.0), ("a.md", 1.0))


def clusters(size: int) -> dict[str, str]:
    """Two rings of pages with chords, joined by one link; each ring has its own keyword."""
    texts = {}
    for ring, word in (("auth", "權杖"), ("ops", "備份")):
        for n in range(size):
            links = " ".join(f"[[{ring}/{(n + step) % size}]]" for step in (1, 2, 3))
            if ring == "auth" and n == 0:
                links += " [[ops/0]]"
            texts[f"{ring}/{n}.md"] = plain(f"{ring}{n}", links, own=word)
    return texts


def test_communities_are_found_from_twenty_pages_on_and_named_by_their_keywords() -> None:
    assert graph_of(clusters(9)).communities() == ()
    groups = graph_of(clusters(10)).communities()
    assert [{path.split("/")[0] for path in group.pages} for group in groups] == [{"auth"}, {"ops"}]
    assert [group.keywords[0] for group in groups] == ["權杖", "備份"]
    assert groups[0].name.startswith("權杖")


def test_groups_found_before_are_taken_over_only_for_the_same_edges() -> None:
    graph, again = graph_of(clusters(10)), graph_of(clusters(10))
    again.adopt_groups(graph.topology(), (("auth/0.md", "auth/1.md"),))
    assert again.groups() == (("auth/0.md", "auth/1.md"),)
    again.update(parsed({"auth/1.md": plain("auth1", "[[ops/3]]")}))
    assert again.groups() != (("auth/0.md", "auth/1.md"),)


def test_only_the_strongest_inferred_edges_of_each_page_count_for_communities() -> None:
    texts = {f"{n}.md": plain(n, own="共", extra="tags: [緊]\n" if n in "ab" else "") for n in "abcdefgh" if n < "g"}
    texts |= {"y.md": plain("y"), "z.md": plain("z")}
    edges = graph_of(texts).edges
    kept = strongest(edges, 1)
    assert len(kept) < len(edges)
    assert max(edges, key=lambda edge: edge.weight) in kept


def test_json_is_the_same_for_every_order_of_pages_and_holds_what_was_asked() -> None:
    texts = {**clusters(10), "z.md": plain("最後", 'He said "x" </script>')}
    forth, back = parsed(texts), list(reversed(parsed(texts)))
    written = to_json(WikiGraph.from_pages(forth))
    assert to_json(WikiGraph.from_pages(back)) == written
    read = json.loads(written)
    assert read["counts"] == {"nodes": 21, "extracted": 61, "inferred": 0, "communities": 2}
    assert read["orphans"] == ["z.md"]
    assert {node["community"] for node in read["nodes"]} == {0, 1, None}
    assert all(edge["source"] < edge["target"] for edge in read["edges"])


def test_an_empty_wiki_has_an_empty_graph() -> None:
    graph = graph_of({})
    assert (len(graph), graph.edges, graph.communities(), graph.central(), graph.orphans()) == (0, (), (), (), ())
    assert json.loads(to_json(graph))["nodes"] == []


def case_graph(cases: Path, name: str) -> WikiGraph:
    return graph_of(read_folder(cases / name / "files" / "knowledge"))


@pytest.mark.parametrize("name", ["links-code-and-comments", "links-heading-parts", "links-table-escaped-pipe"])
def test_handed_cases_with_all_their_edges(cases: Path, name: str) -> None:
    expected = {
        "links-code-and-comments": {("doc.md", "real.md")},
        "links-heading-parts": {("a.md", "b.md")},
        "links-table-escaped-pipe": {("auth/token.md", "t.md")},
    }
    graph = case_graph(cases, name)
    assert pairs(graph) == expected[name]
    assert {edge.confidence for edge in graph.edges} == {Confidence.EXTRACTED}
    assert "auth/token.md" not in graph.orphans()


def test_handed_case_of_short_and_ambiguous_links(cases: Path) -> None:
    found = pairs(case_graph(cases, "links-short-and-ambiguous"), Confidence.EXTRACTED)
    assert {("api/note.md", "index.md"), ("deploy/guide.md", "deploy/setup.md")} <= found
    assert not any("auth/setup.md" in pair for pair in found)


def test_handed_case_of_percent_and_angle_links(cases: Path) -> None:
    found = pairs(case_graph(cases, "links-percent-and-angle"), Confidence.EXTRACTED)
    assert found == {("auth/a.md", "deploy/plan (v2).md"), ("auth/a.md", "deploy/roll out.md")}


def test_handed_case_of_tag_shapes(cases: Path) -> None:
    found = pairs(case_graph(cases, "parse-tag-shapes"), Confidence.INFERRED)
    assert ("a.md", "f.md") in found
    assert not any("e.md" in pair for pair in found)
