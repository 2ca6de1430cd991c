"""Where raw documents come from (SPEC 3): the folder ``raw/`` and adapters that fetch into it.

An adapter's author needs two names, which are found here too: ``DataSourceAdapter`` and ``RawDocument`` (what
``fetch`` yields; inside the product it is called ``FetchedDocument``, since ``models.RawDocument`` is what a rewriter
gets).
"""

from kb_pipeline.sources.adapters import DataSourceAdapter, FetchedDocument

RawDocument = FetchedDocument

__all__ = ["DataSourceAdapter", "FetchedDocument", "RawDocument"]
