"""Many runs: those in the ledger are kept, and the others are made, in several processes if asked."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from typing import Protocol

from .ledger import Ledger, Line


class Job(Protocol):
    """One run, a pure function of its settings (but for the seconds)."""

    @property
    def key(self) -> str: ...
    def run(self) -> Line: ...


class Watch(Protocol):
    """The observer of a campaign."""

    def note(self, text: str) -> None: ...
    def begin(self, title: str, total: int, done: int) -> None: ...
    def advance(self, text: str) -> None: ...
    def end(self) -> None: ...


class Silent:
    """A Watch that shows nothing."""

    def note(self, text: str) -> None: ...
    def begin(self, title: str, total: int, done: int) -> None: ...
    def advance(self, text: str) -> None: ...
    def end(self) -> None: ...


def campaign(title: str, jobs: Sequence[Job], ledger: Ledger, workers: Workers, watch: Watch) -> list[Line]:
    """The lines of all jobs, in their order, whichever ended first."""
    for note in ledger.notes:
        watch.note(note)
    todo = [job for job in jobs if job.key not in ledger.lines]
    watch.begin(title, len(jobs), len(jobs) - len(todo))
    try:
        for line in workers.lines(todo):
            ledger.append(line)
            watch.advance(f"{line['key']}  {line.get('says', '')}".rstrip())
    finally:
        watch.end()
    return [ledger.lines[job.key] for job in jobs]


class Workers:
    """Processes that are started once, at the first job, and serve every campaign; one process is this one."""

    def __init__(self, processes: int) -> None:
        self.processes = processes
        self._pool: ProcessPoolExecutor | None = None
        self._others = set(active_children())

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        if self._pool is None:
            return
        self._pool.shutdown(wait=kind is None, cancel_futures=True)
        for child in set(active_children()) - self._others if kind is not None else ():
            child.terminate()  # Do not wait for runs whose results are not used.

    def lines(self, todo: Sequence[Job]) -> Iterator[Line]:
        """What the jobs give, as they end."""
        if self.processes == 1 or not todo:
            yield from (job.run() for job in todo)
            return
        if self._pool is None:
            spawn = get_context("spawn")
            self._pool = ProcessPoolExecutor(self.processes, mp_context=spawn, initializer=_worker)
        with _held():
            futures = [self._pool.submit(_run, job) for job in todo]
        for future in as_completed(futures):
            yield future.result()


@contextmanager
def _held() -> Iterator[None]:
    """Block Ctrl-C while workers start. They inherit that, so that only the parent receives it."""
    if not hasattr(signal, "pthread_sigmask"):  # On Windows.
        yield
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _run(job: Job) -> Line:
    return job.run()


def _worker() -> None:
    """A worker ignores Ctrl-C, which is for the parent, and ends when the parent is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None


    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
