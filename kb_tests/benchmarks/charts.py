"""A plot as SVG text, without a library: seconds over documents, both axes logarithmic."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT, LEFT, TOP, PLOT_WIDTH, PLOT_HEIGHT = 860, 460, 60, 40, 520, 360
COLOURS = ("#1b6ca8", "#c8553d", "#4a8f3c", "#8a5a9e", "#b8860b", "#3aa6a6", "#7a7a7a", "#d4679a")
LEAST_SECONDS = 0.01


def growth_chart(sizes: Sequence[int], series: Mapping[str, Sequence[float]]) -> str:
    """One line a phase; the dashed line is exactly linear growth."""
    most = max(max(values) for values in series.values())
    low, high = math.floor(math.log10(LEAST_SECONDS)), math.ceil(math.log10(most))
    first, last = math.log10(sizes[0]), math.log10(sizes[-1])

    def x(size: float) -> float:
        return LEFT + PLOT_WIDTH * (math.log10(size) - first) / (last - first)

    def y(seconds: float) -> float:
        return TOP + PLOT_HEIGHT * (high - math.log10(max(seconds, LEAST_SECONDS))) / (high - low)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="22" font-size="14">Full build: CPU seconds by phase</text>',
    ]
    for power in range(low, high + 1):
        at = y(10.0**power)
        parts.append(f'<line x1="{LEFT}" x2="{LEFT + PLOT_WIDTH}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    for size in sizes:
        at = x(size)
        parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{TOP + PLOT_HEIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{at:.1f}" y="{TOP + PLOT_HEIGHT + 18}" text-anchor="middle">{size:,} documents</text>')
    start = most * sizes[0] / sizes[-1]
    parts.append(
        f'<line x1="{x(sizes[0]):.1f}" y1="{y(start):.1f}" x2="{x(sizes[-1]):.1f}" y2="{y(most):.1f}" stroke="#999" stroke-dasharray="6 4"/>'
    )
    for place, (phase, values) in enumerate(series.items()):
        colour = COLOURS[place % len(COLOURS)]
        points = " ".join(f"{x(size):.1f},{y(value):.1f}" for size, value in zip(sizes, values, strict=True))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        at = TOP + 16 + 20 * place
        parts.append(f'<rect x="{LEFT + PLOT_WIDTH + 24}" y="{at - 9}" width="10" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{LEFT + PLOT_WIDTH + 40}" y="{at}">{escape(phase)}</text>')
    return "\n".join([*parts, "</svg>", ""])
