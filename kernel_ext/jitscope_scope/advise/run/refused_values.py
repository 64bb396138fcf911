"""What jax says of a value that it cannot take, said of its class: how it becomes a tree, or an array, or hashable."""

from __future__ import annotations

import dataclasses
import re
import sys
from types import FrameType
from typing import Any, NamedTuple

from jitscope.core.avals import class_name, how_to_pass, is_of_library


class RefusedValue(NamedTuple):
    """What is wrong with a value, and what to do, each a sentence."""

    said: str
    fix: str


def refused(known: str, error: BaseException, frame: FrameType) -> RefusedValue | None:
    """What to say of the class that an error of jax's names; None where it is not found, or there is nothing more to say of it. `frame`
    is the user's that ran."""
    if (one := _ARGUMENT.search(str(error))) is not None and (what := _what(one)):
        said = f"`{one['path']}` is an argument of the compiled {one['function']}, and {what} is no array."
        asked = f'static_argnames="{one["path"]}"'
        asked = asked if one["function"] == "<lambda>" else f"jit({one['function']}, {asked})"
        return RefusedValue(said, f"Make it static, {asked}: each value of it has a program of its own then.")
    if (one := _PART.search(str(error))) is not None and (what := _what(one)):
        if (one["function"] or "").startswith("_") and one[
            "function"
        ] not in frame.f_globals:  # jax's own, of a function of jnp
            return RefusedValue(
                f"A function of jax is given {what} among arrays and numbers.", "Take out what is no number."
            )
        said = f"`{one['path']}` is a part of an argument that is traced, and {what} is no array."
        return RefusedValue(said, _STATIC_PART)
    match = re.search(r"(?:object of type|is of type|of type) '?<class '([^']+)'>", str(error))
    kind = _class(match[1]) if match is not None else None
    if kind is None:
        return None
    if known == "static-unhashable":
        return _without_a_hash(kind, frame)
    if any("__call__" in vars(one) for one in kind.__mro__) and kind.__module__.startswith(("jax", "builtins")):
        said = f"A function, of type {class_name(kind)}, stands where arrays do."
        return RefusedValue(said, _FUNCTION)
    fix = how_to_pass(kind).lstrip(":. ").replace("@jitscope.", "@jax.")
    said = f"A value of type {class_name(kind)} is not an array, a number or a tree of those."
    return RefusedValue(said, f"{fix[0].upper()}{fix[1:]}.") if fix else None


_ARGUMENT = re.compile(
    r"Error interpreting argument to <function (?:\S+\.)?(?P<function>[^\W\d]\w*|<lambda>) at \S+ as an abstract array\."
    r".* of type <(?P<of>class|enum|flag) '(?P<type>[^']*)'>.* at path (?P<path>[^\W\d]\w*)\.\s",
    re.DOTALL,
)
_PART = re.compile(
    r"Error interpreting argument to (?:<function (?P<function>\S+) at)?.* of type <(?P<of>class|enum|flag) '(?P<type>[^']*)'>.* at path (?P<path>[^\W\d]\w*[.\[]\S*)\.\s",
    re.DOTALL,
)
_STATIC_PART = (
    "Make it static: a field of a registered dataclass by dataclasses.field(metadata={'static': True}), of another class by what its "
    "tree_flatten gives second; take it out of a dict or a list, and pass it as a static argument."
)
_STATIC = {
    "str": "a text", "bytes": "a text", "function": "a function", "method": "a method", "type": "a class",
    "builtin_function_or_method": "a function",
}  # fmt: skip
"""What is no array, and has a hash: how it is called."""


def _what(named: re.Match[str]) -> str:
    """What a value that jax names is called, if it has a hash; else ""."""
    return "a member of an enum" if named["of"] != "class" else _STATIC.get(named["type"], "")


_FUNCTION = (
    "Make it static: an argument by static_argnames, a part of a tree as static data of its class; of an equinox module, equinox.filter_jit and "
    "equinox.filter_grad leave out what is no array."
)
_ARRAY = "Take it out of the static arguments: arrays are traced; or pass a tuple of numbers, where these decide what the program is."


def _class(name: str) -> type | None:
    """The class that jax calls by its module and name, where it is found there."""
    module, _, rest = name.rpartition(".")
    while module and module not in sys.modules:
        module, _, last = module.rpartition(".")
        rest = f"{last}.{rest}"
    found: Any = sys.modules.get(module or "builtins")
    for part in rest.split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, type) else None


def _without_a_hash(kind: type, frame: FrameType) -> RefusedValue | None:
    """Of a dataclass whose hash is that of its fields: the first field that has none, of an object that a name of the user's stands for, or by
    what the class says of it."""
    if hasattr(kind, "__array__"):
        return RefusedValue(f"A static argument is an array, of type {class_name(kind)}, which has no hash.", _ARRAY)
    if is_of_library(kind) or not dataclasses.is_dataclass(kind):
        return None
    value = next((x for x in (*frame.f_locals.values(), *frame.f_globals.values()) if type(x) is kind), None)
    for field in dataclasses.fields(kind):
        held = type(getattr(value, field.name)) if hasattr(value, field.name) else _annotated(field.type)
        if held is not None and _is_array(held):
            said = f"{class_name(kind)} has no hash: its {field.name} is an array, and arrays are never static."
            fix = f"Make {class_name(kind)} a tree, @jax.tree_util.register_dataclass above @dataclass, and take it out of the static arguments."
            return RefusedValue(said, fix)
        if held is not None and held.__hash__ is None:
            said = f"{class_name(kind)} has no hash: a frozen dataclass has that of its fields, and {field.name} is a {class_name(held)}, which has none."
            return RefusedValue(said, f"Make {field.name} {_HASHABLE.get(held, 'a value that has a hash')}.")
    return None


def _is_array(kind: type) -> bool:
    return hasattr(kind, "__array__") or (kind.__name__.endswith("Array") and is_of_library(kind))


def _annotated(said: Any) -> type | None:
    """The class of a field by its annotation, `dict`, `dict[str, int]` or a text of these."""
    name = re.match(r"\w*", said)[0] if isinstance(said, str) else ""  # pyright: ignore[reportOptionalSubscript]
    found = (
        {"dict": dict, "list": list, "set": set}.get(name)
        if isinstance(said, str)
        else getattr(said, "__origin__", said)
    )
    return found if isinstance(found, type) else None


_HASHABLE = {dict: "a tuple of pairs, or a frozen dataclass", list: "a tuple", set: "a frozenset"}
