"""One question to the parts on a cluster, until every part has answered."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from .dask_worker import LOST, Worker
from .homes import Own, Piece, Recipe, in_rows
from .keeper import FORGOTTEN, Failed, top, unpacked

if TYPE_CHECKING:
    from .dask_parts import DaskHomes


class Round:
    """One question to the parts: asked at once, and finished when everybody has answered, whoever is lost meanwhile."""

    def __init__(
        self, homes: DaskHomes, verb: str, make: Recipe | None, piece: Piece, args: tuple[Any, ...], own: Own
    ) -> None:
        self.homes, self.verb, self.make, self.piece, self.args, self.own = homes, verb, make, piece, args, own
        self.todo = {k: in_rows(more) for k, more in enumerate(own) if more is not None}
        self.found: dict[Any, Any] = {}
        self.calls: list[tuple[Worker, list[int], Future[Any]]] = []

    def ask(self) -> None:
        """One call to every worker that owns some of the parts that have not answered"""
        make = self.make
        for worker in self.homes.settled(self.todo) if self.todo else ():
            parts = [k for k in worker.parts if k in self.todo]
            if parts:
                known = make is not None and make.name in worker.recipes
                named = make.name if make is not None and known else make
                self.calls.append((worker, parts, self._call(worker, parts, named)))

    def _call(self, worker: Worker, parts: list[int], make: Any) -> Future[Any]:
        """A part that nobody was asked about counts as 0 in any sum."""
        own = {k: self.todo[k] for k in parts}
        if self.verb == "each":
            return worker.call("each", make, self.piece, self.args, own)
        mine = [k for k in worker.parts if k in own or self.own[k] is None]
        return worker.call("total", make, self.piece, self.args, own, mine)

    def finish(self) -> Any:
        while self.calls:
            calls, self.calls = self.calls, []
            for worker, parts, call in calls:
                answer = call.result()
                if answer is LOST:
                    self.homes.lose(worker)
                elif isinstance(answer, str) and answer == FORGOTTEN:
                    worker.recipes.clear()
                elif isinstance(answer, Failed):
                    raise self.homes.named(answer, worker.address)
                else:
                    self._take(worker, parts, answer)
            if self.todo:
                self.ask()
        whole = {key: unpacked(value) for key, value in self.found.items()}
        if self.verb == "each":
            return [whole.get(k) for k in range(len(self.own))]
        return top(whole, len(self.own))

    def _take(self, worker: Worker, parts: list[int], answer: Any) -> None:
        if self.make is not None:  # It was told with a call that was answered; calls may overtake one another.
            worker.recipes.add(self.make.name)
        self.found.update(answer)
        for k in parts:
            del self.todo[k]
