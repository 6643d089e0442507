"""Where errors end: one clear sentence on the standard error and an exit code, never a traceback.

Exit codes: 1 for a proof that does not hold, 2 for something wrong with what was given, 70 for a fault of ours, 130 for an interrupt,
141 for a reader that went away.
"""

import atexit
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter, process_time
from typing import NoReturn

import typer

from qed.base.visible import visible

WRONG_INPUT, OUR_FAULT, INTERRUPTED, NO_READER = 2, 70, 130, 141


# When the process began, as ``perf_counter`` counts, where it is one of its own.
began: ContextVar[float | None] = ContextVar("qed_began", default=None)


class Stopped(BaseException):
    """Ctrl-C in a command. A fit keeps its best state on a KeyboardInterrupt and the command would go on, so this is none."""


def run(app: Callable[[], object]) -> None:
    """Run a command line as a process of its own: Ctrl-C ends it at once, and output never fails for want of letters.

    Where interrupts are ignored, as in a script's background jobs, the command goes on: the key was meant for another process.
    """
    # Until here the interpreter was at work.
    began.set(perf_counter() - process_time())
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _stop)
    try:
        app()
    except SystemExit as end:
        if end.code != INTERRUPTED:
            raise
        # Threads may be in the middle of a long fit that nobody wants any more, and the interpreter would wait for them.
        atexit._run_exitfuncs()
        sys.stderr.flush()
        os._exit(INTERRUPTED)


def _stop(*_: object) -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise Stopped


@contextmanager
def boundary() -> Iterator[None]:
    """Turn whatever is raised inside into a sentence and an exit code."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still buffered has nowhere to go, and the interpreter would complain about that on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(NO_READER) from None
    except (KeyboardInterrupt, Stopped):
        print("qed: interrupted.", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    except Exception as error:
        if _is_of(error, "typer", "click") or os.environ.get("QED_DEBUG"):
            raise
        words, code = message_of(error)
        print(f"qed: {visible(words)}", file=sys.stderr)
        raise typer.Exit(code) from None


def message_of(error: Exception) -> tuple[str, int]:
    """Say in one line what went wrong, and with which exit code to end.

    >>> message_of(FileNotFoundError(2, "No such file or directory", "a.csv"))
    ("'a.csv': no such file or directory.", 2)
    >>> message_of(ZeroDivisionError("division by zero"))[1]
    70
    """
    line = " ".join(str(error).split())
    if _is_of(error, "qed"):
        return line, WRONG_INPUT
    if isinstance(error, OSError):
        reason = (error.strerror or line or type(error).__name__).lower()
        where = f"{error.filename!r}: " if error.filename else ""
        return f"{where}{reason}.", WRONG_INPUT
    return (
        f"something went wrong that should not have ({type(error).__name__}: {line}). "
        "Set QED_DEBUG=1 to see where, and please report it.",
        OUR_FAULT,
    )


def _is_of(error: Exception, *packages: str) -> bool:
    """Say whether a package raised an exception of its own kind: ours are for whoever gave bad input, typer's end a command.

    The class is asked where it comes from, because importing ours would take longer than ``qed --help`` may.
    """
    return any(kind.__module__.split(".")[0] in packages for kind in type(error).__mro__)
