"""``kb lint --fix`` over the folder of pages: page by page first, then what concerns pairs of pages.

Belongs here: reading, mending and writing back. Does not belong here: the mends (``lint.fixes``, ``lint.wiki_fixes``).
"""

from __future__ import annotations

from collections.abc import Collection

from kb_pipeline.lint import LintPolicy, fix_page, fix_wiki
from kb_pipeline.markdown.decoding import decode_text
from kb_pipeline.markdown.pages import read_page
from kb_pipeline.storage.pages import PageFolder


def mend_pages(folder: PageFolder, policy: LintPolicy, chosen: Collection[str] | None) -> list[str]:
    """Mend the chosen pages (None: all); returns the paths of those that changed. Line ends stay as they are."""
    pages = folder.load_all()
    mended: set[str] = set()
    for path, page in pages.items():
        if chosen is not None and path not in chosen:
            continue
        if any(problem.code == "unreadable-text" for problem in page.problems):
            continue
        text = _text(folder, path)
        fixed = fix_page(text, page, policy).text
        if fixed != text and folder.write(path, fixed):
            mended.add(path)
            pages[path] = read_page(path, fixed.encode("utf-8", "replace"))
    texts = {path: _text(folder, path) for path, page in pages.items() if not page.problems}
    for path, text in fix_wiki(list(pages.values()), texts, policy).items():
        if (chosen is None or path in chosen) and folder.write(path, text):
            mended.add(path)
    return sorted(mended)


def _text(folder: PageFolder, path: str) -> str:
    """A page's text with its own line ends."""
    data = folder.read_text(path)
    if b"\r" in data:
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:  # UTF-16: what its line ends were is not told apart from its other bytes
            return decode_text(data)
    return decode_text(data)
