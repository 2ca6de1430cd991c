"""What Dagster loads: ``dagster dev``, ``dg dev``, the webserver and the daemon point here."""

from kb_pipeline.defs.build import build_definitions

defs = build_definitions()
