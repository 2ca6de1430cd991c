"""The text of a review entry: ``verdict.yml``, and the folder name that its document has.

Belongs here: writing it so that equal input gives equal bytes, and reading what a person may have edited. Does not
belong here: the folder itself (``review``).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence

from kb_pipeline.errors import UnreadableTextError
from kb_pipeline.markdown.decoding import decode_text
from kb_pipeline.markdown.yaml_safe import load_mapping
from kb_pipeline.models import Finding, ReviewEntry, Severity

VERDICTS = ("held", "rejected", "accepted", "failed", "removed")

_MAX_NAME_BYTES = 200
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f%/\\:*?\"<>|\u2028\u2029]|^\.|[. ]$")
_ESCAPED = re.compile(r"[\x00-\x1f\"\\\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_HEX = re.compile(r"[0-9a-f]{64}")


def folder_name(document: str) -> str:
    """The document's path as one folder name: percent-encoded where a file system minds, CJK readable."""
    name = _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found.group().encode()), document)
    encoded = name.encode()
    if len(encoded) <= _MAX_NAME_BYTES:
        return name
    # The verdict names the document, so the folder need not be decodable, only unique and stable.
    digest = hashlib.sha256(document.encode()).hexdigest()[:12]
    return f"{encoded[: _MAX_NAME_BYTES - 13].decode(errors='ignore').rstrip('%. ')}-{digest}"


def fault_of(entry: ReviewEntry) -> str | None:
    """What is wrong with an entry's values, in words; None when they are fine."""
    if entry.verdict not in VERDICTS:
        return f"verdict is {entry.verdict!r}, not one of {', '.join(VERDICTS)}"
    if not _HEX.fullmatch(entry.sha256):
        return f"sha256 is no hex SHA-256: {entry.sha256!r}"
    return None


def read_verdict(content: bytes, document_folder: str, version_folder: str) -> ReviewEntry | str:
    """The entry that stands in a folder of these names, or what is wrong with it."""
    try:
        result = load_mapping(decode_text(content))
    except UnreadableTextError as error:
        return f"cannot be read: {error}"
    if result.problems:
        return result.problems[0].message
    values: dict[str, str] = {}
    for name in ("document", "sha256", "key", "verdict", "reason"):
        value = result.value.get(name)
        if not isinstance(value, str):
            return f"lacks {name} as text"
        values[name] = value
    entry = ReviewEntry(**values)
    fault = fault_of(entry)
    if fault is None and version_folder != entry.sha256[:12]:
        fault = f"folder {version_folder} does not belong to sha256 {entry.sha256}"
    if fault is None and unicodedata.normalize("NFC", document_folder) != folder_name(entry.document):
        fault = f"folder {document_folder} does not belong to document {entry.document}"
    return fault or entry


def read_findings(content: bytes) -> tuple[Finding, ...]:
    """The findings of a verdict, as far as they can be read."""
    return _findings(load_mapping(decode_text(content)).value.get("findings"))


def verdict_text(entry: ReviewEntry, findings: Sequence[Finding]) -> str:
    lines = [
        f"{name}: {_quoted(value)}"
        for name, value in (
            ("document", entry.document),
            ("sha256", entry.sha256),
            ("key", entry.key),
            ("verdict", entry.verdict),
            ("reason", entry.reason),
        )
    ]
    if findings:
        lines.append("findings:")
    for finding in findings:
        lines.append(f"- rule: {_quoted(finding.rule)}")
        lines.append(f"  severity: {finding.severity.value}")
        lines.append(f"  path: {_quoted(finding.path)}")
        if finding.line is not None:
            lines.append(f"  line: {finding.line}")
        lines.append(f"  message: {_quoted(finding.message)}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A YAML double-quoted scalar on one line, readable by every YAML parser."""
    return '"' + _ESCAPED.sub(lambda found: _escape(found.group()), text) + '"'


def _escape(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if "\ud800" <= character <= "\udfff":
        return "\ufffd"
    return "\\n" if character == "\n" else f"\\u{ord(character):04x}"


def _findings(value: object) -> tuple[Finding, ...]:
    """Findings as far as they can be read: a person may have edited the file."""
    found = []
    for item in value if isinstance(value, list) else ():
        if not isinstance(item, dict) or item.get("severity") not in {severity.value for severity in Severity}:
            continue
        line = str(item.get("line") or "")
        found.append(
            Finding(
                rule=str(item.get("rule", "")),
                severity=Severity(str(item["severity"])),
                path=str(item.get("path", "")),
                message=str(item.get("message", "")),
                line=int(line) if line.isdecimal() else None,
            )
        )
    return tuple(found)
