"""Which transformations made a program of a function: what its name is said with, "grad of f", "backward pass of f"."""

from __future__ import annotations

import linecache
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile
from types import FrameType
from typing import Any, Protocol

from jitscope.backend.function_objects import FunctionObject
from jitscope.core.source import Position, in_program

from ..source_code.frames import outwards


_MADE = re.compile(r"(?<!\w)((?:filter_)?(?:value_and_grad|grad|vmap)|jacfwd|jacrev)\.<locals>")
"""The functions that transformations give, by the qualified names of their code."""
_OF_LIBRARIES = {
    "_GradWrapper": "filter_grad", "_ValueAndGradWrapper": "filter_value_and_grad", "_VmapWrapper": "filter_vmap",
    "_grad_general.<locals>.grad_wrapper": "grad",
}  # fmt: skip
"""What transformations of equinox's and nnx's give: a class, or a function's qualified name."""
_RULE = re.compile(
    r"^(?:[A-Z]\w*\.|_(?:pjit|scan|while|while_loop|cond)_)"
    r"(?:(?P<whole>linearize)|(?P<part>partial_eval)|(?P<jvp>jvp)|(?P<backward>transpose\w*)|(?P<vmap>batch|batcher|batching_rule))$"
)
"""The rules by which operations that hold programs are transformed: methods of ours, functions of jax's."""
_SAID = {"whole": "forward pass", "part": "forward pass", "backward": "backward pass", "jvp": "jvp", "vmap": "vmap"}


class _Named(Protocol):
    function: str
    position: Position | None


def of_wrappers(wrappers: Sequence[str], defined: Position | None) -> tuple[str, ...]:
    """The transformations among what wraps a function, outermost first, but for those that decorate its definition: its name stands for what
    they gave."""
    made = [match[1] for name in wrappers if (match := _MADE.search(name))]
    decorators = _decorators(defined) if made and defined is not None else ""
    return tuple(name for name in made if not re.search(rf"\b{name}\b", decorators))


def of_function(made: FunctionObject, defined: Position | None) -> tuple[str, ...]:
    """The transformations that made a function, outermost first: those that wrap it, and what it is of another library's."""
    own = _OF_LIBRARIES.get(made.qualname, "")
    if own == "grad" and any((one.name, one.text) == ("return_value", "True") for one in made.captures):
        own = "value_and_grad"
    return of_wrappers((*made.wrappers, f"{own}.<locals>"), defined)


def _decorators(defined: Position) -> str:
    """The text of the decorators above a function: its code begins with them."""
    found: list[str] = []
    for line in linecache.getlines(defined.file)[defined.line - 1 :]:
        if (not found and not line.lstrip().startswith("@")) or re.match(r"\s*(async\s+)?def\b", line):
            break
        found.append(line)
    return "".join(found)


def of_stack(frame: FrameType | None) -> tuple[str, ...]:
    """The transformations whose rules run on this stack, the last one first, up to the user's code."""
    found = [kind for kind, _ in _rules(frame)]
    return tuple(_SAID[kind] for i, kind in enumerate(found) if not (kind == "jvp" and i and found[i - 1] == "part"))


def transformed(frame: FrameType | None) -> Any:
    """The jaxpr that the first of these transformations was given; None where none runs."""
    found = [rule for _, rule in _rules(frame)]
    closed = found[-1].f_locals.get("jaxpr") if found else None
    return getattr(closed, "jaxpr", closed)


def _rules(frame: FrameType | None) -> Iterator[tuple[str, FrameType]]:
    for one in below_users(frame):
        match = _RULE.search(one.f_code.co_qualname)
        if match and match.lastgroup and not (match.lastgroup == "vmap" and _maps_nothing(one)):
            yield match.lastgroup, one


def below_users(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames of libraries from here up to the user's code."""
    return takewhile(lambda one: not in_program(one.f_code.co_filename), outwards(frame))


def _maps_nothing(frame: FrameType) -> bool:
    """Whether the rule of vmap in this frame got no argument that has rows: jax calls it for those, too."""
    dims = frame.f_locals.get("dims_in", frame.f_locals.get("dims"))
    return isinstance(dims, (tuple, list)) and all(dim is None for dim in dims)


def named_outside(
    function: str, rules: Sequence[str], bases: Collection[Sequence[str]], defined: Position | None
) -> str:
    """The name of a program that transformations outside jit made of a function with one of these wrappers. Where it is not known of which,
    and one is a transformation itself, the name stands alone."""
    made = {of_wrappers(wrappers, defined) for wrappers in bases} or {()}
    return named(function, (*rules, *made.pop())) if len(made) == 1 else function


def is_same_function(one: _Named, other: _Named) -> bool:
    """Whether two have the name and the place of one function."""
    places = [(x.function, x.position and (x.position.file, x.position.line)) for x in (one, other)]
    return places[0] == places[1]


def named(function: str, made_by: Sequence[str]) -> str:
    """A function's name with the transformations that made the program of it, the last one first."""
    return " of ".join([*made_by, function])
