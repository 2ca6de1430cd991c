"""What README shows is executed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from kb_tests.integration.conftest import KnowledgeBaseOnDisk


def commands(text: str) -> list[list[str]]:
    """Every ``kb`` line of README's shell blocks."""
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("kb ")]


def test_every_command_that_readme_shows_works_in_a_clone(sample: KnowledgeBaseOnDisk, repository: Path) -> None:
    shown = commands((repository / "README.md").read_text(encoding="utf-8"))
    assert len(shown) >= 8
    assert sample.kb("build").code == 0
    for arguments in shown:
        done = sample.kb(*arguments)
        assert (done.code, bool(done.out.strip())) == (0, True), (arguments, done.err)


def test_every_document_that_readme_links_to_exists(repository: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", (repository / "README.md").read_text(encoding="utf-8"))
    missing = [name for name in targets if "://" not in name and not (repository / name).exists()]
    assert missing == []
