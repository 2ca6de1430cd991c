"""Every rule by name: id, severity, the one message it gives, and why it exists. No checking here.

``docs/lint.md`` is generated from ``RULES``. A rule of scope ``page`` judges one page alone, ``wiki`` needs the others
(its findings never keep a page out of a snapshot), ``text`` looks at how a file is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kb_pipeline.models import Finding, Severity, WikiPage

Scope = Literal["page", "wiki", "text"]


@dataclass(frozen=True, slots=True)
class Rule:
    """``message`` is a ``str.format`` template: what is wrong, which, what to do. ``summary`` says why it matters."""

    id: str
    severity: Severity
    scope: Scope
    message: str
    summary: str
    fixable: bool = False
    silenceable: bool = True

    def at(
        self,
        page: WikiPage,
        *,
        line: int | None = None,
        field: str | None = None,
        own: bool | None = None,
        fixable: bool | None = None,
        **values: object,
    ) -> Finding:
        """A finding of this rule on ``page``. Without ``line`` it points at the line of ``field``, where known."""
        return Finding(
            rule=self.id,
            severity=self.severity,
            path=page.path,
            message=self.message.format(**values),
            line=page.field_lines.get(field) if line is None and field is not None else line,
            field=field,
            fixable=self.fixable if fixable is None else fixable,
            own=self.scope != "wiki" if own is None else own,
        )


def _error(id_: str, scope: Scope, message: str, summary: str, *, fixable: bool = False) -> Rule:
    return Rule(id_, Severity.ERROR, scope, message, summary, fixable)


def _structural(id_: str, message: str, summary: str, *, fixable: bool = False) -> Rule:
    """An error that nothing can silence: without it mended the page cannot be read or told apart at all."""
    return Rule(id_, Severity.ERROR, "page", message, summary, fixable, silenceable=False)


def _warning(id_: str, scope: Scope, message: str, summary: str, *, fixable: bool = False) -> Rule:
    return Rule(id_, Severity.WARNING, scope, message, summary, fixable)


# Rules with a bare {problem} report what the reader found; its messages name the place and say what to do.
UNREADABLE_TEXT = _structural(
    "unreadable-text",
    "{problem}",
    "Bytes that are neither UTF-8 nor UTF-16 with a mark would be indexed as mojibake.",
)
CONFLICT_MARKS = _structural(
    "conflict-marks",
    "{problem}",
    "A page with both sides of a merge in it says two things at once.",
)
FRONT_MATTER_MISSING = _structural(
    "front-matter-missing",
    "{problem}",
    "A page without front matter is in no manifest: for every reader it does not exist.",
)
FRONT_MATTER_UNCLOSED = _structural(
    "front-matter-unclosed",
    "{problem}",
    "Where the block does not end, the body cannot begin.",
)
FRONT_MATTER_YAML = _structural(
    "front-matter-yaml",
    "{problem}",
    "The block is not YAML, so no field of the page is known.",
    fixable=True,
)
FRONT_MATTER_NOT_MAPPING = _structural(
    "front-matter-not-mapping",
    "{problem}",
    "A list or a text in place of the fields names nothing.",
)
FRONT_MATTER_DUPLICATE_KEY = _structural(
    "front-matter-duplicate-key",
    "{problem}: keep one of them",
    "A key written twice is read by each tool in its own way.",
    fixable=True,
)
FRONT_MATTER_SECOND = _structural(
    "front-matter-second",
    "{problem}",
    "Only the first block counts; a second is a lost edit or a page pasted into another.",
)
FIELD_TYPE = _structural(
    "field-type",
    "{problem}",
    "A field of another type cannot be shown, filtered or compared.",
)
FIELD_MISSING = _structural(
    "field-missing",
    "'{name}' is missing or empty: add it (title, scope, summary, keywords, updated and status are required)",
    "Readers choose pages by these six fields; a page without them is not published.",
    fixable=True,
)
STATUS_UNKNOWN = _structural(
    "status-unknown",
    "{problem}",
    "The status decides whether a page is served at all.",
)
UPDATED_INVALID = _structural(
    "updated-invalid",
    "{problem}",
    "The date of the knowledge ranks answers and shows which of two statements is newer.",
    fixable=True,
)
UPDATED_FUTURE = _error(
    "updated-future",
    "page",
    "updated is {updated}, after today ({today}): write the day on which the content was last known to be true",
    "A date in the future outranks every real one.",
)
SCOPE_UNRESOLVED = _structural(
    "scope-unresolved",
    "scope still holds the marker {marker}: say which system, product or environment the page speaks of"
    " (default_scope in kb.yml says it for every document that names none)",
    "Two systems with the same words are told apart by the scope alone; a guess is worse than none.",
)
SCOPE_UNKNOWN = _error(
    "scope-unknown",
    "page",
    "scope '{scope}' is not in the list of scopes{nearest}: use one of the list, or add it to 'scopes' in kb.yml",
    "Scopes that each author invents no longer tell pages apart.",
)
SCOPE_CATEGORY = _error(
    "scope-category",
    "page",
    "scope '{scope}' is a category: name the system, product or environment that the page speaks of",
    "A category says what kind of page it is, not whose token expires after 90 days.",
)
SUMMARY_SHORT = _error(
    "summary-short",
    "page",
    "summary has {length} characters, fewer than {least}: list the concrete facts that the page answers",
    "Whether to open a page is decided by its summary.",
)
SUMMARY_TOPIC = _error(
    "summary-topic",
    "page",
    "summary describes a topic ('{words}'): list the facts that the page holds, separated by 、 or ;",
    "'About X' cannot be told from the next page about X; a fact can.",
)
KEYWORDS_FEW = _error(
    "keywords-few",
    "page",
    "keywords has {count} different entries, fewer than {least}: add the formal, colloquial, English and short forms",
    "Who asks in other words finds nothing.",
)
SILENCING_INVALID = _structural(
    "silencing-invalid",
    "{problem}: write 'rule-id: reason', with the id of a rule that may be silenced",
    "A rule silenced without a reason cannot be judged later.",
)
FIELD_FORM = _warning(
    "field-form",
    "text",
    "'{name}' is {form}: write it as {wanted}",
    "Other tools read a comma text as one entry, or a date-time as another day.",
    fixable=True,
)
FOLDER_DEPTH = _error(
    "folder-depth",
    "page",
    "the page lies {levels} folders deep, more than {most}: move it up",
    "A deep tree hides pages from people and from the directory manifest.",
)
FOLDER_DOCUMENT_TYPE = _error(
    "folder-document-type",
    "page",
    "the folder '{folder}' is a type of document: name folders after the domain (auth, deploy, billing)",
    "A question belongs to a domain; nobody asks for 'a tutorial'.",
)
FOLDER_STATUS = _warning(
    "folder-status",
    "page",
    "pages in {folder}/ have the status {wanted}, not {status}: change the status, or move the page",
    "`_inbox/` gathers drafts and `legacy/` what was superseded.",
)
BODY_TOO_LONG = _error(
    "body-too-long",
    "page",
    "the body has {length} characters, more than {most}: split it where a section answers a question of its own",
    "Long pages crowd out the others that an answer needs.",
)
BODY_ONE_BLOCK = _warning(
    "body-one-block",
    "page",
    "the body has {length} characters, more than {most}, nearly all in one table or code block: "
    "keep the rows or lines that answer questions",
    "A block that cannot be split is allowed to be long, and still costs its readers.",
)
BODY_TOO_SHORT = _error(
    "body-too-short",
    "page",
    "the body has {length} characters, fewer than {least}: merge it into another page, or make it a draft in _inbox/",
    "A fragment answers no question alone and costs a line of the manifest.",
)
BODY_LENGTH_ADVISED = _warning(
    "body-length-advised",
    "page",
    "the body has {length} characters; {low} to {high} are advised: {advice}",
    "Pages of this size answer one question and fit beside others.",
)
H1_COUNT = _error(
    "h1-count",
    "page",
    "the body has {count} H1 headings{which}: keep exactly one, equal to the title",
    "The H1 is the page's name where front matter is not shown.",
    fixable=True,
)
H1_TITLE = _error(
    "h1-title",
    "page",
    "title '{title}' differs from the H1 '{heading}': make them equal (a value with ' #' or ': ' needs quotes)",
    "A page with two names is cited by both; YAML cuts an unquoted title at ' #'.",
    fixable=True,
)
HEADING_TOO_DEEP = _error(
    "heading-too-deep",
    "page",
    "heading '{heading}' is level {level}{more}: use H2 and H3 only, or split the page",
    "What needs four levels is several pages.",
)
TABLE_ACROSS_SECTIONS = _error(
    "table-across-sections",
    "page",
    "a table goes on after the heading '{heading}': keep each table inside one section, with a header of its own",
    "Sections are read one at a time; half a table has no column names.",
)
FENCE_LANGUAGE = _warning(
    "fence-language",
    "page",
    "the code block names no language: write it behind the opening marks (sh for commands, text for plain output)",
    "The language tells a command from its output.",
    fixable=True,
)
CONCLUSION_FIRST = _warning(
    "conclusion-first",
    "page",
    "the page does not begin with its conclusion ({why}): put the answer into the first paragraph",
    "The first paragraph is what previews, snippets and hurried readers see.",
)
SECTIONS_UNRELATED = _warning(
    "sections-unrelated",
    "page",
    "section '{heading}' shares no term with the title or the other sections: move it to a page of its own",
    "A page that answers unrelated questions is found for neither.",
)
STALE = _warning(
    "stale",
    "page",
    "updated {updated} is {days} days ago, more than {most}: check the facts and set the date, "
    "mark it 'evergreen: true', or deprecate it",
    "Old facts are quoted as confidently as new ones.",
)
OUTDATED = _warning(
    "outdated",
    "page",
    "compiled by {by} with another model, prompt or set of rules: recompile with 'kb build --upgrade'",
    "Pages made by different rules read differently.",
)
RELATED_MANY = _warning(
    "related-many",
    "page",
    "related has {count} entries, more than {most}: keep those that a reader needs next",
    "A page related to everything is related to nothing.",
)
DEPRECATED_NO_SUCCESSOR = _error(
    "deprecated-no-successor",
    "page",
    "the page is deprecated and points to no current page: name its successor in related or in a link",
    "Who lands on an old page must be led to what is true now.",
)
RELATED_MISSING = _error(
    "related-missing",
    "wiki",
    "related '{target}' {why}: correct the path from the wiki's root, or remove the entry",
    "A dead pointer costs an agent a wasted read.",
)
RELATED_DRAFT = _error(
    "related-draft",
    "wiki",
    "related '{target}' is a draft, which is never served: finish that page, or remove the entry",
    "Drafts have no address for a reader.",
)
RELATED_NOT_MUTUAL = _error(
    "related-not-mutual",
    "wiki",
    "related names '{target}', which does not name this page: add it there, or remove it here",
    "One-way pointers leave islands that nobody finds from the other side.",
    fixable=True,
)
RELATED_REDUNDANT = _warning(
    "related-redundant",
    "wiki",
    "related '{target}' {why}: remove the entry",
    "It takes one of the few places and leads nowhere new.",
)
RELATED_PAIRED = _warning(
    "related-paired",
    "wiki",
    "the {count} pages that name this one in related all name '{other}' too, and the reverse: consider merging the two",
    "Pages that are always needed together are one page.",
)
TITLE_AMBIGUOUS = _error(
    "title-ambiguous",
    "wiki",
    "title '{title}' with scope '{scope}' is also that of {others}: give them different scopes, or merge them",
    "The manifest shows title and scope; nothing else tells the two apart.",
)
BROKEN_LINK = _error(
    "broken-link",
    "wiki",
    "link to '{target}' finds no page: correct it, write the page, or remove the link",
    "A link to nothing misleads people, agents and the graph.",
)
AMBIGUOUS_LINK = _error(
    "ambiguous-link",
    "wiki",
    "link to '{target}' may mean {candidates}: write the path from the wiki's root",
    "Which page is meant must not depend on who reads.",
)
LINK_OUTSIDE_ROOT = _error(
    "link-outside-root",
    "wiki",
    "link to '{target}' leaves the wiki: link to a page, or to a web address",
    "What lies outside is not published, and is never followed.",
)
LINK_TO_DRAFT = _error(
    "link-to-draft",
    "wiki",
    "link to '{target}' leads to a draft, which is never served: finish that page, or remove the link",
    "For a reader it is a broken link.",
)
LINK_TO_DEPRECATED = _warning(
    "link-to-deprecated",
    "wiki",
    "link to '{target}' leads to a deprecated page: link to its successor",
    "Readers are sent to what is no longer true.",
)
BROKEN_ANCHOR = _warning(
    "broken-anchor",
    "wiki",
    "link to '{target}' names a heading that the page does not have: use one of its headings",
    "The page opens at its top and the reader has to search.",
)
ORPHAN = _warning(
    "orphan",
    "wiki",
    "no page links to this one: name it in the related of a page whose readers need it",
    "An orphan page is found by search alone.",
)
NEAR_DUPLICATE = _warning(
    "near-duplicate",
    "wiki",
    "{share:.0%} of the text is also in '{other}': keep one page, or deprecate the older",
    "Two copies drift apart, and both are quoted.",
)
CONFLICT = _warning(
    "conflict",
    "wiki",
    "'{statement}' (updated {updated}) but '{other_statement}' in {other} (updated {other_updated}): "
    "find out which holds, and correct the other",
    "Two values for one thing in one scope: a reader gets either.",
)

RULES: Mapping[str, Rule] = {rule.id: rule for rule in list(globals().values()) if isinstance(rule, Rule)}
"""All rules by id, in the order of the documentation."""
