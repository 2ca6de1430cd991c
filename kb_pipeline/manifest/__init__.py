"""The manifest: one line a page from which a model chooses what to read (SPEC 14). Pure: pages in, text out."""

from kb_pipeline.manifest.budget import ManifestReport, manifest_report
from kb_pipeline.manifest.lines import estimate_tokens, one_line
from kb_pipeline.manifest.render import (
    domains,
    render_directory_manifest,
    render_domain_manifest,
    render_manifest,
)

__all__ = [
    "ManifestReport",
    "domains",
    "estimate_tokens",
    "manifest_report",
    "one_line",
    "render_directory_manifest",
    "render_domain_manifest",
    "render_manifest",
]
