"""Names that must be spelled right: URLs, paths, identifiers, codes, options.

Belongs here: telling what one token without blanks is. Does not belong here: settings and commands, which span several
tokens (``facts``), numbers (``quantities``).

Normal forms: URLs with lower-case scheme and host, without default port and trailing slash; paths with ``/``, without a
leading ``./`` and a trailing ``/``; identifiers without call brackets, ``$`` and braces. Case is kept.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from kb_pipeline.models.text import FactKind
from kb_pipeline.text.wordlists import word_set

_SCHEME = re.compile(
    r"(?<![A-Za-z0-9])(?:https?|ftps?|sftp|ssh|git|s3|gs|file|wss?|postgres(?:ql)?|mysql|rediss?|amqps?|mongodb(?:\+srv)?|jdbc:[a-z]+|ldaps?|smb|tcp"
    r"|udp|unix|docker|oci)$",
    re.IGNORECASE,
)
# Chinese letters belong to an address only behind a joint of it: "https://x.tw的" ends at tw, "/wiki/中文" does not.
_AFTER_SCHEME = re.compile(
    r"://(?:[^\s<>\"'`|\\^\[\]\0\u0080-\U0010ffff]+|(?<=[/=_#?%-])[\u00a1-\u2fff\u3041-\ufefe\U00020000-\U000323af]+)+"
)
TOKEN = re.compile(
    r"(?<![A-Za-z0-9_#@$~.\\/<)-])"
    r"(?:\$\{[A-Za-z_]\w*\}|[A-Za-z]:\\[^\s\"'`<>|*?，。；、（）「」]+"
    r"|(?:[A-Za-z0-9_.~@+-]*/)+[^\s/\"'`<>|*?:，。；：、（）()「」『』\[\]{}]*\.[A-Za-z0-9]{1,6}(?![A-Za-z0-9])(?:/[\w.-]+)*"
    r"|(?:\$\{?|[#@.~/\\-]*)[A-Za-z0-9_](?:[A-Za-z0-9_./\\@+~=:-]|\$\{|\{[A-Za-z_][\w-]*\}|<[a-z][\w-]*>(?=[/.\w])|\(\))*"
    r"(?:/[A-Za-z0-9_.-]+/[^\s/\"'`<>|*?:，。；：、（）()「」『』\[\]{}]+\.[A-Za-z0-9]{1,6}(?![A-Za-z0-9]))?"
    r"|~/|\.\.?/)"
)
_EXTENSIONS = (
    "py pyi ipynb js mjs cjs ts tsx jsx vue svelte go rs java kt kts scala rb php c h cc cpp hpp cs swift m lua pl r dart sh bash zsh fish ps1"
    " bat cmd sql md mdx markdown rst adoc txt log csv tsv json jsonl ndjson json5 yaml yml toml ini cfg conf config env properties xml xsd html"
    " htm css scss sass less svg png jpg jpeg gif webp ico pdf doc docx xls xlsx ppt pptx odt zip gz tgz tar bz2 xz 7z rar whl jar war egg deb rpm"
    " dmg exe msi dll so dylib parquet avro orc db sqlite sqlite3 pkl npy npz lock tf tfvars hcl proto graphql gql pem crt cer key p12 pfx pub csr"
    " service timer socket mount plist tpl j2 jinja erb libsonnet jsonnet rego kql ndjson patch diff map wasm bin iso img vmdk bak tmp pid sock"
)
_EXTENSION = re.compile(r"\.(?:" + "|".join(sorted(_EXTENSIONS.split(), key=len, reverse=True)) + r")$", re.IGNORECASE)
_WELL_KNOWN = word_set(
    "Dockerfile Makefile Jenkinsfile Procfile Vagrantfile Gemfile Rakefile Pipfile CODEOWNERS .env .gitignore .dockerignore"
    " .kbignore .gitattributes .bashrc .zshrc .profile .npmrc .editorconfig .gitconfig .htaccess .gitlab-ci"
)
_PRODUCT_JS = word_set(
    "node.js next.js vue.js nuxt.js d3.js three.js express.js ember.js backbone.js chart.js react.js alpine.js asp.net"
)
_TLD = re.compile(
    r"^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:com|org|net|io|dev|app|ai|tw|cn|jp|us|uk|de|edu|gov|info|biz|cloud|local|internal|test|example|co|me|tv|sh|localhost)(?::\d{2,5})?$",
    re.IGNORECASE,
)
_ORDINARY_SLASH = word_set(
    "and/or i/o ci/cd tcp/ip n/a w/o w/ r/w read/write client/server input/output yes/no on/off true/false he/she pros/cons km/h a/b"
    " src/dst start/stop pass/fail and/nor he/him she/her they/them etc/etc before/after either/or push/pull create/update get/set"
    " add/remove open/close up/down in/out left/right enable/disable master/slave primary/secondary http/https tls/ssl ssl/tls"
    " linux/macos linux/unix mac/linux unix/linux"
)
_FOLDER_NAMES = word_set(
    "src lib libs bin etc usr var opt home tmp root dev proc sys mnt srv data docs doc test tests spec app apps api raw knowledge config configs conf"
    " scripts build dist target public static assets templates include vendor node_modules packages modules services infra deploy charts k8s"
    " helm terraform ansible migrations internal cmd pkg web backend frontend server client eval review legacy logs log backup backups"
)
_VERSION_LIKE = re.compile(r"^v?\d+(?:[.\-/:_]\d+)*[a-z]{0,4}$", re.IGNORECASE)
_IP = re.compile(r"^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:/\d{1,2}|:\d{2,5})?$")
_UUID = re.compile(r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$", re.IGNORECASE)
_HASH = re.compile(r"^(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}$")
_EMAIL = re.compile(r"^[\w.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$")
_HOST_PORT = re.compile(r"^[A-Za-z][\w.-]*:\d{2,5}$")
_CODE = re.compile(r"^(?:[A-Z]{1,8}-\d{2,}(?:-\d+)*|[A-Z]{1,5}\d{3,}[A-Z]?|[A-Z]{2,}_[A-Z0-9_]+)$")
_OPTION = re.compile(r"^--[A-Za-z][\w-]*(?:=[^\s]*)?$")
_VARIABLE = re.compile(r"^\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?$")
_SNAKE = re.compile(r"^_*[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+_*$|^__[a-z]+__$|^_[a-z][a-z0-9]+$")
_CAMEL = re.compile(r"^[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+$")
_PASCAL = re.compile(r"^(?:[A-Z][a-z0-9]+){2,}[A-Z]*$|^[A-Z]+(?:[A-Z][a-z0-9]+)+$")
_PASCAL_TAIL = re.compile(
    r"(?:Error|Exception|Service|Controller|Manager|Factory|Handler|Provider|Client|Server|Request|Response|Config|Settings?|Options?|Builder"
    r"|Adapter|Listener|Repository|Store|Context|Session|Token|Type|Enum|Interface|Model|View|Event|Job|Task|Queue|Worker|Engine|Parser|Index"
    r"|Resource|Definition|Exporter|Alert|Threshold|Rate|Count|Size|Limit|Id|ID|Name|Key|Url|URL|Policy|Set|Map|List|Async|Pool|Cache)$"
)
_HUMP = re.compile(r"[A-Z][a-z0-9]+")
_DOTTED = re.compile(r"^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$")
_KEBAB = re.compile(r"^[a-z][a-z0-9]*(?:-[a-z0-9.]+)+$")
_SCOPED = re.compile(r"^@[a-z0-9][\w.-]*/[a-z0-9][\w.-]*$")
_ISSUE = re.compile(r"^#\d{2,7}$")
_NAMES_OF_THINGS = word_set(
    "iphone ipad ios macos ipados ebay imac icloud youtube itunes iot ipod airpods mysql nosql latex"
)
_SENTENCE_END = ".:;,-=+~\\"
_LONGEST_NAME = 300
_NO_PLACE = re.compile(r"^(?:application|text|image|audio|video|multipart)/[a-z]|^//|::|=|://", re.IGNORECASE)
_PER = word_set(
    "s sec second seconds min minute minutes hour hours day days week month year user node request requests call"
)
_ARITHMETIC = re.compile(r"[+*]|^\d+$")
_DRIVE = re.compile(r"^[A-Za-z]:\\")
_CALLED = re.compile(r"^[A-Za-z_][\w.]*$")
_NAME_IN_CODE = re.compile(r"^[A-Za-z][\w:.-]+$")

Named = tuple[FactKind, str, int]
"""Kind, normal form, number of characters of the token that belong to it."""


def normal_url(url: str) -> str:
    """Trailing slash, default port and the case of scheme and host do not make another address."""
    scheme, _, rest = url.partition("://")
    cut = min((at for at in map(rest.find, "/?#") if at >= 0), default=len(rest))
    host, tail = rest[:cut], rest[cut:]
    scheme = scheme.lower()
    user, at, host = host.rpartition("@")
    host = host.lower()
    default = {"http": ":80", "https": ":443"}.get(scheme)
    if default:
        host = host.removesuffix(default)
    return f"{scheme}://{user}{at}{host}{tail.rstrip('/')}"


def find_urls(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each URL. The sentence's own punctuation behind it does not belong to it."""
    at = text.find("://")
    while at >= 0:
        scheme = _SCHEME.search(text, max(0, at - 20), at)
        rest = _AFTER_SCHEME.match(text, at) if scheme else None
        if scheme and rest:
            url = trim_url(text[scheme.start() : rest.end()])
            yield scheme.start(), scheme.start() + len(url)
            at = rest.end()
        at = text.find("://", at + 1)


def trim_url(url: str) -> str:
    """Cut at a closing bracket without partner and before the punctuation of the sentence."""
    depth = 0
    for at, char in enumerate(url):
        depth += (char == "(") - (char == ")")
        if depth < 0:
            url = url[:at]
            break
    return url.rstrip(".,:;!?*_~'\"")


def normal_path(path: str) -> str:
    written = path.replace("\\", "/") if "\\" in path else path
    while written.startswith("./"):
        written = written[2:]
    return unicodedata.normalize("NFC", written.rstrip("/") or written)


@lru_cache(maxsize=50_000)
def name_of(token: str, *, code: bool = False) -> Named | None:
    """What a token names, or None for an ordinary word or number. ``code``: it stands in code, so any name is one."""
    trimmed = token.rstrip(_SENTENCE_END)
    if not 0 < len(trimmed) <= _LONGEST_NAME:
        return None
    if _is_path(trimmed, code=code):
        return FactKind.PATH, normal_path(trimmed), len(trimmed)
    identifier = _identifier(trimmed, code=code)
    return None if identifier is None else (FactKind.IDENTIFIER, identifier, len(trimmed))


def _is_path(token: str, *, code: bool) -> bool:
    if token in _WELL_KNOWN or _DRIVE.match(token):
        return True
    return _is_place(token, code=code) if "/" in token else _is_file(token)


def _is_file(token: str) -> bool:
    """``config.yml``, not ``Node.js``, ``1.csv``, ``--log.level`` or ``DataFormat.CSV``."""
    extension = _EXTENSION.search(token)
    if extension is None or len(token) <= 3 or token[0] in "-#@" or "=" in token or ":" in token:
        return False
    return (
        (extension[0].islower() or token.isupper())
        and token.lower() not in _PRODUCT_JS
        and not _VERSION_LIKE.match(token)
    )


def _is_place(token: str, *, code: bool) -> bool:
    """``/etc/nginx``, ``src/app``, ``raw/note.md``, not ``and/or``, ``req/s``, ``24/7``, ``a + b/c``."""
    if _NO_PLACE.search(token) or _IP.match(token) or _SCOPED.match(token):
        return False
    parts = [part for part in token.split("/") if part not in ("", ".", "..", "~")]
    if (
        not parts
        or _ARITHMETIC.search(parts[-1])
        or token.lower() in _ORDINARY_SLASH
        or all(map(_VERSION_LIKE.match, parts))
    ):
        return False
    if _EXTENSION.search(token) or token.startswith(("~", "/", "./", "../")):
        return max(map(len, parts)) > 1 and not parts[0][0].isdigit()
    telling = code or token.endswith("/") or any(part in _FOLDER_NAMES or not part.isalpha() for part in parts)
    enough = len(parts) > 1 or (token.endswith("/") and len(parts[0]) > 2)
    return telling and enough and not all(map(str.isupper, parts)) and not _is_ratio(parts)


def _is_ratio(parts: list[str]) -> bool:
    """``5/min``, ``req/s``, ``24/7``, ``v1/v2``: not places."""
    return len(parts) == 2 and (
        len(parts[1]) <= 2 or parts[1].lower() in _PER or parts[0][0].isdigit() or all(map(_VERSION_LIKE.match, parts))
    )


def _identifier(token: str, *, code: bool) -> str | None:
    bare = token.removesuffix("()")
    variable = _VARIABLE.match(bare)
    if variable:
        return variable[1]
    if any(pattern.match(bare) for pattern in (_IP, _UUID, _EMAIL, _SCOPED, _TLD)):
        return bare.lower()
    if _VERSION_LIKE.match(bare) and not _CODE.match(bare):
        return None
    is_host = _HOST_PORT.match(bare) and ("." in bare or bare.startswith("localhost"))
    is_call = bare != token and _CALLED.match(bare)
    if _OPTION.match(bare) or _HASH.match(bare) or is_host or is_call or _looks_like_code(bare, code=code):
        return bare
    return None


def _looks_like_code(token: str, *, code: bool) -> bool:
    if _CODE.match(token) or _SNAKE.match(token) or _ISSUE.match(token):
        return True
    if _CAMEL.match(token):
        return token.lower() not in _NAMES_OF_THINGS
    if code:
        return _NAME_IN_CODE.match(token) is not None
    if _PASCAL.match(token):
        return len(_HUMP.findall(token)) >= 3 or _PASCAL_TAIL.search(token) is not None
    if _DOTTED.match(token):
        parts = token.split(".")
        return min(map(len, parts)) > 1 and parts[0][0].islower() and parts[-1][0].islower() and parts[-1] != "js"
    return (
        _KEBAB.match(token) is not None
        and any(char.isdigit() for char in token)
        and not token.startswith(("top-", "pre-", "post-", "mid-"))
    )
