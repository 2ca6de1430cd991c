"""Put measured figures into ``docs/benchmarks.md``, between its two marks, with date and conditions.

Belongs here: the form of that section. Does not belong here: what was measured, and the words around it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kb_tests.benchmarks.measuring import ROOT, Result

PAGE = ROOT / "docs" / "benchmarks.md"
BEGIN, END = "<!-- figures: written by python -m kb_tests.benchmarks --docs -->", "<!-- end of figures -->"


def write_figures(results: Mapping[str, Result], conditions: Mapping[str, object], page: Path = PAGE) -> None:
    """Replace the section. Raises ValueError when the page has lost its marks."""
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{page.name} has no line {BEGIN!r} with {END!r} after it")
    page.write_text(f"{before}{BEGIN}\n\n{_section(results, conditions)}\n\n{END}{after}", encoding="utf-8")


def _section(results: Mapping[str, Result], conditions: Mapping[str, object]) -> str:
    lines = [
        (
            f"Measured {conditions['date']} on {conditions['machine']}, Python {conditions['python']}, load average "
            f"{conditions['load_before']} before and {conditions['load_after']} after, {conditions['repeats']} runs of what "
            "is short."
        ),
        "",
        "| figure | median | least – most | goal | verdict |",
        "|---|---|---|---|---|",
    ]
    for result in results.values():
        for figure in result.figures:
            value = figure.value
            spread = f"{value.least:.3g} – {value.most:.3g}" if value.count > 1 else "one run"
            goal = "–" if figure.goal is None else f"≤ {figure.goal:.3g} {figure.unit}"
            note = f" ({figure.note})" if figure.note else ""
            lines.append(
                f"| {figure.what}{note} | {value.median:.3g} {figure.unit} | {spread} | {goal} | {figure.verdict} |"
            )
    for name, result in results.items():
        for shown in result.tables:
            lines += ["", f"### {name}", "", "```text", shown, "```"]
    return "\n".join(lines)
