"""What a rewriter is given and what it may answer (SPEC 6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kb_pipeline.models.finding import Finding
from kb_pipeline.models.page import PageDraft, WikiPage
from kb_pipeline.models.raw import RawDocument


@dataclass(frozen=True, slots=True)
class RewriteContext:
    """What a rewriter may know beside the document itself: the same for every order of processing.

    ``base_path`` is the page path (without ``.md``) that naming chose for the document; ``existing`` its pages now,
    by part. ``scopes`` is the list of allowed scopes (empty: any). ``language`` is ``zh-TW`` or ``en``.
    """

    base_path: str
    existing: tuple[WikiPage, ...] = ()
    scopes: tuple[str, ...] = ()
    default_scope: str | None = None
    language: str = "zh-TW"


@dataclass(frozen=True, slots=True)
class Compiled:
    """Pages that passed the gates, in order of part. ``notes`` are warnings and figures worth showing."""

    pages: tuple[PageDraft, ...]
    notes: tuple[Finding, ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fragment:
    """Too little to answer a question alone: goes to the month's inbox (``month`` is ``YYYY-MM``)."""

    month: str
    text: str


@dataclass(frozen=True, slots=True)
class Held:
    """Drafts that a gate refused: old pages stay, these go to review with the findings."""

    drafts: tuple[PageDraft, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """No page could be made. ``permanent`` ones are not tried again until the document or the key changes."""

    reason: str
    permanent: bool


RewriteOutcome = Compiled | Fragment | Held | Failed

__all__ = ["Compiled", "Failed", "Fragment", "Held", "RawDocument", "RewriteContext", "RewriteOutcome"]
