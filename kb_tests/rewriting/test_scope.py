"""Scope is chosen from what is written or configured, never guessed (SPEC 6.9)."""

from __future__ import annotations

from kb_pipeline.models import UNRESOLVED_SCOPE
from kb_pipeline.rewriting.scope import choose_scope

SCOPES = ("內部 API Gateway", "API", "staging 環境", "PyPtt v1.x")


def scope(
    fields: dict[str, object] | None = None,
    title: str = "",
    text: str = "",
    *,
    scopes: tuple[str, ...] = SCOPES,
    configured: str | None = None,
    default: str | None = None,
) -> str:
    return choose_scope(fields or {}, title, text, scopes=scopes, configured=configured, default=default)


def test_the_front_matters_scope_counts_if_the_list_allows_it() -> None:
    assert scope({"scope": "內部 api gateway"}) == "內部 API Gateway"
    assert scope({"scope": "後端"}, default="API") == "API"
    assert scope({"scope": "任何 系統"}, scopes=()) == "任何 系統"


def test_the_one_scope_that_the_text_names_is_taken() -> None:
    assert scope(text="部署到 staging 環境 之後") == "staging 環境"
    assert scope(title="內部 API Gateway 的權杖", text="staging 環境 與 PyPtt v1.x") == "內部 API Gateway"


def test_a_scope_inside_a_longer_one_does_not_make_it_ambiguous() -> None:
    assert scope(text="內部 API Gateway 換發") == "內部 API Gateway"
    assert scope(text="the APIs of others") == UNRESOLVED_SCOPE


def test_two_scopes_in_the_text_decide_nothing() -> None:
    assert scope(text="staging 環境 與 PyPtt v1.x", configured="API") == "API"


def test_configured_then_default_then_the_marker() -> None:
    assert scope(configured="A", default="B") == "A"
    assert scope(default="B") == "B"
    assert scope() == UNRESOLVED_SCOPE
