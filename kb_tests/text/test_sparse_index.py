"""The keyword index: scores, incremental builds, what can be opened (SPEC 13; BENCHMARKS "Search latency")."""

from __future__ import annotations

import math
import random
import tempfile
from collections import Counter
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_pipeline.errors import SnapshotCorruptError
from kb_pipeline.text.analyser import analyse
from kb_pipeline.text.sparse_index import (
    FIELD_WEIGHTS,
    K1,
    B,
    IndexedSection,
    SparseIndex,
    build_index,
    update_index,
    weigh_terms,
)

WORDS = ["權杖", "輪替", "備份", "token", "rotate", "backup", "deploy流程", "E1001", "max_retry", "的", "結論"]


def section(key: str, body: str = "", **fields: str) -> IndexedSection:
    return IndexedSection(key, {**fields, "body": body})


def index_of(folder: Path, *sections: IndexedSection) -> SparseIndex:
    build_index(folder, sections)
    return SparseIndex.open(folder)


def expected_scores(sections: list[IndexedSection], terms: list[str]) -> dict[str, float]:
    """BM25 with weighted fields, written down plainly."""
    frequencies, lengths = {}, {}
    for each in sections:
        counts: Counter[str] = Counter()
        for name, text in each.fields.items():
            for token in analyse(text):
                counts[token] += FIELD_WEIGHTS.get(name, 1.0)  # type: ignore[assignment]
        frequencies[each.key], lengths[each.key] = counts, sum(counts.values())
    mean = sum(lengths.values()) / len(lengths)
    scores = dict.fromkeys(frequencies, 0.0)
    for term, weight in weigh_terms(terms).items():
        holders = sum(term in counts for counts in frequencies.values())
        idf = math.log(1 + (len(sections) - holders + 0.5) / (holders + 0.5))
        for key, counts in frequencies.items():
            if term in counts:
                norm = K1 * (1 - B + B * lengths[key] / mean)
                scores[key] += weight * idf * counts[term] * (K1 + 1) / (counts[term] + norm)
    return scores


def some_sections(seed: int, count: int) -> list[IndexedSection]:
    chance = random.Random(seed)
    return [
        section(
            f"d/p{number // 3}.md#s{number % 3}",
            " ".join(chance.choices(WORDS, k=chance.randint(0, 20))),
            title=chance.choice(WORDS),
            keywords=", ".join(chance.choices(WORDS, k=2)),
        )
        for number in range(count)
    ]


def everything(index: SparseIndex) -> list[list[tuple[str, float]]]:
    """Exact answers, order included, to a few queries."""
    return [index.search(analyse(query), 50) for query in [*WORDS, "權杖 token 輪替 rotate", "備份 的 結論 deploy流程"]]


def test_scores_are_bm25_over_weighted_fields(tmp_path: Path) -> None:
    sections = some_sections(1, 30)
    index = index_of(tmp_path, *sections)
    for query in ("權杖輪替", "token rotate E1001", "備份 backup 的"):
        expected = {key: score for key, score in expected_scores(sections, analyse(query)).items() if score}
        assert dict(index.search(analyse(query), 100)) == pytest.approx(expected)


def test_the_best_section_comes_first_and_sections_without_a_term_never(tmp_path: Path) -> None:
    index = index_of(
        tmp_path,
        section("a.md#x", "權杖輪替與換發"),
        section("b.md#y", "凌晨備份"),
        section("c.md#z", "備份檔的備份流程"),
    )
    assert [key for key, _ in index.search(analyse("備份"), 10)] == ["c.md#z", "b.md#y"]
    assert index.search(analyse("量子糾纏"), 10) == []
    assert index.search([], 10) == []
    assert index.search(analyse("備份"), 0) == []


def test_the_handed_cases_for_chinese_search(cases: Path, tmp_path: Path) -> None:
    case = yaml.safe_load((cases / "search-cjk" / "case.yaml").read_text(encoding="utf-8"))
    pages = cases / "search-cjk" / "files" / "knowledge"
    index = index_of(
        tmp_path,
        *(section(f"{page.name}#_lead", page.read_text(encoding="utf-8")) for page in sorted(pages.glob("*.md"))),
    )
    for query in case["expect"]["values"]["queries"]:
        found = [key.partition("#")[0] for key, _ in index.search(analyse(query["q"]), 10)]
        assert found[:1] == [query["top"]] if "top" in query else len(found) == query["results"]


def test_a_term_in_the_title_outweighs_one_in_the_body(tmp_path: Path) -> None:
    index = index_of(
        tmp_path, section("a.md#x", "token 甲乙丙", title="備份"), section("b.md#x", "備份 甲乙丙", title="token")
    )
    assert [key for key, _ in index.search(["token"], 2)] == ["b.md#x", "a.md#x"]


def test_a_long_page_gains_nothing_from_its_many_sections(tmp_path: Path) -> None:
    many = [section(f"long.md#s{number}", f"備份 第{number}節 其他的內容") for number in range(20)]
    index = index_of(tmp_path, *many, section("short.md#_lead", "備份 備份"))
    assert index.search(analyse("備份"), 1)[0][0] == "short.md#_lead"


def test_equal_scores_are_ordered_by_key(tmp_path: Path) -> None:
    index = index_of(tmp_path, *(section(f"p{number}.md#x", "token") for number in (5, 3, 9, 1, 7)))
    assert [key for key, _ in index.search(["token"], 3)] == ["p1.md#x", "p3.md#x", "p5.md#x"]


def test_scoring_named_sections_gives_what_search_gives(tmp_path: Path) -> None:
    sections = some_sections(2, 40)
    index = index_of(tmp_path, *sections)
    for query in ("權杖 token", "備份 的 結論"):
        terms = analyse(query)
        found = dict(index.search(terms, 100))
        keys = [each.key for each in sections]
        assert index.score(terms, [*keys, "missing.md#x"]) == {
            key: found.get(key, 0.0) for key in [*keys, "missing.md#x"]
        }


def test_a_term_in_every_section_still_scores_above_nothing(tmp_path: Path) -> None:
    index = index_of(tmp_path, *(section(f"p{number}.md#x", "token") for number in range(5)))
    assert all(score > 0 for _, score in index.search(["token"], 5))


def test_latin_words_count_more_beside_chinese_and_alike_alone() -> None:
    assert weigh_terms(analyse("React 元件")) == {"react": 2.5, "元": 1.0, "件": 1.0, "元件": 1.0}
    assert weigh_terms(["react", "hook"]) == {"react": 1.0, "hook": 1.0}


def test_terms_may_bring_their_own_weights(tmp_path: Path) -> None:
    index = index_of(tmp_path, section("a.md#x", "token"), section("b.md#x", "backup"))
    assert [key for key, _ in index.search({"token": 1.0, "backup": 3.0}, 2)] == ["b.md#x", "a.md#x"]


@settings(deadline=None, max_examples=40)
@given(
    st.integers(0, 10_000), st.lists(st.tuples(st.integers(0, 29), st.sampled_from(["change", "drop"])), max_size=25)
)
def test_an_incremental_index_answers_exactly_like_a_full_one(seed: int, steps: list[tuple[int, str]]) -> None:
    """Any number of single changes, one index made from the one before: equal to the last bit, order included."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        current = {each.key: each for each in some_sections(seed, 30)}
        build_index(folder / "0", current.values())
        for number, (which, what) in enumerate(steps):
            key = f"d/p{which // 3}.md#s{which % 3}"
            if what == "drop":
                current.pop(key, None)
            else:
                current[key] = section(key, f"改過 {seed + number} token 備份", title="新標題")
            build_index(folder / str(number + 1), current.values(), folder / str(number))
        build_index(folder / "full", current.values())
        incremental, full = SparseIndex.open(folder / str(len(steps))), SparseIndex.open(folder / "full")
        assert len(incremental) == len(full) == len(current)
        assert everything(incremental) == everything(full)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000), st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=15))
def test_updating_pages_answers_exactly_like_building_anew(seed: int, steps: list[tuple[int, bool]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pages: dict[str, list[IndexedSection]] = {}
        for each in some_sections(seed, 30):
            pages.setdefault(each.key.partition("#")[0], []).append(each)
        build_index(folder / "0", (each for page in pages.values() for each in page))
        for number, (which, removed) in enumerate(steps):
            path = f"d/p{which}.md"
            if removed:
                pages.pop(path, None)
                update_index(folder / str(number + 1), folder / str(number), {}, [path])
            else:
                pages[path] = [section(f"{path}#n{part}", f"新 {number} token {part}") for part in range(number % 4)]
                update_index(folder / str(number + 1), folder / str(number), {path: pages[path]})
        build_index(folder / "full", (each for page in pages.values() for each in page))
        assert everything(SparseIndex.open(folder / str(len(steps)))) == everything(SparseIndex.open(folder / "full"))


def test_only_changed_sections_are_analysed_again(tmp_path: Path) -> None:
    sections = some_sections(4, 60)
    build_index(tmp_path / "a", sections)
    changed = [*sections[:59], section(sections[59].key, "新的內容")]
    report = build_index(tmp_path / "b", changed, tmp_path / "a")
    assert (report.sections, report.analysed, report.reused, report.dropped) == (60, 1, 59, 1)
    assert build_index(tmp_path / "c", changed, tmp_path / "b").analysed == 0


def test_a_digest_given_by_the_caller_decides_what_changed(tmp_path: Path) -> None:
    build_index(tmp_path / "a", [IndexedSection("a.md#x", {"body": "舊"}, digest="1")])
    same = build_index(tmp_path / "b", [IndexedSection("a.md#x", {"body": "新"}, digest="1")], tmp_path / "a")
    other = build_index(tmp_path / "c", [IndexedSection("a.md#x", {"body": "新"}, digest="2")], tmp_path / "a")
    assert (same.analysed, other.analysed) == (0, 1)


def test_the_former_index_keeps_answering_and_may_be_deleted(tmp_path: Path) -> None:
    sections = some_sections(5, 30)
    build_index(tmp_path / "a", sections)
    former = SparseIndex.open(tmp_path / "a")
    before = everything(former)
    update_index(tmp_path / "b", tmp_path / "a", {"d/p0.md": [section("d/p0.md#_lead", "token")]})
    assert everything(former) == everything(SparseIndex.open(tmp_path / "a")) == before
    for file in (tmp_path / "a").iterdir():
        file.unlink()
    assert len(SparseIndex.open(tmp_path / "b")) == 28


def test_an_index_can_be_updated_in_place(tmp_path: Path) -> None:
    build_index(tmp_path, some_sections(6, 30))
    build_index(tmp_path, some_sections(7, 30), tmp_path)
    build_index(tmp_path / "full", some_sections(7, 30))
    assert everything(SparseIndex.open(tmp_path)) == everything(SparseIndex.open(tmp_path / "full"))


def test_pages_whose_names_begin_alike_are_not_mixed_up(tmp_path: Path) -> None:
    keys = ["a.md#x", "a.md#x/y", "a.mdx#x", "a#.md#x", "ab.md#x", "a/a.md#x"]
    build_index(tmp_path / "a", [section(key, "token") for key in keys])
    update_index(tmp_path / "b", tmp_path / "a", {}, ["a.md"])
    assert sorted(key for key, _ in SparseIndex.open(tmp_path / "b").search(["token"], 9)) == sorted(keys[2:])


def test_many_small_updates_leave_few_segments(tmp_path: Path) -> None:
    build_index(tmp_path / "0", some_sections(8, 300))
    for number in range(60):
        path = f"d/p{number}.md"
        report = update_index(
            tmp_path / str(number + 1), tmp_path / str(number), {path: [section(f"{path}#a", f"新 {number}")]}
        )
    assert report.segments <= 4
    assert len(list((tmp_path / "60").iterdir())) <= 1 + 2 * report.segments
    assert report.sections == 300 - 60 * 3 + 60


def test_an_empty_index_can_be_built_opened_and_searched(tmp_path: Path) -> None:
    index = index_of(tmp_path)
    assert (len(index), index.search(["token"], 5), index.score(["token"], ["a#b"])) == (0, [], {"a#b": 0.0})


def test_a_section_without_words_is_kept_and_never_found(tmp_path: Path) -> None:
    index = index_of(tmp_path, section("a.md#x", "。"), section("b.md#x", "token"))
    assert len(index) == 2
    assert index.search(["token"], 5)[0][0] == "b.md#x"


def test_the_same_key_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="twice"):
        build_index(tmp_path, [section("a.md#x", "1"), section("a.md#x", "2")])


def test_a_section_of_another_page_is_refused(tmp_path: Path) -> None:
    build_index(tmp_path / "a", [])
    with pytest.raises(ValueError, match="does not belong"):
        update_index(tmp_path / "b", tmp_path / "a", {"a.md": [section("b.md#x", "1")]})


@pytest.mark.parametrize("damage", ["missing", "garbage", "version", "truncated", "segment gone"])
def test_a_damaged_index_is_reported_and_rebuilt_by_the_next_build(tmp_path: Path, damage: str) -> None:
    sections = some_sections(9, 20)
    build_index(tmp_path / "a", sections)
    description = tmp_path / "a" / "index.json"
    segment = next((tmp_path / "a").glob("segment-*.bin"))
    match damage:
        case "missing":
            description.unlink()
        case "garbage":
            description.write_text("{", encoding="utf-8")
        case "version":
            description.write_text(
                description.read_text(encoding="utf-8").replace('"format": 1', '"format": 99'), encoding="utf-8"
            )
        case "truncated":
            segment.write_bytes(segment.read_bytes()[:100])
        case _:
            segment.unlink()
    with pytest.raises(SnapshotCorruptError):
        SparseIndex.open(tmp_path / "a")
    with pytest.raises(SnapshotCorruptError):
        update_index(tmp_path / "c", tmp_path / "a", {})
    assert build_index(tmp_path / "b", sections, tmp_path / "a").analysed == 20


def test_the_same_sections_in_any_order_give_the_same_bytes(tmp_path: Path) -> None:
    sections = some_sections(10, 25)
    build_index(tmp_path / "a", sections)
    build_index(tmp_path / "b", sections[::-1])
    files = [{file.name: file.read_bytes() for file in (tmp_path / name).iterdir()} for name in "ab"]
    assert files[0] == files[1]


def test_other_field_weights_make_another_index(tmp_path: Path) -> None:
    sections = [section("a.md#x", "乙", title="甲"), section("b.md#x", "甲", title="乙")]
    build_index(tmp_path / "a", sections)
    report = build_index(tmp_path / "b", sections, tmp_path / "a", weights={"title": 0.25, "body": 1.0})
    assert report.analysed == 2
    assert SparseIndex.open(tmp_path / "b").search(["甲"], 1)[0][0] == "b.md#x"


def test_a_weight_that_cannot_be_summed_exactly_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"multiple of 0\.25"):
        build_index(tmp_path, [section("a.md#x", "甲")], weights={"body": 0.3})
