"""BM25 over sections with weighted fields (first version)."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kb_pipeline.text.analyser import ANALYSER_VERSION, analyse

FIELD_WEIGHTS: Mapping[str, float] = {"title": 3.0, "keywords": 2.0, "aliases": 2.0, "headings": 2.0, "summary": 1.5, "body": 1.0}


@dataclass(frozen=True, slots=True)
class IndexedSection:
    """``key`` is ``path.md#section_id``; ``fields`` maps field names to texts."""

    key: str
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class IndexReport:
    sections: int
    reused: int
    analysed: int


def build_index(folder: Path, sections: Iterable[IndexedSection], previous: Path | None = None) -> IndexReport:
    del previous
    folder.mkdir(parents=True, exist_ok=True)
    rows: dict[str, dict[str, float]] = {}
    for section in sections:
        counts: Counter[str] = Counter()
        for name, text in section.fields.items():
            for token in analyse(text):
                counts[token] += FIELD_WEIGHTS.get(name, 1.0)  # type: ignore[assignment]
        rows[section.key] = dict(counts)
    (folder / "meta.json").write_text(json.dumps({"analyser": ANALYSER_VERSION, "rows": rows}), encoding="utf-8")
    return IndexReport(len(rows), 0, len(rows))


class SparseIndex:
    def __init__(self, rows: Mapping[str, Mapping[str, float]]) -> None:
        self._rows = rows

    @classmethod
    def open(cls, folder: Path) -> SparseIndex:
        return cls(json.loads((folder / "meta.json").read_text(encoding="utf-8"))["rows"])

    def score(self, terms: Sequence[str], keys: Sequence[str]) -> dict[str, float]:
        lengths = {key: sum(row.values()) for key, row in self._rows.items()}
        mean = sum(lengths.values()) / max(1, len(lengths)) or 1.0
        scores = dict.fromkeys(keys, 0.0)
        for term in dict.fromkeys(terms):
            df = sum(term in row for row in self._rows.values())
            idf = math.log(1 + (len(self._rows) - df + 0.5) / (df + 0.5))
            for key in scores:
                tf = self._rows.get(key, {}).get(term, 0.0)
                if tf:
                    scores[key] += idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * lengths[key] / mean))
        return scores

    def search(self, terms: Sequence[str], top_k: int) -> list[tuple[str, float]]:
        scores = self.score(terms, list(self._rows))
        return sorted(((k, s) for k, s in scores.items() if s > 0), key=lambda hit: (-hit[1], hit[0]))[:top_k]
