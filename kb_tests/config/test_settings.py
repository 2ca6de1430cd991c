"""Loading the configuration: layers, origins, and one report of all faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb_pipeline.config import Settings, load_settings
from kb_pipeline.errors import ConfigError


def load(root: Path, text: str | None = None, flags: dict[str, object] | None = None, **environ: str) -> Settings:
    if text is not None:
        (root / "kb.yml").write_text(text, "utf-8")
    return load_settings(root, environ=environ, flags=flags)


def problems(root: Path, text: str, flags: dict[str, object] | None = None, **environ: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(root, text, flags, **environ)
    return caught.value.problems


def test_without_a_file_the_defaults_hold_and_say_so(tmp_path: Path) -> None:
    settings = load(tmp_path)
    assert settings.language == "zh-TW"
    assert settings.raw == tmp_path / "raw"
    assert settings.state == tmp_path / ".kb"
    assert set(settings.origins.values()) == {"default"}


def test_a_flag_outranks_the_environment_which_outranks_the_file(tmp_path: Path) -> None:
    text = "rewrite:\n  concurrency: 2\nretrieval: {top_k: 3, min_score: 0.2}\n"
    settings = load(tmp_path, text, {"retrieval.top_k": 9}, KB_RETRIEVAL__TOP_K="7", KB_RETRIEVAL__MIN_SCORE="0.3")
    assert (settings.rewrite.concurrency, settings.retrieval.top_k, settings.retrieval.min_score) == (2, 9, 0.3)
    assert settings.origins["retrieval.top_k"] == "flag"
    assert settings.origins["retrieval.min_score"] == "env"
    assert settings.origins["rewrite.concurrency"] == "kb.yml:2"
    assert settings.origins["rewrite.provider"] == "default"


def test_a_flag_that_was_not_given_changes_nothing(tmp_path: Path) -> None:
    assert load(tmp_path, "language: en\n", {"language": None}).language == "en"


def test_an_unknown_key_is_told_with_its_line_and_the_nearest_name(tmp_path: Path) -> None:
    assert problems(tmp_path, "version: 1\n\nembeding:\n  provider: light\n") == [
        'kb.yml:3: unknown key "embeding"; did you mean "embedding"?'
    ]


def test_an_unknown_nested_key_is_told_with_its_whole_name(tmp_path: Path) -> None:
    assert problems(tmp_path, "rewrite:\n  provider: offline\n  concurency: 3\n") == [
        'kb.yml:3: unknown key "rewrite.concurency"; did you mean "rewrite.concurrency"?'
    ]


def test_every_fault_of_every_layer_is_in_one_report(tmp_path: Path) -> None:
    found = problems(
        tmp_path,
        "language: zh\nrewrite: {concurrency: many}\nretrieval: {min_score: 3}\nscopes: 甲\ndefault_scope: 乙\n",
        {"lint.gate": "loud"},
        KB_REBUILD__DELETION_COUNT="0",
        KB_EMBEDING__PROVIDER="light",
    )
    assert found == [
        'environment: unknown variable KB_EMBEDING__PROVIDER; did you mean "KB_EMBEDDING__PROVIDER"?',
        'environment: KB_REBUILD__DELETION_COUNT: rebuild.deletion_count must be at least 1, not "0"',
        'flag: lint.gate must be one of page, all, not "loud"',
        'kb.yml:1: language must be one of zh-TW, en, not "zh"',
        'kb.yml:2: rewrite.concurrency must be a whole number, not "many"',
        'kb.yml:3: retrieval.min_score must be at most 1, not "3"',
        'kb.yml:5: default_scope: "乙" is not in scopes',
    ]


def test_a_close_value_is_suggested(tmp_path: Path) -> None:
    assert problems(tmp_path, "embedding: {provider: ofline}\n") == [
        'kb.yml:1: embedding.provider must be one of offline, light, hashing, not "ofline"; did you mean "offline"?'
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("scopes: {a: b}\n", "kb.yml:1: scopes must be a list, not a mapping"),
        ("language: [en]\n", "kb.yml:1: language must be one of zh-TW, en, not a list"),
        ("retrieval: {top_k: 2.5}\n", 'kb.yml:1: retrieval.top_k must be a whole number, not "2.5"'),
        ("paths: here\n", "kb.yml:1: paths is a section: its keys (raw, knowledge, build, review, glossary, state) go"),
        ("default_scope: ''\n", "kb.yml:1: default_scope must be a text that is not blank"),
        ("lint:\n  silenced:\n    - rule: orphan\n", 'kb.yml:3: "lint.silenced.0.reason" is missing'),
        ("lint:\n  silenced:\n    - rule: orphan\n      reasn: x\n", 'kb.yml:4: unknown key "lint.silenced.0.reasn"'),
        ("sources:\n  - files\n", "kb.yml:2: sources.0 must be a mapping"),
        ("sources: raw\n", "kb.yml:1: sources must be a list"),
        ("database: {url_env: 1X}\n", "kb.yml:1: database.url_env must be a name of letters"),
        ("a: 1\na: 2\n", "kb.yml:2: key 'a' stands here a second time"),
        ("- a\n", "kb.yml:1: a list where"),
        ("a: [\n", "kb.yml:"),
    ],
)
def test_a_wrong_type_is_told_in_words(tmp_path: Path, text: str, message: str) -> None:
    assert any(problem.startswith(message) for problem in problems(tmp_path, text)), problems(tmp_path, text)


def test_scalars_mean_what_the_schema_says_not_what_yaml_guesses(tmp_path: Path) -> None:
    settings = load(tmp_path, "scopes: [no, 12:30, 1.10]\n")
    assert settings.scopes == ("no", "12:30", "1.10")


def test_a_list_may_be_one_line_with_commas(tmp_path: Path) -> None:
    settings = load(tmp_path, "scopes: 測試環境、正式環境\n", KB_IGNORE="drafts/, *.tmp.md")
    assert settings.scopes == ("測試環境", "正式環境")
    assert settings.ignore == ("drafts/", "*.tmp.md")


def test_empty_sections_and_lists_are_no_fault(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    empty = load(tmp_path, "lint:\nscopes:\nrewrite: {}\n")
    assert empty.masked() == load(tmp_path / "none").masked()


def test_a_list_of_mappings_cannot_come_from_the_environment(tmp_path: Path) -> None:
    assert problems(tmp_path, "version: 1\n", KB_LINT__SILENCED="orphan") == [
        "environment: KB_LINT__SILENCED is a list of mappings: it can only be set in kb.yml"
    ]


@pytest.mark.parametrize("name", ["KB_SHARED", "KB_ROOT", "HOME"])
def test_variables_of_other_meaning_are_left_alone(tmp_path: Path, name: str) -> None:
    load_settings(tmp_path, environ={name: "x"})


def test_a_newer_version_is_refused_before_anything_else_is_judged(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, "language: tlh\nversion: 2\n")
    assert found.startswith("kb.yml:2: version 2 was written for a newer kb_pipeline (this one knows up to 1)")


def test_an_unreadable_file_is_told_by_name(tmp_path: Path) -> None:
    (tmp_path / "kb.yml").write_bytes(b"language: \xff\n")
    with pytest.raises(ConfigError, match=r"kb\.yml: neither UTF-8"):
        load_settings(tmp_path, environ={})


class TestPaths:
    def test_a_path_that_leaves_the_project_is_refused(self, tmp_path: Path) -> None:
        found = problems(tmp_path, "paths: {build: ../elsewhere}\n")
        assert found == [
            'kb.yml:1: paths.build: "../elsewhere" leads out of the project; if that is meant, set KB_PATHS__BUILD'
        ]

    def test_an_absolute_path_in_the_file_is_refused_even_inside(self, tmp_path: Path) -> None:
        assert "must be relative" in problems(tmp_path, f"paths: {{raw: {tmp_path}/raw}}\n")[0]

    def test_a_person_may_name_an_absolute_path_in_the_environment(self, tmp_path: Path) -> None:
        project, outside = tmp_path / "project", tmp_path / "notes"
        project.mkdir()
        assert load(project, KB_PATHS__RAW=str(outside)).raw == outside

    def test_a_symbolic_link_that_leaves_the_project_is_refused(self, tmp_path: Path) -> None:
        project, outside = tmp_path / "project", tmp_path / "outside"
        project.mkdir()
        outside.mkdir()
        (project / "knowledge").symlink_to(outside)
        assert "by a symbolic link" in problems(project, "version: 1\n")[0]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("paths: {raw: knowledge}\n", "paths.knowledge and paths.raw are the same place"),
            ("paths: {knowledge: raw/wiki}\n", "paths.knowledge lies inside paths.raw"),
            ("paths: {raw: build/raw}\n", "paths.raw lies inside paths.build"),
            ("paths: {raw: .}\n", "paths.raw must not be the project's own folder"),
            ("paths: {glossary: raw/glossary.yml}\n", "paths.glossary lies inside paths.raw"),
        ],
    )
    def test_no_place_lies_inside_another(self, tmp_path: Path, text: str, message: str) -> None:
        assert any(message in problem for problem in problems(tmp_path, text))


class TestSources:
    def test_a_custom_source_needs_a_module(self, tmp_path: Path) -> None:
        assert "needs module" in problems(tmp_path, "sources:\n  - type: custom\n")[0]

    def test_options_reach_the_adapter_as_written(self, tmp_path: Path) -> None:
        text = (
            "sources:\n  - type: custom\n    module: a.B\n    target: notion\n    options: {space: X, deep: [1, 2]}\n"
        )
        assert load(tmp_path, text).sources[0].options == {"space": "X", "deep": ["1", "2"]}

    def test_a_source_that_leaves_the_raw_folder_is_refused(self, tmp_path: Path) -> None:
        assert "leaves the raw folder" in problems(tmp_path, "sources:\n  - path: ../other\n")[0]

    def test_a_source_is_relative_to_the_raw_folder(self, tmp_path: Path) -> None:
        text = "sources: [{type: custom, module: a.B, target: raw/notion}]\n"
        assert 'write "notion", not "raw/notion"' in problems(tmp_path, text)[0]

    def test_two_sources_for_one_folder_are_refused(self, tmp_path: Path) -> None:
        assert "merge them" in problems(tmp_path, "sources: [{path: a}, {path: a/}]\n")[0]

    def test_the_scope_of_a_source_is_one_of_the_list(self, tmp_path: Path) -> None:
        found = problems(tmp_path, "scopes: [正式環境]\nsources:\n  - path: a\n    scope: 正式環鏡\n")
        assert found == ['kb.yml:4: sources.0.scope: "正式環鏡" is not in scopes; did you mean "正式環境"?']

    def test_keys_of_the_other_kind_of_source_are_refused(self, tmp_path: Path) -> None:
        found = problems(tmp_path, "sources:\n  - {path: a, module: b.C, options: {x: 1}}\n")
        assert len(found) == 2


class TestSchedule:
    @pytest.mark.parametrize("cron", ["0 3 * * *", "*/15 1-5 * * mon-fri", "0 0,12 1 */2 *", "30 2 * jan,jul sun"])
    def test_a_cron_line_is_taken(self, tmp_path: Path, cron: str) -> None:
        assert load(tmp_path, f'rebuild: {{cron: "{cron}"}}\n').rebuild.cron == cron

    @pytest.mark.parametrize("cron", ["0 25 * * *", "0 3 * *", "@daily", "61 * * * *", "*/0 * * * *", "5-1 * * * *"])
    def test_a_wrong_cron_line_is_refused(self, tmp_path: Path, cron: str) -> None:
        assert "five fields" in problems(tmp_path, f'rebuild: {{cron: "{cron}"}}\n')[0]

    def test_a_wrong_time_zone_is_told_with_the_nearest(self, tmp_path: Path) -> None:
        assert problems(tmp_path, "rebuild: {timezone: Asia/Taipeh}\n") == [
            'kb.yml:1: rebuild.timezone: "Asia/Taipeh" is no IANA time zone; did you mean "Asia/Taipei"?'
        ]


class TestSecrets:
    def test_a_password_in_the_file_is_refused(self, tmp_path: Path) -> None:
        assert "holds a password" in problems(tmp_path, "database: {url: 'postgresql://me:pw@db/kb'}\n")[0]
        assert "holds a password" in problems(tmp_path, "database: {url: host=db password=pw}\n")[0]

    def test_a_dsn_comes_from_the_variable_that_is_named(self, tmp_path: Path) -> None:
        settings = load(tmp_path, "database: {url_env: WIKI_DSN}\n", WIKI_DSN="postgresql://me:pw@db/kb")
        assert settings.database_url() == "postgresql://me:pw@db/kb"
        assert "pw" not in repr(settings)
        assert "pw" not in str(settings.masked())

    def test_a_named_variable_that_is_not_set_is_told_only_when_it_is_needed(self, tmp_path: Path) -> None:
        settings = load(tmp_path, "database: {url_env: WIKI_DSN}\n")
        with pytest.raises(ConfigError, match="WIKI_DSN, which is not set"):
            settings.database_url()

    def test_a_password_given_by_the_environment_is_masked(self, tmp_path: Path) -> None:
        settings = load(tmp_path, KB_DATABASE__URL="postgresql://me:pw@db/kb?sslmode=require")
        assert settings.masked()["database.url"] == "postgresql://me:***@db/kb?sslmode=require"
        assert settings.database_url().startswith("postgresql://me:pw@")


def test_the_keys_are_a_contract(tmp_path: Path) -> None:
    """A key that appears or vanishes is a change of the file's format: raise the version or think again."""
    assert list(load(tmp_path).masked()) == [
        "version",
        "language",
        *(f"paths.{name}" for name in ("raw", "knowledge", "build", "review", "glossary", "state")),
        "sources",
        "ignore",
        "scopes",
        "default_scope",
        "embedding.provider",
        "embedding.model",
        "database.url",
        "database.url_env",
        "rewrite.provider",
        "rewrite.concurrency",
        "lint.gate",
        "lint.silenced",
        "lint.categories",
        "retrieval.keyword_weight",
        "retrieval.top_k",
        "retrieval.min_score",
        "manifest.budget_tokens",
        *(f"rebuild.{name}" for name in ("mode", "cron", "timezone", "quiet_seconds")),
        "rebuild.deletion_fraction",
        "rebuild.deletion_count",
    ]
