"""What a build has to do, decided from values alone (ORCHESTRATION 1). No I/O, no Dagster, no clock."""
