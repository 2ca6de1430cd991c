"""What code in a text says: commands of shell blocks, settings of configuration blocks, the content of code spans.

Belongs here: reading fenced blocks and inline code. Does not belong here: prose.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from kb_pipeline.models.text import FactKind
from kb_pipeline.text.calendar_facts import find_dates, find_times
from kb_pipeline.text.fact_markup import HIDDEN, Found
from kb_pipeline.text.names import find_urls, name_of, normal_path, normal_url
from kb_pipeline.text.quantities import find_numbers
from kb_pipeline.text.settings import read_setting
from kb_pipeline.text.versions import find_versions
from kb_pipeline.text.wordlists import word_set

_SHELLS = word_set(
    "sh bash zsh shell shell-session shellsession console terminal fish powershell pwsh ps1 bat cmd dos shell-script azurecli"
)
_UNNAMED = frozenset(("", "text", "plaintext", "txt"))
_CONFIGURATION = word_set(
    "yaml yml ini toml env dotenv properties json json5 jsonc conf cfg config hcl nginx docker-compose editorconfig"
)
_PROGRAMS = word_set(
    "sudo kubectl docker docker-compose podman git curl wget ssh scp rsync npm npx yarn pnpm pip pip3 pipx uv uvx poetry python python3 node deno bun"
    " cargo rustc go make cmake cd ls cp mv rm mkdir touch cat echo export source grep sed awk find chmod chown tar unzip systemctl journalctl service"
    " psql pg_dump pg_restore createdb mysql redis-cli mongo mongosh sqlite3 gcloud gsutil aws az terraform terragrunt helm kustomize ansible"
    " ansible-playbook apt apt-get yum dnf brew apk snap kb dagster dg pytest ruff mypy uvicorn gunicorn celery alembic flask django-admin knife"
    " bundle rake rails gem consul vault nomad openssl dig nslookup ping traceroute nc netstat ss ps top kill crontab tail head less vi vim nano"
    " ssh-keygen gpg jq yq xargs watch tee ln df du free mount umount dd lsblk ifconfig ip iptables ufw nginx certbot gitlab-ctl gitlab-rails rg"
)
_PROMPT = re.compile(
    r"^\s*(?:\[?[\w.-]+@[\w.:~-]+[\s\]:~\w/.-]*[$#%]|\([\w.-]+\)\s*\$|[$%❯»]|PS [^>\n]*>|C:\\[^>\n]*>)\s+(?=\S)"
)
_WORD = re.compile(r"^[A-Za-z0-9_./~$-]+$")
_SPACES = re.compile(r"\s+")
_LONGEST_SPAN = 300


def is_shell(language: str, code: str) -> bool:
    """By the block's language; without one, when its first line is a prompt or calls a well-known program."""
    if language in _SHELLS:
        return True
    if language not in _UNNAMED:
        return False
    first = next((line.strip(" \t>") for line in code.split("\n") if line.strip(" \t>" + HIDDEN)), "")
    return _PROMPT.match(first) is not None or _calls_program(first)


def _calls_program(line: str) -> bool:
    words = line.split()
    return bool(words) and (words[0] in _PROGRAMS or words[0].startswith(("./", "~/", "/usr/", "/opt/", "$(")))


def command_lines(text: str, language: str) -> Iterator[Found]:
    """Each logical line of a shell block.

    The rest is output: where there are prompts, what has none; in a block of no stated language, what calls no program.
    """
    lines = list(_lines(text))
    prompted = any(_PROMPT.match(line) for _, line in lines)
    named = language not in _UNNAMED
    position = 0
    while position < len(lines):
        offset, line = lines[position]
        position += 1
        prompt = _PROMPT.match(line)
        body = line[prompt.end() :] if prompt else line
        if (
            not body.strip()
            or (prompted and not prompt)
            or body.lstrip()[0] in "#+|="
            or not (prompt or named or _calls_program(body))
        ):
            continue
        begin = offset + len(line) - len(body.lstrip())
        finish = offset + len(line.rstrip())
        while text[begin:finish].rstrip().endswith(("\\", "`")) and position < len(lines):
            offset, line = lines[position]
            finish = offset + len(line.rstrip())
            position += 1
        yield begin, finish, normal_command(text[begin:finish])


def normal_command(written: str) -> str:
    """One line, single blanks, no continuation marks, no prompt."""
    joined = re.sub(r"[\\`]\s*\n\s*", " ", written)
    prompt = _PROMPT.match(joined)
    return _SPACES.sub(" ", joined[prompt.end() :] if prompt else joined).strip()


def setting_lines(text: str, language: str) -> Iterator[Found]:
    """``key: value`` and ``key = value`` lines of a configuration block."""
    if language not in _CONFIGURATION:
        return
    for offset, line in _lines(text):
        found = read_setting(line)
        if found is not None:
            begin, finish, normal = found
            yield offset + begin, offset + finish, normal


def _lines(text: str) -> Iterator[tuple[int, str]]:
    offset = 0
    for line in text.split("\n"):
        yield offset, line
        offset += len(line) + 1


def read_code_span(content: str) -> tuple[FactKind, str] | None:
    """Kind and normal form of what stands between backticks; None for marks alone and for overlong text."""
    written = content.strip()
    if not written or len(written) > _LONGEST_SPAN or not any(char.isalnum() for char in written):
        return None
    known = _whole(written)
    if known is not None:
        return known
    words = written.split()
    if len(words) > 1:
        first = words[0].lstrip("$")
        if written.startswith("$ ") or (_WORD.match(first) and not (first.isalpha() and first.istitle())):
            return FactKind.COMMAND, normal_command(written)
    return FactKind.IDENTIFIER, _SPACES.sub(" ", normal_path(written).removesuffix("()"))


def _whole(written: str) -> tuple[FactKind, str] | None:
    """What the whole span is, when it is one thing that prose could hold too."""
    if (0, len(written)) in find_urls(written):
        return FactKind.URL, normal_url(written)
    setting = read_setting(written, loose=False)
    if setting is not None and setting[:2] == (0, len(written)):
        return FactKind.SETTING, setting[2]
    named = None if _SPACES.search(written) else name_of(written, code=True)
    if named is not None and named[2] == len(written):
        return named[0], named[1]
    for kind, find in _VALUES:
        for start, end, normal in find(written):
            if (start, end) == (0, len(written)):
                return kind, normal
    return None


_VALUES: tuple[tuple[FactKind, Callable[[str], Iterator[Found]]], ...] = (
    (FactKind.DATE, find_dates),
    (FactKind.DATE, find_times),
    (FactKind.VERSION, find_versions),
    (FactKind.NUMBER, find_numbers),
)
