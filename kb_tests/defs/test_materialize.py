"""\"Materialize\" in the UI and builds that are confined: exactly what was asked for, partitions and log in step."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from kb_pipeline.defs.build import build_definitions
from kb_pipeline.defs.event_batches import recorded_versions
from kb_pipeline.defs.resources import KnowledgeBase, adopt
from kb_pipeline.errors import StorageError
from kb_tests.fakes.projects import Workshop, document
from kb_tests.fakes.vectors import CountingEmbedder

NAMES = ("alpha", "beta", "delta", "gamma")


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    """Four documents, built."""
    with dg.DagsterInstance.ephemeral() as instance:
        made = Workshop(tmp_path / "kb", instance)
        for number, name in enumerate(NAMES, start=1):
            made.write(f"svc/{name}.md", document(name, number))
        made.build()
        made.asked()
        yield made


def materialize(shop: Workshop, asset: str, *keys: str) -> dg.ExecuteInProcessResult:
    """One key, or the range from the first to the last."""
    adopt(shop.open())
    definitions = build_definitions(shop.root, knowledge_base=KnowledgeBase(root=str(shop.root)))
    repository = definitions.get_repository_def()
    job = dg.define_asset_job("chosen", dg.AssetSelection.assets(asset)).resolve(
        asset_graph=repository.asset_graph, resource_defs=repository.get_top_level_resources()
    )
    ranged = {"dagster/asset_partition_range_start": keys[0], "dagster/asset_partition_range_end": keys[-1]}
    return job.execute_in_process(
        instance=shop.instance,
        partition_key=keys[0] if len(keys) == 1 else None,
        tags=ranged if len(keys) > 1 else None,
        raise_on_error=False,
        run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
    )


def test_one_partition_compiles_that_document_alone_changed_or_not(shop: Workshop) -> None:
    assert materialize(shop, "wiki_pages", "svc/beta.md").success
    assert shop.asked() == ["svc/beta.md"]


def test_a_range_compiles_exactly_its_documents_and_each_gets_its_own_data_version(shop: Workshop) -> None:
    shop.write("svc/beta.md", document("beta", 9))
    shop.write("svc/delta.md", document("delta", 10))
    before = recorded_versions(shop.instance, "wiki_pages")
    assert materialize(shop, "wiki_pages", "svc/beta.md", "svc/delta.md").success
    assert shop.asked() == ["svc/beta.md", "svc/delta.md"]
    after = recorded_versions(shop.instance, "wiki_pages")
    assert {key for key in after if after[key] != before[key]} == {"svc/beta.md", "svc/delta.md"}
    assert len(set(after.values())) == 4


def test_a_document_that_is_gone_is_refused_and_its_pages_wait_for_a_build_with_its_guard(shop: Workshop) -> None:
    for file in (shop.root / "raw/svc").iterdir():
        file.unlink()
    pages = shop.pages()
    done = materialize(shop, "wiki_pages", "svc/alpha.md", "svc/gamma.md")
    assert not done.success
    assert shop.pages() == pages


def test_chosen_pages_get_the_vectors_that_they_lack_and_no_others(shop: Workshop) -> None:
    shop.store.rows.clear()
    shop.embedder.calls.clear()
    assert materialize(shop, "embeddings", "svc/beta.md").success
    assert {name for rows in shop.store.rows.values() for name, _ in rows} == {"svc/beta"}


def test_a_page_that_gets_no_vectors_fails_the_run(shop: Workshop) -> None:
    shop.store.rows.clear()
    shop.embedder = CountingEmbedder(fails_at=1)
    assert not materialize(shop, "embeddings", "svc/beta.md").success


def test_a_confined_build_keeps_partitions_and_pages_of_the_others(shop: Workshop) -> None:
    pages, partitions = shop.pages(), shop.partitions()
    shop.write("svc/alpha.md", document("alpha", 9))
    shop.write("svc/beta.md", document("beta", 10))
    (shop.root / "raw/svc/gamma.md").unlink()
    shop.build(only=("svc/alpha.md",))
    assert (shop.asked(), shop.pages(), shop.partitions()) == (["svc/alpha.md"], pages, partitions)
    shop.build()
    assert shop.asked() == ["svc/beta.md"]
    assert "svc/gamma.md" not in shop.partitions()[0] | shop.partitions()[1]


def test_a_confined_build_in_a_new_home_does_not_hide_what_is_not_on_record(shop: Workshop) -> None:
    with dg.DagsterInstance.ephemeral() as fresh:
        there = Workshop(shop.root, fresh)
        (shop.root / ".kb" / "state.json").unlink()
        there.build(only=("svc/alpha.md",))
        there.build()
        assert there.recorded() == {f"svc/{name}.md" for name in NAMES}
        assert there.asked() == []


def test_a_folder_that_cannot_be_entered_is_no_partition(shop: Workshop) -> None:
    (shop.root / "raw/outside").symlink_to(shop.root.parent, target_is_directory=True)
    shop.write("svc/alpha.md", document("alpha", 9))
    shop.build()
    assert shop.partitions()[0] == {f"svc/{name}.md" for name in NAMES}


def test_an_error_of_the_disk_is_told_as_the_products_own_without_a_traceback(shop: Workshop) -> None:
    (shop.root / "knowledge/ops").write_text("a file stands in the way")
    shop.write("ops/new.md", document("new", 9))
    with pytest.raises(StorageError) as caught:
        shop.build()
    assert "ops" in str(caught.value)
    assert "Traceback" not in str(caught.value)
    assert "line " not in str(caught.value)


def test_a_model_that_fails_is_said_and_leaves_the_backlog_run_red(shop: Workshop) -> None:
    shop.embedder = CountingEmbedder(fails_at=1)
    shop.write("svc/alpha.md", document("alpha", 9))
    result = shop.build()
    assert result.sync.vectors_error == "the vendor is overloaded"
    assert shop.build(only_embeddings=True).sync.vectors_error == "the vendor is overloaded"
    last = shop.instance.get_runs(dg.RunsFilter(job_name="embed_backlog"), limit=1)[0]
    assert last.status is dg.DagsterRunStatus.FAILURE
    shop.embedder = CountingEmbedder()
    assert shop.build().sync.vectors_error is None
    assert shop.build().runs == ()
