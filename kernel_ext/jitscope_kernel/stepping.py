"""`jitscope.step(f)(x)`: what happens while a function is traced, line by line, as an object that shows itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitscope_scope import asked_calls, jaxwatch, observe
from jitscope_scope.jaxwatch.tapes import JaxTapes
from jitscope_scope.observe.stepping import trace_document
from jitscope_widgets.documents.annotations import TraceDocument

from .document_views import DocumentView
from .uses import call_is_for_jax


class Stepped(DocumentView["TraceDocument"]):
    """The trace of a call, line by line. The function's Python code runs once, on tracers; nothing is compiled. An error of it ends the
    steps at its line, and is not raised."""

    document: TraceDocument

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str = ""
    ) -> None:
        python = getattr(function, "_fun", function)
        name = name or getattr(python, "__name__", type(python).__name__)
        if call_is_for_jax(function, args, kwargs):
            found = trace_document(name, lambda: jaxwatch.trace_anew(function, args, kwargs), JaxTapes())
        else:
            jitted, args, kwargs = asked_calls.jitted(function, args, kwargs)
            with observe.ledger().looking():
                found = trace_document(name, lambda: jitted.trace(*args, **kwargs))
        super().__init__(found)


def step(function: Callable[..., Any]) -> Callable[..., Stepped]:
    """`step(f)(x)` traces `f` for the arguments and shows it line by line: Python's frame with what each name stands for, the tape that
    grows, the branches that are not taken. `f` may be a function written for jax, too. At most 200 steps are kept."""

    def stepped(*args: Any, **kwargs: Any) -> Stepped:
        return Stepped(function, args, kwargs)

    return stepped
