"""Property tests on shared machines: a slow moment is no failure, so no example has a deadline."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
