"""The wiki as a graph: what is linked, what shares specific words, and how people see it (SPEC 11).

Belongs here: edges, questions to the graph, its JSON and its page. Does not belong here: where the files go
(``storage``), the boost that neighbours give in search (``retrieval``).
"""
