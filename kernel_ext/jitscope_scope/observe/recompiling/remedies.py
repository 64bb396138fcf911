"""What to do about a cause of recompilations, in words, with the proof of it."""

from __future__ import annotations

import ast
import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from jitscope.backend.function_objects import Capture
from jitscope.backend.signature import Leaf, Signature, Static
from jitscope.core.jaxpr import Jaxpr, Literal, subjaxprs
from jitscope.core.words import listed

from ...source_code.names import Names, imported_in
from ...source_code.tree import parsed
from ..differences import UNKNOWN, is_key, strong_number
from ..stacks import is_installed
from ..structures import changed_data, data_beside
from .groups import WATCHING, Group, another_model
from .loop_bounds import only_bounds
from .padded_shapes import are_padded
from .replay import Replay, captures_of, change_for, hides_content, paths_by_dtype, replay
from .sizes import Sizes, sizes_of


class Remedy(NamedTuple):
    """Words for the user; `replay` is what the recorded calls become with it, None where they say nothing."""

    text: str
    replay: Replay | None


def remedy(group: Group) -> Remedy | None:
    """What to do about a group; None where the user wanted it so, or the cause is not known."""
    if group.quiet or (group.cause == "cache" and group.rows[-1].differences[0].after == UNKNOWN):
        return None
    if named := other_models(group):
        return Remedy(f"{listed(named)} changed, too: it is another model, and each has a program of its own.", None)
    change = change_for(group)
    counted = replay(group, change) if change and not _shapes_the_program(group) and not _data_beside(group) else None
    text = _names_of(group).own(_WORDS[group.cause](group))
    spares = counted is not None and counted.after < counted.before
    if counted is not None and not spares and (others := _others(group)):
        text = f"{text} By the keys of the recorded calls that alone spares nothing: {others} changed as well."
    return Remedy(text, counted if spares else None)


def other_models(group: Group) -> list[str]:
    """The static values inside of the arguments whose shapes changed that changed with these: `model.width_size`; none where the arrays
    alone changed."""
    if group.cause != "shape":
        return []
    every = [another_model(row) for row in group.rows]
    return [path for path in every[0] if all(path in paths for paths in every)]


def _others(group: Group) -> str:
    """What else changed at each of the recompilations, where no call before differed from it in the cause alone: `args[0]`, or `the dtype
    of x` where the cause is another change of it."""
    own = set(group.paths)
    every = [
        {
            f"the {d.part} of {d.path}" if d.path in own else d.path: None
            for d in row.differences
            if d.part != group.cause
        }
        for row in group.rows
    ]
    return listed([path for path in every[0] if all(path in paths for paths in every)])


def _names_of(group: Group) -> Names:
    """What the code imports that calls the function, or else that defines it."""
    where = next(iter(group.sites()), None) or group.rows[-1].position
    return imported_in(where.file) if where is not None else Names()


def _shapes_the_program(group: Group) -> bool:
    """Whether a value makes the program another one than with its number alone changed: then it cannot be an argument."""
    if group.cause not in ("static value", "closure") and not _data(group):
        return False
    programs = [row.jaxpr for row in group.history]
    known = [program for program in programs if program is not None]
    return not known or not all(same_but_for_numbers(known[0], other) for other in known[1:])


def same_but_for_numbers(one: Jaxpr, other: Jaxpr) -> bool:
    """Whether two programs differ in the values of their literals and constants alone."""
    if len(one.eqns) != len(other.eqns) or [v.aval for v in one.invars] != [v.aval for v in other.invars]:
        return False
    if [v.aval for v in one.constvars] != [v.aval for v in other.constvars]:
        return False
    numbers: dict[object, object] = dict(zip([*one.invars, *one.constvars], [*other.invars, *other.constvars]))
    alike = lambda a, b: isinstance(b, Literal) and a.aval == b.aval if isinstance(a, Literal) else numbers.get(a) is b
    for a, b in zip(one.eqns, other.eqns):
        if a.primitive is not b.primitive or len(a.invars) != len(b.invars) or not all(map(alike, a.invars, b.invars)):
            return False
        inner, others = [sub.jaxpr for _, sub in subjaxprs(a.params)], [sub.jaxpr for _, sub in subjaxprs(b.params)]
        if len(inner) != len(others) or not all(map(same_but_for_numbers, inner, others)):
            return False
        if inner and _plain(a.params) != _plain(b.params):  # the length of a scan
            return False
        if not inner and a.params != b.params:
            return False
        numbers.update(zip(a.outvars, b.outvars))
    return len(one.outvars) == len(other.outvars) and all(map(alike, one.outvars, other.outvars))


def _plain(params: Mapping[str, Any]) -> dict[str, object]:
    """The parameters of an equation that are numbers and words."""
    return {name: value for name, value in params.items() if isinstance(value, (bool, int, str))}


# Words ----------------------------------------------------------------------------------------------------------------


def _names(group: Group) -> str:
    return listed(group.paths)


def _decide(group: Group) -> str:
    names = _deciding(group)
    return f"{listed(names)} {'decides' if len(names) == 1 else 'decide'}"


def _deciding(group: Group) -> list[str]:
    """The values that changed, without those that once changed alone and left the program the same but for numbers."""
    alone: dict[str, set[bool]] = {}
    for row in group.rows:
        before = row.against.jaxpr if row.against is not None else None
        if len(row.differences) == 1 and row.jaxpr is not None and before is not None:
            alone.setdefault(row.differences[0].path, set()).add(same_but_for_numbers(before, row.jaxpr))
    return [path for path in group.paths if alone.get(path) != {True}] or group.paths


def _shape(group: Group) -> str:
    found = sizes_of(group)
    cell = group.rows[-1].cell
    padded = cell is not None and found and are_padded([row for row in group.rows if row.cell == cell])
    return _to_pad(group, found) + (f" What {cell[0]} gives has such sizes already." if cell and padded else "")


def _to_pad(group: Group, found: Sequence[Sizes]) -> str:
    if not found:
        return f"One program for each number of axes is right where each of them is meant; else give {_names(group)} the same number in every call."
    by_target: dict[str, list[str]] = {}
    for one in found:
        by_target.setdefault(_target(one), []).append(f"axis {one.axis} of {one.path}")
    said = " and ".join(f"{_both(axes)} {target}" for target, axes in by_target.items())
    patterns = {one.pattern for one in found}
    if patterns == {"last batch"}:
        return f"Pad {said} in the last batch {_MASK}; or leave the last batch out."
    often = (
        "two programs are right where both"
        if _number_of_shapes(group) == 2
        else "one program for each is right where all"
    )
    return f"Pad {said} {_MASK}{f'; {often} shapes come often' if patterns == {'two'} else ''}."


def _number_of_shapes(group: Group) -> int:
    keys = [row.signature for row in group.history if row.signature is not None]
    return len({tuple(leaf.shape for leaf in key.leaves if leaf.path in group.paths) for key in keys})


_MASK = "and mask what was added, where the function sums over it"


def _both(axes: Sequence[str]) -> str:
    return listed(axes) if len(axes) > 3 else " and ".join(axes)


def _target(one: Sizes) -> str:
    """`to 64`, with why that where it is not plain."""
    if len(one.buckets) > 1:
        sizes = ", ".join(f"{size:,}" for size in one.buckets[:10]) + (", …" if len(one.buckets) > 10 else "")
        return f"to the next of {len(one.buckets)} sizes ({sizes})"
    size = max(one.buckets)
    if one.pattern in ("last batch", "two"):
        return f"to {size:,}"
    return f"to {size:,} ({'the largest size so far' if size == max(one.sizes) else 'all sizes so far fit in it'})"


def _dtype(group: Group) -> str:
    found = paths_by_dtype(group)
    keys = [path for dtype, paths in found.items() if is_key(dtype) for path in paths]
    said = []
    if others := [f"{listed(paths)} to {dtype}" for dtype, paths in found.items() if not is_key(dtype)]:
        said.append(f"Convert {' and '.join(others)} once, before the calls.")
    if keys:
        made = "random.key gives typed keys, random.PRNGKey arrays with the bits of one"
        said.append(f"Make {listed(keys)} in one way: {made}.")
    return " ".join(said)


def _weak_type(group: Group) -> str:
    """The cause says what a weak type is."""
    return " ".join(_strong(group, dtype, paths) for dtype, paths in paths_by_dtype(group).items())


def _strong(group: Group, dtype: str, paths: Sequence[str]) -> str:
    number = strong_number(dtype)
    keys = [row.signature for row in group.history if row.signature is not None]
    if any(leaf.shape for key in keys for leaf in key.leaves if leaf.path in paths):
        return f"Give {listed(paths)} a dtype, .astype({number.partition('(')[0]})."
    own = "its dtype" if len(paths) == 1 else "their dtypes"
    one = number.rpartition(" ")[2]
    return f"Give {listed(paths)} {own} in every call ({number} and for jnp.array({one}))."


def _static_value(group: Group) -> str:
    if change_for(group) is None:
        few = f"Call with few values of {_names(group)}: each static value has a program of its own."
        if _shapes_the_program(group) or not (inside := _numbers_in_statics(group)):
            return few
        return f"{inside}. Pass the number that changes as an argument{_of_optax(inside)}. {few}"
    key = group.rows[-1].signature
    values = [one for one in (*key.statics, *key.attributes) if one.name in group.paths] if key is not None else []
    if _shapes_the_program(group) and all(one.type == "bool" for one in values):
        return f"{_decide(group)} what the program is: one program for True and one for False are right where both come often."
    if _shapes_the_program(group) and only_bounds(group):
        return (
            f"{_names(group)} only {'says' if len(group.paths) == 1 else 'say'} how often a lax.fori_loop runs: do not make it static, and one "
            "program serves all values. (Reverse-mode derivatives need it static.)"
        )
    if _shapes_the_program(group):
        return (
            f"{_decide(group)} what the program is (a size, a number of iterations, a branch): call with few values, or make the "
            f"loop a lax.fori_loop and the branch a lax.cond, which take it as an array.{_computed_with(group)}"
        )
    inside = key is not None and any(one.name in group.paths for one in key.attributes)
    how = "hold it as an array" if inside else "do not make it static"
    return f"{_names(group)} {'is' if len(group.paths) == 1 else 'are'} only computed with: {how}, and one program serves {_all_values(group)}."


def _all_values(group: Group) -> str:
    """`all values`, or those of one type where the calls gave several: each has a program of its own."""
    keys = [row.signature for row in group.history if row.signature is not None]
    given = [one for key in keys for one in (*key.statics, *key.attributes) if one.name in group.paths]
    kinds = {name: list(dict.fromkeys(one.type for one in given if one.name == name)) for name in group.paths}
    several = next((of for of in kinds.values() if len(of) > 1), None)
    return f"all values of one type (the calls gave {listed(several)})" if several else "all values"


def _numbers_in_statics(group: Group) -> str:
    """`hp holds another number: lr is 0.1, then 0.2`, of static objects, or ""."""
    statics = [one for row in group.history if row.signature for one in row.signature.statics]
    said = [
        (f"{name} ({own[0].type})", found)
        for name in group.paths
        if (own := [one for one in statics if one.name == name]) and (found := _numbers_that_changed(own))
    ]
    return " and ".join(f"{name} holds another number: {found}" for name, found in said)


def _of_optax(said: str) -> str:
    optimizer = "GradientTransformation" in said
    return "; of optax's optimizers, optax.inject_hyperparams keeps it in the state" if optimizer else ""


def _computed_with(group: Group) -> str:
    names = [path for path in group.paths if path not in _deciding(group)]
    return f" {listed(names)} {'is' if len(names) == 1 else 'are'} only computed with." if names else ""


def _static_object(group: Group) -> str:
    once = f"Make the object given for {_names(group)} once, before the calls"
    if hides_content(group):
        once = f"Where the objects given for {_names(group)} hold the same, make one of them, once, before the calls"
    key = group.rows[-1].signature
    statics = [one for one in key.statics if one.name in group.paths] if key is not None else []
    if any(one.type == "function" for one in statics):
        return f"{once}: a function is equal to itself alone."
    if not statics or not all(_is_users(group, one.type) for one in statics):
        return f"{once}: it is compared by identity."
    names = listed(sorted({one.type for one in statics}))
    return (
        f"{once}; or give {names} __eq__ and __hash__, which compare what it holds, so that equal ones are found again."
    )


def _is_users(group: Group, name: str) -> bool:
    """Whether the user's code defines a class of this name: in the files of the function and its calls, or in another cell."""
    places = [row.position for row in group.history] + [row.call_site for row in group.history]
    files = {place.file for place in places if place is not None and not is_installed(place.file)}
    trees = [tree for tree in map(parsed, files) if tree is not None]
    if any(isinstance(node, ast.ClassDef) and node.name == name for tree in trees for node in ast.walk(tree)):
        return True
    there = getattr(sys.modules.get("__main__"), name, None)
    return isinstance(there, type) and there.__module__ == "__main__"


def _tree(group: Group) -> str:
    counts = [
        len([leaf for leaf in row.signature.leaves if _of(leaf, group)]) for row in group.history if row.signature
    ]
    if len(counts) > 2 and all(a < b for a, b in itertools.pairwise(counts)):
        return (
            f"{_names(group)} grows from {counts[0]:,} to {counts[-1]:,} arrays: make it one array of the final size "
            "and set its rows with .at[i].set."
        )
    kinds = _data(group)
    if kinds:
        said = f"The static data of {' and '.join(kinds)} changed, and each value of it has a program of its own."
        if numbers := _numbers_that_changed([row.signature for row in group.history if row.signature]):
            return (
                f"{said} It holds another number: {numbers}. Hold that as an array{_of_optax(group.changes[0].before)}."
            )
        if not all(_is_users(group, kind) for kind in kinds):
            return f"{said} Make the object once, and change its arrays alone."
        return (
            f"{said} Make what is only computed with data: one of data_fields, a child of tree_flatten, a field that is not static; "
            "where it is an object, make that once."
        )
    said = f"Give {_names(group)} one structure: the same keys and containers in every call, zeros for what is missing."
    if kinds := _data_beside(group):
        said += f" The static data of {listed(kinds)} changed as well, and each value of it has a program of its own."
    return said


def _data_beside(group: Group) -> list[str]:
    """The classes whose static data changed beside the structure, where that is the cause."""
    if group.cause != "tree structure" or _data(group):
        return []
    pairs = [(row.against.signature, row.signature) for row in group.rows if row.against is not None]
    return list(dict.fromkeys(kind for a, b in pairs if a and b for kind in data_beside(a, b)))


def _data(group: Group) -> list[str]:
    """The classes whose static data alone changed, where that is the cause."""
    if group.cause != "tree structure":
        return []
    return changed_data([row.signature for row in group.history if row.signature])


def _of(leaf: Leaf, group: Group) -> bool:
    return any(leaf.path.startswith(path) for path in group.paths)


def _none(group: Group) -> str:
    return f"Pass an array that changes nothing in place of None for {_names(group)}: zeros to add, ones to multiply or mask."


def _call_form(group: Group) -> str:
    if any(one.detail.startswith(("gained ", "lost ")) for one in group.changes):
        return "Give the same arguments in every call; two programs are right where a call without one of them means something else."
    return "Write all calls one way: the same arguments by position, the same by name, and the same left out."


def _kind(group: Group) -> str:
    return f"Pass {_names(group)} as an array in every call, or as a static value in every call."


def _function(group: Group) -> str:
    return f"Make {_called(group)} once, before the calls: the program belongs to the function object."


def _called(group: Group) -> str:
    made = group.rows[-1].signature.made if group.rows[-1].signature else None
    kind = made.kind if made else "function"
    return {"lambda": "the compiled lambda", "partial": "the compiled partial"}.get(
        kind if group.title == group.function else "", f"the compiled {group.title}"
    )


def _closure(group: Group) -> str:
    captured = [one for one in captures_of(group) if one.name in group.paths]
    if fixed := [one for one in captured if not one.passable]:
        return _of_functions(group, fixed)
    if _shapes_the_program(group):
        return (
            f"{_decide(group)} what the program is, so each value needs its own: keep one function for each value, made "
            "once, or compute with the value alone and pass it as an argument."
        )
    return f"Pass {_names(group)} as an argument, and make {_called(group)} once: then one program serves all values."


def _of_functions(group: Group, captured: list[Capture]) -> str:
    """What to do where a function, an object or a text that changed is captured: it cannot be an argument of a compiled function."""
    names = list(dict.fromkeys(one.name for one in captured))
    inside = [
        said
        for name in names
        if (said := _other_number(_with_its_making(group, name), [one for one in captured if one.name == name]))
    ]
    made, it = f"Make {listed(names)} and {_called(group)} once, before the calls", "it" if len(names) == 1 else "them"
    if not inside:
        return f"{made}: functions and objects cannot be arguments of a compiled function, and each has a program of its own."
    how = _of_optax(" ".join(one.text for one in captured))
    return (
        f"{' and '.join(inside)}. {made}, and pass the number that changes as an argument{how}: functions and objects cannot be "
        f"arguments of a compiled function, and a number inside of {it} is part of the program."
    )


def _with_its_making(group: Group, name: str) -> str:
    """`tx = optax.adamw(lr)` where the code of the function says how a name is given its value, else the name."""
    where = group.rows[-1].position
    tree = parsed(where.file) if where is not None else None
    found = [
        ast.unparse(node)
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name
    ]
    return f"`{found[0]}`" if len(found) == 1 and len(found[0]) <= _LONGEST else name


_LONGEST = 60


def _other_number(called: str, captured: list[Capture]) -> str:
    """`tx holds another number: lr is 0.001, then 0.003`, or "" where the numbers in it are the same, or are not known."""
    said = _numbers_that_changed(captured)
    return f"{called} holds another number: {said}" if said else ""


def _numbers_that_changed(values: Sequence[Capture | Static | Signature]) -> str:
    """`lr is 0.001, then 0.003`, of the numbers inside of values, or "" where these are the same, or are not known."""
    found: dict[str, list[str]] = {}
    for one in values:
        for name, text in one.held:
            found.setdefault(name, []).append(text)
    changed = [(name, list(dict.fromkeys(texts))) for name, texts in found.items()]
    said = [
        f"{name} is {texts[0]}, then {texts[1]}"
        for name, texts in changed
        if name and 1 < len(texts) and len(found[name]) <= len(values)
    ]
    return " and ".join(said[:2])


def _device(group: Group) -> str:
    devices = sorted({row.signature.device for row in group.history if row.signature})
    return f"Put the arguments on one device, once, with jax.device_put: they came from {listed(devices)}."


def _sharding(group: Group) -> str:
    if "out_shardings" in group.paths:
        return "Compile the function once, with one choice of out_shardings, and call that."
    leaves = [leaf for row in group.history if row.signature for leaf in row.signature.leaves]
    spec = next((leaf.spec for leaf in leaves if [leaf.path] == list(group.paths) and leaf.spec), "")
    how = f": jax.device_put({group.paths[0]}, NamedSharding(mesh, {spec}))" if spec else ""
    return f"Lay {_names(group)} out one way, once, before the calls{how}."


def _donation(group: Group) -> str:
    return "Compile the function once, with one choice of donated arguments, and call that."


def _option(group: Group) -> str:
    if all(
        path.startswith(("compiler option", "static arguments", "auto_static", "keep_unused")) for path in group.paths
    ):
        return "Compile the function once, with one set of options, and call that."
    if set(group.paths) <= WATCHING:
        return f"Leave {_names(group)} off where nothing is looked for: a function has one program with it and one without."
    return f"Set {_names(group)} once, before the first call."


def _x64(group: Group) -> str:
    return "Set enable_x64 once, before the first call: jax.config.update('jax_enable_x64', True)."


def _cache(group: Group) -> str:
    why = group.rows[-1].differences[0]
    return {
        "cleared": "Do not clear the caches between calls: clear_caches() and clear_cache() forget all programs.",
        "dropped": "Call with fewer kinds of arguments: the function remembers only the latest ones.",
        "another trace": "Pass the captured values of the outer function as arguments.",
        "another call": "Call the function once before the threads start.",
    }[why.after]


_WORDS: dict[str, Callable[[Group], str]] = {
    "shape": _shape,
    "dtype": _dtype,
    "weak type": _weak_type,
    "static value": _static_value,
    "static object": _static_object,
    "tree structure": _tree,
    "none": _none,
    "call form": _call_form,
    "kind": _kind,
    "function": _function,
    "closure": _closure,
    "device": _device,
    "sharding": _sharding,
    "donation": _donation,
    "option": _option,
    "x64": _x64,
    "cache": _cache,
}

_WITHOUT_EDIT = {
    "shape": "No edit is offered: only the function's meaning tells what may be added, and where it must be masked.",
    "tree structure": "No edit is offered: only the function's meaning tells what can stand for a missing part.",
    "none": "No edit is offered: which array changes nothing depends on what the function does with it.",
    "donation": "No edit is offered: only arrays that nobody reads after the call may be donated, which the programs do not tell.",
}


def without_edit(group: Group) -> str:
    """Why a fix is words alone, where no edit is known to keep what is computed."""
    if _data(group):
        return "No edit is offered: the code that registers the class decides what is data."
    if group.cause == "shape" and (not sizes_of(group) or other_models(group)):
        return ""
    return _WITHOUT_EDIT.get(group.cause, "")
