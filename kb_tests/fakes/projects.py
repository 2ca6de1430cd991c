"""A small knowledge base on disk with Dagster's ephemeral instance and vectors in memory: the DAG without a server."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import dagster as dg

from kb_pipeline.bootstrap import Project
from kb_pipeline.defs.build import build_definitions
from kb_pipeline.defs.event_batches import recorded_versions
from kb_pipeline.defs.launch import BuildRequest, BuildResult, run_build
from kb_pipeline.defs.partitions import DOCUMENTS, PAGES
from kb_pipeline.defs.resources import KnowledgeBase, adopt
from kb_pipeline.models import RawDocument, RewriteContext, RewriteOutcome
from kb_pipeline.planning.partitions import document_path
from kb_tests.fakes.vectors import CountingEmbedder, MemoryVectorStore

SENTENCES = (
    "服務 {name} 的逾時設定為 {n} 秒，超過後回傳 504，呼叫端必須自行重試。",
    "設定檔在 `/etc/shop/{name}.yml`，變更之後要執行 `svc reload {name}`。",
    "每日 03:{n:02} 執行備份，保留 14 天，還原演練每季一次。",
    "Owner of {name} is the platform team; the on-call channel is #ops-{name}.",
    "不可以直接修改正式環境的資料表，所有變更都要經過審查，並留下紀錄編號 CHG-{n}00。",
)


def document(name: str, number: int = 5) -> str:
    """A raw document that compiles to one lint-green page."""
    lines = "\n".join(sentence.format(name=name, n=number) for sentence in SENTENCES)
    return (
        f"---\ndate: 2026-05-{number % 27 + 1:02}\n---\n# 服務 {name} 說明\n\n{lines}\n\n"
        f"## 逾時\n\n{name} 的逾時為 {number} 秒，寬限 {number + 2} 秒。\n\n"
        f"## 備份\n\n備份檔放在 `backup/{name}`，編號 BK-{number}。\n"
    )


class CountingRewriter:
    """The offline rewriter with a log of what it was asked; documents whose text holds POISON fail each time."""

    def __init__(self, inner: object) -> None:
        self._inner = inner
        self.asked: list[str] = []
        self.fails: set[str] = set()

    @property
    def name(self) -> str:
        return str(self._inner.name)  # type: ignore[attr-defined]

    @property
    def key(self) -> str:
        return str(self._inner.key)  # type: ignore[attr-defined]

    def rewrite(self, document: RawDocument, context: RewriteContext) -> RewriteOutcome:
        from kb_pipeline.errors import TransientProviderError

        self.asked.append(document.path)
        if "POISON" in document.text or document.path in self.fails:
            raise TransientProviderError("the vendor answered 429 to the end")
        outcome: RewriteOutcome = self._inner.rewrite(document, context)  # type: ignore[attr-defined]
        return outcome


@dataclass
class Workshop:
    """``root``: the project's folder. ``open`` makes a new Project, as another process would."""

    root: Path
    instance: dg.DagsterInstance
    settings: str = ""
    store: MemoryVectorStore = field(default_factory=MemoryVectorStore)
    embedder: CountingEmbedder = field(default_factory=CountingEmbedder)
    rewriter: CountingRewriter | None = None
    asked_before: int = 0

    def __post_init__(self) -> None:
        (self.root / "raw").mkdir(parents=True, exist_ok=True)
        (self.root / "kb.yml").write_text(
            f"version: 1\ndefault_scope: 商店\nembedding: {{provider: hashing}}\n{self.settings}"
        )

    def write(self, path: str, text: str) -> None:
        file = self.root / "raw" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())

    def open(self) -> Project:
        project = Project.open(self.root, environ={})
        if self.rewriter is None:
            self.rewriter = CountingRewriter(project.rewriter)
        project.__dict__.update(vector_store=self.store, embedder=self.embedder, rewriter=self.rewriter)
        return project

    def rewriter_of(self, project: Project) -> CountingRewriter:
        """The rewriter that every build of this workshop uses."""
        assert self.rewriter is not None, project.root
        return self.rewriter

    def build(self, **request: object) -> BuildResult:
        """One ``kb build`` in a process of its own."""
        project = self.open()
        planned = project.plan()
        if not request and project.is_current(planned):
            return BuildResult()
        return run_build(project, BuildRequest(**request), _Silent(), self.instance)  # type: ignore[arg-type]

    def tick(self) -> dg.RunRequest | dg.SkipReason:
        """One evaluation of the sensor, as the daemon does it."""
        os.environ["DAGSTER_HOME"] = str(self.root)
        definitions = self._definitions()
        context = dg.build_sensor_context(
            instance=self.instance, definitions=definitions, resources={"knowledge_base": self._knowledge_base()}
        )
        data = definitions.get_repository_def().get_sensor_def("raw_changes").evaluate_tick(context)
        if data.run_requests:
            return data.run_requests[0]
        return dg.SkipReason(data.skip_message)

    def loop(self, *, lose: str | None = None, most: int = 6) -> list[str]:
        """Tick and run until the sensor skips; returns what ran. ``lose``: this job's first request is dropped."""
        ran: list[str] = []
        for _ in range(most):
            request = self.tick()
            if isinstance(request, dg.SkipReason):
                break
            assert request.job_name is not None
            if request.job_name == lose:
                lose = None
                ran.append(f"{request.job_name} lost")
                continue
            job = self._definitions().resolve_job_def(request.job_name)
            done = job.execute_in_process(
                instance=self.instance,
                tags=dict(request.tags),
                raise_on_error=False,
                run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            )
            ran.append(request.job_name if done.success else f"{request.job_name} failed")
        return ran

    def asked(self) -> list[str]:
        """Documents that the rewriter was asked since the last call."""
        new = [] if self.rewriter is None else self.rewriter.asked[self.asked_before :]
        self.asked_before += len(new)
        return sorted(new)

    def pages(self) -> list[str]:
        return sorted(
            path.relative_to(self.root / "knowledge").as_posix() for path in (self.root / "knowledge").rglob("*.md")
        )

    def manifest(self) -> str:
        file = self.root / "build" / "manifest.txt"
        return file.read_text() if file.exists() else ""

    def recorded(self) -> set[str]:
        """Documents that the event log has a materialization of."""
        return {document_path(key) for key in recorded_versions(self.instance, "wiki_pages")}

    def partitions(self) -> tuple[set[str], set[str]]:
        """Documents and pages that have a partition."""
        documents, pages = (
            {document_path(key) for key in self.instance.get_dynamic_partitions(name)} for name in (DOCUMENTS, PAGES)
        )
        return documents, pages

    def _knowledge_base(self) -> KnowledgeBase:
        adopt(self.open())
        return KnowledgeBase(root=str(self.root))

    def _definitions(self) -> dg.Definitions:
        return build_definitions(self.root, knowledge_base=self._knowledge_base())


class _Silent:
    def update(self, step: str, done: int, total: int, detail: str = "") -> None:
        """Nobody looks."""
