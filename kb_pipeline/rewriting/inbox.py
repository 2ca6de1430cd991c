"""The month's inbox page: fragments that are too short for a page of their own (SPEC 5, 6.1).

Belongs here: the text of ``_inbox/YYYY-MM.md``. Does not belong here: which fragments there are (``building``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date

from kb_pipeline.markdown.pages import render_page
from kb_pipeline.models import UNRESOLVED_SCOPE, PageDraft, PageStatus, SourceRef
from kb_pipeline.rewriting.blocks import BlockKind, read_blocks
from kb_pipeline.rewriting.inline import escaped_heading
from kb_pipeline.rewriting.language import words_for
from kb_pipeline.rewriting.naming import written_stem

INBOX_FOLDER = "_inbox"


def inbox_path(month: str) -> str:
    """Page path of a month ``YYYY-MM``."""
    return f"{INBOX_FOLDER}/{month}.md"


def render_inbox(month: str, fragments: Mapping[str, tuple[str, str]], language: str, key: str) -> str:
    """Page text with one H2 a fragment, in order of path. ``fragments``: raw path → (text, sha256); never empty."""
    words = words_for(language)
    title = words.inbox_title.format(month=month)
    lead = words.inbox_lead.format(month=month, count=len(fragments))
    pieces = [f"# {title}", f"> {lead}"]
    for path in sorted(fragments):
        pieces += [f"## {escaped_heading(path)}", _flattened(fragments[path][0])]
    year, _, number = month.partition("-")
    draft = PageDraft(
        path=inbox_path(month),
        title=title,
        scope=UNRESOLVED_SCOPE,
        summary=lead,
        keywords=tuple(
            dict.fromkeys(("inbox", "收件匣", month, *(written_stem(path) for path in sorted(fragments)[:9])))
        ),
        body="\n\n".join(pieces) + "\n",
        updated=date(int(year), int(number), 1),
        status=PageStatus.DRAFT,
    )
    sources = [SourceRef(path, fragments[path][1]) for path in sorted(fragments)]
    return render_page(draft, sources, "offline", key, "1/1")


def _flattened(text: str) -> str:
    """A fragment without headings of its own, which would end its section, and with its code blocks closed."""
    source = read_blocks(text)
    pieces = [f"**{block.text}**" if block.kind is BlockKind.HEADING else block.text for block in source.blocks]
    pieces += ["\n".join(lines) for lines in (source.definitions.values(), source.footnotes.values()) if lines]
    return re.sub(r"\n{3,}", "\n\n", "\n\n".join(pieces))
