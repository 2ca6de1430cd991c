"""A project on disk that is synced without Dagster: plan, apply, look. For tests of what a sync does to the disk."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from kb_pipeline.bootstrap import Project
from kb_pipeline.models import DocumentOutcome, RawDocument, RewriteContext, RewriteOutcome, SyncReport


@dataclass
class KeyedRewriter:
    """The offline rewriter under a key of the test's choice; ``asked`` logs the documents."""

    inner: object
    key: str
    asked: list[str] = field(default_factory=list)
    name: str = "offline"

    def rewrite(self, document: RawDocument, context: RewriteContext) -> RewriteOutcome:
        self.asked.append(document.path)
        outcome: RewriteOutcome = self.inner.rewrite(document, context)  # type: ignore[attr-defined]
        return outcome


@dataclass
class Bench:
    """``root``: the project's folder; ``key``: the rewriter's, None for its own."""

    root: Path
    settings: str = ""
    key: str | None = None

    def __post_init__(self) -> None:
        (self.root / "raw").mkdir(parents=True, exist_ok=True)
        self.configure(self.settings)

    def configure(self, settings: str) -> None:
        (self.root / "kb.yml").write_text(
            f"version: 1\ndefault_scope: 商店\nembedding: {{provider: hashing}}\n{settings}", encoding="utf-8"
        )

    def raw(self, path: str) -> Path:
        return self.root / "raw" / path

    def page(self, path: str) -> Path:
        return self.root / "knowledge" / path

    def write(self, path: str, text: str) -> None:
        self.raw(path).parent.mkdir(parents=True, exist_ok=True)
        self.raw(path).write_bytes(text.encode())

    def open(self) -> Project:
        project = Project.open(self.root, environ={})
        if self.key is not None:
            rewriter = KeyedRewriter(project.rewriter, self.key)
            project.__dict__.update(rewriter=rewriter, rewriter_key=self.key)
        return project

    def sync(self, **plan: object) -> SyncReport:
        """Plan and apply once, as a new process would."""
        project = self.open()
        planned = project.plan(**plan)  # type: ignore[arg-type]
        told: list[DocumentOutcome] = []
        report = project.sync(planned.raw, Silent()).run(planned.plan, planned.raw, told.append)
        assert tuple(told) == report.outcomes
        return report

    def states(self) -> dict[str, str]:
        """Document → state, as ``kb status`` says it now."""
        from kb_pipeline.planning.state import document_states

        planned = self.open().plan()
        return {item.document: item.state.value for item in document_states(planned.plan, planned.pages.values())}

    def pages(self) -> dict[str, str]:
        folder = self.root / "knowledge"
        return {file.relative_to(folder).as_posix(): file.read_text() for file in sorted(folder.rglob("*.md"))}

    def kept_for_review(self) -> str:
        """All that waits in review/, as one text."""
        return "\n".join(file.read_text() for file in sorted((self.root / "review").rglob("*")) if file.is_file())


class Silent:
    """Progress that nobody looks at."""

    def update(self, step: str, done: int, total: int, detail: str = "") -> None:
        """Nothing."""
