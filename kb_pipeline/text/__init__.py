"""What the stages need to know about natural language: analysis, facts, sentences, similarity, the sparse index.

Belongs here: pure functions from text to values, and the files of the keyword index. Does not belong here: markdown
structure (``markdown``), decisions about pages (``rewriting``, ``lint``), ranking over several arms (``retrieval``).
Import the modules, not this package: most callers need one of them and numpy is not free.
"""
