"""Checks of a configuration that need more than one key, or the disk (SPEC 2).

Belongs here: relations between settings. Not here: type and range of one setting (``schema``). Each check gives the
key that a person has to change and what to do.
"""

from __future__ import annotations

import re
import zoneinfo
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from kb_pipeline.config.layers import nearest
from kb_pipeline.config.schema import Settings, SourceSettings, has_password

Fault = tuple[str, str]


def check_settings(settings: Settings) -> Iterator[Fault]:
    """(dotted key, message) of every fault; ``settings.root`` has to be set."""
    yield from _paths(settings)
    yield from _sources(settings)
    yield from _scopes(settings)
    yield from _database(settings)
    yield from _schedule(settings)


def _paths(settings: Settings) -> Iterator[Fault]:
    """Inside the project, unless a person named an absolute place by flag or environment; none inside another.

    A cloned ``kb.yml`` must not make the product write, prune or read anywhere else.
    """
    root = settings.root.resolve()
    places: dict[str, Path] = {}
    for name, value in settings.paths:
        key = f"paths.{name}"
        by_person = settings.origins.get(key) in {"flag", "env"}
        place = (settings.root / str(value)).resolve()
        if not by_person and PurePosixPath(str(value)).is_absolute():
            yield (
                key,
                f'{key} must be relative to the project, not "{value}"; an absolute one goes into {_variable(key)}',
            )
        elif not by_person and not place.is_relative_to(root):
            how = "leads" if ".." in PurePosixPath(str(value)).parts else "leads, by a symbolic link,"
            yield key, f'{key}: "{value}" {how} out of the project; if that is meant, set {_variable(key)}'
        elif place == root:
            yield key, f"{key} must not be the project's own folder"
        else:
            places[key] = place
    named = list(places.items())
    for index, (key, place) in enumerate(named):
        for other_key, other in named[:index]:
            if place == other:
                yield key, f"{key} and {other_key} are the same place"
            elif place.is_relative_to(other):
                yield key, f"{key} lies inside {other_key}: each needs a place of its own"
            elif other.is_relative_to(place):
                yield other_key, f"{other_key} lies inside {key}: each needs a place of its own"


def _sources(settings: Settings) -> Iterator[Fault]:
    folders: list[str] = []
    for index, source in enumerate(settings.sources):
        key = f"sources.{index}"
        yield from _keys_of_its_kind(source, key)
        is_custom = source.type == "custom"
        name, folder = ("target", source.target) if is_custom else ("path", source.path)
        if folder is not None:
            yield from _source_folder(settings.paths.raw, f"{key}.{name}", folder)
        if folder is not None or not is_custom:
            folders.append(PurePosixPath(folder or ".").as_posix())
    for folder, times in Counter(folders).items():
        if times > 1:
            yield "sources", f'{times} sources are for the same folder "{folder}": merge them'


def _keys_of_its_kind(source: SourceSettings, key: str) -> Iterator[Fault]:
    if source.type == "custom":
        if source.module is None or "." not in source.module:
            yield f"{key}.module", f"{key}: a custom source needs module: package.module.Class"
        if source.path is not None:
            yield f"{key}.path", f"{key}.path is for filesystem sources; a custom one has target"
        return
    for name in ("module", "target", "options"):
        if getattr(source, name):
            yield f"{key}.{name}", f"{key}.{name} is for custom sources; a filesystem one has path"


def _source_folder(raw: str, key: str, folder: str) -> Iterator[Fault]:
    if folder.startswith("/") or ".." in PurePosixPath(folder).parts:
        yield key, f'{key}: "{folder}" leaves the raw folder'
    elif folder.startswith(f"{raw}/"):
        yield key, f'{key} is relative to the raw folder: write "{folder.removeprefix(raw + "/")}", not "{folder}"'


def _scopes(settings: Settings) -> Iterator[Fault]:
    for name, times in Counter(settings.scopes).items():
        if times > 1:
            yield "scopes", f'scope "{name}" is listed {times} times'
    if not settings.scopes:
        from kb_pipeline.lint.vocabulary import is_category

        if settings.default_scope is not None and is_category(settings.default_scope, settings.lint.categories):
            yield (
                "default_scope",
                (
                    f'default_scope: "{settings.default_scope}" is a category, and every page with it would be refused: '
                    "name a system, product or environment, or list it under scopes if it is one"
                ),
            )
        return
    named = [("default_scope", settings.default_scope)]
    named += [(f"sources.{index}.scope", source.scope) for index, source in enumerate(settings.sources)]
    for key, scope in named:
        if scope is not None and scope not in settings.scopes:
            yield key, f'{key}: "{scope}" is not in scopes{nearest(scope, settings.scopes)}'


def _database(settings: Settings) -> Iterator[Fault]:
    from_file = settings.origins.get("database.url", "default") not in {"env", "default"}
    if from_file and has_password(settings.database.url):
        yield (
            "database.url",
            "database.url holds a password: put the DSN into an environment variable and name it in database.url_env",
        )
    if settings.database.url_env is not None and settings.database.url != "embedded":
        yield "database.url_env", "database.url and database.url_env are both given: keep one"


def _schedule(settings: Settings) -> Iterator[Fault]:
    if not _is_cron(settings.rebuild.cron):
        yield (
            "rebuild.cron",
            f'rebuild.cron must be five fields (minute hour day month weekday), not "{settings.rebuild.cron}"',
        )
    zone = settings.rebuild.timezone
    try:
        zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        hint = nearest(zone, zoneinfo.available_timezones())
        yield "rebuild.timezone", f'rebuild.timezone: "{zone}" is no IANA time zone{hint}'


_CRON_RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
_CRON_PART = re.compile(r"(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:/(\d{1,2}))?")
_CRON_NAMES = re.compile(
    r"\b(?:sun|mon|tue|wed|thu|fri|sat|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\b", re.IGNORECASE
)


def _is_cron(text: str) -> bool:
    fields = text.split()
    return len(fields) == len(_CRON_RANGES) and all(
        _is_cron_field(_CRON_NAMES.sub("1", given) if index >= 3 else given, *limits)
        for index, (given, limits) in enumerate(zip(fields, _CRON_RANGES, strict=True))
    )


def _is_cron_field(given: str, lowest: int, highest: int) -> bool:
    for part in given.split(","):
        found = _CRON_PART.fullmatch(part)
        if found is None or found.group(3) == "0":
            return False
        numbers = [int(number) for number in found.group(1, 2) if number is not None]
        if any(not lowest <= number <= highest for number in numbers) or numbers != sorted(numbers):
            return False
    return True


def _variable(key: str) -> str:
    return "KB_" + key.upper().replace(".", "__")
