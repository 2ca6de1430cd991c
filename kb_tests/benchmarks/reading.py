"""``reading``: reading, linking and lint of a whole wiki against the markdown parser alone, and one changed page.

Goals (BENCHMARKS, Reading and lint): at most 1.6 times what markdown-it-py alone needs for the same pages, in one run;
one changed page in a warm process at most 0.3 s.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping
from datetime import date
from pathlib import Path

from kb_tests.benchmarks.corpus import Corpus
from kb_tests.benchmarks.measuring import Figure, Result, Sample, Spread, table, timed

RATIO_GOAL = 1.6
CHANGED_GOAL_SECONDS = 0.3
SCOPE = "內部 API Gateway"
TODAY = date(2026, 6, 1)


def reading(work: Path, size: int, repeats: int) -> Result:
    from markdown_it import MarkdownIt

    from kb_pipeline.lint import LintPolicy, lint_all
    from kb_pipeline.markdown.pages import read_page

    texts = wiki_texts(size)
    encoded = {path: text.encode() for path, text in texts.items()}
    bodies = [text.partition("\n---\n")[2] for text in texts.values()]
    parser = MarkdownIt("commonmark").enable("table")
    policy = LintPolicy(scopes=(SCOPE,))

    def read_and_lint() -> int:
        pages = [read_page(path, content) for path, content in encoded.items()]
        return len(lint_all(pages, policy, TODAY))

    def parse() -> None:
        for body in bodies:
            parser.parse(body)

    ours: list[Sample] = []
    alone: list[Sample] = []
    gc.set_threshold(200_000, 20, 20)  # as the command line has it
    for _ in range(repeats):
        alone.append(timed(parse))
        ours.append(timed(read_and_lint))
    result = Result()
    rows = []
    for clock in ("wall", "cpu"):
        mine, theirs = (Spread.of([getattr(sample, clock) for sample in samples]) for samples in (ours, alone))
        ratios = Spread.of([getattr(a, clock) / getattr(b, clock) for a, b in zip(ours, alone, strict=True)])
        what = f"read + link + lint of {size} pages / markdown-it-py alone, {clock}"
        result.figures.append(Figure("reading", what, "×", ratios, RATIO_GOAL))
        rows.append([f"{size} pages, {clock}", mine.median, theirs.median, ratios.median, ratios.least, ratios.most])
    result.tables.append(table(rows, ("reading", "ours s", "parser alone s", "ratio", "least", "most")))
    changed = _one_changed(work / f"wiki-{size}", texts, policy, repeats + 2)
    what = f"one of {size} pages changed, warm: scan + read + lint, wall"
    result.figures.append(Figure("reading", what, "s", changed, CHANGED_GOAL_SECONDS))
    return result


def wiki_texts(size: int) -> Mapping[str, str]:
    """Pages with front matter and links between them, as compiled ones have; ``related`` is mutual."""
    texts = {}
    corpus = Corpus(size)
    places = [f"{note.path}" for note in corpus.notes()]
    for number, note in enumerate(corpus.notes()):
        other = number ^ 1  # pairs: 0 and 1, 2 and 3
        related = f"related:\n- {places[other]}\n" if other < size else "related: []\n"
        body = note.text.partition("---\n# ")[2]
        summary = body.partition("\n\n")[2].partition("\n")[0].replace('"', "'")
        texts[note.path] = (
            f'---\ntitle: "{note.title}"\nscope: "{SCOPE}"\nsummary: "{summary}"\n'
            f"keywords: [{note.title.split()[0]}, 逾時, timeout, {note.title.split()[1]}]\n{related}"
            f"updated: 2026-05-01\nstatus: current\n---\n# {body}"
        )
    return texts


def _one_changed(root: Path, texts: Mapping[str, str], policy: object, repeats: int) -> Spread:
    """As a process that watches the wiki does it: the folder and the linter are kept."""
    from kb_pipeline.lint import Linter
    from kb_pipeline.storage.pages import PageFolder

    for path, text in texts.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    folder, linter = PageFolder(root), Linter(policy)  # type: ignore[arg-type]
    names = list(texts)

    def look() -> None:
        linter.lint(list(folder.load_all().values()), TODAY)

    look()
    samples = []
    for turn in range(repeats):
        path = names[(turn * 997) % len(names)]
        (root / path).write_text(texts[path] + f"\n第 {turn} 次補充：寬限為 {turn + 3} 分鐘。\n", encoding="utf-8")
        samples.append(timed(look).wall)
    return Spread.of(samples)
