"""What a raw document's front matter says, sorted by where it goes on its page.

Belongs here: status, tags, aliases, successors, leftover facts. Does not belong here: title (``structure``), scope
(``scope``), dates (``dates``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kb_pipeline.markdown.front_matter import FrontMatter, as_text_list, split_front_matter
from kb_pipeline.models import PageStatus
from kb_pipeline.rewriting.inline import plain
from kb_pipeline.text.facts import extract_facts

_DEPRECATED = frozenset(
    [
        "deprecated",
        "superseded",
        "obsolete",
        "archived",
        "retired",
        "outdated",
        "replaced",
        "rejected",
        "已淘汰",
        "淘汰",
        "已廢止",
        "廢止",
        "已取代",
        "被取代",
        "過時",
        "已過時",
        "封存",
        "已封存",
        "停用",
        "已停用",
    ]
)
_DRAFT = frozenset(["draft", "wip", "proposed", "草稿", "草案", "撰寫中", "未完成"])
_SUCCESSOR_KEYS = (
    "superseded_by",
    "superseded-by",
    "supersededby",
    "replaced_by",
    "replaced-by",
    "successor",
    "取代者",
)
_RELATED_KEYS = ("related", "see_also", "see-also", "seealso", "links")
_TAKEN = frozenset(
    {
        "title", "scope", "summary", "description", "keywords", "updated", "date", "status", "tags", "tag", "aliases", "alias",
        "kind", "evergreen", "sources", "compiled", "draft", "kb", "last_updated", "lastmod", "modified", "created",
        *_SUCCESSOR_KEYS, *_RELATED_KEYS,
    }
)  # fmt: skip
_TELLING = re.compile(
    r"^(?:owners?|team|teams|maintainers?|contact|slack|channel|oncall|on-call|ticket|tickets|issue|issues|jira|pr|mr"
    r"|merge_request|pull_request|incident|incident_id|severity|sev|priority|impact|duration|version|versions|release|service"
    r"|component|module|system|product|environment|env|region|cluster|host|hostname|port|endpoint|url|repo|repository"
    r"|path|decision|decided|deciders?|decision_date|approved_by|approver|reviewers?|deadline|due|eol|expires|effective|start"
    r"|end|started|resolved|detected|customer|vendor|cost|budget|attendees|participants|location|id|adr|rfc|number"
    r"|負責人|負責單位|團隊|聯絡人|工單|單號|版本|嚴重度|等級|優先順序|服務|系統|模組|環境|影響範圍|期限|到期日|生效日|決策者|核准人"
    r"|審核|參與者|出席|地點|編號|主機|網址|金額|預算)$",
    re.IGNORECASE,
)
_NOISE_KEY = re.compile(
    r"^(?:layout|permalink|slug|weight|nav_order|parent|toc\w*|sidebar\w*|css\w*|publish\w*|comments?|lang|locale|robots|image"
    r"|cover\w*|hero|banner|icon|color|template|type|categor(?:y|ies)|uid|guid|hash|checksum|created_by|modified_by|ms\..*"
    r"|no-loc|zone_pivot\w*|adobe\w*|monikerrange|position|pagination\w*|hide_\w+|show_\w+|math|mermaid|order|noindex|head|og\w*)$",
    re.IGNORECASE,
)
_MOST_FACTS = 12
_SECOND = "front-matter-second"
_BODY_STATUS = re.compile(
    r"^[ \t>*_-]*(?:status|狀態)[*_ \t]*[:：][*_ \t]*(?P<state>[^\n]{3,160})$|^#{2,3}[ \t]*(?:status|狀態)[ \t]*\n+(?P<below>[^\n]{3,160})$",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class UnreadBlock:
    """Front matter as written that could not be read, or not all of it: ``message`` says why, ``line`` is the file's."""

    text: str
    message: str
    line: int


@dataclass(frozen=True, slots=True)
class RawFields:
    """``successor`` is a link target as written; ``facts`` are ``key: value`` pairs for readers, ``extra`` the rest
    that is worth keeping in the page's front matter; ``related`` are link targets as written; ``unread`` must be kept as text."""

    values: Mapping[str, object]
    body: str
    title: str
    status: PageStatus
    successor: str | None
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    keywords: tuple[str, ...]
    summary: str
    description: str
    kind: str | None
    evergreen: bool
    related: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    extra: Mapping[str, object]
    unread: tuple[UnreadBlock, ...] = ()


def read_fields(text: str, metadata: Mapping[str, str]) -> RawFields:
    """Front matter of a raw document over what its adapter said. A second block right behind the first is read too."""
    matter = split_front_matter(text)
    values: dict[str, object] = {**metadata, **matter.fields}
    body = matter.body
    unread = list(_unread(matter, 0))
    if matter.block is not None:
        above = matter.body_line - 1 + body[: len(body) - len(body.lstrip())].count("\n")
        second = split_front_matter(body.lstrip())
        left = list(_unread(second, above))
        if left or any(problem.code == _SECOND for problem in matter.problems):
            values = {**second.fields, **values}
            body = second.body
            unread += left
    lowered = {key.casefold(): value for key, value in reversed(values.items())}
    successor = next((found for key in _SUCCESSOR_KEYS if (found := _text(lowered.get(key)))), None)
    facts, extra = _leftover(values)
    kind = _text(lowered.get("kind"))
    return RawFields(
        values=values,
        body=body,
        title=_text(lowered.get("title")),
        status=_status(lowered, body, successor),
        successor=successor,
        tags=tuple(dict.fromkeys(tag.lstrip("#") for tag in _texts(lowered, "tags", "tag") if tag.strip("#"))),
        aliases=tuple(dict.fromkeys(_texts(lowered, "aliases", "alias"))),
        keywords=tuple(dict.fromkeys(keyword for keyword in _texts(lowered, "keywords") if len(keyword) <= 40)),
        summary=" ".join(_text(lowered.get("summary")).split()),
        description=" ".join(_text(lowered.get("description")).split()),
        kind=kind if kind == "index" else None,
        evergreen=lowered.get("evergreen") is True,
        related=tuple(dict.fromkeys(target for key in _RELATED_KEYS for target in as_text_list(lowered.get(key)))),
        facts=facts,
        extra=extra,
        unread=tuple(unread),
    )


def _unread(matter: FrontMatter, above: int) -> Iterator[UnreadBlock]:
    """The block, if the parser had to leave out some of it; ``above`` counts the lines of the file before it."""
    problem = next((problem for problem in matter.problems if problem.code != _SECOND), None)
    if matter.block is not None and problem is not None:
        yield UnreadBlock(matter.block.strip("\n"), problem.message, above + (problem.line or 1))


def _status(lowered: Mapping[str, object], body: str, successor: str | None) -> PageStatus:
    written = _text(lowered.get("status")).casefold()
    if successor or written in _DEPRECATED or lowered.get("deprecated") is True:
        return PageStatus.DEPRECATED
    if written in _DRAFT or lowered.get("draft") is True:
        return PageStatus.DRAFT
    if not written:
        # Decision records say it in a line of their own text: "Status: Superseded by [ADR-12](0012.md)".
        match = _BODY_STATUS.search(body, 0, 1500)
        state = plain((match.group("state") or match.group("below") or "") if match else "").casefold()
        if any(state.startswith(word) for word in _DEPRECATED):
            return PageStatus.DEPRECATED
    return PageStatus.CURRENT


def _leftover(values: Mapping[str, object]) -> tuple[tuple[tuple[str, str], ...], dict[str, object]]:
    """Facts that a reader may ask for become lines of the page; other plain values stay in the front matter."""
    facts: list[tuple[str, str]] = []
    extra: dict[str, object] = {}
    for key, value in values.items():
        if key.casefold() in _TAKEN or _NOISE_KEY.match(key) or value is None or value == "":
            continue
        texts = as_text_list(value) if isinstance(value, list) else (_text(value),)
        line = ", ".join(texts).strip()
        if not line or len(line) > 300:
            continue
        telling = _TELLING.match(key) or (
            not re.fullmatch(r"[0-9a-f-]{16,}", line)
            and not re.match(r"authors?$|作者", key, re.I)
            and extract_facts(line)
        )
        if telling and len(facts) < _MOST_FACTS:
            facts.append((key, line))
        elif isinstance(value, (str, bool)) or texts:
            extra[key] = list(texts) if isinstance(value, list) else value
    return tuple(facts), extra


def _texts(lowered: Mapping[str, object], *keys: str) -> tuple[str, ...]:
    return tuple(" ".join(text.split()) for key in keys for text in as_text_list(lowered.get(key)))


def _text(value: object) -> str:
    return (
        value.strip()
        if isinstance(value, str)
        else ""
        if value is None or isinstance(value, (list, dict))
        else str(value)
    )
