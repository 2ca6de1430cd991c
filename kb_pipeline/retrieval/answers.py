"""From a ranked section to what is shown of it (SPEC 13, answer).

Belongs here: snippet, reason, staleness of a hit. Does not belong here: ranking (``keyword``, ``hybrid``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kb_pipeline.models import SearchHit
from kb_pipeline.retrieval.query import Query
from kb_pipeline.retrieval.snippets import snippet, words_in
from kb_pipeline.storage.catalog import PageRecord, SectionRecord
from kb_pipeline.storage.snapshots import Snapshot

CurrentHash = Callable[[str], str | None]
"""Page path → content hash of the file as it is now; None when it is gone."""

_FIELDS: Mapping[str, Mapping[str, str]] = {
    "zh-TW": {"title": "標題", "keywords": "關鍵字", "heading": "小節", "summary": "摘要", "text": "內文"},
    "en": {"title": "title", "keywords": "keywords", "heading": "heading", "summary": "summary", "text": "text"},
}
_SENTENCES: Mapping[str, Mapping[str, str]] = {
    "zh-TW": {
        "words": "{fields}有「{words}」",
        "meaning": "語意相近（{similarity:.2f}）",
        "graph": "與 {count} 個同時命中的頁面相連",
        "joint": "；",
        "list": "、",
        "quoted": "」「",
    },
    "en": {
        "words": '{fields}: "{words}"',
        "meaning": "similar in meaning ({similarity:.2f})",
        "graph": "linked with {count} other hits",
        "joint": "; ",
        "list": ", ",
        "quoted": '", "',
    },
}
_MOST_WORDS = 5


@dataclass(frozen=True, slots=True)
class HitMaker:
    """Makes the hits of one answer. ``current_hash`` marks those whose file is no longer what was published."""

    snapshot: Snapshot
    query: Query
    current_hash: CurrentHash | None = None

    def hit(
        self,
        record: PageRecord,
        section: SectionRecord,
        score: float,
        breakdown: Mapping[str, float],
        *,
        similarity: float | None = None,
        connected: int = 0,
    ) -> SearchHit:
        """``similarity`` and ``connected`` are told as reasons where they took part in the score."""
        text = self.snapshot.section_text(record, section)
        reasons = [_words_found(record, section, text, self.query, self.snapshot.language)]
        say = _SENTENCES.get(self.snapshot.language, _SENTENCES["en"])
        if similarity is not None:
            reasons.append(say["meaning"].format(similarity=similarity))
        if connected:
            reasons.append(say["graph"].format(count=connected))
        return SearchHit(
            path=record.path,
            section_id=section.section_id,
            address=record.address(section),
            title=record.title,
            section_title=section.title,
            scope=record.scope,
            status=record.status,
            updated=record.updated,
            snippet=snippet(text, self.query.words) or snippet(record.summary, self.query.words),
            score=round(score, 6),
            breakdown={name: round(value, 6) for name, value in breakdown.items()},
            reason=say["joint"].join(filter(None, reasons)),
            stale=self.current_hash is not None and self.current_hash(record.path) != record.sha256,
        )


def _words_found(record: PageRecord, section: SectionRecord, text: str, query: Query, language: str) -> str:
    """Which words of the query stand in which fields; "" when none does."""
    spoken = language if language in _SENTENCES else "en"
    say, fields = _SENTENCES[spoken], _FIELDS[spoken]
    texts = {
        "title": record.title,
        "keywords": "\n".join(record.keywords),
        "heading": section.title if section.slug else "",
        "summary": record.summary,
        "text": text,
    }
    found = {field: words_in(value, query.words) for field, value in texts.items()}
    words = list(dict.fromkeys(word.casefold() for words in found.values() for word in words))
    # A pair of characters that is part of a longer find says nothing more.
    words = [word for word in words if not any(word != other and word in other for other in words)][:_MOST_WORDS]
    if not words:
        return ""
    where = say["list"].join(fields[field] for field in texts if found[field])
    return say["words"].format(fields=where, words=say["quoted"].join(words))
