"""Putting the layers of a configuration together: flag > environment > ``kb.yml`` > default (SPEC 2).

Belongs here: what each layer says and where it says it. Not here: whether a value is right (``loading``).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import get_args

from pydantic import BaseModel

from kb_pipeline.config.schema import Settings

PREFIX = "KB_"
NOT_SETTINGS = frozenset({"KB_SHARED", "KB_ROOT", "KB_DEBUG", "KB_PG_BINDIR"})
"""Variables of other meaning: handed test material; the project's root and stack traces for the command line; other
binaries for the embedded PostgreSQL."""

_STRUCTURED = ("sources", "lint.silenced")


@dataclass(slots=True)
class Layers:
    """Nested values, the origin of each leaf, how to name a key in a message, and the faults found so far."""

    values: dict[str, object] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    faults: list[tuple[str, str]] = field(default_factory=list)

    def put(self, path: tuple[str, ...], value: object, origin: str, place: str) -> None:
        section = self.values
        for name in path[:-1]:
            inner = section.get(name)
            if not isinstance(inner, dict):
                inner = section[name] = {}
            section = inner
        section[path[-1]] = value
        key = ".".join(path)
        self.origins[key] = origin
        self.places[key] = place

    def fault(self, place: str, message: str) -> None:
        self.faults.append((place, message))


def add_file(layers: Layers, values: Mapping[str, object], lines: Mapping[str, int], file: str) -> None:
    """``kb.yml``: every key is checked against the schema, so that each unknown one is told with its nearest name."""
    _add_section(layers, Settings, values, lines, file, ())


def add_environment(layers: Layers, environ: Mapping[str, str]) -> None:
    """``KB_SECTION__KEY``; a ``KB_`` variable that is no setting is a fault, since it would be silently without effect."""
    names = {_variable(key): key for key in setting_keys()}
    for variable in sorted(environ):
        if not variable.startswith(PREFIX) or variable in NOT_SETTINGS:
            continue
        key = names.get(variable.upper())
        if variable.upper() in {_variable(structured) for structured in _STRUCTURED}:
            layers.fault("environment", f"{variable} is a list of mappings: it can only be set in kb.yml")
        elif key is None:
            layers.fault("environment", f"unknown variable {variable}{nearest(variable, names)}")
        else:
            layers.put(tuple(key.split(".")), environ[variable], "env", f"environment: {variable}")


def add_flags(layers: Layers, flags: Mapping[str, object]) -> None:
    """Values given on the command line by dotted key; None means that the flag was not given."""
    known = setting_keys()
    for key, value in flags.items():
        if value is None:
            continue
        if key not in known:
            layers.fault("flag", f'unknown setting "{key}"{nearest(key, known)}')
        else:
            layers.put(tuple(key.split(".")), value, "flag", "flag")


def setting_keys() -> list[str]:
    """Dotted names of all settings that one value can set (lists of texts included, lists of mappings not)."""
    return [key for key in _keys(Settings) if key not in _STRUCTURED]


def nearest(name: str, names: Iterable[str]) -> str:
    """``; did you mean "…"?`` or nothing."""
    by_lower = {known.lower(): known for known in names}
    close = difflib.get_close_matches(name.lower(), list(by_lower), n=1, cutoff=0.6)
    return f'; did you mean "{by_lower[close[0]]}"?' if close else ""


def section_of(model: type[BaseModel], name: str) -> type[BaseModel] | None:
    """The model of a key that is a section, None for a leaf."""
    annotation = model.model_fields[name].annotation
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def item_model(model: type[BaseModel], name: str) -> type[BaseModel] | None:
    """The model of the items of a key that is a list of mappings."""
    for argument in get_args(model.model_fields[name].annotation):
        if isinstance(argument, type) and issubclass(argument, BaseModel):
            return argument
    return None


def _add_section(
    layers: Layers,
    model: type[BaseModel],
    values: Mapping[str, object],
    lines: Mapping[str, int],
    file: str,
    above: tuple[str, ...],
) -> None:
    for name, value in values.items():
        path = (*above, name)
        key = ".".join(path)
        place = f"{file}:{lines.get(key, 1)}"
        if name not in model.model_fields:
            names = [".".join((*above, known)) for known in model.model_fields]
            layers.fault(place, f'unknown key "{key}"{nearest(key, names)}')
            continue
        inner = section_of(model, name)
        if inner is None:
            layers.put(path, value, place, place)
            _add_items(layers, item_model(model, name), value, lines, file, path)
        elif isinstance(value, Mapping):
            _add_section(layers, inner, value, lines, file, path)
        elif value is not None:
            layers.fault(place, f"{key} is a section: its keys ({', '.join(inner.model_fields)}) go below it, indented")


def _add_items(
    layers: Layers,
    model: type[BaseModel] | None,
    value: object,
    lines: Mapping[str, int],
    file: str,
    path: tuple[str, ...],
) -> None:
    """Unknown keys and places inside a list of mappings; the list itself stays one value."""
    if model is None or not isinstance(value, list):
        return
    kept = []
    for index, item in enumerate(value):
        if isinstance(item, Mapping):
            for name in item:
                key = ".".join((*path, str(index), name))
                layers.places[key] = f"{file}:{lines.get(key, 1)}"
                if name not in model.model_fields:
                    layers.fault(layers.places[key], f'unknown key "{key}"{nearest(name, model.model_fields)}')
            item = {name: inner for name, inner in item.items() if name in model.model_fields}  # noqa: PLW2901 - less the unknown keys, told above
        key = ".".join((*path, str(index)))
        layers.places[key] = f"{file}:{lines.get(key, 1)}"
        kept.append(item)
    layers.put(path, kept, layers.origins[".".join(path)], layers.places[".".join(path)])


def _keys(model: type[BaseModel], prefix: str = "") -> list[str]:
    found: list[str] = []
    for name in model.model_fields:
        inner = section_of(model, name)
        found += _keys(inner, f"{prefix}{name}.") if inner is not None else [prefix + name]
    return found


def _variable(key: str) -> str:
    return PREFIX + key.upper().replace(".", "__")
