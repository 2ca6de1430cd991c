"""What is done to a part before it becomes a page, so that the page opens well and nothing is said twice.

Belongs here: moving text between conclusion, lead and sections, and sections that the product adds from front matter.
Does not belong here: choosing the conclusion (``conclusion``), markdown of a whole page (``layout``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kb_pipeline.rewriting.blocks import Block, BlockKind, fenced
from kb_pipeline.rewriting.conclusion import Conclusion
from kb_pipeline.rewriting.condense import ANAPHORA, unwrapped
from kb_pipeline.rewriting.fields import RawFields
from kb_pipeline.rewriting.inline import without_block_marks
from kb_pipeline.rewriting.language import Words
from kb_pipeline.rewriting.naming import written_stem
from kb_pipeline.rewriting.splitting import MAX_BODY, Part, blocks_size
from kb_pipeline.rewriting.structure import Section

_LONG_LEAD = 500


def taken_blocks(part: Part, conclusion: Conclusion | None) -> tuple[Block, ...]:
    """Blocks that the conclusion was taken from, for the summary: moved sentences count most."""
    if conclusion is None:
        return ()
    if conclusion.quote is not None:
        return (conclusion.quote,)
    return tuple(part.lead[:1]) if conclusion.moved else ()


def without_moved(part: Part, conclusion: Conclusion | None) -> Part:
    """A part without the text that its conclusion took from its opening."""
    if conclusion is None or (conclusion.quote is None and not conclusion.moved):
        return part
    if conclusion.quote is not None:
        quote = conclusion.quote
        if part.lead:
            return replace(part, lead=part.lead[1:])
        first = part.sections[0]
        others = tuple(block for block in first.blocks if block is not quote)
        if not others and not first.children:
            return part
        return replace(part, sections=(replace(first, blocks=others), *part.sections[1:]))
    rest = _without_sentences(part.lead[0], conclusion.moved)
    if rest is not None and ANAPHORA.match(without_block_marks(rest.text)):
        return part  # what follows speaks of the sentence above it; better said twice than torn apart
    return replace(part, lead=part.lead[1:] if rest is None else (rest, *part.lead[1:]))


def _without_sentences(block: Block, gone: Sequence[str]) -> Block | None:
    """A paragraph, or the list that was made of one, without some of its sentences; None when nothing is left."""
    if block.kind is BlockKind.LIST:
        items = tuple(item for item in block.items if item not in {f"- {unwrapped(text)}" for text in gone})
        return replace(block, text="\n".join(items), items=items) if items else None
    text = block.text
    for sentence in gone:
        before, _, after = text.partition(sentence)
        text = f"{before.rstrip()} {after.lstrip()}" if before.strip() and after.strip() else before + after
    return replace(block, text=text.strip()) if text.strip() else None


def fitting(conclusion: str, summary: str, length: int, words: Words) -> str:
    """A conclusion that a page of ``length`` still has room for: itself, the summary, or the summary's first facts."""
    room = MAX_BODY - length - 4
    if len(conclusion) <= room or length > MAX_BODY:
        return conclusion
    items = summary.split(words.item_joint)
    shorter = (words.item_joint.join(items[:count]) for count in range(len(items), 0, -1))
    return next((text for text in shorter if len(text) <= room), "")


def with_document_facts(part: Part, fields: RawFields, words: Words) -> Part:
    """Front matter that readers may ask for, and the links that it holds, as sections at the end."""
    added: list[Section] = []
    if fields.facts:
        items = tuple(f"- {key}{words.colon}{value}" for key, value in fields.facts)
        listed = Block(BlockKind.LIST, "\n".join(items), 0, 0, items=items)
        # What could not be read of the front matter may stand at the end of this part already.
        last = part.sections[-1] if part.sections and fields.unread else None
        if last is not None and last.heading == words.document_facts:
            part = replace(part, sections=(*part.sections[:-1], replace(last, blocks=(listed, *last.blocks))))
        else:
            added.append(Section(words.document_facts, (), (listed,)))
    if fields.related:
        items = tuple(f"- {link_to(target)}" for target in fields.related)
        added.append(Section(words.see_also, (), (Block(BlockKind.LIST, "\n".join(items), 0, 0, items=items),)))
    return replace(part, sections=(*part.sections, *added))


def unread_section(fields: RawFields, words: Words) -> tuple[Section, ...]:
    """Front matter that could not be read, as it was written: its facts are the document's all the same."""
    texts = (fenced(block.text, "yaml") for block in fields.unread)
    blocks = tuple(Block(BlockKind.CODE, text, 0, 0) for text in texts)
    return (Section(words.document_facts, (), blocks),) if blocks else ()


def with_named_lead(part: Part, words: Words, subtitle: str) -> Part:
    """A long lead, or one that is the whole page, becomes a section, since sections are what is found and cited; so
    does one that stood under an H1 of other words than the title."""
    size = blocks_size(part.lead)
    if not size or (not subtitle and size < (_LONG_LEAD if part.sections else _LONG_LEAD // 2)):
        return part
    ordered = next((block.ordered for block in part.lead if block.kind is BlockKind.LIST), False)
    heading = subtitle or part.lead_heading or (words.steps if ordered else words.details)
    return replace(part, lead=(), sections=(Section(heading, part.anchors, part.lead), *part.sections))


def with_conclusion(part: Part, conclusion: str) -> Part:
    block = Block(BlockKind.PARAGRAPH, conclusion, 0, 0)
    return replace(part, lead=(block, *part.lead)) if conclusion else part


def link_to(target: str) -> str:
    """A raw document's reference as a link: paths and addresses by path, names as wikilink."""
    written = target.strip()
    if "](" in written or written.startswith("[["):
        return written
    if "://" in written:
        return f"<{written}>"
    path, _, comment = written.partition(" #")
    if "/" in path or path.casefold().endswith((".md", ".markdown", ".mdx", ".txt")):
        label = written_stem(path.partition("#")[0]) or path
        return f"[{label}]({f'<{path}>' if ' ' in path else path})" + (f" {comment.strip()}" if comment else "")
    return f"[[{written}]]"
