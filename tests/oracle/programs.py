"""How modules of `cases/` collect their programs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tests.oracle.library import Library
from tests.oracle.results import Plain


Case = Callable[[Library], Any]
# JAX's parameters of layouts over devices, which are none here.
SHARDING = re.compile(r" (out_)?sharding=None")


class Cases(dict[str, Case]):
    """Programs by name."""

    def named(self, name: str) -> Callable[[Case], Case]:
        """Decorator: the function is the case of that name."""

        def register(fun: Case) -> Case:
            assert name not in self, name
            self[name] = fun
            return fun

        return register

    def of(self, *args: Any, shown: bool = False, results: bool = True) -> Callable[[Callable[..., Any]], Any]:
        """Decorator: the function, whose name is the case's, is called with `args`; `shown`: its jaxpr is compared, too."""

        def register(fun: Callable[..., Any]) -> Any:
            if results:
                self.named(fun.__name__)(lambda o: fun(o, *args))
            if shown:
                self.named(f"{fun.__name__}, its jaxpr")(lambda o: jaxpr(o, lambda *xs: fun(o, *xs), *args))
            return fun

        return register


def jaxpr(o: Library, fun: Callable[..., Any], *args: Any, **options: Any) -> Plain:
    """The text of a function's jaxpr."""
    return text(o.jx.make_jaxpr(fun, **options)(*args))


def text(x: Any) -> Plain:
    return Plain(SHARDING.sub("", str(x)))


def raised(run: Callable[[], Any]) -> str:
    """ "ok", or the name of the error."""
    try:
        run()
    except Exception as error:
        return type(error).__name__
    return "ok"


def parameters(function: Any) -> list[list[str]]:
    """Names, kinds and defaults of what a function takes."""
    import inspect

    found = inspect.signature(function).parameters.values()
    plain = (bool, int, float, str, tuple, type(None))
    shown = lambda p: "" if p.default is p.empty else repr(p.default) if isinstance(p.default, plain) else "an object"
    return [[p.name, p.kind.name, shown(p)] for p in found]


def outcome(make: Callable[..., Any], *args: Any) -> str:
    """The result as text, or the name of the error."""
    try:
        return repr(make(*args))
    except Exception as error:
        return type(error).__name__
