"""What the ``link`` pass changed in a page, as its front matter keeps it under ``linked``.

Belongs here: reading and writing that field. Does not belong here: what the texts in it mean (``link_text``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kb_pipeline.models import WikiPage

FIELD = "linked"


@dataclass(frozen=True, slots=True)
class LinkState:
    """``title`` before its scope was added; None when it was not.

    ``links`` in order of first occurrence: as a link stands now → what the raw document wrote: one text, or one for
    each occurrence where they differ. ``pending``: links that stand in the text as plain text, whole.
    """

    title: str | None = None
    links: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pending: tuple[str, ...] = ()

    @classmethod
    def of(cls, page: WikiPage) -> LinkState:
        """As read; what is no such thing is taken as not there."""
        found = page.extra.get(FIELD)
        if not isinstance(found, Mapping):
            return cls()
        title, links = found.get("title"), found.get("links")
        raws = {now: _texts(raw) for now, raw in links.items()} if isinstance(links, Mapping) else {}
        return cls(
            title if isinstance(title, str) else None,
            {now: raw for now, raw in raws.items() if raw},
            _texts(found.get("pending")),
        )

    def as_field(self) -> dict[str, object] | None:
        """The value to write; None when the pass changed nothing."""
        written: dict[str, object] = {}
        if self.title is not None:
            written["title"] = self.title
        if self.links:
            written["links"] = {now: raw[0] if len(raw) == 1 else list(raw) for now, raw in self.links.items()}
        if self.pending:
            written["pending"] = list(self.pending)
        return written or None


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
