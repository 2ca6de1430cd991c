"""``kb lint``: judge the pages; ``--fix`` mends what needs no judgement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kb_pipeline.cli.console import Exit, note, open_project, out, out_json
from kb_pipeline.cli.options import JsonOption, ProjectOption
from kb_pipeline.errors import UsageError

if TYPE_CHECKING:
    from kb_pipeline.bootstrap import Project


def lint(
    paths: Annotated[
        list[str] | None, typer.Argument(help="Pages or folders under knowledge/.", metavar="[PAGE]...")
    ] = None,
    project: ProjectOption = None,
    fix: Annotated[bool, typer.Option("--fix", help="Mend what is mechanical, then judge.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Check the pages; mend what is mechanical.

    Front matter, lengths, headings, links, scopes and the wiki as a whole. Exit code 1: there are errors.
    """
    from kb_pipeline.lint import render_text, to_json

    kb = open_project(project)
    chosen = _chosen(kb, paths)
    if fix:
        fixed = kb.fix(chosen)
        note(f"{len(fixed)} pages mended" + (": " + ", ".join(fixed) if fixed else ""))
    findings = [item for item in kb.lint(list(kb.pages.load_all().values())) if chosen is None or item.path in chosen]
    if as_json:
        out_json(to_json(findings))
    else:
        out(render_text(findings))
    if any(item.severity.value == "error" for item in findings):
        raise typer.Exit(Exit.FINDINGS)


def _chosen(kb: Project, paths: list[str] | None) -> frozenset[str] | None:
    """Page paths under the given names, relative to knowledge/ or to the project. None: all."""
    if not paths:
        return None
    known = kb.pages.scan()
    folder = kb.settings.paths.knowledge.strip("/") + "/"
    found: set[str] = set()
    for written in paths:
        name = written.removeprefix("./").removeprefix(folder).rstrip("/")
        matches = {
            path for path in known if path == name or path.startswith(f"{name}/") or name in {"", ".", folder[:-1]}
        }
        if not matches:
            raise UsageError(f'no page "{written}" under {folder}; name a page or a folder as `kb lint` prints them')
        found |= matches
    return frozenset(found)
