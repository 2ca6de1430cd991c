"""Asks a PostgreSQL server over its unix socket whether it takes sessions, and the kernel which process serves it.

What belongs here: the few bytes of the protocol's start-up exchange, and nothing that needs a driver: a process that
only wants to know whether the server stands (or wants to stop it) must not pay for importing one.
"""

from __future__ import annotations

import socket
import struct
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

PROTOCOL_3 = 196608
READY_FOR_QUERY = b"Z\x00\x00\x00\x05"
CANNOT_CONNECT_NOW = "57P03"


class Readiness(StrEnum):
    READY = "ready"
    """Sessions are accepted."""
    BUSY = "busy"
    """A server stands but is starting, recovering or stopping."""
    SILENT = "silent"
    """Nobody listens."""


@dataclass(frozen=True, slots=True)
class Reply:
    """``pid`` is the listening process by the kernel's word, None where it cannot tell (another PID namespace)."""

    readiness: Readiness
    pid: int | None = None


def ask(socket_path: Path, *, user: str, database: str = "postgres", timeout: float = 5.0) -> Reply:
    """Opens one session and closes it again: about 3 ms. Never raises for a server that is down."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout)
        try:
            connection.connect(str(socket_path))
        except OSError:
            return Reply(Readiness.SILENT)
        pid = _peer_pid(connection)
        try:
            return Reply(_start_up(connection, user, database), pid)
        except OSError:
            return Reply(Readiness.BUSY, pid)


def _start_up(connection: socket.socket, user: str, database: str) -> Readiness:
    fields = b"".join(part.encode() + b"\0" for part in ("user", user, "database", database)) + b"\0"
    connection.sendall(struct.pack("!ii", len(fields) + 8, PROTOCOL_3) + fields)
    answer = b""
    # To the end of the exchange: hanging up in the middle would fill the server's log with broken pipes.
    while READY_FOR_QUERY not in answer and not answer.startswith(b"E"):
        received = connection.recv(8192)
        if not received:
            return Readiness.BUSY
        answer += received
    if answer.startswith(b"E"):
        codes = [part[1:].decode(errors="replace") for part in answer[5:].split(b"\0") if part.startswith(b"C")]
        # Any other refusal (too many clients, no such database) comes from a server that is up.
        return Readiness.BUSY if CANNOT_CONNECT_NOW in codes else Readiness.READY
    connection.sendall(b"X\x00\x00\x00\x04")
    return Readiness.READY


def _peer_pid(connection: socket.socket) -> int | None:
    """The process that listens at the other end: unlike a pid file this cannot name a stranger."""
    try:
        if sys.platform == "darwin":
            local_peer_pid = 2  # SOL_LOCAL 0, LOCAL_PEERPID of <sys/un.h>
            pid = int(connection.getsockopt(0, local_peer_pid))
        else:
            size = struct.calcsize("3i")
            pid = int(struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))[0])
    except OSError:
        return None
    return pid if pid > 0 else None
