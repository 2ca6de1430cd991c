"""What a person wants left out: ``.kbignore`` and ``ignore`` in ``kb.yml``, in gitignore syntax (SPEC 3).

Belongs here: reading and matching the patterns. Not here: hidden files, suffixes, front matter.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from kb_pipeline.errors import SourceError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILE = ".kbignore"


@dataclass(frozen=True)
class IgnoreRules:
    """Patterns in order; the last one that matches decides, ``!`` takes a path back in.

    A path may be written from ``raw/`` (``drafts/``) or from the project root (``raw/drafts/``): both are tried.
    """

    origins: tuple[str, ...] = ()
    raw_name: str = "raw"
    spec: GitIgnoreSpec | None = field(default=None, repr=False)

    @classmethod
    def load(cls, files: Iterable[Path], patterns: Iterable[str] = (), *, raw_name: str = "raw") -> IgnoreRules:
        """Read ``files`` (those that exist) after ``patterns`` from the configuration."""
        lines = [(pattern, "ignore in kb.yml") for pattern in patterns]
        for file in files:
            lines += _read_patterns(file)
        kept = [(text, origin) for text, origin in lines if text.strip() and not text.startswith("#")]
        if not kept:
            return cls()
        return cls(tuple(f'pattern "{text}" ({origin})' for text, origin in kept), raw_name, _compile(kept))

    def reason(self, path: str) -> str | None:
        """The pattern that leaves ``path`` out (a folder's path ends with ``/``), None when it is read."""
        if self.spec is None:
            return None
        from_raw = self.spec.check_file(path)
        from_root = self.spec.check_file(f"{self.raw_name}/{path}")
        last = max(from_raw, from_root, key=lambda check: -1 if check.index is None else check.index)
        return self.origins[last.index] if last.include and last.index is not None else None


def _read_patterns(file: Path) -> list[tuple[str, str]]:
    try:
        text = file.read_text("utf-8-sig")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"cannot read {file}: {error}; it must be UTF-8 text in gitignore syntax") from error
    return [(line, f"{file.name}:{number}") for number, line in enumerate(text.splitlines(), 1)]


def _compile(lines: list[tuple[str, str]]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    for text, origin in lines:
        try:
            GitIgnoreSpec.from_lines([text])
        except ValueError as error:
            raise SourceError(f'{origin}: "{text}" is no gitignore pattern: {error}') from error
    return GitIgnoreSpec.from_lines([text for text, _ in lines])
