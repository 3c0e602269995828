"""How the program ends. Exit codes:

0 done; 1 bad input (usage, settings, data, files); 2 not converged; 70 a bug in dcopt; 130 interrupted (Ctrl-C);
141 the reader of the output has gone; 143 terminated.
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
    """Raised by a command after its result, if the run stopped before its tolerance was met."""


class NobodyReads(Exception):
    """The reader of stdout is gone, as in `dcopt datasets | head -1`."""


def ended(program: Callable[[], object], terminal: Terminal) -> int:
    """Run the program; report an error in one line, and return the exit code."""
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
    except SystemExit as end:
        # typer and rich exit with 0 after a completion script, and with 1 when the reader has gone.
        code = PIPE if end.code == 1 else int(end.code or DONE)
        return _deaf() if code == PIPE else code
    if code == INTERRUPTED and terminate.asked:  # Both signals end a run in the same way.
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
    """Flush stdout. If that fails (a full disk), the interpreter would fail again at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        _deaf()


def _deaf() -> int:
    """Discard the rest of the buffer, so that the interpreter does not report an error at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE


@contextmanager
def _handled(handlers: dict[signal.Signals, Held]) -> Iterator[None]:
    """Install these handlers. Ignored signals stay ignored, because shells ignore Ctrl-C for background jobs."""
    before = {number: signal.getsignal(number) for number in handlers}
    for number, handler in handlers.items():
        if before[number] is not signal.SIG_IGN:
            signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
