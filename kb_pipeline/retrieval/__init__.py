"""Search over a published snapshot: keywords, keywords with vectors, and the one answer object (SPEC 13).

Belongs here: ranking, snippets, why a page was found, what is honest to say when an arm is missing. Does not belong here:
the index itself (``text.sparse_index``), vectors in the database (``storage.vectors``), how answers are shown (``cli``).
"""
