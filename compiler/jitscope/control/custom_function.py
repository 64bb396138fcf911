"""The decorated function as users see it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ..core import source
from ..core.jaxpr import DebugInfo
from ..core.parameters import Parameters
from ..core.wrapping import stand_for
from .bodies import name_of
from .rule_arguments import Arguments, Results


class FunctionWithRules:
    """Base of decorated functions: arguments by position, those in `nondiff` set apart."""

    kind = "custom"
    advice = ""

    def __init__(
        self,
        fun: Callable[..., Any],
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Sequence[str] = (),
    ):
        if not callable(fun):
            raise TypeError(f"{self.kind} decorates functions; it got {type(fun).__name__}")
        stand_for(self, fun)
        self.fun, self.parameters = fun, Parameters(fun)
        self.nondiff_argnums = self._numbers(nondiff_argnums, nondiff_argnames)

    def __getattr__(self, name: str) -> Any:
        """`def_vmap`, `defjvp`, … of a function that was decorated with other rules before."""
        inner = self.__dict__.get("fun")
        if name.startswith("def") and isinstance(inner, FunctionWithRules):
            return getattr(inner, name)
        raise AttributeError(f"{self.kind} functions have no attribute {name!r}")

    @functools.cached_property
    def _simple(self) -> int:
        """The number of arguments, if all are positional; else -1."""
        known = self.parameters
        return len(known.names) if known.names and known.names == known.positional else -1

    @property
    def argument_names(self) -> list[str]:
        """The names of the function's parameters."""
        return self.parameters.names

    def argument_name(self, i: int) -> str:
        """What the positional argument `i` is called."""
        return self.argument_names[i] if i < len(self.argument_names) and self._simple >= 0 else f"argument {i}"

    def _numbers(self, argnums: Any, argnames: Any) -> tuple[int, ...]:
        numbers = {argnums} if isinstance(argnums, int) else set(argnums)
        names = [argnames] if isinstance(argnames, str) else list(argnames)
        unknown = [n for n in names if n not in self.argument_names]
        if unknown:
            raise ValueError(
                f"{self.kind}: nondiff_argnames names {unknown[0]!r}, but {name_of(self.fun)} has the arguments "
                f"{', '.join(self.argument_names)}"
            )
        return tuple(sorted(numbers | {self.argument_names.index(n) for n in names}))

    def positional(self, args: tuple, kwargs: dict[str, Any]) -> tuple:
        """All arguments by position, defaults filled in. Raises TypeError where that cannot be."""
        if (not kwargs and len(args) == self._simple) or self.parameters.signature is None:
            return args
        name = name_of(self.fun)
        try:
            bound = self.parameters.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}: {error}") from None
        bound.apply_defaults()
        if passed := [k for k in bound.kwargs if k in kwargs]:
            raise TypeError(
                f"the {self.kind} function {name} was given arguments by keyword only ({', '.join(passed)}): its rules "
                "take arguments by position, so they must have one"
            )
        return bound.args

    def split(self, args: tuple) -> tuple[Arguments, list[Any]]:
        """How the arguments lie, and their leaves. Raises ValueError for nondiff_argnums that do not exist, TypeError
        for a leaf that is not an array."""
        wrong = [i for i in self.nondiff_argnums if not 0 <= i < len(args)]
        if wrong:
            raise ValueError(
                f"{self.kind}: nondiff_argnums names argument {wrong[0]}, but {name_of(self.fun)} was called with {len(args)} "
                "arguments"
            )
        return Arguments.split(args, self.nondiff_argnums, self.argument_name, name_of(self.fun), self.advice)

    def debug(self, arguments: Arguments) -> DebugInfo:
        """What a jaxpr of a call with these arguments calls its parts."""
        return DebugInfo(name_of(self.fun), tuple(arguments.leaf_names()), (), source.position_of_function(self.fun))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function's result. Raises AttributeError before it has rules."""
        raise NotImplementedError

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<{self.kind} of {getattr(self, '__qualname__', name_of(self.fun))}>"


class FlatCall:
    """A decorated function on flat operands, in one call of it."""

    __slots__ = ("arguments", "debug", "owner", "results")

    def __init__(self, owner: FunctionWithRules, arguments: Arguments, results: Results):
        self.owner, self.arguments, self.results = owner, arguments, results
        self.debug = owner.debug(arguments)

    def __call__(self, *flat: Any) -> list[Any]:
        given = self.arguments
        out = self.owner.fun(*given.full(given.set_apart(flat), given.trees(flat)))
        return self.results.flatten(out, f"{name_of(self.owner.fun)} gives")
