"""The Dagster side: assets, checks, jobs, sensor and schedule over the stages. The only package that imports dagster."""
