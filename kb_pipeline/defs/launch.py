"""Run a build from the command line: the same jobs as the daemon's, in this process.

Belongs here: instance, definitions, running ``sync_changed``, ``publish`` and ``embed_backlog`` in turn. The only
module of ``defs`` that the command line imports. Does not belong here: what is printed.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import dagster as dg

from kb_pipeline import errors
from kb_pipeline.bootstrap import Project
from kb_pipeline.defs.build import build_definitions
from kb_pipeline.defs.resources import KnowledgeBase, adopt
from kb_pipeline.defs.syncing import SyncResult
from kb_pipeline.errors import DatabaseUnavailableError, KbError, StorageError
from kb_pipeline.ports import Progress


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
    """What was done. ``runs``: job names in order; ``checks``: name → passed; ``snapshot``: the id now current."""

    runs: tuple[str, ...] = ()
    sync: SyncResult = field(default_factory=SyncResult)
    checks: dict[str, bool] = field(default_factory=dict)
    published: bool = False


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
        with _instance(instance) as opened:
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
        result, checks, published = SyncResult(), {}, False
        if not self._request.only_embeddings:
            result = self._sync()
            if self._project.plan().plan.publish_needed:
                checks = self._publish()
                published = True
        # Where the database or the model just said no, asking again would only say it twice.
        due = self._request.only_embeddings or self._project.vectors_missing(self._project.plan())
        if due and result.vectors_error is None:
            done = self._job("embed_backlog")
            found: SyncResult = done.output_for_node("embed_missing")
            result = SyncResult(**{**result.__dict__, "vectors": found.vectors, "vectors_error": found.vectors_error})
        return BuildResult(tuple(self._runs), result, checks, published)

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

    def _publish(self) -> dict[str, bool]:
        done = self._job("publish", last_may_fail=self._project.settings.lint.gate == "all")
        return {check.check_name: check.passed for check in done.get_asset_check_evaluations()}

    def _job(
        self, name: str, config: dict[str, object] | None = None, *, last_may_fail: bool = False
    ) -> dg.ExecuteInProcessResult:
        self._runs.append(name)
        job = self._definitions.resolve_job_def(name)
        done = job.execute_in_process(
            run_config={**(config or {}), **QUIET}, instance=self._instance, raise_on_error=False
        )
        if done.success:
            return done
        error = _cause(done)
        if isinstance(error, KbError):
            raise error
        if error is not None or not last_may_fail:
            raise StorageError(f"the run {done.run_id} of {name} failed: {error or 'see kb dev'}") from error
        return done


def _cause(done: dg.ExecuteInProcessResult) -> Exception | None:
    """The error of the step that failed; None when it failed on purpose (``dg.Failure``, a blocking check).

    Dagster hands over errors in serialized form; one of the product's own is built anew from its class and message.
    """
    for event in done.all_events:
        if not event.is_step_failure or event.step_failure_data.error is None:
            continue
        info = event.step_failure_data.error
        while info.cause is not None:
            info = info.cause
        known = getattr(errors, info.cls_name or "", None)
        if isinstance(known, type) and issubclass(known, KbError) and known is not errors.ConfigError:
            return known(info.message.partition(": ")[2].strip())
        if info.cls_name not in {"Failure", "DagsterAssetCheckFailedError"}:
            return RuntimeError(info.to_string())
    return None


@contextmanager
def _instance(given: dg.DagsterInstance | None) -> Iterator[dg.DagsterInstance]:
    if given is not None:
        yield given
        return
    with dg.DagsterInstance.get() as instance:
        # One connection instead of one a statement: 20 ms an event instead of 48 to 80.
        instance.optimize_for_webserver(statement_timeout=120_000, pool_recycle=3600, max_overflow=20)
        yield instance
