"""Run a build from the command line: the same jobs as the daemon's, in this process.

Belongs here: instance, definitions, running ``sync_changed``, ``publish`` and ``embed_backlog`` in turn. The only
module of ``defs`` that the command line imports. Does not belong here: what is printed.
"""

import contextlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import dagster as dg
from dagster_shared.error import SerializableErrorInfo

from kb_pipeline import errors
from kb_pipeline.bootstrap import Project
from kb_pipeline.defs.build import build_definitions
from kb_pipeline.defs.checks import ACROSS, OWN
from kb_pipeline.defs.resources import KnowledgeBase, adopt
from kb_pipeline.defs.runs import PROCESS_TAG, end_abandoned, this_process
from kb_pipeline.defs.syncing import SyncResult
from kb_pipeline.errors import DatabaseUnavailableError, KbError, PublishingBlockedError, StorageError, UsageError
from kb_pipeline.ports import Progress

GLOB_CHARACTERS = "*?[]"

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
"""Events go to the event log, not to the terminal of someone who typed ``kb build``."""


@dataclass(frozen=True)
class BuildRequest:
    """What the command line asks for."""

    full: bool = False
    upgrade: bool = False
    only: tuple[str, ...] = ()
    allow_mass_delete: bool = False
    only_embeddings: bool = False
    wait: float = 600.0


@dataclass(frozen=True)
class BuildResult:
    """What was done. ``runs``: job names in order; ``checks``: name → passed, of those that ran.

    ``lint_errors``: how many they found, None when none ran. ``refused``: why nothing was published although it was due (``lint.gate: all``).
    """

    runs: tuple[str, ...] = ()
    sync: SyncResult = field(default_factory=SyncResult)
    checks: Mapping[str, bool] = field(default_factory=dict)
    lint_errors: int | None = None
    refused: str | None = None


def run_build(
    project: Project, request: BuildRequest, progress: Progress, instance: dg.DagsterInstance | None = None
) -> BuildResult:
    """Sync, publish, then the backlog of vectors. Raises the KbError that stopped a run, if one did.

    ``instance``: Dagster's; default: the project's own, with DAGSTER_HOME set to the project's root.
    """
    os.environ["DAGSTER_HOME"] = str(project.root)
    os.environ["DAGSTER_DISABLE_TELEMETRY"] = "1"
    project.progress = progress
    adopt(project)
    definitions = build_definitions(project.root, knowledge_base=KnowledgeBase(root=str(project.root)))
    from sqlalchemy.exc import DBAPIError

    try:
        # Dagster's own folders in dagster.yaml are relative: to the project, not to where someone typed the command.
        with contextlib.chdir(project.root), _instance(project, instance) as opened:
            end_abandoned(opened)
            return _Build(project, request, definitions, opened).run()
    except DBAPIError as error:
        raise DatabaseUnavailableError(
            f"the database of the event log went away: {error.orig}; what was compiled is on disk, nothing is lost: run "
            "kb build again"
        ) from error


class _Build:
    def __init__(
        self, project: Project, request: BuildRequest, definitions: dg.Definitions, instance: dg.DagsterInstance
    ) -> None:
        self._project = project
        self._request = request
        self._definitions = definitions
        self._instance = instance
        self._runs: list[str] = []

    def run(self) -> BuildResult:
        result, published = SyncResult(), BuildResult()
        if not self._request.only_embeddings:
            result = self._sync()
            if self._project.plan().plan.publish_needed:
                published = self._publish()
        # Where the database or the model just said no, asking again would only say it twice.
        due = self._request.only_embeddings or self._project.vectors_missing(self._project.plan())
        if due and result.vectors_error is None:
            done = self._job("embed_backlog", last_may_fail=True)
            found: SyncResult = done.output_for_node("embed_missing")
            result = replace(result, vectors=found.vectors, vectors_error=found.vectors_error)
        return replace(published, runs=tuple(self._runs), sync=result)

    def _sync(self) -> SyncResult:
        request = self._request
        config = {
            "full": request.full,
            "upgrade": request.upgrade,
            "only": list(request.only),
            "allow_mass_delete": request.allow_mass_delete,
            "fetch": False,  # the command line did, before it planned
            "wait": request.wait,
        }
        done = self._job("sync_changed", {"ops": {"sync": {"config": config}}}, last_may_fail=True)
        found: SyncResult = done.output_for_node("sync")
        return found

    def _publish(self) -> BuildResult:
        """What the checks said, and why nothing was published where the gate is closed."""
        done = self._job("publish", last_may_fail=self._project.settings.lint.gate == "all")
        checks = done.get_asset_check_evaluations()
        refused = None
        if not done.success:
            refused = str(
                _cause(done) or "lint.gate is all and errors stand; mend them (kb lint) or set lint.gate: page"
            )
        return BuildResult(
            checks={check.check_name: check.passed for check in checks},
            lint_errors=sum(
                int(str(check.metadata["findings"].value)) for check in checks if check.check_name in {OWN, ACROSS}
            ),
            refused=refused,
        )

    def _job(
        self, name: str, config: dict[str, object] | None = None, *, last_may_fail: bool = False
    ) -> dg.ExecuteInProcessResult:
        self._runs.append(name)
        job = self._definitions.resolve_job_def(name)
        done = job.execute_in_process(
            run_config={**(config or {}), **QUIET},
            instance=self._instance,
            raise_on_error=False,
            # Of this process, and nobody else's to try again.
            tags={PROCESS_TAG: this_process(), "dagster/max_retries": "0"},
        )
        if done.success:
            return done
        error = _cause(done)
        if last_may_fail and (error is None or isinstance(error, PublishingBlockedError)):
            return done
        if isinstance(error, KbError):
            raise error
        raise StorageError(f"the run {done.run_id} of {name} failed: {error or 'kb dev shows its log'}") from error


def _cause(done: dg.ExecuteInProcessResult) -> Exception | None:
    """The error of the step that failed; None when it failed on purpose (``dg.Failure``, a blocking check).

    Dagster hands over errors in serialized form; one of the product's own is built anew from its class and message.
    """
    for event in done.all_events:
        if not event.is_step_failure or event.step_failure_data.error is None:
            continue
        chain = list(_chain(event.step_failure_data.error))
        # The outermost of the product's own: what lies below it (an OSError) is told in its message.
        for found in chain:
            known = getattr(errors, found.cls_name or "", None)
            if isinstance(known, type) and issubclass(known, KbError):
                message = found.message.partition(": ")[2].strip()
                return errors.ConfigError(message.splitlines()) if known is errors.ConfigError else known(message)
        if not {found.cls_name for found in chain} & {"Failure", "DagsterAssetCheckFailedError"}:
            return RuntimeError(chain[-1].to_string())
    return None


def _chain(error: SerializableErrorInfo | None) -> Iterator[SerializableErrorInfo]:
    """An error and its causes, the outermost first."""
    while error is not None:
        yield error
        error = error.cause


@contextmanager
def _instance(project: Project, given: dg.DagsterInstance | None) -> Iterator[dg.DagsterInstance]:
    if given is not None:
        yield given
        return
    if not (project.root / "dagster.yaml").is_file():
        # Without it Dagster would keep its log in files of its own here, where nobody looks for it.
        raise UsageError(f"{project.root} has no dagster.yaml; run: kb init {project.root}")
    if any(char in str(project.root) for char in GLOB_CHARACTERS):
        # Dagster looks for dagster.yaml with a glob: it would not find it and keep its log in SQLite files instead.
        raise UsageError(
            f"Dagster cannot work in a folder whose path holds any of {GLOB_CHARACTERS}: rename {project.root}"
        )
    with dg.DagsterInstance.get() as instance:
        # One connection instead of one a statement: 20 ms an event instead of 48 to 80.
        instance.optimize_for_webserver(statement_timeout=120_000, pool_recycle=3600, max_overflow=20)
        yield instance
