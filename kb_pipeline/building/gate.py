"""Which pages may be published (SPEC 9, gate).

Belongs here: the choice between a page as it is, its last published version, and none. Pure but for reading that
version. Does not belong here: lint itself, writing a snapshot (``publishing``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kb_pipeline.errors import SnapshotCorruptError
from kb_pipeline.markdown.pages import read_page
from kb_pipeline.models import Finding, Severity, WikiPage
from kb_pipeline.storage.snapshots import Snapshot


@dataclass(frozen=True, slots=True)
class Publishable:
    """``pages`` to publish, by path. ``kept``: those of them that stay at their last published version, with why.

    ``left_out``: pages that are not published, with why. ``blocking``: errors for which nothing may be published.
    """

    pages: tuple[WikiPage, ...]
    kept: Mapping[str, str]
    left_out: Mapping[str, str]
    blocking: tuple[Finding, ...] = ()


def choose_publishable(
    pages: Iterable[WikiPage], findings: Iterable[Finding], gate: str, previous: Snapshot | None
) -> Publishable:
    """Choose what the next snapshot holds.

    Drafts are out. Under ``page`` a page with an error of its own, or without a status that can be read, keeps its last
    published version or stays out; errors between pages keep none out. Under ``all`` any error blocks everything.
    """
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    faults: dict[str, list[str]] = {}
    for finding in errors:
        if finding.own:
            faults.setdefault(finding.path, []).append(finding.rule)
    chosen: list[WikiPage] = []
    kept: dict[str, str] = {}
    left_out: dict[str, str] = {}
    for page in sorted(pages, key=lambda page: page.path):
        if page.is_draft:
            left_out[page.path] = "draft"
            continue
        rules = faults.get(page.path) or ([] if page.status else ["status"])
        if not rules:
            chosen.append(page)
            continue
        reason = f"errors: {', '.join(dict.fromkeys(rules))}"
        published = last_published(page.path, previous)
        if published is None:
            left_out[page.path] = reason
        else:
            kept[page.path] = reason
            chosen.append(published)
    return Publishable(tuple(chosen), kept, left_out, tuple(errors) if gate == "all" else ())


def last_published(path: str, previous: Snapshot | None) -> WikiPage | None:
    """The page as the previous snapshot holds it; None when it does not, or cannot be read."""
    if previous is None or path not in previous:
        return None
    try:
        return read_page(path, previous.page_text(path).encode())
    except SnapshotCorruptError:
        return None
