"""What is taken out of a raw body before it is rewritten, because no reader of a page may see or need it.

Belongs here: comments, control and invisible characters, active HTML, marks of site generators (tables of contents,
includes, image directives), all outside code. Does not belong here: anything that weighs what a sentence is worth.
"""

from __future__ import annotations

import re

_INVISIBLE = dict.fromkeys(
    [
        *range(0x09), *range(0x0E, 0x20), *range(0x7F, 0x85), *range(0x86, 0xA0),
        0xAD, 0x200B, 0x200E, 0x200F, 0x2060, 0xFEFF,
        # Bidirectional overrides can show a reader another text than a machine reads.
        *range(0x202A, 0x202F), *range(0x2066, 0x206A),
    ]
)  # fmt: skip
_INVISIBLE.update({0x0B: 0x20, 0x0C: 0x20, 0x85: 0x20, 0x2028: 0x20, 0x2029: 0x20})
_SUSPECT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]")

_OPAQUE = re.compile(
    r"(?P<fence>^(?:[ \t]*(?:>|[-*+][ \t]|\d{1,9}[.)][ \t]))*[ \t]*(?P<mark>`{3,}(?=[^`\n]*$)|~{3,})[^\n]*"
    r"(?:\n(?:[^\n]*\n)*?[ \t>]*(?P=mark)[`~]*[ \t]*$|(?:\n[^\n]*)*))"
    r"|(?P<code>(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n[ \t]*\n)[^`]|`(?!(?P=ticks)))+?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<comment><!--.*?-->)"
    r"|(?P<note>(?:(?<=\s)|^)%%(?!%).{0,4000}?%%(?=\s|$))",
    re.MULTILINE | re.DOTALL,
)
_ACTIVE = re.compile(
    r"<(script|style)\b[^>]*>.*?</\1\s*>|</?(?:script|style)\b[^>]*>"
    # Without an attribute these are somebody's placeholders: "see <link>".
    r"|</?(?:object|applet|embed|base|meta|link)\b(?=[^>]*=)[^>]*>",
    re.IGNORECASE | re.DOTALL,
)
_FRAME = re.compile(
    r"<iframe\b[^>]*?\bsrc\s*=\s*[\"']?(https?://[^\s\"'>]+)[^>]*>(?:.*?</iframe\s*>)?", re.I | re.DOTALL
)
_FRAME_REST = re.compile(r"</?iframe\b[^>]*>", re.IGNORECASE)
_HANDLER = re.compile(r"(<[A-Za-z][^<>]*?)\s+on[a-z]+\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s>]+)", re.IGNORECASE)
_SCRIPT_TARGET = re.compile(
    r"(\]\(\s*<?|=\s*[\"']?)\s*(?:javascript|vbscript|data:text/html)(?:[^()\s\"'>]|\([^()]*\))*", re.IGNORECASE
)
_HTML_HEADING = re.compile(r"^[ \t]*<h([1-6])\b[^>]*>(.*?)</h\1\s*>[ \t]*$", re.IGNORECASE | re.MULTILINE)
_ODD_SPACE_HEADING = re.compile(r"^( {0,3}#{1,6})[\u00a0\u3000]+", re.MULTILINE)

_IMAGE_DIRECTIVE = re.compile(r":::image\b([^\n]*?)(?::::|$)", re.MULTILINE)
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
_INCLUDE = re.compile(r"\[!INCLUDE\s*(\[[^\]\n]*\]\([^)\n]*\))\s*\]", re.IGNORECASE)
_DIV_CLASS = re.compile(r"^[ \t]*>[ \t]*\[!div\b[^\n]*\n?", re.IGNORECASE | re.MULTILINE)
_CONTAINER = re.compile(r"^[ \t]*:{3,}[ \t]*([A-Za-z-]*)([^\n]*)$", re.MULTILINE)
_CALLOUTS = frozenset({"tip", "warning", "danger", "info", "note", "caution", "important", "details"})
_TAB_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t]*\[([^\]\n]+)\]\(#tab/[^)\n]*\)[ \t]*$", re.MULTILINE)
_CONTENTS_MARK = re.compile(
    r"^[ \t]*(?:\[TOC\]|\[\[_?TOC_?\]\]|\{\{?\s*toc\s*\}?\}|\{:\s*\.?toc\s*\})[ \t]*$", re.I | re.M
)
_MDX_CODE = re.compile(r"^(?:import\s+[^\n]*?\bfrom\s+['\"][^\n]*|export\s+(?:const|default|function)\b[^\n]*)$", re.M)


def clean_body(body: str, *, mdx: bool = False) -> str:
    """The body with what no page should hold taken out; code stays as it is, but for invisible control characters."""
    if _SUSPECT.search(body):
        body = body.translate(_INVISIBLE)
    out: list[str] = []
    position = 0
    for match in _OPAQUE.finditer(body):
        out.append(_clean_prose(body[position : match.start()], mdx=mdx))
        if match.group("fence") is not None or match.group("code") is not None:
            out.append(match.group(0))
        position = match.end()
    out.append(_clean_prose(body[position:], mdx=mdx))
    return "".join(out).strip("\n")


def _clean_prose(text: str, *, mdx: bool) -> str:
    if "\u00a0" in text or "\u3000" in text:
        text = _ODD_SPACE_HEADING.sub(r"\1 ", text).replace("\u00a0", " ")
    if "<" in text:
        # A comment that never ends would swallow the rest of the document: show what it hides instead.
        while "<!--" in text:
            text = text.replace("<!--", "")
        text = _FRAME_REST.sub("", _FRAME.sub(r"<\1>", text))
        text = _ACTIVE.sub("", text)
        while (harmless := _HANDLER.sub(r"\1", text)) != text:
            text = harmless
        text = _HTML_HEADING.sub(lambda match: f"{'#' * int(match.group(1))} {match.group(2).strip()}", text)
    if "script:" in text or "data:" in text.lower():
        text = _SCRIPT_TARGET.sub(r"\1#", text)
    if ":::" in text:
        text = _IMAGE_DIRECTIVE.sub(_image, text)
        text = _CONTAINER.sub(_container, text)
    if "[!" in text:
        text = _DIV_CLASS.sub("", _INCLUDE.sub(r"\1", text))
    if "#tab/" in text:
        text = _TAB_HEADING.sub(r"**\1**", text)
    if "toc" in text.lower():
        text = _CONTENTS_MARK.sub("", text)
    return _MDX_CODE.sub("", text) if mdx else text


def _image(match: re.Match[str]) -> str:
    attributes = dict(_ATTRIBUTE.findall(match.group(1)))
    source = attributes.get("source", "").replace("\\", "/")
    if not source:
        return ""
    label = re.sub(r"[\[\]]", "", attributes.get("alt-text", ""))
    return f"![{label}](<{source}>)" if " " in source else f"![{label}]({source})"


def _container(match: re.Match[str]) -> str:
    kind, rest = match.group(1), match.group(2).strip().strip(":").strip()
    if kind.lower() in _CALLOUTS:
        return f"**{rest or kind.capitalize()}**"
    return "" if kind or not rest else rest
