"""How the program ends. Exit codes:

0 done; 1 bad input (usage, settings, data, files); 2 not converged; 70 a bug in dcopt; 130 interrupted (Ctrl-C);
141 nobody reads the output any more; 143 terminated.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from ..errors import DcoptError
from ..runs.interrupts import Held
from .printable import printable

if TYPE_CHECKING:
    from .terminal import Terminal

DONE, BAD_INPUT, NOT_CONVERGED, BUG, INTERRUPTED, PIPE, TERMINATED = 0, 1, 2, 70, 130, 141, 143
_Refused: Any = typer.BadParameter.__mro__[2]  # ClickException: of click, or of the copy inside newer typers


class NotConverged(Exception):
    """Raised by a command after its result: there is one, but the run stopped before its tolerance."""


class NobodyReads(Exception):
    """The reader of stdout is gone, as in `dcopt datasets | head -1`."""


def ended(program: Callable[[], object], terminal: Terminal) -> int:
    """Run the program; say in one line what went wrong, and give the exit code."""
    code = DONE
    interrupt, terminate = Held(KeyboardInterrupt), Held(lambda: SystemExit(TERMINATED))
    try:
        with _handled({signal.SIGINT: interrupt, signal.SIGTERM: terminate}):
            code = program() or DONE  # type: ignore[assignment]  # typer returns the code of an Exit
            sys.stdout.flush()
    except _Refused as error:
        terminal.error(_usage(error))
        return BAD_INPUT
    except NotConverged as why:
        terminal.error(f"not converged: {why}")
        return NOT_CONVERGED
    except (NobodyReads, BrokenPipeError):
        return _deaf()
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except (DcoptError, OSError) as error:
        _explain(error, str(error), terminal)
        _drain()
        return BAD_INPUT
    except MemoryError as error:
        _explain(error, f"not enough memory: {error}".rstrip(": "), terminal)
        return BAD_INPUT
    except Exception as error:
        _explain(error, f"{type(error).__name__}: {error} (a bug in dcopt: --debug shows where)", terminal)
        return BUG
    except SystemExit as end:  # from typer and rich: 0 after a completion script, 1 when nobody reads
        code = PIPE if end.code == 1 else int(end.code or DONE)
        return _deaf() if code == PIPE else code
    if code == INTERRUPTED and terminate.asked:  # a run ends in the same way for both signals
        return TERMINATED
    if code == INTERRUPTED:
        terminal.error("interrupted")
    return code


def _usage(error: Any) -> str:
    """The message of click, the nearest option where there is one, and where to read on."""
    said, near = error.message, getattr(error, "possibilities", None)
    if "Did you mean" not in said:
        said = f"{said.rstrip('.')}. Did you mean {min(near)!r}?" if near else error.format_message()
    context = getattr(error, "ctx", None)
    return f"{said.rstrip('.')} (see {context.command_path} --help)" if context else said


def _explain(error: Exception, line: str, terminal: Terminal) -> None:
    if terminal.debug:
        sys.stderr.write(printable("".join(traceback.format_exception(error))))
    else:
        terminal.error(line)


def _drain() -> None:
    """Where stdout itself is what failed (a full disk), the interpreter would try again at its end, and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        _deaf()


def _deaf() -> int:
    """Let what is still in the buffer go nowhere, so that the interpreter does not complain at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE


@contextmanager
def _handled(handlers: dict[signal.Signals, Held]) -> Iterator[None]:
    """With these handlers. Signals that are ignored stay so: a shell ignores Ctrl-C for background jobs."""
    before = {number: signal.getsignal(number) for number in handlers}
    for number, handler in handlers.items():
        if before[number] is not signal.SIG_IGN:
            signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
