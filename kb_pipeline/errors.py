"""The exception tree. Expected outcomes are values (see ``models``); these are for broken invariants and I/O.

::

    KbError                        every error that the product raises on purpose; its text is meant for people
    ├── UsageError                 the command or its arguments are wrong                       exit code 2
    ├── ConfigError                kb.yml, the environment or a flag is wrong (all faults at once)     exit 2
    ├── UnreadableTextError        bytes that are not UTF-8 or UTF-16 with a mark, binary, conflict marks
    ├── SourceError                an adapter could not be loaded or its fetch failed
    ├── PageWriteError             a page could not be written back without loss
    ├── LockedError                another build holds the project
    ├── PublishingBlockedError     lint.gate is all and an error stands: nothing is published
    ├── MassDeletionError          a build would remove more pages than the guard allows
    ├── BudgetExceededError        a hard cap was reached; the rest stays pending               exit code 3
    ├── StorageError               files, snapshots
    │   ├── SnapshotMissingError   nothing has been published yet
    │   ├── SnapshotCorruptError   a published snapshot cannot be read
    │   └── DatabaseError          PostgreSQL
    │       ├── DatabaseUnavailableError   not reachable, or it did not start (worth another try)
    │       └── SchemaVersionError         the schema is newer than this program knows
    └── ProviderError              a model or embedding provider
        ├── TransientProviderError         worth another try
        └── PermanentProviderError         not worth another try
            ├── RefusalError
            └── TruncatedOutputError
"""

from __future__ import annotations


class KbError(Exception):
    """Base of every deliberate error. The message says what, which, and what to do next."""


class UsageError(KbError):
    """The command line asks for something that cannot be done as written."""


class ConfigError(KbError):
    """The configuration is wrong. ``problems`` holds one line of text for each fault found."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


class UnreadableTextError(KbError):
    """Bytes that cannot be read as text; the message is the reason without the file's name."""


class SourceError(KbError):
    """A data source could not be loaded or fetched."""


class PageWriteError(KbError):
    """A page could not be written back without losing something."""


class LockedError(KbError):
    """Another build holds the lock of this project."""


class PublishingBlockedError(KbError):
    """``lint.gate: all`` and an error stands: nothing is published."""


class MassDeletionError(KbError):
    """The plan removes more documents than the guard allows."""


class BudgetExceededError(KbError):
    """A hard cap on calls, tokens or money was reached."""


class StorageError(KbError):
    """Reading or writing what the product keeps."""


class SnapshotMissingError(StorageError):
    """Nothing has been published yet."""


class SnapshotCorruptError(StorageError):
    """A published snapshot cannot be read; building again repairs it."""


class DatabaseError(StorageError):
    """PostgreSQL said no."""


class DatabaseUnavailableError(DatabaseError):
    """PostgreSQL is not reachable or did not start."""


class SchemaVersionError(DatabaseError):
    """The database schema was made by a newer version of the product."""


class ProviderError(KbError):
    """A model or embedding provider failed."""


class TransientProviderError(ProviderError):
    """The same call may succeed later."""


class PermanentProviderError(ProviderError):
    """The same call will fail again."""


class RefusalError(PermanentProviderError):
    """The model declined to answer."""


class TruncatedOutputError(PermanentProviderError):
    """The answer was cut before its end."""
