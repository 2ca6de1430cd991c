"""TextRank: how central each sentence is among its neighbours (Mihalcea & Tarau 2004), with numpy alone.

Belongs here: the ranking. Does not belong here: how many sentences to keep, or which must stay (``rewriting``).

Edges are cosines of tf-idf vectors. The matrix of all pairs is never made: S·v = X·(Xᵀ·v) costs the number of tokens,
so that a long section is linear too. The result depends on the sentences alone: no random start, fixed order of sums.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kb_pipeline.text.analyser import analyse

DAMPING = 0.85
_ROUNDS = 60
_TOLERANCE = 1e-7
_DIGITS = 9
"""Processors differ in the last bits of a logarithm; a committed page must not."""


def rank_sentences(sentences: Sequence[str]) -> list[float]:
    """One score a sentence, in order, adding up to 1 (empty for none). Equal sentences score alike."""
    count = len(sentences)
    if count == 0:
        return []
    even = [1.0 / count] * count
    if count < 3:
        return even
    rows, columns, values, width = _matrix(sentences)
    if not width:
        return even

    def similar(vector: NDArray[np.float64]) -> NDArray[np.float64]:
        by_term = np.bincount(columns, weights=values * vector[rows], minlength=width)
        summed = np.bincount(rows, weights=values * by_term[columns], minlength=count)
        return np.asarray(summed - own * vector, dtype=np.float64)

    own = np.bincount(rows, weights=values * values, minlength=count)
    reach = similar(np.ones(count))
    alone = reach <= 1e-12
    share = np.where(alone, 0.0, 1.0 / np.where(alone, 1.0, reach))
    scores = np.full(count, 1.0 / count)
    for _ in range(_ROUNDS):
        # Sentences that share no word with any other give their weight to all alike (dangling nodes).
        updated = (1.0 - DAMPING) / count + DAMPING * (similar(scores * share) + scores[alone].sum() / count)
        settled = float(np.abs(updated - scores).sum()) < _TOLERANCE
        scores = updated
        if settled:
            break
    return [round(float(score), _DIGITS) for score in scores / scores.sum()]


def _matrix(
    sentences: Sequence[str],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], int]:
    """Row-normalised tf-idf as (rows, columns, values, number of terms); terms of one sentence only are left out."""
    counts = [Counter(analyse(sentence)) for sentence in sentences]
    frequency = Counter(term for each in counts for term in each)
    terms = {term: column for column, term in enumerate(t for t, n in frequency.items() if n > 1)}
    rows: list[int] = []
    columns: list[int] = []
    weights: list[float] = []
    for row, each in enumerate(counts):
        for term, times in each.items():
            column = terms.get(term)
            if column is not None:
                rows.append(row)
                columns.append(column)
                weights.append(times)
    row_array = np.array(rows, dtype=np.int64)
    column_array = np.array(columns, dtype=np.int64)
    shared = np.array([frequency[term] for term in terms], dtype=np.float64)
    idf = np.log(1.0 + len(sentences) / shared)
    values = np.sqrt(np.array(weights, dtype=np.float64)) * idf[column_array]
    norms = np.sqrt(np.bincount(row_array, weights=values * values, minlength=len(sentences)))
    return row_array, column_array, values / norms[row_array], len(terms)
