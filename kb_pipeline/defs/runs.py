"""Runs whose process is gone.

Belongs here: noting on a run which process works on it, and ending runs in the log whose process died. A killed process
leaves its run STARTED for good (the default launcher has no health check): the sensor would wait for it and the queue's
limit would count it. Does not belong here: what a run does, when it is retried (dagster.yaml).
"""

import os
import socket
from contextlib import suppress
from pathlib import Path

import dagster as dg

PROCESS_TAG = "kb/process"
"""``host/process/start``: start tells two processes of one number apart, empty where the system does not say."""

BUILDS = ("sync_changed", "publish", "embed_backlog")
RUNNING = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


def this_process() -> str:
    """The tag's value for the process that asks."""
    return f"{socket.gethostname()}/{os.getpid()}/{_start_of(os.getpid())}"


def note_process(instance: dg.DagsterInstance, run_id: str) -> None:
    """Say on a run that this process works on it."""
    run = instance.get_run_by_id(run_id)
    if run is not None and run.tags.get(PROCESS_TAG) != this_process():
        instance.add_run_tags(run_id, {PROCESS_TAG: this_process()})


def end_abandoned(instance: dg.DagsterInstance) -> list[str]:
    """Mark unfinished builds as failed whose process on this machine is gone; returns their run ids."""
    ended = []
    for job in BUILDS:
        for run in instance.get_runs(dg.RunsFilter(job_name=job, statuses=RUNNING)):
            process = run.tags.get(PROCESS_TAG)
            if process is not None and _is_gone(process):
                instance.report_run_failed(
                    run, f"its process ({process}) is gone: it was killed, or the machine went down"
                )
                ended.append(run.run_id)
    return ended


def _is_gone(process: str) -> bool:
    host, number, start = (*process.split("/"), "", "")[:3]
    if host != socket.gethostname() or not number.isdecimal():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except OSError:  # another user's: it lives
        return False
    return start != _start_of(int(number))


def _start_of(process: int) -> str:
    """When a process began, as Linux counts it; "" elsewhere."""
    with suppress(OSError, IndexError):
        # The name in brackets may hold anything; the fields after it are plain.
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    return ""
