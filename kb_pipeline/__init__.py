"""kb_pipeline: raw markdown in; a linted wiki, a graph, a search index and a manifest out."""

__version__ = "0.1.0"
