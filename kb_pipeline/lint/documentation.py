"""The page about the rules, generated from the catalogue: ``docs/lint.md`` is this text and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb_pipeline.lint.catalogue import RULES, Rule
from kb_pipeline.lint.policy import LintPolicy

_INTRODUCTION = """\
# Lint rules

`kb lint` checks every page of the wiki by these {count} rules; the build's checks and the rewriter's gate use the
same ones. Errors of a page's own keep it at its last published version, or out where it has none; errors that concern
several pages, and warnings, are reported only. This page is generated from `kb_pipeline/lint/catalogue.py`.

`kb lint --fix` mends what is marked *fix*, where the mend is mechanical: it never drops text, and a second run changes
nothing. Lengths are counted in characters (code points): {least} to {most} for a body, {low} to {high} advised.

A rule that is wrong for one page is silenced in that page's front matter, for the whole project in `kb.yml`, always
with the reason; rules marked *always* cannot be silenced:

```yaml
# in a page's front matter
lint:
  summary-topic: 相關係數 is the subject here
```

```yaml
# in kb.yml
lint:
  silenced:
    - rule: orphan
      reason: pages are found by search only
```

Drafts are checked for readable front matter alone, and are never served. Pages under `_inbox/` have no least or
greatest length; `_inbox/` and `legacy/` do not count as a folder level. `kind: index` pages have no least length.
"""

_PARTS = {
    "page": "## Rules of one page",
    "wiki": "## Rules between pages",
    "text": "## Rules of writing\n\nWhat the reader understands and other tools may not; told when files are fixed.",
}


def render_rules_markdown() -> str:
    """All rules, by scope and in the order of the catalogue. Ends with LF."""
    policy = LintPolicy()
    introduction = _INTRODUCTION.format(
        count=len(RULES),
        least=policy.min_body,
        most=f"{policy.max_body:,}",
        low=policy.advised[0],
        high=f"{policy.advised[1]:,}",
    )
    parts = [introduction]
    for scope, heading in _PARTS.items():
        rows = [_row(rule) for rule in RULES.values() if rule.scope == scope]
        table = ["| rule | severity | says | because |", "|---|---|---|---|", *rows]
        parts.append(heading + "\n\n" + "\n".join(table) + "\n")
    return "\n".join(parts)


def _row(rule: Rule) -> str:
    marks = ", ".join(_marks(rule))
    severity = rule.severity.value + (f" ({marks})" if marks else "")
    says = rule.message if rule.message != "{problem}" else "what cannot be read, where, and what to do"
    return f"| `{rule.id}` | {severity} | {_cell(says)} | {_cell(rule.summary)} |"


def _marks(rule: Rule) -> Iterator[str]:
    if rule.fixable:
        yield "*fix*"
    if not rule.silenceable:
        yield "*always*"


def _cell(text: str) -> str:
    return re.sub(r"\{(\w+)[^}]*\}", r"‹\1›", text).replace("|", "\\|")
