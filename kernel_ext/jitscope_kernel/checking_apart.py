"""Running each of several programs for `jitscope check` in a process of its own: what one imports, sets, registers or compiles, and what ends
its process, is nothing to the others."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection

from .checking_answers import Answer, ProgramEnd


Look = Callable[[str], Answer]


def apart(look: Look, file: str) -> Answer:
    """The answer of a file that is looked at and run in a process of its own, or that this process died."""
    context = multiprocessing.get_context("spawn")  # a fork would miss the threads of XLA
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(look, file, theirs))
    process.start()
    theirs.close()
    try:
        return ours.recv()
    except EOFError:
        process.join()
        return Answer(ended=(ProgramEnd(file, None, None, _death(process.exitcode)),), looked=1, ran=True)
    finally:
        ours.close()
        process.join()


def _send(look: Look, file: str, to: Connection) -> None:
    to.send(look(file))
    to.close()


def _death(code: int | None) -> str:
    return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
