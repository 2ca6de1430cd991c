"""Which source's scope and domain hold for a document."""

from __future__ import annotations

from kb_pipeline.sources.layout import SourceLayout, SourceRule

LAYOUT = SourceLayout(
    [
        SourceRule("", scope="公司"),
        SourceRule("partner", scope="合作夥伴", domain="partner"),
        SourceRule("partner/api/", domain="api"),
    ]
)


def test_the_longest_folder_decides_and_leaves_the_rest_to_those_above() -> None:
    assert (LAYOUT.scope_of("partner/api/a.md"), LAYOUT.domain_of("partner/api/a.md")) == ("合作夥伴", "api")
    assert (LAYOUT.scope_of("partner/a.md"), LAYOUT.domain_of("partner/a.md")) == ("合作夥伴", "partner")


def test_the_rule_of_the_whole_folder_holds_for_all_others() -> None:
    assert (LAYOUT.scope_of("a.md"), LAYOUT.domain_of("a.md")) == ("公司", None)
    assert LAYOUT.scope_of("partnership/a.md") == "公司"


def test_without_rules_nothing_is_known() -> None:
    assert SourceLayout([]).scope_of("a/b.md") is None


def test_a_dot_means_the_whole_folder() -> None:
    assert SourceLayout([SourceRule(".", scope="x")]).scope_of("a/b.md") == "x"
