"""What is embedded and what has to be embedded again (SPEC 12): chunking and indexing.

Embedders (``providers``) and the store of vectors (``storage``) come in through ``ports``.
"""
