"""References as memory: their programs, which change them in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..control.discharge import pure_program
from ..control.indexers import Parts, adding, swapping
from ..control.ref_errors import aliasing_error
from ..control.refs import AbstractRef, Ref, ValueCell
from ..core.config import settings
from ..core.forgetful_caches import make_room
from ..core.jaxpr import ClosedJaxpr, Jaxpr, rearranged
from ..core.references import ReferenceAval
from ..core.trace import Tracer, leak_error
from .array import Array, array_on, one_device, to_array
from .caches import CacheEntry
from .call_arguments import copy_of
from .compile import Program, compile_jaxpr


class Memory(ValueCell):
    """An array that its reference changes in place. `shared`: somebody else may have the array, too; then the first change
    makes a copy."""

    __slots__ = ("shared",)

    def __init__(self, value: Array):
        super().__init__(None, value)
        self.shared = True

    def get(self, parts, operands):
        if not parts:
            self.shared = True
        return super().get(parts, operands)

    def put(self, value, parts, operands, add):
        old = self.read()
        if not parts and not add:
            self.value, self.shared = _beside(old, value), True
            return
        arrays = [_beside(old, x) for x in (value, *operands)]
        program = _program(old, parts, arrays, add)
        self.renew(program.run([self.lend(True), *[x.buf for x in arrays]])[-1])

    def lend(self, changes: bool) -> Any:
        """The buffer for a program; one that `changes` it may take the memory."""
        old = self.read()
        if changes and self.shared:
            self.renew(Array(copy_of(old.buf), old.aval))
        return self.value.buf

    def renew(self, value: Array) -> None:
        """What a program gave: nobody else has it."""
        self.value, self.shared = value, False

    def end(self):
        self.shared = True
        return super().end()


def _beside(old: Array, x: Any) -> Array:
    """A value as an array where the old one is. Raises for a tracer, whose trace is over."""
    if isinstance(x, Tracer):
        raise leak_error(x)
    return to_array(x) if one_device() else array_on(x, old.place)


def memory_of(x: Any, kind: str | None = None) -> Ref:
    """A new reference, of that kind, to memory that holds `x`."""
    array = to_array(x)
    return Ref(AbstractRef(array.aval, kind=kind), Memory(array))


_programs: dict[Any, Program] = {}
_MAX_PROGRAMS = 4096


def _program(old: Array, parts: Parts, arrays: Sequence[Array], add: bool) -> Program:
    """The program (value, new, operands of the index) → new value, in the memory of the old."""
    device = None if one_device() else old.place
    layouts = [] if device is None else [x.buf._sharding for x in (old, *arrays)]
    key = (old.aval, parts, add, *[x.aval for x in arrays], settings(), device, *layouts)
    program = _programs.get(key)
    if program is None:
        new, *places = [x.aval for x in arrays]
        closed = adding(old.aval, parts, new, places) if add else swapping(old.aval, parts, new, places)
        closed = rearranged(closed, range(len(closed.in_avals)), [len(closed.out_avals) - 1])
        if device is not None:
            from .spreading import said_of, spread_for  # of several devices

            device = spread_for(closed, layouts, device, [said_of(old.buf._sharding)])
        program = compile_jaxpr(closed, device=device, donated=(0,), keep_unused=True)
        program.donated = ()  # the buffer is nobody's: there is no story to tell of it
        make_room(_programs, _MAX_PROGRAMS)
        _programs[key] = program
    return program


# Programs that take references ---------------------------------------------------------------------------------------


class ReferenceProgram:
    """How a traced program with references is compiled and called: `closed` is pure, and takes the values of the `captured`
    references first. `changed` are the numbers of the arguments whose new values it gives, after its `results` results."""

    __slots__ = ("captured", "changed", "closed", "places", "results")

    def __init__(self, traced: ClosedJaxpr):
        jaxpr = traced.jaxpr
        own = [i for i, v in enumerate(jaxpr.constvars) if isinstance(v.aval, ReferenceAval)]
        self.captured: list[Any] = [traced.consts[i] for i in own]
        others = [i for i in range(len(jaxpr.constvars)) if i not in own]
        first = [jaxpr.constvars[i] for i in own]
        names = tuple(f"ref{i}" for i in range(len(own))) + jaxpr.debug.arg_names
        lifted = Jaxpr([jaxpr.constvars[i] for i in others], [*first, *jaxpr.invars], jaxpr.outvars, jaxpr.eqns,
                       jaxpr.effects, jaxpr.debug._replace(arg_names=names))  # fmt: skip
        self.closed, changed = pure_program(ClosedJaxpr(lifted, [traced.consts[i] for i in others]))
        self.changed = [i - len(others) for i in changed]
        self.places = [i for i, v in enumerate(jaxpr.invars) if isinstance(v.aval, ReferenceAval)]
        self.results = len(jaxpr.outvars)

    def donated(self, donated: Sequence[int]) -> list[int]:
        """The numbers of the arguments whose memory results may take: those given away, and changed references."""
        return [*self.changed, *[i + len(self.captured) for i in donated if i not in self.places]]

    def spread(self, layouts: Sequence[Any], device: Any) -> Any:
        """Where it runs for arguments in these layouts, see `spread_for`; new values of references lie as the old ones."""
        from .spreading import said_of, spread_for  # of several devices

        layouts = [*[x.array.buf._sharding for x in self.captured], *layouts]
        outs = [*[None] * self.results, *[said_of(layouts[i]) for i in self.changed]]
        return spread_for(self.closed, layouts, device, outs)

    def settle(self, program: Program) -> None:
        """What the program takes of references was theirs: there is no story to tell of it."""
        program.donated = tuple(i for i in program.donated if i not in self.changed)

    def run(self, program: Program, bufs: Sequence[Any]) -> list[Array]:
        """The results, after the references are brought up to date. In place of buffers `bufs` has the references. Raises
        ValueError if two of them are one, or one is captured, too."""
        given = [*self.captured, *[x for x in bufs if type(x) is Ref]]
        if len(given) > 1 and len({id(x) for x in given}) < len(given):
            raise aliasing_error(program.debug.name, program.debug.arg_names[len(self.captured) :], bufs, self.captured)
        refs: list[Any] = [*self.captured, *bufs]
        given = [
            x.cell.lend(i in self.changed) if type(x) is Ref else x  # pyright: ignore[reportAttributeAccessIssue]
            for i, x in enumerate(refs)
        ]
        outs = program.run(given)
        for i, new in zip(self.changed, outs[self.results :]):
            refs[i].cell.renew(new)
        return outs[: self.results]


class ReferenceEntry(CacheEntry):
    """What a key answers with whose program takes references."""

    __slots__ = ("taken",)

    def __init__(self, program: Program, out_tree: Any, taken: ReferenceProgram, places: Sequence[int] | None = None):
        super().__init__(program, out_tree, places)
        self.taken = taken
        taken.settle(program)

    def reordered(self, places):
        ready = ReferenceEntry(self.program, self.out_tree, self.taken, places)
        ready.tally = self.tally
        return ready

    def run(self, bufs):
        self.tally.calls += 1
        if self.places is not None:
            bufs = [bufs[i] for i in self.places]
        return self.out_tree.unflatten(self.taken.run(self.program, bufs))
