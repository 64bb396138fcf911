"""What a fix would make of the recorded keys: changed as the fix changes them, they are counted again. No proof: nothing is run."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import NamedTuple

from jitscope.backend.contents import UNTOLD
from jitscope.backend.function_objects import Capture
from jitscope.backend.signature import BY_NAME, Leaf, Signature
from jitscope.core.words import root_of

from ..differences import DEFAULT_DEVICE, bits_as_key, changed_numbers, is_key
from .groups import Group
from .sizes import padded, sizes_of


Change = Callable[[Signature], Hashable]


class Replay(NamedTuple):
    """What was made, and what would have been with the changed keys; `seconds` are those saved; `noun` says what is
    counted (`Group.noun`)."""

    before: int
    after: int
    seconds: float
    noun: str

    def sentence(self, shown: str) -> str:
        """`37 compilations would become 2`; `shown` are the seconds saved in words."""
        return f"By the keys of the recorded calls {self.before:,} {self.noun} would become {self.after:,}, which saves {shown}."


def replay(group: Group, change: Change) -> Replay:
    """What a change of the key makes of a group's history."""
    known: set[Hashable] = set()
    saved = 0.0
    for row in group.history:
        assert row.signature is not None
        key = change(row.signature)
        saved += row.spent if key in known else 0.0
        known.add(key)
    return Replay(len(group.history), len(known), saved, group.noun)


def change_for(group: Group) -> Change | None:
    """How the fix for a group's cause changes a key; None where no change of the key is a fix."""
    make = _CHANGES.get(group.cause)
    return make(group) if make else None


def _with_leaves(group: Group, change: Callable[[Leaf], Leaf]) -> Change:
    paths = set(group.paths)

    def changed(key: Signature) -> Hashable:
        return _key(key._replace(leaves=tuple(change(leaf) if leaf.path in paths else leaf for leaf in key.leaves)))

    return changed


def _key(signature: Signature) -> Hashable:
    return signature._replace(cleared=0, dropped=0, made=None, held=())  # pyright: ignore[reportArgumentType]


def _shapes(group: Group) -> Change | None:
    buckets = {(one.path, one.axis): one.buckets for one in sizes_of(group)}
    if not buckets:
        return None

    def to_buckets(leaf: Leaf) -> Leaf:
        shape = tuple(padded(size, buckets.get((leaf.path, axis), ())) for axis, size in enumerate(leaf.shape))
        return leaf._replace(shape=shape)

    return _with_leaves(group, to_buckets)


def common_dtypes(group: Group) -> dict[str, str]:
    """By path the dtype that a group's arrays are best converted to: floats before integers, wide before narrow."""
    found: dict[str, set[str]] = {path: set() for path in group.paths}
    for row in group.history:
        for leaf in row.signature.leaves if row.signature else ():
            if leaf.path in found:
                found[leaf.path].add(leaf.dtype)
    return {path: max(dtypes, key=_width) for path, dtypes in found.items() if dtypes}


def paths_by_dtype(group: Group) -> dict[str, list[str]]:
    """By dtype the paths that are best converted to it."""
    found: dict[str, list[str]] = {}
    for path, dtype in common_dtypes(group).items():
        found.setdefault(dtype, []).append(path)
    return found


def _width(dtype: str) -> tuple[int, int]:
    kind = dtype.rstrip("0123456789")
    order = ("bool", "u", "i", "bf", "f", "c")
    return order.index(kind) if kind in order else len(order), int(dtype[len(kind) :] or 0)


def _dtypes(group: Group) -> Change:
    common = common_dtypes(group)

    def converted(leaf: Leaf) -> Leaf:
        dtype = common[leaf.path]
        return (bits_as_key(leaf) if is_key(dtype) else leaf)._replace(dtype=dtype, weak_type=False)

    return _with_leaves(group, converted)


def _weak_types(group: Group) -> Change:
    return _with_leaves(group, lambda leaf: leaf._replace(weak_type=False))


def _statics(group: Group) -> Change | None:
    """Static numbers become arrays, whose type alone counts."""
    names = set(group.paths)
    keys = [row.signature for row in group.history if row.signature]
    values = [s for key in keys for s in (*key.statics, *key.attributes) if s.name in names]
    if any(value.type not in ("int", "float", "bool", "complex") for value in values):
        return None

    def without(key: Signature) -> Hashable:
        kept = tuple(static for static in key.statics if static.name not in names)
        types = tuple((static.name, static.type) for static in key.statics if static.name in names)
        return _key(key._replace(statics=kept)), types

    return without


def _static_objects(group: Group) -> Change | None:
    """Objects that hold the same become one; of those that hold what is not told nobody knows."""
    names = set(group.paths)
    if hides_content(group):
        return None

    def by_content(key: Signature) -> Hashable:
        statics = tuple(s._replace(token=0, text="") if s.name in names else s for s in key.statics)
        return _key(key._replace(statics=statics))

    return by_content


def hides_content(group: Group) -> bool:
    """Whether the static objects of a group hold what is not told, so that they may differ."""
    keys = [row.signature for row in group.history if row.signature]
    return any(UNTOLD in one.content for key in keys for one in key.statics if one.name in group.paths)


def _structures(group: Group) -> Change | None:
    """One structure; None where a number in static data changed, which no structure makes equal."""
    held = [row.signature.held for row in group.history if row.signature]
    return None if any(map(changed_numbers, held, held[1:])) else _one_structure(group)


def _one_structure(group: Group) -> Change:
    """Arguments whose structure changed become one that fits all calls; what a call lacks gets the type that the first one has which has it."""
    roots = {root_of(path) for path in group.paths}
    everything = "arguments" in roots
    calls = [row.signature.leaves for row in group.history if row.signature]
    first = {
        leaf.path: leaf for leaves in reversed(calls) for leaf in leaves if everything or root_of(leaf.path) in roots
    }

    def same(key: Signature) -> Hashable:
        leaves = {leaf.path: leaf for leaf in key.leaves}
        others = tuple(leaf for path, leaf in leaves.items() if path not in first)
        whole = tuple(leaves.get(path, first[path]) for path in sorted(first))
        return _key(key._replace(leaves=(*others, *whole), tree="", structure=0))

    return same


def _nones(group: Group) -> Change | None:
    """The argument is an array in each call. None of what a library took apart: what it makes static beside it is in one key with all else."""
    plain = {static.name for row in group.history if row.signature for static in row.signature.attributes}
    if plain & {*group.paths}:
        return None
    roots, same = {root_of(path) for path in group.paths}, _one_structure(group)

    def given(key: Signature) -> Hashable:
        return same(key._replace(statics=tuple(static for static in key.statics if static.name not in roots)))

    return given


def _call_forms(group: Group) -> Change:
    keys = [row.signature for row in group.history if row.signature]
    given = {(static.name, static.text): static for key in keys for static in key.statics}
    numbers = {
        (leaf.path, _short(leaf.dtype)): leaf
        for key in keys
        for leaf in key.leaves
        if leaf.weak_type and not leaf.shape
    }

    def in_order(key: Signature) -> Hashable:
        own = {static.name for static in key.statics}
        left_out = {(c.name, c.text) for c in key.made.captures if c.how == "default" and c.name not in own}
        paths = {leaf.path for leaf in key.leaves}
        absent = [numbers.get((name, _kind_of(text))) for name, text in left_out if name not in paths]
        leaves = tuple(sorted([*key.leaves, *(one for one in absent if one is not None)]))
        statics = tuple(sorted([*key.statics, *(given[one] for one in left_out if one in given)]))
        options = tuple(one for one in key.options if one[0] != BY_NAME)
        return _key(key._replace(leaves=leaves, statics=statics, options=options, tree="", structure=0))

    return in_order


def _short(dtype: str) -> str:
    """The kind of a dtype, `f` of f32."""
    return "b" if dtype == "bool" else dtype.rstrip("0123456789")


def _kind_of(text: str) -> str:
    """The kind of dtype that a number of Python has by its text; of anything else none."""
    return {"int": "i", "float": "f", "complex": "c", "bool": "b"}.get(_type_of(text), "")


def _functions(group: Group) -> Change:
    """One function object; values that it captures count as they are."""
    return lambda key: (_key(key._replace(function=0)), tuple((c.name, c.token) for c in key.made.captures))


def _closures(group: Group) -> Change | None:
    """One function object, which takes the captured values that changed as arguments: their types count. None where one of them
    cannot be an argument."""
    names = set(group.paths)
    if any(capture.name in names and not capture.passable for capture in captures_of(group)):
        return None

    def passed(key: Signature) -> Hashable:
        captures = [(c.name, _type_of(c.text) if c.name in names else c.token) for c in key.made.captures]
        return _key(key._replace(function=0)), tuple(captures)

    return passed


def _type_of(text: str) -> str:
    """Of a number its type, of anything else its text, which says the shape and dtype of an array."""
    for kind in (int, float, complex):
        try:
            kind(text)
        except ValueError:
            continue
        return kind.__name__
    return "bool" if text in ("True", "False") else text


def captures_of(group: Group) -> list[Capture]:
    """The values that the functions of a group captured, oldest first."""
    return [capture for row in group.history if row.signature for capture in row.signature.made.captures]


def _options(group: Group) -> Change:
    names = set(group.paths)
    places = names & {*DEFAULT_DEVICE}

    def alike(key: Signature) -> Hashable:
        options = tuple(one for one in key.options if one[0] not in names)
        return _key(key._replace(options=options, device="" if places else key.device))

    return alike


def _shardings(group: Group) -> Change:
    """Everything lies one way, on the same devices."""
    names = set(group.paths)

    def alike(key: Signature) -> Hashable:
        leaves = tuple(leaf._replace(sharding="") for leaf in key.leaves)
        options = tuple(one for one in key.options if one[0] not in names)
        return _key(key._replace(leaves=leaves, options=options, device=""))

    return alike


_CHANGES: dict[str, Callable[[Group], Change | None]] = {
    "shape": _shapes,
    "dtype": _dtypes,
    "weak type": _weak_types,
    "static value": _statics,
    "static object": _static_objects,
    "tree structure": _structures,
    "none": _nones,
    "call form": _call_forms,
    "kind": _nones,
    "function": _functions,
    "closure": _closures,
    "device": lambda group: lambda key: _key(key._replace(device="")),
    "sharding": _shardings,
    "donation": _options,
    "option": _options,
    "x64": lambda group: lambda key: _key(key._replace(x64=False)),
    "cache": lambda group: _key,
}
