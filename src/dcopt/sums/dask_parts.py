"""Parts on the workers of a Dask cluster: one long-lived actor a worker, one broadcast and one reduction a round.

A worker owns parts with neighbouring numbers, loads them itself, and adds up what it can of the tree of part numbers;
the rest is added here. So the bits are those of one process. Nothing is scattered: a part of a worker that was lost is
loaded again on another one, and what was asked of it is asked again. Pieces are functions of the data and their
arguments alone, so that this changes the seconds of a run and none of its numbers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any
from uuid import uuid4

from ..errors import BadSettings, LostWorkers
from .dask_round import Round
from .dask_worker import LOST, SOON, Worker
from .homes import Here, Load, Own, PartData, Piece, Recipe, everyone, in_rows
from .keeper import Failed, Keeper, packed

PATIENCE = 60.0  # seconds without any worker after which a run ends; its checkpoint can be resumed.
_CONNECTED = "a client that is connected to a scheduler; a run can be resumed from its checkpoint with another one"
_POLL = 0.002  # seconds between two looks at the list of workers while there is none


class DaskHomes:
    """Parts on the workers of a client. The client stays the caller's: it is never closed here."""

    ahead = 64  # The rows of so many steps are fetched in one round trip.

    def __init__(
        self,
        client: Any,
        loads: Iterable[Load],
        sizes: Iterable[int] | None = None,
        patience: float = PATIENCE,
        workers: Iterable[str] | None = None,
    ) -> None:
        """`workers`: the addresses of those that may own parts; None: all, also those that join later"""
        self._client, self._patience = usable(client), patience
        self._allowed = None if workers is None else frozenset(workers)
        self._loads = tuple(loads)
        self.rounds = 0  # questions that were asked
        self._workers: list[Worker] = []
        self._owner: dict[int, Worker] = {}
        self._sizes = None if sizes is None else tuple(map(int, sizes))

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("parts on a cluster belong to their client and are not copied: open them again elsewhere")

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The rows of every part, which the workers load to tell, unless they were given"""
        if self._sizes is not None:
            return self._sizes
        self._sizes = tuple(self._begin("each", None, _rows, (), [()] * len(self._loads))())
        return self._sizes

    # ---- the two questions of `Homes`

    def each(self, make: Recipe | None, piece: Piece, *args: Any, own: Own | None = None) -> list[Any]:
        found: list[Any] = self.later(make, piece, *args, own=own)()
        return found

    def total(self, make: Recipe | None, piece: Piece, *args: Any, own: Own | None = None) -> Any:
        return self._begin("total", make, piece, args, everyone(self.sizes) if own is None else own)()

    def later(self, make: Recipe | None, piece: Piece, *args: Any, own: Own | None = None) -> Callable[[], list[Any]]:
        """`each`, which travels while the caller works; what comes back waits for it."""
        return self._begin("each", make, piece, args, everyone(self.sizes) if own is None else own)

    def _begin(
        self, verb: str, make: Recipe | None, piece: Piece, args: tuple[Any, ...], own: Own
    ) -> Callable[[], Any]:
        connected(self._client)
        self.rounds += 1
        round = Round(self, verb, make, piece, packed(in_rows(args)), own)
        round.ask()
        return round.finish

    # ---- who owns which parts

    def settled(self, todo: Iterable[int]) -> list[Worker]:
        """All workers, when each of these parts has one"""
        while any(k not in self._owner for k in todo):
            self._settle([k for k in range(len(self._loads)) if k not in self._owner])
        return list(self._workers)

    def _settle(self, homeless: list[int]) -> None:
        """Give parts to workers: runs of neighbours, the longest to the workers that own least."""
        addresses = self._addresses()
        known = {worker.address: worker for worker in self._workers}
        order = sorted(addresses, key=lambda one: (len(known[one].parts) if one in known else 0, addresses.index(one)))
        order = order[: len(homeless)]
        for i, address in enumerate(order):
            some = homeless[len(homeless) * i // len(order) : len(homeless) * (i + 1) // len(order)]
            worker = known.get(address) or self._hired(address)
            if worker is None:
                continue
            if worker.call("hold", {k: self._loads[k] for k in some}).result() is LOST:
                self.lose(worker)
                continue
            worker.parts = sorted((*worker.parts, *some))
            self._owner |= dict.fromkeys(some, worker)

    def _hired(self, address: str) -> Worker | None:
        """An actor on this worker; None where the worker has gone"""
        key = f"dcopt-parts-{uuid4().hex}"
        alone = self._threads(address) <= 1
        made = self._client.submit(
            Keeper, alone, actor=True, workers=[address], allow_other_workers=False, pure=False, key=key
        )
        until = time.monotonic() + SOON
        while made.status == "pending":
            time.sleep(_POLL)
            if time.monotonic() > until and address not in self._workers_now():
                made.cancel()
                return None
        if made.status == "error" and address in self._workers_now():
            raise made.exception()
        if made.status != "finished":
            return None
        worker = Worker(self._client, address, key, made)
        self._workers.append(worker)
        return worker

    def lose(self, worker: Worker) -> None:
        """Its parts have no owner any more."""
        if worker in self._workers:
            self._workers.remove(worker)
        for k in worker.parts:
            if self._owner.get(k) is worker:
                del self._owner[k]

    def _addresses(self) -> list[str]:
        """The workers that are there now; waits for the first one."""
        until = time.monotonic() + self._patience
        while not (found := self._workers_now()):
            if time.monotonic() > until:
                raise LostWorkers(self._patience)
            time.sleep(_POLL)
        return sorted(found)

    def _workers_now(self) -> dict[str, Any]:
        """None of them where the scheduler cannot be reached"""
        connected(self._client)
        try:
            there = dict(self._client.scheduler_info(n_workers=-1)["workers"])
        except (OSError, EOFError):
            return {}
        return there if self._allowed is None else {one: there[one] for one in there if one in self._allowed}

    def _threads(self, address: str) -> int:
        return int(self._workers_now().get(address, {}).get("nthreads", 1))

    @property
    def owners(self) -> dict[int, str]:
        """The address of the worker that owns each part, of those that were asked"""
        return {k: worker.address for k, worker in sorted(self._owner.items())}

    def here(self) -> Here:
        """The same parts in this process"""
        return Here.of(self._loads, self.sizes)

    def named(self, failed: Failed, address: str) -> BaseException:
        """The error with the number of its part, its rows and its worker as a note"""
        rows = ""
        if self._sizes is not None:
            first = sum(self._sizes[: failed.part])
            rows = f" (rows {first} to {first + self._sizes[failed.part] - 1})"
        failed.error.add_note(f"in part {failed.part}{rows}, on the worker {address}")
        return failed.error


def usable(client: Any) -> Any:
    """The client; refuses one that is closed or asynchronous."""
    if getattr(client, "status", None) is None or not callable(getattr(client, "submit", None)):
        raise BadSettings("client", client, "a dask.distributed.Client")
    if client.asynchronous:
        raise BadSettings("client", client, "a client with asynchronous=False")
    if client.status != "running":
        raise BadSettings("client", f"a client that is {client.status}", _CONNECTED)
    return client


def connected(client: Any) -> None:
    """Refuse a client that was closed; one that looks for its scheduler may find it again."""
    if client.status in ("closed", "closing"):
        raise BadSettings("client", f"a client that is {client.status}", _CONNECTED)


def _rows(data: PartData) -> int:
    return int(data.rows.shape[0])
