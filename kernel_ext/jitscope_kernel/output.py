"""Showing documents in the notebook or the terminal. Nothing here ever raises into the user's cell."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, ParamSpec

from IPython.core.getipython import get_ipython
from IPython.display import display, update_display

import jitscope_widgets
from jitscope.xla import progress
from jitscope_widgets.answers import SILENT, Answers


Document = Mapping[str, Any]
P = ParamSpec("P")


def never_raising(what: str) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """A decorator: instead of raising, the function says that `what` failed, and why."""

    def decorate(function: Callable[P, None]) -> Callable[P, None]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> None:
            try:
                function(*args, **kwargs)
            except Exception as error:
                say(f"jitscope: {what} failed ({type(error).__name__}: {error}); the results of the cell stand.")

        return call

    return decorate


@never_raising("showing what was compiled")
def show(document: Document, answers: Answers = SILENT) -> None:
    """One output: a live view where there is a front end, static HTML in saved notebooks, text everywhere else."""
    display(jitscope_widgets.display_bundle(document, answers), raw=True)


class Place:
    """One output that is shown again and again, each time in the place of the last."""

    def __init__(self) -> None:
        self._display_id = ""

    def show_still(self, document: Document) -> None:
        """A document without its live view: made quickly."""
        self._put({"text/html": jitscope_widgets.html(document), "text/plain": jitscope_widgets.text(document)})

    @never_raising("showing what was compiled")
    def show(self, document: Document, answers: Answers = SILENT) -> None:
        """A document as `show` shows it."""
        self._put(jitscope_widgets.display_bundle(document, answers))

    def show_line(self, text: str) -> None:
        """A line of plain text; "" for nothing."""
        if text or self._display_id:
            self._put({"text/plain": text})

    def _put(self, bundle: dict[str, Any]) -> None:
        if self._display_id:
            update_display(bundle, raw=True, display_id=self._display_id)
        else:
            handle = display(bundle, raw=True, display_id=True)
            self._display_id = handle.display_id if handle is not None else ""


def has_front_end() -> bool:
    """Whether outputs can be shown again in the place of earlier ones: in a kernel."""
    return getattr(get_ipython(), "kernel", None) is not None


def show_text(text: str) -> None:
    """One output of plain text."""
    display({"text/plain": text}, raw=True)


def say(sentence: str) -> None:
    """A line beside the cell's own output, below what was printed before."""
    with suppress(Exception):  # whatever the user put there
        sys.stdout.flush()
    print(sentence, file=sys.stderr, flush=True)


@contextmanager
def patience(what: str) -> Iterator[None]:
    """Work that says how far it is once it takes some seconds, and every so often from then on; after a Ctrl-C, how far it came. A
    notebook keeps nothing of it but an end by Ctrl-C."""
    said: list[float] = []
    last = ["", 0.0]
    place = Place()
    tell = place.show_line if has_front_end() else say

    def told(step: str, seconds: float) -> None:
        last[:] = [step, seconds]
        if step and seconds >= (said[-1] + _AGAIN if said else _PATIENCE):
            said.append(seconds)
            tell(f"jitscope: {what}: {step} … {seconds:.0f} s so far; Ctrl-C ends it")

    try:
        with progress.told_to(told):
            yield
    except KeyboardInterrupt:
        if last[0]:
            say(f"jitscope: {what} was ended after {last[1]:.0f} s, while {last[0]}; nothing of it is kept")
        raise
    finally:
        place.show_line("")


_PATIENCE, _AGAIN = 5.0, 10.0
"""Seconds after which somebody who waits is told, for the first time and again."""
