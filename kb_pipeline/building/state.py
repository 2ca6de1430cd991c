"""What the last build left behind, as a disposable note under ``.kb``: it saves work and decides nothing that is lost.

Without it the next build looks at everything again and finds nothing to do; with it the command line answers in a
moment without asking Dagster or the database.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from kb_pipeline.storage.files import write_if_changed


@dataclass(frozen=True, slots=True)
class BuildState:
    """``synced``: fingerprint of the pages after the last sync that linked and recorded them. ``vectors``: fingerprint
    of pages and model when every section had its vector."""

    synced: str = ""
    vectors: str = ""

    @classmethod
    def load(cls, path: Path) -> BuildState:
        """The note, or an empty one where there is none or it cannot be read."""
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return cls()
        if not isinstance(found, dict):
            return cls()
        return cls(**{item.name: str(found[item.name]) for item in fields(cls) if item.name in found})

    def save(self, path: Path) -> None:
        write_if_changed(path, json.dumps(asdict(self), indent=1).encode())
