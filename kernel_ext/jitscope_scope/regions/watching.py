"""A run of a cell that notes the values at the start and the end of its regions, and how long each took."""

from __future__ import annotations

import contextlib
import copy
import random
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from itertools import chain
from types import CellType, CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import TypeGuard, cast
from weakref import ref

import numpy as np

from . import paths
from .clock import NOTHING, Seconds, Stopwatch, added, work
from .homes import attributes_of, is_users_object, keep_attributes, variables_of
from .words import of_users


KEPT_BYTES = 1 << 28
"""More than this of arrays at the start of a region is not copied, and the region not tried."""


_ATOMS = frozenset((bool, int, float, complex, str, bytes, type(None), *paths.NUMPYS))
"""Types of values that are never copied."""
GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)
"""What draws random numbers."""
SOME = 200
"""After so many passages it is asked whether they are short."""
SHORT = 20e-6
"""Seconds: a passage that takes less is not worth its notes, nor a call of compiled code."""


@dataclass
class Visit:
    """One passage through a region: copies of the values before and after it, and the objects themselves while they are compared."""

    values: dict[str, object]
    live: dict[str, object]
    told: dict[str, str] = field(default_factory=np.geterr)  # type: ignore[assignment]
    """What NumPy does about overflows and the like."""
    after: dict[str, object] = field(default_factory=dict)
    ends: dict[str, object] = field(default_factory=dict)

    changed: frozenset[str] = frozenset()
    """Names of the arrays whose content was another one at the end than before."""
    changed_inside: frozenset[str] = frozenset()
    """Places in objects and containers whose arrays had another content at the end than before."""
    dropped: frozenset[str] = frozenset()
    """Names of those that were, and that nobody holds any longer."""
    enclosed: frozenset[str] = frozenset()
    """Names that functions keep, and that stand for the same here."""
    shared: frozenset[str] = frozenset()
    """Those of them that are variables of the function that the region stands in: what it binds, the functions see."""
    own: frozenset[str] = frozenset()
    """Names of variables of the function that the region stands in."""
    at_top: bool = False
    """Whether the names that the region binds are the cells' own."""
    handed: frozenset[str] = frozenset()
    """Names of whole numbers that are handed to the compiled function in any case: they are others in each call."""
    held: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Python's whole numbers that the region checks to stay between two bounds."""
    around: Mapping[str, object] = field(default_factory=dict)
    """The cell's names and what they stand for in the end, also those that the region does not know."""
    places: dict[str, paths.Leaf] = field(default_factory=dict)
    """What was in the objects and containers at the start, and at the end."""
    places_after: dict[str, paths.Leaf] = field(default_factory=dict)
    states: dict[str, bytes] = field(default_factory=dict)
    """What was in values that are not followed into, at the start, and at the end."""
    states_after: dict[str, bytes] = field(default_factory=dict)
    lists: paths.Lists = field(default_factory=dict)
    """Python's lists at the start, and at the end."""
    lists_after: paths.Lists = field(default_factory=dict)

    def compare(self, noted: list[dict[str, object]]) -> None:
        """Notes which arrays have another content than before; not those that nobody but the notes, which are `noted`, holds any longer."""
        arrays = {n for n, v in self.live.items() if isinstance(v, np.ndarray)}
        changed = {n for n in arrays if not equal_bits(self.values[n], self.live[n])}
        self.dropped = frozenset(n for n in changed if sys.getrefcount(self.live[n]) <= 1 + _held(self.live[n], noted))
        self.changed = frozenset(changed - self.dropped)
        inside = {t: p.value for t, p in self.places.items() if isinstance(p.value, np.ndarray)}
        copied = paths.leaves(self.values) if inside else {}
        self.changed_inside = frozenset(
            t for t, v in inside.items() if t not in copied or not equal_bits(copied[t].value, v)
        )


def _held(value: object, noted: list[dict[str, object]]) -> int:
    """How often the notes hold a value."""
    return sum(v is value for d in noted for v in d.values())


def equal_bits(a: object, b: object) -> bool:
    """Whether two arrays are the same in all but their memory."""
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray) or a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.flags.c_contiguous and b.flags.c_contiguous and not a.dtype.hasobject:
        whole = a.nbytes % 8 == 0 and a.dtype.itemsize in (1, 2, 4, 8, 16)
        words = np.uint64 if whole else np.uint8  # by words: an eighth of the comparisons
        return np.array_equal(a.reshape(-1).view(words), b.reshape(-1).view(words))
    return a.tobytes() == b.tobytes()


@dataclass
class Observation:
    """What was noted of one region."""

    names: frozenset[str]
    binds: frozenset[str]
    count: int = 0
    spent: Seconds = NOTHING
    watch: Stopwatch | None = None
    own: Seconds = NOTHING
    """What the notes had taken when the passage began."""
    visit: Visit | None = None
    frame: FrameType | None = None
    """Where the passage that is being noted began."""
    too_large: bool = False
    eager: bool = False
    """Whether it is noted only where a compiled library is at hand."""
    calls_itself: bool = False
    """Whether a passage began inside of another one."""
    released: bool = False
    """Whether the notes were taken out, because each passage takes less than they do."""

    @property
    def seconds(self) -> float:
        """Of all passages."""
        return work(self.spent)


class Recorder:
    """Stands in a watched cell under one name; regions call `enter` and `leave`."""

    def __init__(self) -> None:
        self.seen: dict[int, Observation] = {}
        self.lost = NOTHING
        """What the notes themselves took."""
        self.functions: list[FunctionType] = []
        """Those that were made with notes in them."""
        self.release: Callable[[int], bool] = lambda key: False
        """Takes the notes of a place out while the cell runs, where that can be done."""

    def made(self, function: FunctionType) -> FunctionType:
        """A function that has notes is made; given back as it is."""
        self.functions.append(function)
        return function

    def enter(self, key: int, names: Mapping[str, object], outer: Mapping[str, object]) -> None:
        """A region begins."""
        seen, frame = self.seen[key], sys._getframe(1)
        if seen.frame is not frame and _is_open(seen.frame, frame):
            seen.calls_itself = True
            return
        seen.frame = frame
        if seen.count == 0 and seen.visit is None:
            watch = Stopwatch()
            found = {n: names[n] if n in names else outer[n] for n in seen.names if n in names or n in outer}
            if seen.eager and not any(map(compiles, found.values())):
                seen.too_large = True
            elif _bytes(found) > KEPT_BYTES:
                seen.too_large = True
            else:
                lists: paths.Lists = {}
                places = paths.leaves(found, lists)
                seen.visit = Visit(snapshot(found), found, enclosed=_enclosed(found), places=places, lists=lists)
                seen.visit.states = paths.states(found, seen.visit.places)
                if names is not outer:
                    seen.visit.own = frozenset(found.keys() & names.keys())
                    inner = {n: f for n, f in found.items() if _is_inside(f, frame.f_code)}
                    others = {n: f for n, f in found.items() if isinstance(f, FunctionType) and n not in inner}
                    kept = {v for f in others.values() for v in f.__code__.co_freevars}
                    seen.visit.shared = (seen.visit.enclosed & seen.visit.own) - kept
            self.lost = added(self.lost, watch.passed())
        seen.own, seen.watch = self.lost, Stopwatch()

    def leave(self, key: int, names: Mapping[str, object]) -> None:
        """The region ends as it should."""
        seen = self.seen[key]
        if seen.frame is not sys._getframe(1):
            return
        assert seen.watch is not None
        seen.spent = added(seen.spent, added(seen.watch.passed(), added(self.lost, seen.own, -1), -1))
        seen.frame = None
        seen.count += 1
        if seen.count == SOME and seen.seconds < SOME * SHORT:
            seen.released = self.release(key)
        if seen.count == 1 and seen.visit is not None:
            watch = Stopwatch()
            seen.visit.ends = {n: names[n] for n in seen.binds if n in names}
            histories = {n: list(v) for n, v in seen.visit.ends.items() if _is_history(v)}
            seen.visit.after = snapshot({n: v for n, v in seen.visit.ends.items() if n not in histories}) | histories
            seen.visit.compare([d for s in self.seen.values() if s.visit for d in (s.visit.live, s.visit.ends)])
            now = {n: names.get(n, v) for n, v in seen.visit.live.items()}
            seen.visit.places_after = paths.leaves(now, seen.visit.lists_after)
            seen.visit.states_after = paths.states(now, seen.visit.places_after)
            self.lost = added(self.lost, watch.passed())


def _is_open(passage: FrameType | None, frame: FrameType | None) -> bool:
    """Whether a passage that began in one frame goes on in another one, which is called from there."""
    while passage is not None and frame is not None and frame is not passage:
        frame = frame.f_back
    return passage is not None and frame is passage


def _is_history(value: object) -> TypeGuard[list[np.ndarray]]:
    """Whether a value is a list of arrays: at the end of a region it is their kind that is asked for, not what is in them."""
    return type(value) is list and set(map(type, value)) == {np.ndarray}


def _is_inside(value: object, code: CodeType) -> bool:
    """Whether a value is a function whose text stands in that of this code."""
    return isinstance(value, FunctionType) and value.__code__ in code.co_consts


def _enclosed(values: Mapping[str, object]) -> frozenset[str]:
    """Free names of functions that stand for one and the same value in all of them and among `values`."""
    functions = [f for f in values.values() if isinstance(f, FunctionType) and f.__closure__]
    good: set[str] = set()
    other: set[str] = set()
    for f in functions:
        for n, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            try:
                same = n in values and cell.cell_contents is values[n]
            except ValueError:  # it has no value yet
                same = False
            (good if same else other).add(n)
    return frozenset(good - other)


def snapshot(values: Mapping[str, object]) -> dict[str, object]:
    """Copies of arrays, containers and objects of a cell's classes, which share nothing with the originals but share among each other
    what those share; functions, modules and other objects stay themselves."""
    memo: dict[int, object] = {}
    _copy_owners(values, memo)
    return {n: _copied(v, memo) for n, v in values.items()}


def _copy_owners(values: Mapping[str, object], memo: dict[int, object]) -> None:
    """Copies the memory that several arrays are views of, once, and makes each a view of the copy."""
    views: dict[int, list[np.ndarray]] = {}
    owners: dict[int, np.ndarray] = {}
    for v in values.values():
        if type(v) is np.ndarray and not v.dtype.hasobject:
            owner = v
            while type(owner.base) is np.ndarray:
                owner = owner.base
            owners[id(owner)] = owner
            views.setdefault(id(owner), []).append(v)
    for key, owner in owners.items():
        others = {id(v): v for v in views[key]}
        if (
            len(others) < 2
            or owner.nbytes > KEPT_BYTES
            or not owner.flags.owndata
            or not (owner.flags.c_contiguous or owner.flags.f_contiguous)
        ):
            continue
        copied = owner.copy(order="K")
        memory, start = copied.ravel(order="K"), owner.__array_interface__["data"][0]
        for v in others.values():
            if v is owner:
                memo[id(v)] = copied
                continue
            offset = v.__array_interface__["data"][0] - start
            memo[id(v)] = new = np.ndarray(v.shape, v.dtype, memory, offset, v.strides)
            new.flags.writeable = v.flags.writeable


def _copied(value: object, memo: dict[int, object]) -> object:
    if type(value) in _ATOMS:
        return value
    if id(value) in memo:
        return memo[id(value)]
    new: object = value
    if type(value) is np.ndarray and not value.dtype.hasobject:
        new = value.copy(order="K")
    elif isinstance(value, np.ndarray):
        try:
            return copy.deepcopy(value, memo)
        except Exception:
            return value
    elif type(value) is list:
        copied: list[object] = []
        memo[id(value)] = new = copied
        copied.extend(_copied_all(value, memo))
    elif type(value) is dict:
        memo[id(value)] = new = dict(value)
        if not _ATOMS.issuperset(map(type, value.values())):
            new.update(zip(value, _copied_all(value.values(), memo), strict=True))
    elif isinstance(value, tuple) and not _ATOMS.issuperset(map(type, value)):
        parts = _copied_all(value, memo)
        if any(p is not v for p, v in zip(parts, value, strict=True)):
            made = cast("Callable[..., object]", type(value))
            new = made(*parts) if hasattr(value, "_fields") else made(parts)
    elif isinstance(value, MethodType):
        new = MethodType(value.__func__, _copied(value.__self__, memo))
    elif type(value) in GENERATORS:
        new = copy.deepcopy(value)
    elif isinstance(value, FunctionType) and _keeps_more(value):
        new = _copied_function(value, memo)
    elif is_users_object(value):
        memo[id(value)] = new = object.__new__(type(value))
        keep_attributes(new, {k: _copied(v, memo) for k, v in attributes_of(value).items()})
    memo[id(value)] = new
    return new


def _keeps_more(f: FunctionType) -> bool:
    """Whether a function of the cells keeps what its calls may change: variables that it binds, containers and arrays."""
    if not of_users(f):
        return False
    kept = [*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()]
    with contextlib.suppress(ValueError):  # a variable has no value yet
        kept += [c.cell_contents for c in f.__closure__ or ()]
    return bool(variables_of(f)) or any(
        isinstance(v, (list, dict, set, np.ndarray)) or is_users_object(v) for v in kept
    )


_COPIES: list[tuple[ref[FunctionType], ref[FunctionType]]] = []
"""Copies of functions, and of which each is one: without callbacks, in which an alarm would be lost."""


def copies_of_functions() -> list[tuple[FunctionType, FunctionType]]:
    """The copies that are still there, each with its function."""
    found = [(a, b) for copied, of in _COPIES if (a := copied()) is not None and (b := of()) is not None]
    _COPIES[:] = [(ref(a), ref(b)) for a, b in found]
    return found


def _copied_function(f: FunctionType, memo: dict[int, object]) -> FunctionType:
    """A function with variables of its own, which functions that are copied beside it share."""
    cells = tuple(cast("CellType", memo.setdefault(id(c), CellType())) for c in f.__closure__ or ())
    new = FunctionType(f.__code__, f.__globals__, f.__name__, None, cells or None)
    memo[id(f)] = new
    _COPIES.append((ref(new), ref(f)))
    new.__defaults__ = cast("tuple[object, ...] | None", _copied(f.__defaults__, memo))
    new.__kwdefaults__ = cast("dict[str, object] | None", _copied(f.__kwdefaults__, memo))
    new.__dict__.update(f.__dict__)
    new.__qualname__, new.__module__, new.__doc__ = f.__qualname__, f.__module__, f.__doc__
    for own, of in zip(cells, f.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):
            own.cell_contents = _copied(of.cell_contents, memo)
    return new


def _copied_all(values: Collection[object], memo: dict[int, object]) -> list[object]:
    """Copies of values; of many that are alike, and have nothing inside, in a fraction of the time."""
    kinds = set(map(type, values))
    if _ATOMS.issuperset(kinds):
        return list(values)
    flat = kinds in ({tuple}, {list}) and _ATOMS.issuperset(map(type, chain.from_iterable(values)))  # type: ignore[arg-type]
    if flat and kinds == {tuple}:
        return list(values)
    arrays = kinds == {np.ndarray} and not any(d.hasobject for d in {v.dtype for v in values})  # type: ignore[attr-defined]
    if not flat and not arrays:
        return [_copied(v, memo) for v in values]
    keys = list(map(id, values))
    new = dict(zip(keys, values, strict=True))
    for key in new.keys() & memo.keys():
        del new[key]
    memo.update(zip(new, [v.copy(order="K") for v in new.values()] if arrays else map(list, new.values()), strict=True))  # type: ignore[attr-defined, call-overload]
    return [memo[key] for key in keys]


def compiles(value: object) -> bool:
    """Whether this is a module of a library that compiles."""
    return isinstance(value, ModuleType) and value.__name__.partition(".")[0] in ("jax", "jitscope")


def _bytes(values: Mapping[str, object]) -> int:
    return sum(v.nbytes for v in values.values() if isinstance(v, np.ndarray))
