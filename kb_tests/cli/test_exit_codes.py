"""The exit codes are a contract with scripts and CI (SPEC 17)."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb_pipeline.cli.console import Exit, exit_code_of, find_root, table
from kb_pipeline.errors import BudgetExceededError, ConfigError, KbError, LockedError, MassDeletionError, UsageError


def test_the_codes_are_those_that_scripts_rely_on() -> None:
    assert {code.name: int(code) for code in Exit} == {"FINE": 0, "FINDINGS": 1, "USAGE": 2, "BUDGET": 3, "PARTIAL": 4}


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("x"), 2),
        (ConfigError(["kb.yml:3: x"]), 2),
        (BudgetExceededError("x"), 3),
        (LockedError("x"), 4),
        (MassDeletionError("x"), 4),
    ],
)
def test_each_class_of_error_has_its_code(error: KbError, code: int) -> None:
    assert exit_code_of(error) == code


def test_the_root_is_the_nearest_folder_upwards_with_a_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KB_ROOT", raising=False)
    (tmp_path / "kb.yml").write_text("version: 1\n")
    deep = tmp_path / "raw" / "a"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert find_root(None) == tmp_path


def test_without_a_configuration_the_message_says_how_to_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KB_ROOT", raising=False)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="kb init"):
        find_root(None)


def test_columns_count_chinese_characters_as_two_cells() -> None:
    assert table([("權杖", "a"), ("ab", "b")]) == "權杖  a\nab    b"
