"""Links as they stand in a page's text: taken apart, given another destination, made plain text and back.

Belongs here: characters only. Does not belong here: where a link leads (``link_targets``), which page is changed
(``linking``).

A *reference* is a destination as short text, the form in which ``linked`` in a page's front matter keeps it:
``../auth/token.md#過期`` for a markdown link or picture (decoded, with ``%`` and ``#`` of a file name as ``%25`` and
``%23``), ``[[token#過期]]`` for a wikilink, ``![[plan.png]]`` for an embed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from urllib.parse import unquote

from kb_pipeline.models import Link, LinkKind

_NOT_IN_DESTINATION = re.compile(r"[\x00-\x20\x7f()<>\"\\%?]")
_LINE_BREAK = re.compile(r"[ \t]*\n[ \t>]*|[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Reference:
    """``form`` is ``markdown``, ``wikilink`` or ``embed``; ``target`` is decoded; ``anchor`` is without its mark."""

    form: str
    target: str
    anchor: str | None = None

    def __str__(self) -> str:
        target = self.target
        if "%" in target or "#" in target:
            target = target.replace("%", "%25").replace("#", "%23")
        text = target if self.anchor is None else f"{target}#{self.anchor}"
        if self.form == "markdown":
            return text
        return f"[[{text}]]" if self.form == "wikilink" else f"![[{text}]]"

    @classmethod
    def parse(cls, text: str) -> Reference:
        form = "markdown"
        if text.endswith("]]") and text.startswith(("[[", "![[")):
            form = "embed" if text[0] == "!" else "wikilink"
            text = text.removeprefix("!")[2:-2]
        target, mark, anchor = text.partition("#")
        return cls(form, target.replace("%23", "#").replace("%25", "%"), anchor if mark else None)

    @classmethod
    def of(cls, link: Link) -> Reference:
        form = {LinkKind.WIKILINK: "wikilink", LinkKind.EMBED: "embed"}.get(link.kind, "markdown")
        return cls(form, link.target, link.anchor)


@dataclass(frozen=True, slots=True)
class WrittenLink:
    """A link's parts. ``label`` is its source text; ``title`` is the quoted title with the blank before it.

    ``bar`` is what separates a wikilink's label: ``\\|`` in a table.
    """

    is_picture: bool
    label: str
    reference: Reference
    title: str = ""
    bar: str = "|"

    def pointing_at(self, reference: Reference) -> WrittenLink:
        """The same link with another destination, reading the same: a wikilink gets the label that it showed."""
        label = self.label
        if not label and self.reference.form != "markdown":
            label = _shown(self.reference)
        if reference.form != "markdown" and label == _shown(reference):
            label = ""
        return replace(self, label=label, reference=reference, title=self.title if reference.form == "markdown" else "")

    def __str__(self) -> str:
        if self.reference.form == "markdown":
            return f"{'!' if self.is_picture else ''}[{self.label}]({destination(self.reference)}{self.title})"
        written = str(self.reference)
        return written if not self.label else f"{written[:-2]}{self.bar}{self.label}]]"

    def as_text(self, language: str) -> str:
        """What stands in the page while the destination does not exist: readable, and no link to anything."""
        where = self.reference.target
        if self.reference.anchor is not None:
            where += f"#{self.reference.anchor}"
        code = f"`` {where} ``" if "`" in where else f"`{where}`"
        code = code.replace("|", self.bar)
        if language == "en":
            return f"{code} (not in this wiki)" if self.label in ("", where) else f"{self.label} ({code})"
        return f"{code}（未收錄）" if self.label in ("", where) else f"{self.label}（{code}）"

    def as_heading_text(self) -> str:
        """The same on a heading line: only what was shown, since the heading's anchor has to stay."""
        return self.label or _shown(self.reference)


def take_apart(span: str, reference: Reference) -> WrittenLink:
    """The parts of ``span``, the text of a link that leads to ``reference``; also one by ``[label][definition]``."""
    if reference.form != "markdown":
        inner = span.removeprefix("!")[2:-2]
        head, bar, label = inner.partition("|")
        bar = "\\|" if bar and head.endswith("\\") else "|"
        return WrittenLink(reference.form == "embed", label.strip(), reference, bar=bar)
    is_picture = span.startswith("!")
    start, end = label_range(span)
    title = ""
    if span.startswith("(", end + 1):
        rest = span[end + 2 : -1].strip()
        after = rest.find(">") + 1 if rest.startswith("<") else len(rest.split(maxsplit=1)[0]) if rest else 0
        title = _LINE_BREAK.sub(" ", rest[after:].strip())
        title = f" {title}" if title else ""
    return WrittenLink(is_picture, _LINE_BREAK.sub(" ", span[start:end]), reference, title)


def parse_written(text: str) -> WrittenLink | None:
    """Read back what ``str`` of a WrittenLink gave; None when a person changed it beyond recognition."""
    if not text.endswith(("]]", ")")) or not text.startswith(("[", "!")):
        return None
    if text.endswith("]]"):
        head = text[:-2].partition("|")[0].removesuffix("\\")
        return take_apart(text, Reference.parse(head + "]]")) if "[[" in head else None
    _, end = label_range(text)
    if not text.startswith("(", end + 1):
        return None
    rest = text[end + 2 : -1].split(maxsplit=1)
    target, mark, anchor = (rest[0] if rest else "").partition("#")
    return take_apart(text, Reference("markdown", unquote(target), unquote(anchor) if mark else None))


def destination(reference: Reference) -> str:
    """A reference as the destination of a markdown link; CJK stays readable."""
    path = _NOT_IN_DESTINATION.sub(_percent, reference.target.replace("#", "\0")).replace("%00", "%23")
    if reference.anchor is None:
        return path
    return f"{path}#{_NOT_IN_DESTINATION.sub(_percent, reference.anchor)}"


def _percent(found: re.Match[str]) -> str:
    return f"%{ord(found.group()):02X}"


def _shown(reference: Reference) -> str:
    """What a reader sees of a wikilink without a label."""
    if reference.anchor is None:
        return reference.target
    return f"{reference.target} > {reference.anchor}" if reference.target else reference.anchor


def label_range(span: str) -> tuple[int, int]:
    """Where the label of a markdown link or picture begins and ends in its span."""
    start = 2 if span.startswith("!") else 1
    depth, position = 0, start
    while position < len(span):
        char = span[position]
        if char == "\\":
            position += 1
        elif char == "[":
            depth += 1
        elif char == "]":
            if depth == 0:
                return start, position
            depth -= 1
        position += 1
    return start, len(span)
