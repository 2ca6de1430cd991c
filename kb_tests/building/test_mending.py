"""``kb lint --fix`` on files as people's tools write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb_pipeline.building.mending import mend_pages
from kb_pipeline.lint import LintPolicy
from kb_pipeline.storage.pages import PageFolder
from kb_tests.fakes.wiki import page_text

TEXT = page_text("備份", "```\nls\n```\n\n## 時間\n\n每日 03:10 備份。", keywords=("備份", "備份", "backup"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_pages_of_any_encoding_and_line_ends_are_read(tmp_path: Path, encoding: str, ends: str) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(TEXT.replace("\n", ends).encode(encoding))
    mend_pages(PageFolder(tmp_path), LintPolicy(), None)
    first = file.read_bytes()
    assert mend_pages(PageFolder(tmp_path), LintPolicy(), None) == []
    assert file.read_bytes() == first


def test_a_page_that_cannot_be_read_stops_none_and_keeps_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "bad.md").write_bytes(b"\xff\xfe\x00\x00\xd8\r\n\x81")
    (tmp_path / "a.md").write_text(TEXT, encoding="utf-8")
    mend_pages(PageFolder(tmp_path), LintPolicy(), None)
    assert (tmp_path / "bad.md").read_bytes() == b"\xff\xfe\x00\x00\xd8\r\n\x81"
