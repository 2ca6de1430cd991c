"""Versions in a text: ``v1.2``, ``1.2.3-rc1``, ``版本 2.0``, ``Python 3.11``, ``PostgreSQL 16``.

Belongs here: numbers that name a release. Does not belong here: decimals with a unit (``quantities``).

Normal form: without the v, lower case, so that ``v1.2`` and ``1.2`` are one version. A bare major number keeps its
product, since 16 alone says nothing: ``postgresql 16``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb_pipeline.text.fact_markup import Found, digit_lines
from kb_pipeline.text.quantities import is_measured
from kb_pipeline.text.wordlists import word_set

_PRODUCTS = word_set(
    """python java openjdk jdk jre node node.js npm postgresql postgres pg mysql mariadb redis mongodb kafka elasticsearch
    opensearch ubuntu debian centos rhel fedora alpine windows macos ios android php ruby go golang rust django rails react
    vue angular next next.js nuxt kubernetes k8s docker helm terraform ansible nginx apache sqlite chrome firefox safari
    claude gemini llama qwen pgvector dagster airflow spark tls ssl oauth http ipv pydantic sqlalchemy flutter swift kotlin
    scala perl tailwind vite webpack typescript wcag openapi .net gitlab jenkins grafana prometheus office cuda pytorch
    tensorflow hadoop flink cassandra neo4j solr tomcat jetty gradle maven cmake gcc clang llvm bash powershell
    boot server code linux kernel studio exchange ssms"""
)
_TWO_WORDS = frozenset(("spring boot", "sql server", "vs code", "windows server", "linux kernel", "visual studio"))
_ONLY_TWO_WORDS = frozenset(("boot", "server", "code", "kernel", "studio"))
_NUMBERED = word_set(
    "step scenario section figure fig table chapter example part phase appendix note rule case item page line level option"
)
_PRE = r"(?:[-.]?(?i:alpha|beta|rc|dev|post|preview|snapshot|lts|a|b)[.\-]?\d*)?(?:\+[A-Za-z]\w*(?:\.\w+)*)?"
_TAIL = r"(?![A-Za-z0-9_%]|\.\d)"
_MARKED = re.compile(rf"[vV](?<![A-Za-z0-9_./-][vV])\.?\s?(?P<number>\d+(?:\.(?:\d+|x))*{_PRE}){_TAIL}")
_MARKED_DOTTED = re.compile(_MARKED.pattern.replace(r"(?:\.(?:\d+|x))*", r"(?:\.(?:\d+|x))+", 1))
_LONG = re.compile(rf"(?P<number>\d(?<![A-Za-z0-9_./-]\d)\d*\.\d+\.(?:\d+|x)(?:\.\d+)*{_PRE}){_TAIL}")
_NAMED = re.compile(
    rf"(?:版本(?:號)?|\bversions?|\bver\.?|\brelease)\s*(?:is|為|是|號|:|=|>=|<=|≥|≤|>|~|\^)*\s*(?P<number>\d+(?:\.(?:\d+|x))*{_PRE}){_TAIL}",
    re.IGNORECASE,
)
_BEFORE_WORD = re.compile(r"(?P<number>\d(?<![A-Za-z0-9_./第-]\d)\d*(?:\.\d+)*)\s?版(?![權面型塊圖次])")
_NUMBER = re.compile(rf"(?P<number>\d(?<![A-Za-z0-9_.]\d)\d*(?:\.(?:\d+|x))*{_PRE})\+?{_TAIL}|(?<=IPv)[46]\b")
_YEAR = re.compile(r"20[012]\d$")
"""Some products count by years: SQL Server 2022."""

_PRODUCT_BEFORE = re.compile(r"(?:(?P<first>[A-Za-z]+) )?(?P<word>[.A-Za-z][\w.+#]*)[\s/-]{0,2}$")


def find_versions(text: str, *, code: bool = False) -> Iterator[Found]:
    """Versions in ``text`` (narrow), surer readings first. In ``code`` a bare ``v1`` is a variable."""
    for offset, line in digit_lines(text):
        lowered = line.lower()
        patterns = [_MARKED_DOTTED if code else _MARKED, _LONG]
        if "版" in line:
            patterns += [_NAMED, _BEFORE_WORD]
        elif "ver" in lowered or "release" in lowered:
            patterns.append(_NAMED)
        for pattern in patterns:
            for match in pattern.finditer(line):
                if pattern is not _NAMED or not is_measured(line, match.end()):
                    yield offset + match.start(), offset + match.end(), match["number"].lower()
        for start, end, normal in _after_products(line):
            yield offset + start, offset + end, normal


def _after_products(line: str) -> Iterator[Found]:
    """A dotted number behind a capitalised word, or any behind a known product."""
    for match in _NUMBER.finditer(line):
        before = _PRODUCT_BEFORE.search(line, max(0, match.start() - 30), match.start())
        if before is None or match["number"] is None:
            continue
        word, both = before["word"].lower(), f"{(before['first'] or '').lower()} {before['word'].lower()}"
        known = both in _TWO_WORDS or (word in _PRODUCTS and word not in _ONLY_TWO_WORDS)
        number = match["number"].lower()
        if "." in number:
            if (known or _is_name(before["word"])) and not is_measured(line, match.end()):
                yield match.start(), match.end(), number
        elif known and (len(number) <= 2 or _YEAR.match(number)) and not is_measured(line, match.end()):
            start = before.start("first" if both in _TWO_WORDS else "word")
            yield start, match.end(), f"{both if both in _TWO_WORDS else word} {number}"


def _is_name(word: str) -> bool:
    return word[0].isupper() and len(word) > 2 and word.lower() not in _NUMBERED
