"""The version of the offline rewriter's rules, and the key that its pages carry.

Belongs here: what tells whether a page is outdated, without loading the rewriter: a build that has nothing to do needs
no more than this.
"""

from __future__ import annotations

import hashlib

from kb_pipeline.text.glossary import Glossary

OFFLINE = "offline"
RULES_VERSION = "offline-1"
"""Raised whenever the same raw document would give another page: pages made before are then outdated."""


def offline_key(glossary: Glossary) -> str:
    """Hash of rules and glossary, 12 hex digits: another one makes pages outdated."""
    digest = hashlib.sha256(repr((RULES_VERSION, [term.forms for term in glossary.terms])).encode())
    return digest.hexdigest()[:12]
