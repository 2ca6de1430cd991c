"""What a manifest costs in a prompt, and what to do about it (SPEC 14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kb_pipeline.manifest.lines import estimate_tokens
from kb_pipeline.manifest.render import page_entry
from kb_pipeline.models import WikiPage

COMFORTABLE = 10_000
FATTEST = 10


@dataclass(frozen=True, slots=True)
class ManifestReport:
    """``tokens`` and the figures of ``fattest`` are estimates (one a CJK character, one for four others).

    ``two_stage``: the whole is over the budget, so that a model gets the directory first. ``left_out``: page → reason.
    """

    pages: int
    tokens: int
    tokens_per_page: float
    two_stage: bool
    advice: str
    fattest: tuple[tuple[str, int], ...]
    left_out: Mapping[str, str]


def manifest_report(
    pages: Sequence[WikiPage], text: str, language: str, *, budget: int, left_out: Mapping[str, str]
) -> ManifestReport:
    """``pages`` are those in ``text``; ``budget``: tokens from which on it is cut in two stages."""
    tokens = estimate_tokens(text)
    sizes = sorted(
        ((page.path, estimate_tokens(page_entry(page, language))) for page in pages),
        key=lambda item: (-item[1], item[0]),
    )
    if tokens <= min(COMFORTABLE, budget):
        advice = "fits into every prompt"
    elif tokens <= budget:
        advice = "near the budget: shorten the summaries and keywords of the fattest pages"
    else:
        advice = "over the budget: a model gets the directory of domains first and opens one domain at a time"
    return ManifestReport(
        pages=len(pages),
        tokens=tokens,
        tokens_per_page=round(tokens / len(pages), 1) if pages else 0.0,
        two_stage=tokens > budget,
        advice=advice,
        fattest=tuple(sizes[:FATTEST]),
        left_out=dict(sorted(left_out.items())),
    )
