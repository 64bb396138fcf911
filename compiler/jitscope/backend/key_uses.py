"""Which random keys a program uses up: a walk over its jaxpr with a number for each key.

Every element of every key array has a *label*; operations that move keys move labels, and operations that draw numbers or
split keys *use* them. A label used twice is an error. Loops are walked twice, which is what tells about their next round;
branches are walked side by side. Elements at an index that is not known are told apart by the computation of the index.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..control.cond import cond_p
from ..control.remat import checkpoint_p
from ..control.scan import scan_p
from ..control.while_loop import while_p
from ..core import call_sites, config, notices, source
from ..core.errors import KeyReuseError, stepped_on
from ..core.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, subjaxprs
from ..core.messages import advice_of, place, with_advice
from ..core.words import cut, sentence
from ..named_tuple import NamedTuple
from ..ops import elementwise, indexing, linear, rng
from .watching import is_key


Labels = np.ndarray
"""Labels of the keys of an array, in its shape."""


class Use(NamedTuple):
    """Where a key was used: `line` in the program, or where the function of this library was called that used it; `call`
    where the compiled function was called that did."""

    line: Any
    call: Any = None

    def __str__(self) -> str:
        line, call = (call_sites.user_position(handle) for handle in self)
        if line is None or call is None or line == call:
            shown = line or call
            return place(shown) if shown else "at a place unknown"
        return f"{place(line)}\n    (called {place(call)})"


def key_reuse_error(first: Use, second: Use, how: str = "") -> KeyReuseError:
    """The error for a key used twice."""
    same = "the same line" if call_sites.user_position(first.line) == call_sites.user_position(second.line) else ""
    again = how or (f"by {same} once more" if same and first.call == second.call else str(second))
    error = KeyReuseError(
        with_advice(
            f"a random key was used twice: numbers drawn with it are not independent of each other.\n  first {first}\n"
            f"  again {again}",
            "split it, key, own = jitscope.random.split(key), and use each part once; or, where the "
            "same numbers are wanted, jitscope.random.clone(key)",
        )
    )
    error.first = call_sites.user_position(first.line)
    return stepped_on(error, "key-reuse", _blamed(first, second))


def _blamed(first: Use, second: Use) -> source.Position | None:
    """The line that used the key again: where the calls that led to both uses part, so that the caller of a function that draws
    is told and not the function; the use itself where they do not part."""
    for one, other in ((first.call, second.call), (first.line, second.line)):
        before, after = call_sites.user_frames(one)[::-1], call_sites.user_frames(other)[::-1]
        parted = next((b for a, b in zip(before, after) if a != b), None)
        if parted is not None:
            return parted
    return call_sites.user_position(second.line) or call_sites.user_position(second.call)


def refuse(error: KeyReuseError) -> None:
    """Raise the error; where runs are only looked at (the option `sharp_bits`), tell it."""
    if not config.settings().sharp_bits:
        raise error
    message = str(error)
    _, where = error.sharp_bit  # pyright: ignore[reportAttributeAccessIssue]
    told = message.partition("\n")[0]
    if error.first is not None and where is not None:
        same = (error.first.file, error.first.line) == (where.file, where.line)
        first = "both times in this line" if same else f"first in `{cut(error.first.text.strip(), 60)}`"
        told = told.replace(" twice:", f" twice, {first}:", 1)
    notices.tell("key-reuse", told, sentence(advice_of(message)), where)


def mentions_keys(closed: ClosedJaxpr) -> bool:
    """Whether keys occur in a program, at any level."""
    if "mentions keys" not in closed.derived:
        jaxpr = closed.jaxpr
        variables = [*jaxpr.constvars, *jaxpr.invars, *[v for eqn in jaxpr.eqns for v in eqn.outvars]]
        inner = [sub for eqn in jaxpr.eqns for _, sub in subjaxprs(eqn.params)]
        closed.derived["mentions keys"] = any(is_key(v.aval) for v in variables) or any(map(mentions_keys, inner))
    return closed.derived["mentions keys"]


class Summary:
    """What a program does with the keys it gets (its constants', then its arguments', numbered one after the other).

    `used` has (number, where) of those it uses up; `parts` has (numbers, where) of arrays of which it used an element at an
    index that is not known; `outs`, for each result that holds keys, their numbers: those from `count` on are new, and in
    `spent` if they were used up already.
    """

    def __init__(self, closed: ClosedJaxpr):
        walk, jaxpr = Walk(), closed.jaxpr
        given = [walk.new(v.aval.shape) if is_key(v.aval) else None for v in (*jaxpr.constvars, *jaxpr.invars)]
        self.count = walk.next
        outs, _ = walk.run(jaxpr, given, [walk.number() for _ in given])
        self.used = [(label, use) for label, use in walk.used.items() if label < self.count]
        self.parts = [(p, use) for p, use in walk.parts if p and max(p) < self.count]
        self.outs = outs
        self.spent = {label: use for label, use in walk.used.items() if label >= self.count}


def summary(closed: ClosedJaxpr) -> Summary:
    """The summary of a program, made once. Raises KeyReuseError for a program that uses a key twice by itself."""
    if "key uses" not in closed.derived:
        closed.derived["key uses"] = Summary(closed)
    return closed.derived["key uses"]


class Walk:
    """One walk over a program. `used` says where a label was used up."""

    def __init__(self):
        self.next = 0
        self.used: dict[int, Use] = {}
        self.parts: list[tuple[frozenset[int], Use]] = []
        self.windows: dict[int, frozenset[int]] = {}
        self._numbers = itertools.count()
        self._known: dict[Any, Any] = {}

    def new(self, shape: Sequence[int]) -> Labels:
        """Labels of new keys."""
        labels = np.arange(self.next, self.next + int(np.prod(shape, dtype=np.int64))).reshape(shape)
        self.next += labels.size
        return labels

    def number(self) -> int:
        """A number for a value of which nothing is known; equal computations get equal numbers."""
        return next(self._numbers)

    def use(self, labels: Labels, use: Use, again: str = "") -> None:
        """Use keys up. Raises KeyReuseError if one of them was used before."""
        own = set(labels.ravel().tolist())
        for label in own:
            first = self.used.get(label)
            if first is not None:
                refuse(key_reuse_error(first, use, again))
        for part, first in self.parts:
            if part <= own:
                refuse(key_reuse_error(first, use, again))
        for label in own:
            array = self.windows.get(label)
            if array is not None:
                if array <= self.used.keys():
                    refuse(key_reuse_error(self.used[min(array)], use, again))
                self.parts.append((array, use))
        self.used.update(dict.fromkeys(own, use))

    def element(self, labels: Labels, at: Any, shape: Sequence[int]) -> Labels:
        """Labels of keys at an index that is not known, but has a number."""
        key = ("element", labels.tobytes(), labels.shape, at, tuple(shape))
        if key not in self._known:
            found = self._known[key] = self.new(shape)
            array = frozenset(labels.ravel().tolist())
            self.windows.update((label, array) for label in found.ravel().tolist())
        return self._known[key]

    def run(self, jaxpr: Jaxpr, labels: Sequence[Any], numbers: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Walk over a program, given labels (None: no keys) and numbers of its constants and arguments; those of its
        results."""
        variables = (*jaxpr.constvars, *jaxpr.invars)
        env: dict[Var, Labels | None] = dict(zip(variables, labels))
        values: dict[Var, Any] = dict(zip(variables, numbers))

        def number_of(atom: Atom) -> Any:
            return ("literal", repr(atom.value)) if isinstance(atom, Literal) else values[atom]

        for eqn in jaxpr.eqns:
            given = [None if isinstance(a, Literal) else env[a] for a in eqn.invars]
            ins = [number_of(a) for a in eqn.invars]
            outs, out_numbers = self.equation(eqn, given, ins)
            env.update(zip(eqn.outvars, outs))
            values.update(zip(eqn.outvars, out_numbers))
        found = [None if isinstance(a, Literal) else env[a] for a in jaxpr.outvars]
        return found, [number_of(a) for a in jaxpr.outvars]

    def equation(self, eqn: JaxprEqn, given: list[Any], ins: list[Any]) -> tuple[list[Any], list[Any]]:
        inner = [sub for _, sub in subjaxprs(eqn.params)]
        keyed = any(x is not None for x in given) or any(is_key(v.aval) for v in eqn.outvars)
        if inner and (keyed or any(map(mentions_keys, inner))):
            return _INNER.get(eqn.primitive, _inner)(self, eqn, given, ins, inner)
        numbers = self._numbers_of(eqn, ins, bool(inner))
        if not keyed:
            return [None] * len(eqn.outvars), numbers
        rule = _RULES.get(eqn.primitive)
        if rule is not None:
            return [rule(self, eqn, given, ins)], numbers
        for labels in given:
            if labels is not None:
                self.use(labels, Use(eqn.traceback))
        return self.fresh(eqn), numbers

    def _numbers_of(self, eqn: JaxprEqn, ins: list[Any], inner: bool) -> list[Any]:
        if inner or eqn.effects:
            return [self.number() for _ in eqn.outvars]
        key = (eqn.primitive, *eqn.params.items(), *ins)
        try:
            known = self._known.get(key)
        except TypeError:  # a parameter of a user's primitive that cannot be hashed
            return [self.number() for _ in eqn.outvars]
        if known is None:
            known = self._known[key] = [self.number() for _ in eqn.outvars]
        return known

    def fresh(self, eqn: JaxprEqn) -> list[Any]:
        return [self.new(v.aval.shape) if is_key(v.aval) else None for v in eqn.outvars]


# Operations ----------------------------------------------------------------------------------------------------------

Rule = Callable[[Walk, JaxprEqn, list[Any], list[Any]], Any]


def _moved(how: Callable[..., Labels]) -> Rule:
    """An operation that moves the keys of its first operand, as `how(labels, **params)` does."""
    return lambda walk, eqn, given, ins: how(given[0], **eqn.params)


def _broadcast(x: Labels, *, shape: tuple[int, ...], broadcast_dimensions: tuple[int, ...]) -> Labels:
    sizes = [1] * len(shape)
    for axis, dim in enumerate(broadcast_dimensions):
        sizes[dim] = x.shape[axis]
    return np.broadcast_to(x.reshape(sizes), shape)


def _slice(x: Labels, *, start_indices: Any, limit_indices: Any, strides: Any) -> Labels:
    steps = strides or (1,) * x.ndim
    return x[tuple(slice(*parts) for parts in zip(start_indices, limit_indices, steps))]


def _new(walk: Walk, eqn: JaxprEqn, given: list[Any], ins: list[Any]) -> Labels:
    return walk.new(eqn.outvars[0].aval.shape)


def _drawn(walk: Walk, eqn: JaxprEqn, given: list[Any], ins: list[Any]) -> Any:
    walk.use(given[0], Use(eqn.traceback))
    return walk.fresh(eqn)[0]


def _concatenate(walk: Walk, eqn: JaxprEqn, given: list[Any], ins: list[Any]) -> Labels:
    seen: set[int] = set()
    for labels in given:
        own = set(labels.ravel().tolist())
        if own & seen:
            here = Use(eqn.traceback)
            refuse(key_reuse_error(here, here, "in the same place: the array would hold it twice"))
        seen |= own
    return np.concatenate(given, eqn.params["dimension"])


def _select(walk: Walk, eqn: JaxprEqn, given: list[Any], ins: list[Any]) -> Labels:
    cases = given[1:]
    if all(np.array_equal(cases[0], other) for other in cases[1:]):
        return cases[0]
    for labels in cases:  # which of them it is nobody knows
        walk.use(labels, Use(eqn.traceback), "as another choice in the same place")
    return walk.new(eqn.outvars[0].aval.shape)


def _starts(atoms: Sequence[Atom], shape: Sequence[int], sizes: Sequence[int]) -> Any:
    """The window of a dynamic slice if it is known, clamped as XLA does."""
    if not all(isinstance(a, Literal) for a in atoms):
        return None
    starts = [min(max(int(a.value), 0), n - size) for a, n, size in zip(atoms, shape, sizes)]  # pyright: ignore
    return tuple(slice(start, start + size) for start, size in zip(starts, sizes))


def _dynamic_slice(walk: Walk, eqn: JaxprEqn, given: list[Any], ins: list[Any]) -> Labels:
    sizes = eqn.params["slice_sizes"]
    window = _starts(eqn.invars[1:], given[0].shape, sizes)
    return walk.element(given[0], ("at", *ins[1:]), sizes) if window is None else given[0][window]


def _dynamic_update_slice(walk: Walk, eqn: JaxprEqn, given: list[Any], ins: list[Any]) -> Labels:
    x, update = given[0], given[1]
    window = _starts(eqn.invars[2:], x.shape, update.shape)
    if window is None:
        return walk.new(x.shape)
    changed = x.copy()
    changed[window] = update
    return changed


def _gather(walk: Walk, eqn: JaxprEqn, given: list[Any], ins: list[Any]) -> Labels:
    return walk.element(given[0], ("of", ins[1], *eqn.params.items()), eqn.outvars[0].aval.shape)


def _nothing(walk: Walk, eqn: JaxprEqn, given: list[Any], ins: list[Any]) -> None:
    return None


_RULES: dict[Any, Rule] = {
    rng.random_bits_p: _drawn,
    rng.random_split_p: _drawn,
    rng.random_seed_p: _new,
    rng.random_wrap_p: _new,
    rng.random_fold_in_p: _new,
    rng.random_clone_p: _new,
    rng.random_unwrap_p: _nothing,
    elementwise.eq_p: _nothing,
    elementwise.ne_p: _nothing,
    linear.broadcast_in_dim_p: _moved(_broadcast),
    linear.reshape_p: _moved(lambda x, *, new_sizes, **_: x.reshape(new_sizes)),
    linear.squeeze_p: _moved(lambda x, *, dimensions: x.squeeze(tuple(dimensions))),
    linear.transpose_p: _moved(lambda x, *, permutation: x.transpose(permutation)),
    linear.rev_p: _moved(lambda x, *, dimensions: np.flip(x, tuple(dimensions))),
    linear.slice_p: _moved(_slice),
    linear.copy_p: _moved(lambda x, **_: x),
    linear.convert_element_type_p: _moved(lambda x, **_: x),
    linear.concatenate_p: _concatenate,
    linear.select_n_p: _select,
    indexing.dynamic_slice_p: _dynamic_slice,
    indexing.dynamic_update_slice_p: _dynamic_update_slice,
    indexing.gather_p: _gather,
    indexing.scatter_p: _new,
}


# Inner jaxprs of operations -----------------------------------------------------------------------------------------


def _inner(walk: Walk, eqn: JaxprEqn, given: list[Any], ins: list[Any], inner: list[ClosedJaxpr]) -> Any:
    """A call: one program, on the operands. What holds programs otherwise uses up all keys it gets."""
    if len(inner) == 1 and len(inner[0].in_avals) == len(given):
        return _call(walk, inner[0], given, ins)
    for labels in given:
        if labels is not None:
            walk.use(labels, Use(eqn.traceback))
    return walk.fresh(eqn), [walk.number() for _ in eqn.outvars]


def _call(walk: Walk, closed: ClosedJaxpr, given: Sequence[Any], ins: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    constants = [walk.new(v.aval.shape) if is_key(v.aval) else None for v in closed.jaxpr.constvars]
    return walk.run(closed.jaxpr, [*constants, *given], [*[walk.number() for _ in constants], *ins])


def _checkpoint(walk: Walk, eqn: JaxprEqn, given: list[Any], ins: list[Any], inner: list[ClosedJaxpr]) -> Any:
    """A program run again for its derivative draws the same numbers again, as it must."""
    if eqn.params["differentiated"]:
        return walk.fresh(eqn), [walk.number() for _ in eqn.outvars]
    return _call(walk, inner[0], given, ins)


def _cond(walk: Walk, eqn: JaxprEqn, given: list[Any], ins: list[Any], inner: list[ClosedJaxpr]) -> Any:
    before, parts = dict(walk.used), list(walk.parts)
    found, after, after_parts = [], dict(before), list(parts)
    for branch in inner:
        walk.used, walk.parts = dict(before), list(parts)
        found.append(_call(walk, branch, given[1:], ins[1:])[0])
        after |= walk.used
        after_parts += walk.parts[len(parts) :]
    walk.used, walk.parts = after, after_parts
    outs = [_joined(walk, column) for column in zip(*found)]
    return outs, [walk.number() for _ in eqn.outvars]


def _joined(walk: Walk, column: Sequence[Any]) -> Any:
    """One result of several branches: new keys where they differ, used up if they may be."""
    first = column[0]
    if first is None or all(np.array_equal(first, other) for other in column):
        return first
    labels = walk.new(first.shape)
    for other in column:
        for label, own in zip(labels.ravel().tolist(), other.ravel().tolist()):
            if own in walk.used:
                walk.used[label] = walk.used[own]
    return labels


def _scan(walk: Walk, eqn: JaxprEqn, given: list[Any], ins: list[Any], inner: list[ClosedJaxpr]) -> Any:
    (body,), length = inner, eqn.params["length"]
    consts, carry = eqn.params["num_consts"], eqn.params["num_carry"]
    state, numbers = given[consts : consts + carry], ins[consts : consts + carry]
    xs = given[consts + carry :]
    ys: list[Any] = [None] * (len(eqn.outvars) - carry)
    for i in range(min(length, 2)):
        rows = [None if x is None else x[i] for x in xs]
        outs, out_numbers = _call(
            walk, body, [*given[:consts], *state, *rows], [*ins[:consts], *numbers, *[walk.number() for _ in rows]]
        )
        state, numbers, ys = outs[:carry], out_numbers[:carry], outs[carry:]
    for x in xs:
        use = _first_use(walk, x[0]) if x is not None and length else None
        if x is not None and use is not None:
            walk.use(x[2:], use)
    outs = [*state, *[None if y is None else _rows_like(walk, y, length) for y in ys]]
    outs = [walk.new(v.aval.shape) if is_key(v.aval) and x is None else x for v, x in zip(eqn.outvars, outs)]
    return outs, [walk.number() for _ in eqn.outvars]


def _first_use(walk: Walk, labels: Labels) -> Use | None:
    return next((walk.used[label] for label in labels.ravel().tolist() if label in walk.used), None)


def _rows_like(walk: Walk, row: Labels, length: int) -> Labels:
    """Keys stacked by a loop: new ones, used up if those of a row were."""
    labels = walk.new((length, *row.shape))
    use = _first_use(walk, row)
    if use is not None:
        walk.use(labels, use)
    return labels


def _while(walk: Walk, eqn: JaxprEqn, given: list[Any], ins: list[Any], inner: list[ClosedJaxpr]) -> Any:
    condition, body = eqn.params["cond_jaxpr"], eqn.params["body_jaxpr"]
    n, m = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
    state, numbers = given[n + m :], ins[n + m :]
    for _ in range(2):
        _call(walk, condition, [*given[:n], *state], [*ins[:n], *numbers])
        state, numbers = _call(walk, body, [*given[n : n + m], *state], [*ins[n : n + m], *numbers])
    return state, [walk.number() for _ in eqn.outvars]


_INNER: dict[Any, Callable[..., Any]] = {
    checkpoint_p: _checkpoint,
    cond_p: _cond,
    scan_p: _scan,
    while_p: _while,
}
