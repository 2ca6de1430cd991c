"""Rules that need the other pages: related, titles, links, orphans (SPEC 9). Linear in the wiki.

Their findings are not a page's own. Contradictions between pages: ``conflicts``; copies: ``duplicates``.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterator, Sequence

from kb_pipeline.lint import catalogue as rules
from kb_pipeline.lint.catalogue import Rule
from kb_pipeline.lint.policy import LintPolicy
from kb_pipeline.lint.vocabulary import folded
from kb_pipeline.lint.wiki import Wiki
from kb_pipeline.markdown.links import Ambiguous, Missing, OutsideRoot, Resolution, Resolved
from kb_pipeline.models import Finding, PageStatus, WikiPage


def related_rules(wiki: Wiki, page: WikiPage) -> Iterator[Finding]:
    seen: set[str] = set()
    one_way = wiki.one_way(page) if page.related else ()
    for entry, resolution in wiki.related[page.path]:
        if not isinstance(resolution, Resolved):
            why = "finds no page"
            if isinstance(resolution, Ambiguous):
                why = f"may mean {_listed(resolution.candidates)}"
            elif isinstance(resolution, OutsideRoot):
                why = "leaves the wiki"
            yield rules.RELATED_MISSING.at(page, field="related", target=entry.target, why=why)
            continue
        path = resolution.path
        other = wiki.by_path[path]
        if path == page.path or path in seen:
            why = "is this page itself" if path == page.path else "stands in the list a second time"
            yield rules.RELATED_REDUNDANT.at(page, field="related", target=entry.target, why=why)
            continue
        seen.add(path)
        if not resolution.anchor_found:
            yield rules.BROKEN_ANCHOR.at(page, field="related", target=entry.target)
        if other.is_draft:
            yield rules.RELATED_DRAFT.at(page, field="related", target=entry.target)
        elif path in one_way:
            yield rules.RELATED_NOT_MUTUAL.at(page, field="related", target=path)


def link_rules(wiki: Wiki, page: WikiPage, policy: LintPolicy) -> Iterator[Finding]:
    """One finding for each target of a page and what is wrong with it, however often it is linked."""
    seen: set[tuple[str, str]] = set()
    for link, resolution in wiki.links[page.path]:
        if isinstance(resolution, OutsideRoot) and _in_folder(link.target, page.path, policy.raw_folder):
            continue
        for rule, candidates in _link_faults(wiki, page, resolution):
            target = f"{link.target}#{link.anchor}" if rule is rules.BROKEN_ANCHOR else link.target
            if (rule.id, target) not in seen:
                seen.add((rule.id, target))
                yield rule.at(page, line=link.line, target=target, candidates=_listed(candidates))


def _in_folder(target: str, from_path: str, folder: str | None) -> bool:
    """Whether a link leads below ``folder`` (relative to the wiki): to a script or picture among the raw documents."""
    where = posixpath.normpath(posixpath.join(posixpath.dirname(from_path), target))
    return folder is not None and where.startswith(f"{folder}/")


def _link_faults(wiki: Wiki, page: WikiPage, resolution: Resolution) -> Iterator[tuple[Rule, tuple[str, ...]]]:
    """Rules that a link breaks, with the pages that it may mean."""
    if isinstance(resolution, Missing):
        yield rules.BROKEN_LINK, ()
    elif isinstance(resolution, OutsideRoot):
        yield rules.LINK_OUTSIDE_ROOT, ()
    elif isinstance(resolution, Ambiguous):
        yield rules.AMBIGUOUS_LINK, resolution.candidates
    elif isinstance(resolution, Resolved):
        other = wiki.by_path[resolution.path]
        if other.is_draft:
            yield rules.LINK_TO_DRAFT, ()
        elif other.status is PageStatus.DEPRECATED and page.status is PageStatus.CURRENT and page.kind != "index":
            yield rules.LINK_TO_DEPRECATED, ()
        if not resolution.anchor_found:
            yield rules.BROKEN_ANCHOR, ()


def _listed(paths: Sequence[str]) -> str:
    shown = [f"'{path}'" for path in paths[:4]]
    return " or ".join(shown) + (f" or {len(paths) - 4} more" if len(paths) > 4 else "")


def successor_rules(wiki: Wiki, page: WikiPage) -> Iterator[Finding]:
    """A deprecated page whose pointers all lead to pages that are not current."""
    pointers = (*wiki.related[page.path], *wiki.links[page.path])
    if page.status is not PageStatus.DEPRECATED or not (page.related or page.outline.links):
        return
    for _, resolution in pointers:
        if isinstance(resolution, Resolved) and wiki.by_path[resolution.path].status is PageStatus.CURRENT:
            return
    yield rules.DEPRECATED_NO_SUCCESSOR.at(page, field="related", own=False)


def orphan_rules(wiki: Wiki, page: WikiPage) -> Iterator[Finding]:
    searched_only = page.status is PageStatus.CURRENT and page.kind != "index" and not wiki.inbound.get(page.path)
    if searched_only and len(wiki.by_path) > 1:
        yield rules.ORPHAN.at(page)


def title_rules(wiki: Wiki) -> Iterator[Finding]:
    """Current pages only: a superseded page keeps the name of its successor, and its status tells them apart."""
    groups: defaultdict[tuple[str, str], list[WikiPage]] = defaultdict(list)
    for page in wiki.by_path.values():
        if page.status is PageStatus.CURRENT and page.title.strip():
            groups[folded(page.title), folded(page.scope)].append(page)
    for group in groups.values():
        if len(group) > 1:
            paths = sorted(page.path for page in group)
            for page in group:
                shown = [path for path in paths[:5] if path != page.path][:4]
                more = len(paths) - 1 - len(shown)
                others = ", ".join(f"'{path}'" for path in shown) + (f" and {more} more" if more else "")
                yield rules.TITLE_AMBIGUOUS.at(
                    page, field="title", title=page.title.strip(), scope=page.scope.strip(), others=others
                )


def paired_rules(wiki: Wiki, policy: LintPolicy) -> Iterator[Finding]:
    """Two pages that name each other, and that others only ever name together; small enough to be one page."""
    referrers: defaultdict[str, set[str]] = defaultdict(set)
    for page in wiki.by_path.values():
        if not page.is_draft:
            for target in wiki.related_paths(page.path) - {page.path}:
                referrers[target].add(page.path)
    for page in wiki.by_path.values():
        mine = referrers.get(page.path, set())
        for other in sorted(wiki.related_paths(page.path)):
            if other <= page.path or other not in mine:
                continue
            theirs = referrers.get(other, set())
            if len(mine) != len(theirs) or len(mine) - 1 < policy.paired_at_least:
                continue
            together = mine - {other}
            whole = len(page.body.strip()) + len(wiki.by_path[other].body.strip())
            if whole <= policy.max_body and together == theirs - {page.path}:
                yield rules.RELATED_PAIRED.at(page, field="related", count=len(together), other=other)
