"""Many runs: those that are in the ledger are kept, the others are made, in several processes if asked."""

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
    """Who is told how it goes."""

    def note(self, text: str) -> None: ...
    def begin(self, title: str, total: int, done: int) -> None: ...
    def advance(self, text: str) -> None: ...
    def end(self) -> None: ...


class Silent:
    """A Watch that says nothing."""

    def note(self, text: str) -> None: ...
    def begin(self, title: str, total: int, done: int) -> None: ...
    def advance(self, text: str) -> None: ...
    def end(self) -> None: ...


def campaign(title: str, jobs: Sequence[Job], ledger: Ledger, processes: int, watch: Watch) -> list[Line]:
    """The lines of all jobs, in their order, whichever ended first."""
    for note in ledger.notes:
        watch.note(note)
    todo = [job for job in jobs if job.key not in ledger.lines]
    watch.begin(title, len(jobs), len(jobs) - len(todo))
    try:
        for line in _results(todo, processes):
            ledger.append(line)
            watch.advance(f"{line['key']}  {line.get('says', '')}".rstrip())
    finally:
        watch.end()
    return [ledger.lines[job.key] for job in jobs]


def _results(todo: Sequence[Job], processes: int) -> Iterator[Line]:
    if processes == 1 or len(todo) < 2:
        yield from (job.run() for job in todo)
        return
    before = set(active_children())
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_worker) as pool:
        with _held():
            futures = [pool.submit(_run, job) for job in todo]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BaseException:  # do not wait for runs that nobody will see
            pool.shutdown(wait=False, cancel_futures=True)
            for child in set(active_children()) - before:
                child.terminate()
            raise


@contextmanager
def _held() -> Iterator[None]:
    """Ctrl-C is held back while workers start, and they inherit that: it is for the parent alone."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
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
    """Ctrl-C is for the parent; and when the parent is killed, nobody is left waiting."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None


    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
