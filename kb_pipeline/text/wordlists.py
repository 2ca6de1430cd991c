"""Word lists written as running text: they read and diff better than hundreds of quoted strings.

Belongs here: splitting them. Does not belong here: the lists; each stands beside the rule that uses it.
"""

from __future__ import annotations


def word_list(words: str) -> list[str]:
    """Words separated by white space, in order."""
    return words.split()


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())
