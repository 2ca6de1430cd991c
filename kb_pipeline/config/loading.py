"""Loading a project's configuration: all layers, all checks, one report of all faults (SPEC 2).

Belongs here: reading ``kb.yml``, validating, and wording the faults. Not here: keys (``schema``), layers, checks that
need several keys (``checks``).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from kb_pipeline.config.checks import check_settings
from kb_pipeline.config.layers import Layers, add_environment, add_file, add_flags, nearest
from kb_pipeline.config.schema import KNOWN_VERSION, Settings, leaves
from kb_pipeline.errors import ConfigError, UnreadableTextError
from kb_pipeline.markdown.decoding import decode_text
from kb_pipeline.markdown.yaml_safe import load_mapping

CONFIG_FILE = "kb.yml"


def load_settings(root: Path, *, environ: Mapping[str, str], flags: Mapping[str, object] | None = None) -> Settings:
    """The effective settings of the project at ``root``; without a ``kb.yml`` the defaults hold.

    ``flags``: dotted key → value, None for a flag that was not given. Raises ConfigError with every fault that flags,
    environment and file have, each with its place and the nearest valid name.
    """
    root = root.absolute()
    layers = Layers()
    _read_file(layers, root / CONFIG_FILE)
    add_environment(layers, environ)
    add_flags(layers, flags or {})
    settings = _validated(layers)
    settings._root = root  # noqa: SLF001 - private to pydantic, set once by the one loader
    settings._origins = {key: layers.origins.get(key, "default") for key in leaves(settings)}  # noqa: SLF001 - as above
    for key, message in check_settings(settings):
        layers.fault(layers.places.get(key, layers.places.get(key.rpartition(".")[0], CONFIG_FILE)), message)
    if layers.faults:
        raise ConfigError([f"{place}: {message}" for place, message in sorted(layers.faults, key=_by_place)])
    name = settings.database.url_env
    if name is not None:
        settings._secrets = {name: environ.get(name, "")}  # noqa: SLF001 - as above
    return settings


def _read_file(layers: Layers, file: Path) -> None:
    try:
        text = decode_text(file.read_bytes())
    except FileNotFoundError:
        return
    except OSError as error:
        raise ConfigError([f"{CONFIG_FILE}: cannot be read: {error.strerror or error}"]) from error
    except UnreadableTextError as error:
        raise ConfigError([f"{CONFIG_FILE}: {error}"]) from error
    result = load_mapping(text)
    for problem in result.problems:
        layers.fault(f"{CONFIG_FILE}:{problem.line or 1}", problem.message)
    version = result.value.get("version")
    if isinstance(version, str) and version.isdecimal() and int(version) > KNOWN_VERSION:
        # Whatever else it says may mean something that we do not know: no further fault is worth telling.
        raise ConfigError(
            [
                (
                    f"{CONFIG_FILE}:{result.lines.get('version', 1)}: version {version} was written for a newer "
                    f"kb_pipeline (this one knows up to {KNOWN_VERSION}): upgrade with pip install -U kb-pipeline"
                )
            ]
        )
    add_file(layers, result.value, result.lines, CONFIG_FILE)


def _validated(layers: Layers) -> Settings:
    """Settings from the layers. Faulty values are told and left at their default, so that later checks still run."""
    values: dict[str, Any] = layers.values
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        for fault in error.errors():
            location = tuple(str(part) for part in fault["loc"])
            layers.fault(_place(layers, location), _message(location, fault))
            _drop(values, location)
    return Settings.model_validate(values)


def _place(layers: Layers, location: tuple[str, ...]) -> str:
    for end in range(len(location), 0, -1):
        place = layers.places.get(".".join(location[:end]))
        if place is not None:
            return place
    return CONFIG_FILE


def _drop(values: dict[str, Any], location: tuple[str, ...]) -> None:
    """Take the leaf that holds a faulty value out of the nested values."""
    section: Any = values
    model: type[BaseModel] | None = Settings
    for name in location:
        inner = model.model_fields[name].annotation if model is not None and name in model.model_fields else None
        model = inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None
        if model is None or not isinstance(section.get(name), dict):
            section.pop(name, None)
            return
        section = section[name]


def _message(location: tuple[str, ...], fault: Any) -> str:
    key = ".".join(location)
    given = fault["input"]
    shown = "nothing" if given is None else f'"{given}"' if isinstance(given, str) else _kind_of(given)
    context = fault.get("ctx", {})
    kind = fault["type"]
    if kind == "missing":
        return f'"{key}" is missing'
    if kind == "literal_error":
        allowed = str(context["expected"]).replace("'", "").replace(" or ", ", ").split(", ")
        return f"{key} must be one of {', '.join(allowed)}, not {shown}{nearest(str(given), allowed)}"
    if kind in {"greater_than_equal", "less_than_equal", "greater_than", "less_than"}:
        limit = next(iter(context.values()))
        word = {"greater_than_equal": "at least", "less_than_equal": "at most"}.get(kind, kind.replace("_", " "))
        return f"{key} must be {word} {limit:g}, not {shown}"
    wanted = next((text for prefix, text in _WANTED if kind.startswith(prefix)), None)
    return f"{key} must be {wanted}, not {shown}" if wanted else f"{key}: {fault['msg']}, not {shown}"


_WANTED = (
    ("int_", "a whole number"),
    ("float_", "a number"),
    ("bool_", "true or false"),
    ("string_pattern", "a name of letters, digits and _"),
    ("string_too_short", "a text that is not blank"),
    ("string_", "a text"),
    ("tuple_", "a list"),
    ("list_", "a list"),
    ("dict_", "a mapping (key: value)"),
    ("model_", "a mapping (key: value)"),
)


def _kind_of(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "a mapping"
    return "a list" if isinstance(value, (list, tuple)) else str(value)


def _by_place(fault: tuple[str, str]) -> tuple[str, int, str]:
    file, _, line = fault[0].rpartition(":")
    return (file, int(line), fault[1]) if line.isdecimal() else (fault[0], 0, fault[1])
