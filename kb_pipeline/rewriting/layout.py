"""Parts as markdown: the body of each page, with the links inside the document still leading where they led.

Belongs here: putting headings and blocks together, link definitions and footnotes beside the text that uses them,
links to anchors of the own document. Does not belong here: which text it is, and links to other documents (``linking``).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kb_pipeline.markdown.slugs import heading_slug
from kb_pipeline.rewriting.blocks import Block, BlockSource, definition_label
from kb_pipeline.rewriting.inline import escaped_heading, own_anchor_links, plain
from kb_pipeline.rewriting.splitting import Part
from kb_pipeline.rewriting.structure import Section, unique_slug

_FENCE = re.compile(r"^(?P<open>(?:[ \t]*(?:>|[-*+][ \t]|\d{1,9}[.)][ \t]))*[ \t]*(?P<mark>`{3,}|~{3,})[^\n]*\n)", re.M)
_LABEL_USE = re.compile(r"\]\s?\[([^\]\n]+)\]|\[([^\]\n]+)\](?![(\[:])")
_NOTE_USE = re.compile(r"\[\^([^\]\s]+)\](?!:)")


@dataclass(frozen=True, slots=True)
class Address:
    """Where an anchor of the raw document is now: page path, and the heading's slug ("" for the top of the page)."""

    path: str
    slug: str


def page_body(title: str, conclusion: str, part: Part) -> str:
    """``# title``, the conclusion as a quote, the lead, then the sections. Ends with a line end."""
    pieces = [f"# {escaped_heading(title)}"]
    if conclusion:
        pieces.append("\n".join(f"> {line}".rstrip() for line in conclusion.split("\n")))
    pieces += _texts(part.lead)
    for section in part.sections:
        pieces += _section_texts(section, 2)
    return "\n\n".join(pieces) + "\n"


def _texts(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        yield block.text.strip("\n")


def _section_texts(section: Section, level: int) -> Iterator[str]:
    yield f"{'#' * level} {section.heading}" if level <= 3 else f"**{section.heading}**"
    yield from _texts(section.blocks)
    for child in section.children:
        yield from _section_texts(child, level + 1)


def anchor_addresses(
    parts: Sequence[Part], paths: Sequence[str], titles: Sequence[str], top: Sequence[str]
) -> dict[str, Address]:
    """Every anchor that the raw document could be linked by → its place on the pages. ``top`` mean the document."""
    found = {anchor.casefold(): Address(paths[0], "") for anchor in top}
    for part, path, title in zip(parts, paths, titles, strict=True):
        for anchor in part.anchors:
            found.setdefault(anchor.casefold(), Address(path, ""))
        seen = {heading_slug(plain(title)): 0}
        for section in part.sections:
            for anchor, slug in _section_anchors(section, 2, "", seen):
                found.setdefault(anchor.casefold(), Address(path, slug))
    return found


def _section_anchors(section: Section, level: int, above: str, seen: dict[str, int]) -> Iterator[tuple[str, str]]:
    """Anchors with the slug of their heading; what is laid out as a bold line is found at the heading above it."""
    slug = unique_slug(heading_slug(plain(section.heading)), seen) if level <= 3 else above
    for anchor in section.anchors:
        yield anchor, slug
    for child in section.children:
        yield from _section_anchors(child, level + 1, slug, seen)


def with_own_links(body: str, path: str, addresses: Mapping[str, Address]) -> str:
    """Links to anchors of the own document turned to where the heading is now; without a heading, only their label."""
    if "](#" not in body:
        return body

    def change(label: str, anchor: str) -> str:
        address = addresses.get(anchor.casefold())
        if address is None:
            return label
        if address.path == path:
            return f"[{label}](#{address.slug})" if address.slug else label
        target = posixpath.relpath(address.path, posixpath.dirname(path) or ".")
        return f"[{label}]({target}{'#' + address.slug if address.slug else ''})"

    return "".join(own_anchor_links(text, change) if prose else text for text, prose in _prose_and_code(body))


def with_definitions(bodies: Sequence[str], source: BlockSource) -> list[str]:
    """Each body with the link definitions and footnotes that it uses at its end; the last also with those that none
    uses, so that no address is lost."""
    if not source.definitions and not source.footnotes:
        return list(bodies)
    uses: list[tuple[list[str], set[str]]] = []
    for body in bodies:
        prose = "".join(text for text, is_prose in _prose_and_code(body) if is_prose)
        notes = [name for name in dict.fromkeys(_NOTE_USE.findall(prose)) if name in source.footnotes]
        text = "\n".join([prose, *(source.footnotes[name] for name in notes)])
        uses.append((notes, {definition_label(one or other) for one, other in _LABEL_USE.findall(text)}))
    for name in source.footnotes:
        if not any(name in notes for notes, _ in uses):
            uses[-1][0].append(name)
    for label in source.definitions:
        if not any(label in labels for _, labels in uses):
            uses[-1][1].add(label)
    completed = []
    for body, (notes, labels) in zip(bodies, uses, strict=True):
        lines = [text for label, text in source.definitions.items() if label in labels]
        tail = ["\n".join(lines), "\n".join(source.footnotes[name] for name in notes)]
        completed.append("\n".join([body, *(text + "\n" for text in tail if text)]) if any(tail) else body)
    return completed


def _prose_and_code(body: str) -> Iterator[tuple[str, bool]]:
    """The body cut into text outside code fences (True) and inside (False)."""
    position = 0
    while match := _FENCE.search(body, position):
        yield body[position : match.start()], True
        closing = re.compile(r"^[ \t>]*" + re.escape(match.group("mark")) + r"[`~]*[ \t]*$", re.M).search(
            body, match.end()
        )
        end = closing.end() if closing else len(body)
        yield body[match.start() : end], False
        position = end
    yield body[position:], True
