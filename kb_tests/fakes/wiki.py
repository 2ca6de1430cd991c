"""Small wikis for tests: pages as text, parsed, and published into a folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from kb_pipeline.building.publishing import Publication, PublishSettings
from kb_pipeline.markdown.decoding import decode_text
from kb_pipeline.markdown.pages import read_page
from kb_pipeline.models import Finding, Severity, WikiPage
from kb_pipeline.storage.snapshots import Snapshot, SnapshotStore

START = datetime(2026, 8, 18, 3, 0, tzinfo=UTC)


def page_text(
    title: str,
    body: str = "內容。",
    *,
    scope: str = "測試環境",
    summary: str = "一天兩次備份、每次約十分鐘",
    keywords: Sequence[str] = ("備份", "backup", "還原"),
    status: str = "current",
    updated: str = "2026-08-18",
    related: Sequence[str] = (),
    extra: str = "",
) -> str:
    """A page as a person writes it. ``related`` items may carry `` # comment``; ``extra`` is further front matter."""
    listed = "".join(f"\n  - {item}" for item in related) if related else " []"
    return (
        f"---\ntitle: {title}\nscope: {scope}\nsummary: {summary}\nkeywords: [{', '.join(keywords)}]\n"
        f"related:{listed}\nupdated: {updated}\nstatus: {status}\n{extra}---\n\n# {title}\n\n{body}\n"
    )


def parsed(texts: Mapping[str, str]) -> list[WikiPage]:
    return [read_page(path, text.encode()) for path, text in texts.items()]


def read_folder(root: Path) -> dict[str, str]:
    """Path → text of every page below a folder."""
    return {path.relative_to(root).as_posix(): decode_text(path.read_bytes()) for path in sorted(root.rglob("*.md"))}


def error_in(path: str, rule: str = "summary-short", *, own: bool = True) -> Finding:
    return Finding(rule, Severity.ERROR, path, f"{rule} in {path}", own=own)


@dataclass
class Press:
    """Publishes texts into ``build`` as a build would; the clock goes on by a minute with each publication."""

    build: Path
    settings: PublishSettings = field(default_factory=PublishSettings)
    now: datetime = START
    reads: list[str] = field(default_factory=list)

    @property
    def store(self) -> SnapshotStore:
        return SnapshotStore(self.build)

    def publication(self, texts: Mapping[str, str], findings: Iterable[Finding] = ()) -> Publication:
        self.now += timedelta(minutes=1)

        def read(path: str) -> str:
            self.reads.append(path)
            return texts[path]

        pages = {page.path: page for page in parsed(texts)}
        return Publication(self.store, self.build, pages, list(findings), read, lambda: self.now, self.settings)

    def publish(self, texts: Mapping[str, str], findings: Iterable[Finding] = ()) -> Snapshot:
        return self.publication(texts, findings).finish()
