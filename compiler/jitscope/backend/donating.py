"""Donated arguments: those whose memory a result can take, and a warning about the others."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ..core import call_sites, notices
from ..core.jaxpr import ClosedJaxpr
from .array import unshared


def usable(closed: ClosedJaxpr, donated: Sequence[int], kept: Sequence[int]) -> tuple[list[int], list[int]]:
    """The donated arguments, by number, that can be given to XLA, and those that cannot: each result takes the memory of one
    argument with as many elements. Arguments that nobody reads (not in `kept`) are left alone."""
    waiting = [i for i in donated if i in kept]
    taken = []
    for aval in closed.out_avals:
        fitting = next((i for i in waiting if closed.in_avals[i].size == aval.size), None)
        if fitting is not None:
            waiting.remove(fitting)
            taken.append(fitting)
    return sorted(taken), waiting


def with_own_buffers(bufs: Sequence[Any], donated: Sequence[int]) -> list[Any]:
    """The arguments of a call, with copies of those donated ones that stand for a number wherever it is used."""
    arguments = list(bufs)
    for i in donated:
        arguments[i] = unshared(arguments[i])
    return arguments


def warn_unusable(closed: ClosedJaxpr, arguments: Sequence[int]) -> None:
    """Say, at the user's line, that these donated arguments keep their memory."""
    if not arguments:
        return
    debug, where = closed.jaxpr.debug, call_sites.here()
    listed = ", ".join(f"{closed.in_avals[i].short()} ({debug.argument(i)})" for i in arguments)
    message = (
        f"Some donated buffers were not usable: {listed} of {debug.name}. A result takes the memory of a donated argument with "
        "as many elements, and there was none left for these; they stay as they are. What to do: do not donate them"
    )
    if notices.listeners:
        notices.tell(
            "donation-misuse",
            f"{debug.name} was given {listed} to overwrite, and no result was left with as many elements: they stay as they are.",
            "Do not donate them, or give back results of their sizes.",
            where,
        )
    file, line = (where.file, where.line) if where else ("<unknown>", 0)
    warnings.warn_explicit(message, UserWarning, file, line)
