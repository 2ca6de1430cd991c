"""Benchmarks of the figures that the product promises: ``python -m kb_tests.benchmarks [names] [--json FILE]``.

Belongs here: generating inputs, measuring, comparing with a goal, printing. Does not belong here: tests; pytest collects
nothing of this package. What was measured, and how, stands in ``docs/benchmarks.md``.
"""
