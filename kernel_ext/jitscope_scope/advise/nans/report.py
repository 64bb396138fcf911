"""What a hunt found, explained: the sharp bit it is, the cause in a sentence, where the infinity before it came from, the `where` that
hid the value, whether the compiled program computes otherwise, and fixes that were checked."""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jitscope.backend.array import to_array
from jitscope.backend.hunt import BadInput, Finding, Hunt, infinities, nans
from jitscope.backend.hunt.frames import Frame
from jitscope.backend.hunt.programs import run
from jitscope.core import call_sites, dtypes, source
from jitscope.core.axes import current_axes, use_axes
from jitscope.core.jaxpr import ClosedJaxpr, Jaxpr, Literal
from jitscope.core.source import Position

from ...source_code.bindings import reads
from ...source_code.places import path_at
from ...source_code.tree import FUNCTIONS, below
from . import causes


Retrace = Callable[[], ClosedJaxpr]
"""Traces the function of the hunt once more, as its code is now."""


def hunt(
    closed: ClosedJaxpr,
    args: Sequence[Any],
    name: str,
    callbacks: bool = False,
    results: Sequence[Any] | None = None,
    retrace: Retrace | None = None,
) -> Report:
    """Look for the first NaN in a program's results for these arguments; if they have none, for the first infinity.

    Raises `backend.hunt.HasCallbacks` for a program with effects or callbacks, unless `callbacks`.
    """
    one = Hunt(closed, args, nans, callbacks, results, thorough=retrace is not None)
    if not one.bad_results() and one.finding is None:
        other = Hunt(closed, args, infinities, callbacks, one.results)
        one = other if other.bad_results() else one
    return Report(name, one, retrace)


class Ran(NamedTuple):
    """A run of the function of a hunt: its results and, where that is known, what the `where` gave that hid the bad value."""

    results: list[np.ndarray]
    masked: np.ndarray | None = None


class Answer:
    """What every kind of hunt says, from what it found: whether it is a NaN (`nan`), in a `derivative`, below a `where`; the first bad
    operation and what made the infinity before it."""

    nan: Any
    derivative: Any
    where: Any
    finding: Any
    infinite: Any
    why: Any

    can_run_again: Any
    """Whether fixes are looked for, and checked by running the function."""

    def run_again(self) -> Ran | None:
        """Run the function as its code is now; None where it gives results of other shapes."""
        raise NotImplementedError

    def ran(self) -> Ran:
        """The run in which the bad value was found."""
        raise NotImplementedError

    @functools.cached_property
    def source(self) -> Finding | None:
        """The operation to look at: what made the infinity in the backward pass, else the first bad one."""
        infinity = self.infinity
        return infinity if infinity is not None and infinity.transforms and infinity.position else self.finding

    @functools.cached_property
    def fixes(self) -> list[Any]:
        """What to write instead, each checked by running it: `rewriting.CheckedFix`."""
        from .rewriting import checked_fixes

        return checked_fixes(self) if self.can_run_again and self.finding is not None else []

    @property
    def infinity(self) -> Finding | None:
        """What made the infinity that became the NaN, if the program did."""
        return self.infinite if isinstance(self.infinite, Finding) else None

    @property
    def of_infinity(self) -> str:
        """Where the infinity comes from, behind the cause of the NaN; "" where that is not known."""
        if isinstance(self.infinite, BadInput):
            return f"; {self.infinite.name} had infinities already"
        if self.infinite is None:
            return ""
        which = (
            "the infinity"
            if sum(np.isinf(x).sum() for x in map(causes.wide, self.infinite.results)) == 1
            else "an infinity before it"
        )
        return f"; {which} is {causes.why(self.infinite, False)}"

    @property
    def what(self) -> str:
        return "NaN" if self.nan else "an infinity"

    @property
    def sharp_bit(self) -> str:
        """The id of the diagnostic."""
        if not self.derivative:
            return "silent-nan"
        return "where-grad-nan" if self.where is not None else "grad-singular-point"


@dataclasses.dataclass(frozen=True)
class Report(Answer):
    """`name` is the function's. `retrace`: fixes are looked for, and checked by running them."""

    name: str
    hunt: Hunt
    retrace: Retrace | None = None

    @property
    def finding(self) -> Finding | None:
        return self.hunt.finding

    @property
    def jaxpr(self) -> Jaxpr:
        """The program in which was hunted."""
        return self.hunt.closed.jaxpr

    @property
    def given(self) -> list[BadInput]:
        return self.hunt.given

    @property
    def nan(self) -> bool:
        return self.hunt.test is nans

    @property
    def found(self) -> bool:
        """Whether the results have a NaN or an infinity."""
        return bool(self.hunt.bad_results())

    @functools.cached_property
    def infinite(self) -> Finding | BadInput | None:
        """Where the infinity comes from that became the NaN."""
        finding = self.finding
        if finding is None or not self.nan:
            return None
        for place, x in zip(finding.places, finding.operands):
            values = causes.wide(x)
            if values.dtype.kind in "fc" and np.isinf(values).any():
                hunt = self.hunt.cause_of(place, infinities)
                if (found := hunt.finding or next(iter(hunt.given), None)) is not None:
                    return found
        return None

    @functools.cached_property
    def where(self) -> Position | None:
        """The `where` that did not take the value whose derivative is bad."""
        finding, origin = self.finding, self.hunt.origin
        if finding is None or origin is None:
            return None
        if finding.backward:
            inside = finding.position and where_around(finding.position)
            where = _masking(origin.frame, origin.index) or inside or None
            return where if where is not None and self._came_with_zero() else None
        flat = origin.frame.flat
        back = next((one for one in finding.steps if "transpose" in one.transforms), None)
        paths = [origin.frame.prefix + path for path in flat.paths]
        where = _masking(origin.frame, paths.index(back.path)) if back is not None and back.path in paths else None
        return where if where is not None and self._leaves_out(where) else None

    def _came_with_zero(self) -> bool:
        finding, origin = self.finding, self.hunt.origin
        if finding is None or origin is None:
            return False
        flat = origin.frame.flat
        made = [flat.makers.get(flat.eqns[origin.index].invars[i]) for i in finding.places]  # pyright: ignore[reportArgumentType]
        return came_with_zero(
            finding,
            [i is not None and "transpose" in call_sites.transforms_of(flat.eqns[i].traceback) for i in made],
        )

    def _leaves_out(self, where: Position) -> bool:
        """Whether what was chosen at a place is fine: functions of a library choose, too, and hand on what is bad."""
        chosen = _chosen(self.hunt.closed, where, self.hunt.whole.args)
        if chosen is None:
            return where_around(where) is not None
        return not self.hunt.test(causes.wide(chosen)).any()

    @property
    def derivative(self) -> bool:
        """Whether the value is fine and its derivative is not."""
        found = self.finding
        return found is not None and (found.backward or "jvp" in found.transforms or self.where is not None)

    @functools.cached_property
    def why(self) -> str:
        """The cause in one sentence."""
        finding = self.finding
        if finding is None:
            return ""
        told = causes.why(finding, self.nan)
        if self.derivative:
            hidden = "the where does not take it, its derivative does" if self.where is not None else ""
            special = causes.singular(self._forward()) if finding.backward else hidden
            told = f"{told}: {special}" if special else told
            return told + (self.of_infinity if isinstance(self.infinite, BadInput) else "")
        return told + self.of_infinity + self._pattern()

    def _forward(self) -> list[str]:
        """The operations whose derivative it is: those written at the same place."""
        where = self.source.position if self.source else None
        names = []
        for eqn in self.hunt.whole.flat.eqns if self.hunt.origin is None else self.hunt.origin.frame.flat.eqns:
            if (
                not {"jvp", "transpose"} & {*call_sites.transforms_of(eqn.traceback)}
                and call_sites.user_position(eqn.traceback) == where
            ):
                names.append(eqn.primitive.name)
        return names

    def _pattern(self) -> str:
        """What the first bad operation is a part of, where the program shows that."""
        finding, origin = self.finding, self.hunt.origin
        if finding is None or origin is None or not self.nan:
            return ""
        where = source.as_typed(finding.position) if finding.position else None
        text = where.text[where.column : where.end_column] if where and where.line == where.end_line else ""
        if re.match(r"[\w.]+\.(nan)?(var|std)\(", text) and finding.primitive in ("div", "broadcast_in_dim"):
            return ": a variance of too few elements"
        if finding.primitive != "div":
            return ""
        infinity = self.infinity
        if infinity is not None and infinity.primitive in ("exp", "exp2", "reduce_sum"):
            return ": a softmax of numbers too large for exp"
        maker, inner = _makers(origin.frame, origin.frame.flat.eqns[origin.index].invars[1])
        if maker in ("sqrt", "pow"):
            return ": a vector of norm 0 is normalized" if inner == "reduce_sum" else ": the divisor is a root of 0"
        return ": a mean of no elements" if maker == "reduce_sum" and finding.operands[1].max(initial=0) == 0 else ""

    @functools.cached_property
    def differs(self) -> str:
        """How the results of the program with flags differ from those of the compiled one; "" if they are the same bit by bit."""
        return _difference(self.hunt)

    @property
    def can_run_again(self) -> bool:
        return self.retrace is not None

    def run_again(self) -> Ran | None:
        assert self.retrace is not None
        fresh = (*current_axes(), (object(), 1))  # no trace from before is found again
        with use_axes(fresh):
            closed = self.retrace()
        if [a.shape for a in closed.out_avals] != [np.shape(x) for x in self.hunt.results]:
            return None
        return Ran(_numbers(run(closed, self.hunt.whole.args)), self._masked(closed))

    def ran(self) -> Ran:
        return Ran(_numbers(map(to_array, self.hunt.results)), self._masked(self.hunt.closed))

    def _masked(self, closed: ClosedJaxpr) -> np.ndarray | None:
        """What the `where` gives, if the program has it at its top."""
        return _chosen(closed, self.where, self.hunt.whole.args) if self.where is not None else None


def came_with_zero(finding: Finding, of_backward_pass: Sequence[bool]) -> bool:
    """Whether the backward pass came with 0 to the elements that became bad: so it does to what a `where` did not take.
    `of_backward_pass` says which operands it computed."""
    result = causes.wide(finding.results[0])
    bad = ~np.isfinite(result)
    for operand, own in zip(finding.operands, of_backward_pass):
        zero = causes.wide(operand) == 0
        if own and (zero[bad].all() if zero.shape == result.shape else zero.any()):
            return True
    return False


def _chosen(closed: ClosedJaxpr, where: Position, args: Any) -> np.ndarray | None:
    """What a `where` at a line gives in the forward pass, if the program has it at its top."""
    found = [
        eqn.outvars[0]
        for eqn in closed.eqns
        if eqn.primitive.name == "select_n"
        and "transpose" not in call_sites.transforms_of(eqn.traceback)
        and (at := call_sites.user_position(eqn.traceback)) is not None
        and (at.file, at.line) == (where.file, where.line)
    ]
    if not found:
        return None
    return np.asarray(run(closed.map_jaxpr(lambda jaxpr: jaxpr.replace(outvars=[found[-1]])), args)[0])


def _makers(frame: Frame, atom: Any) -> tuple[str, str]:
    """The operation that computed an operand, and the one that computed the first operand of that, seen through changes of
    shape; "" where it is not known."""
    eqn = _made(frame, atom)
    inner = _made(frame, eqn.invars[0]) if eqn is not None and eqn.invars else None
    return eqn.primitive.name if eqn is not None else "", inner.primitive.name if inner is not None else ""


def _made(frame: Frame, atom: Any) -> Any:
    while not isinstance(atom, Literal) and atom in frame.flat.makers:
        eqn = frame.flat.eqns[frame.flat.makers[atom]]
        if eqn.primitive.name not in _SHAPING:
            return eqn
        atom = eqn.invars[0]
    return None


_SHAPING = {"broadcast_in_dim", "reshape", "squeeze", "expand_dims", "convert_element_type", "max", "add"}


def _masking(frame: Frame, index: int) -> Position | None:
    """Where the `where` stands whose backward pass gave a zero to this equation."""
    flat, seen = frame.flat, {index}
    todo = list(flat.eqns[index].invars)
    while todo:
        maker = flat.makers.get(todo.pop(0))  # pyright: ignore[reportArgumentType]
        if maker is None or maker in seen:
            continue
        seen.add(maker)
        eqn = flat.eqns[maker]
        if "transpose" in call_sites.transforms_of(eqn.traceback):
            if eqn.primitive.name == "select_n":
                return call_sites.user_position(eqn.traceback)
            todo += [a for a in eqn.invars if not isinstance(a, Literal)]
    return None


def is_hidden(where: Position | None) -> bool:
    """Whether the code gives a value to a `where` alone, directly or by a name: what it does not take is no result."""
    if where is None:
        return False
    path = path_at(where)
    if where_around(where) is not None:
        return True
    statement = next((node for node in path if isinstance(node, ast.stmt)), None)
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            outer = next((n for n in path if isinstance(n, FUNCTIONS)), path[-1])
            read = [one for one in reads(outer) if one.id == name]
            given = [one for call in below(outer) if _is_where(call) for one in reads(call)]
            return bool(read) and all(one in given for one in read)
    return False


def _is_where(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("where", "select")


def where_around(where: Position) -> Position | None:
    """The call of `where` that a position stands in."""
    path = path_at(where)
    for node in path:
        if isinstance(node, ast.Call) and _is_where(node):
            return where.at(node)
    return None


def _numbers(results: Iterable[Any]) -> list[np.ndarray]:
    """Results as NumPy has them; keys have no form there, and are no NaN."""
    return [np.asarray(x) for x in results if not dtypes.is_extended(x.dtype)]


def _difference(hunt: Hunt) -> str:
    if not hunt.again:
        return ""
    compiled = _numbers(hunt.results[i] for i in (hunt.bad_results() or range(len(hunt.results))))
    again = _numbers(hunt.again)
    said = "NaN" if hunt.test is nans else "an infinity"
    there = [bool(hunt.test(causes.wide(x)).any()) for x in compiled if causes.wide(x).dtype.kind in "fc"]
    here = [bool(hunt.test(causes.wide(x)).any()) for x in again if causes.wide(x).dtype.kind in "fc"]
    if any(there) and not any(here):
        return (
            f"The compiled program gives {said}, the program with flags does not: XLA computes in another order or precision where it "
            "fuses operations. Look for numbers close to overflow and for differences of large numbers."
        )
    if any(here) and not any(there):
        return f"The compiled program gives no {said.removeprefix('an ')}, the program with flags does: XLA's simplifications avoid it."
    if all(a.tobytes() == b.tobytes() for a, b in zip(compiled, again)):
        return ""
    steps = max((_steps(a, b) for a, b in zip(compiled, again)), default=0)
    return f"The results of the program with flags differ from the compiled one's by up to {steps:,} steps in the last place."


def _steps(a: np.ndarray, b: np.ndarray) -> int:
    """The largest distance of two arrays in units of the last place, where both are finite."""
    a, b = (
        x if x.dtype.kind != "c" else x.view(np.real(x).dtype)
        for x in (np.ascontiguousarray(a), np.ascontiguousarray(b))
    )
    if causes.wide(a).dtype.kind != "f" or a.dtype.itemsize not in (1, 2, 4, 8):
        return 0
    kind = np.dtype(f"i{a.dtype.itemsize}")
    both = ~(causes.bad(a) | causes.bad(b))
    whole = [np.where((n := x[both].view(kind).astype(object)) < 0, -(n & np.iinfo(kind).max), n) for x in (a, b)]
    return max((abs(int(x) - int(y)) for x, y in zip(*whole)), default=0)
