"""A worker of a Dask cluster with its actor: calls that end when the worker is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

SOON = 0.5  # seconds that an answer may take before the scheduler is asked whether the worker is still there
LOST = object()  # the answer of a worker that cannot be reached


@dataclass(eq=False)
class Worker:
    """An actor, and what it has been told. The client is named with each call: Dask's own proxies take any client."""

    client: Any
    address: str
    key: str
    made: Any  # The future of the actor, which lives as long as this.
    parts: list[int] = field(default_factory=list)
    recipes: set[str] = field(default_factory=set)
    direct: bool = True  # Whether the worker can be reached without the scheduler in between.

    def call(self, verb: str, *args: Any) -> Future[Any]:
        """The call, which is under way; its result is what the actor answers, or `LOST`."""
        return asyncio.run_coroutine_threadsafe(self._ask(verb, args), self.client.loop.asyncio_loop)

    async def _ask(self, verb: str, args: tuple[Any, ...]) -> Any:
        from distributed.protocol import to_serialize

        message = {"actor": self.key, "function": verb, "args": [to_serialize(arg) for arg in args], "kwargs": {}}
        answer = await self._while_there(self._sent(message))
        if answer is LOST and self.direct and await self._is_there():
            self.direct = False  # It is behind a wall that the scheduler is not behind.
            answer = await self._while_there(self._sent(message))
        if answer is LOST:
            return LOST
        if answer["status"] != "OK":
            raise answer["exception"]
        return answer["result"]

    async def _sent(self, message: dict[str, Any]) -> Any:
        try:
            if self.direct:
                return await self.client.rpc(self.address).actor_execute(**message)
            return await self.client.scheduler.proxy(worker=self.address, msg={"op": "actor_execute", **message})
        except (OSError, EOFError):  # among them the CommClosedError of distributed
            return LOST
        except KeyError as error:
            if self.key in str(error):  # The worker at this address is another one.
                return LOST
            raise

    async def _while_there(self, call: Coroutine[Any, Any, Any]) -> Any:
        """Its answer. Connecting to a worker that has gone takes half a minute, so that the scheduler is asked too."""
        task = asyncio.ensure_future(call)
        while not (await asyncio.wait({task}, timeout=SOON))[0]:
            if not await self._is_there():
                task.cancel()
                return LOST
        return task.result()

    async def _is_there(self) -> bool:
        """Whether the scheduler knows the worker"""
        try:
            return bool(await self.client.scheduler.ncores(workers=[self.address]))
        except (OSError, EOFError):
            return False
