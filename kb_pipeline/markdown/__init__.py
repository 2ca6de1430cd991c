"""Read and write markdown: bytes to text, front matter, headings, sections, links, slugs, pages (SPEC 4, 5).

Pure: nothing here touches a file, the clock or the environment. Does not belong here: judging a page (``lint``), making
one from raw documents (``rewriting``), where pages are kept (``storage``).
"""
