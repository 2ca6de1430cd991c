"""The ``summary`` of a page: what can be looked up in it, as a list of facts with the words around them (SPEC 5).

Belongs here: choosing among clauses, and what stands in where there are too few. Does not belong here:
sentences about the page ("介紹…", "overview of …"): the manifest shows what is in a page, not what it is about.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from kb_pipeline.rewriting.blocks import Block, BlockKind
from kb_pipeline.rewriting.clauses import FRAGMENT, TOPIC_WORDS, TRIM, Clause, balanced, read_clauses, tidy
from kb_pipeline.rewriting.condense import FILLER
from kb_pipeline.rewriting.evidence import FactIndex
from kb_pipeline.rewriting.inline import plain, shortened
from kb_pipeline.rewriting.language import Words
from kb_pipeline.rewriting.splitting import Part
from kb_pipeline.rewriting.structure import section_blocks
from kb_pipeline.rewriting.titles import is_generic
from kb_pipeline.rewriting.vocabulary import CODE_WORDS

SHORTEST, ENOUGH, LONGEST = 15, 40, 110
"""Code points: what lint asks for, what is enough of less than three facts, what fits into a line of the manifest."""

_MOST = 5
_CODE_NAME = re.compile(r"(?<![\w.\"'])[A-Za-z_]\w*(?:[.:-]{1,2}[A-Za-z_]\w+)*[A-Za-z0-9_]{2,}")


def summarise(
    part: Part,
    title: str,
    conclusion: str,
    facts: FactIndex,
    words: Words,
    *,
    written: str = "",
    taken_from: Sequence[Block] = (),
    is_index: bool = False,
) -> str:
    """One line. ``written`` is a summary that the raw front matter has, used if it lists facts and not a topic;
    ``taken_from`` are blocks that became the conclusion. Headings that ``title`` says already come last."""
    if SHORTEST <= len(written) <= 2 * LONGEST and not TOPIC_WORDS.search(written) and "\n" not in written:
        return written
    items: list[str] = []
    said = _letters(title)

    def add(candidates: Iterable[str]) -> None:
        new = [item for item in dict.fromkeys(candidates) if item and "`" not in item]
        if not facts.supports("\n".join(new)):
            new = [item for item in new if facts.supports(item)]
        for item in new:
            if not _repeats(item, items):
                items.append(item)

    if is_index:
        add(_link_labels(part))
    else:
        chosen = _chosen(list(read_clauses(part, facts, taken_from, words)), words)
        add(clause.text for clause in sorted(chosen, key=lambda clause: clause.start))
    if len(items) < 3 or len(words.item_joint.join(items)) < 3 * SHORTEST:
        add(heading for heading in _headings(part) if _letters(heading) not in said)
    if len(items) < 3 and len(_joined(items, words)) < ENOUGH:
        add(_plain_clauses(conclusion, part))
    for further in (_headings(part), _code_names(part), _first_words(part), (title,)):
        if len(_joined(items, words)) < SHORTEST:
            add(further)
    summary = _joined(items if is_index else items[:_MOST], words)
    if len(summary) >= SHORTEST:
        return summary
    told = _cut(TOPIC_WORDS.sub("", plain(conclusion)), LONGEST)
    return told if len(told) >= SHORTEST else _joined([title, *items, *_names_of_sections(part)], words)


def _joined(items: Sequence[str], words: Words) -> str:
    """As many items as fit, always the first, cut if need be."""
    line = ""
    for item in items:
        if not item:
            continue
        longer = f"{line}{words.item_joint}{item}" if line else _cut(item, LONGEST)
        if len(longer) <= LONGEST:
            line = longer
    return line


def _chosen(clauses: Sequence[Clause], words: Words) -> list[Clause]:
    """Best first, at most two a section in the first round, no fact twice, while the line is not full."""
    chosen: list[Clause] = []
    length = 0
    for allowed in (2, 4):
        used: dict[int, int] = {}
        for clause in chosen:
            used[clause.place] = used.get(clause.place, 0) + 1
        for clause in sorted(clauses, key=lambda clause: (-clause.score, clause.start)):
            if clause in chosen or clause.score <= 0.5 or used.get(clause.place, 0) >= allowed:
                continue
            if any(clause.facts & other.facts or _repeats(clause.text, [other.text]) for other in chosen):
                continue
            if length + len(clause.text) > LONGEST - 10:
                continue
            chosen.append(clause)
            used[clause.place] = used.get(clause.place, 0) + 1
            length += len(clause.text) + len(words.item_joint)
            if len(chosen) == _MOST:
                return chosen
    return chosen


def _all_blocks(part: Part) -> Iterator[Block]:
    yield from part.lead
    for section in part.sections:
        yield from section_blocks(section)


def _link_labels(part: Part) -> Iterator[str]:
    for block in _all_blocks(part):
        for line in block.text.split("\n"):
            label = tidy(line) if "](" in line or "[[" in line else ""
            if len(label) > 2 and "://" not in label and not TOPIC_WORDS.search(label):
                yield _cut(label.replace(";", ","), 60)


def _headings(part: Part) -> Iterator[str]:
    for section in part.sections:
        heading = _as_item(section.heading)
        if heading:
            yield heading
        if not heading or len(part.sections) <= 2:
            yield from filter(None, (_as_item(child.heading) for child in section.children))


def _as_item(heading: str) -> str:
    """A heading as one item of a summary; "" for one that says nothing."""
    text = plain(heading).strip(TRIM).replace("、", " / ").replace(";", ",")
    tells = len(text) > 1 and not is_generic(text) and not TOPIC_WORDS.search(text)
    return text if tells else ""


def _names_of_sections(part: Part) -> Iterator[str]:
    return (plain(section.heading) for section in part.sections)


def _plain_clauses(conclusion: str, part: Part) -> Iterator[str]:
    """Clauses of the conclusion, then list items, without facts: better than nothing."""
    lines = conclusion.split("\n")
    for block in _all_blocks(part):
        if block.kind is BlockKind.LIST:
            lines += block.items[:6]
        elif block.kind is BlockKind.PARAGRAPH:
            lines.append(_cut(block.text, 300))
    for line in lines:
        for piece in re.split(r"[。！？；;、，\n]|,\s|[.!?](?:\s|$)", line):
            clause = tidy(piece)
            if (
                len(clause) >= 4
                and not FRAGMENT.match(clause)
                and not FILLER.match(clause)
                and not TOPIC_WORDS.search(clause)
                and "://" not in clause
                and len(clause) <= 90
            ):
                yield clause


def _code_names(part: Part) -> Iterator[str]:
    """Names that a page of code uses most: better to search by than its first line."""
    code = "\n".join(block.text.partition("\n")[2] for block in _all_blocks(part) if block.kind is BlockKind.CODE)
    counts = Counter(name for name in _CODE_NAME.findall(code) if name.casefold() not in CODE_WORDS)
    special = {name: bool(re.search(r"[a-z][A-Z]|[_.:-]", name)) for name in counts}
    yield from sorted(counts, key=lambda name: (-special[name], -counts[name]))[:6]


def _first_words(part: Part) -> Iterator[str]:
    """Last resort: the beginning of what is there, code included."""
    for block in _all_blocks(part):
        for line in block.text.split("\n"):
            if re.search(r"\w", line) and not line.lstrip().startswith(("```", "~~~")):
                yield _cut(TOPIC_WORDS.sub("", tidy(line)), 60)


def _cut(text: str, limit: int) -> str:
    return balanced(shortened(text, limit))


def _repeats(text: str, others: Sequence[str]) -> bool:
    folded = _letters(text)
    return any(folded in known or known in folded for known in map(_letters, others) if known)


def _letters(text: str) -> str:
    return re.sub(r"\W+", "", text).casefold()
