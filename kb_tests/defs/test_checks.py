"""Asset checks share lint's rules: a planted fault of each kind turns the check that is for it red and names the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import dagster as dg
import pytest

from kb_pipeline.defs.build import build_definitions
from kb_pipeline.defs.resources import KnowledgeBase, adopt
from kb_tests.fakes.projects import Workshop, document

Fault = Callable[[str], str]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """Two clean pages, built once; each test plants its fault and takes it back."""
    with dg.DagsterInstance.ephemeral() as instance:
        made = Workshop(tmp_path_factory.mktemp("checks") / "kb", instance)
        made.write("svc/alpha.md", document("alpha", 1))
        made.write("svc/beta.md", document("beta", 2))
        made.build()
        yield made


def evaluations(shop: Workshop) -> dict[str, dg.AssetCheckEvaluation]:
    """The checks alone, as the UI runs them."""
    adopt(shop.open())
    definitions = build_definitions(shop.root, knowledge_base=KnowledgeBase(root=str(shop.root)))
    repository = definitions.get_repository_def()
    job = dg.define_asset_job("checks_alone", dg.AssetSelection.checks_for_assets("wiki_pages")).resolve(
        asset_graph=repository.asset_graph, resource_defs=repository.get_top_level_resources()
    )
    done = job.execute_in_process(
        instance=shop.instance, run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    )
    return {found.check_name: found for found in done.get_asset_check_evaluations()}


def replaced(old: str, new: str) -> Fault:
    def plant(text: str) -> str:
        assert old in text, old
        return text.replace(old, new, 1)

    return plant


def without(field: str) -> Fault:
    return lambda text: "".join(line for line in text.splitlines(keepends=True) if not line.startswith(f"{field}:"))


FAULTS: dict[str, tuple[str, Fault]] = {
    "front matter not readable": ("page_errors", replaced("title:", "title: [")),
    "front matter missing": ("page_errors", lambda text: text.split("---\n", 2)[2]),
    "title missing": ("page_errors", without("title")),
    "scope missing": ("page_errors", without("scope")),
    "summary missing": ("page_errors", without("summary")),
    "status unknown": ("page_errors", replaced("status: current", "status: someday")),
    "updated no date": ("page_errors", replaced("updated: 2026", "updated: 2026-13-99 #")),
    "updated in the future": ("page_errors", replaced("updated: 2026", "updated: 2999")),
    "two H1": ("page_errors", lambda text: f"{text}\n# 另一個標題\n\n內容。\n"),
    "H4": ("page_errors", lambda text: f"{text}\n#### 太深\n\n內容。\n"),
    "too long": ("page_errors", lambda text: text + "很長的一段。" * 600),
    "broken link": ("wiki_errors", lambda text: f"{text}\n見 [[沒有這一頁]]。\n"),
    "fence without language": ("warnings", lambda text: f"{text}\n```\nls\n```\n"),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_planted_fault_turns_its_check_red_and_the_table_names_the_page(shop: Workshop, kind: str) -> None:
    check, plant = FAULTS[kind]
    page = shop.root / "knowledge/svc/beta.md"
    clean = page.read_text()
    try:
        page.write_text(plant(clean))
        found = evaluations(shop)[check]
    finally:
        page.write_text(clean)
    assert found.passed is False
    table = found.metadata["table"]
    assert isinstance(table, dg.TableMetadataValue)
    assert "svc/beta.md" in {record.data["page"] for record in table.records}
    assert all(record.data["message"] for record in table.records)


def test_clean_pages_pass_what_is_an_error(shop: Workshop) -> None:
    found = evaluations(shop)
    assert {name: found[name].passed for name in ("page_errors", "wiki_errors")} == {
        "page_errors": True,
        "wiki_errors": True,
    }
