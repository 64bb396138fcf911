"""Lowering: a jaxpr becomes a StableHLO module.

Each operation's location is the path of its equation (`e2`; inside a called function relative, XLA's inliner prefixes the
call's), so a module says nothing about files and lines and does not change when the code above it does.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import call_sites, dtypes
from ..core.avals import ShapedArray, marked, physical
from ..core.effects import no_effects, python_effects
from ..core.jaxpr import ClosedJaxpr, DebugInfo, Jaxpr, JaxprEqn, Literal, Var, subpath
from ..core.meshes_in_force import meshes_in_force
from ..core.messages import place, with_advice
from ..core.part_types import NO_SUMS, varying, with_mark
from ..core.staging import trace_to_jaxpr
from ..symbolic.dimension import is_static, is_symbolic_dim
from ..symbolic.solving import Solution
from ..xla import mlir, portable
from ..xla.builders import Function, give_back
from .collectives import Collectives
from .foreign import ForeignCalls
from .patterns import Patterns
from .rewriting import Rewrite, Rewriting
from .run_number import NUMBER, RunNumber, call_python
from .sizes import SIZE, Sizes, variables_in_main
from .value_forms import ValueForms


PLATFORM = "_platform_index"
"""The name of the argument of programs for several platforms that says which of them it is."""
_BETTER = {"maximum": "GT", "minimum": "LT"}


class Module:
    """A module under construction: the builders, and the functions made so far (one for each jaxpr called)."""

    def __init__(self, name: str, platforms: Sequence[str] = ("cpu",)):
        self.platforms = tuple(platforms)
        self.platform = platforms[0] if len(platforms) == 1 else ""
        from .mesh_names import Meshes  # when something is lowered

        self.mlir = mlir.bindings()
        self.ir = self.mlir.ir
        self.module = self.ir.Module.create()
        self.module.operation.attributes["sym_name"] = self.ir.StringAttr.get(_symbol(name))
        self.functions: dict[int, Any] = {}
        self.others: dict[Any, Any] = {}
        self.taken: set[str] = {"main"}
        self.calls = self.channels = 0
        self.loops = 0  # around what is lowered now
        self.builders: dict[str, Any] = {}
        self.runs: list[RunNumber] = []
        self.describe: Callable[[JaxprEqn], mlir.Described] | None = None
        self.rewrites: list[Rewrite] = []
        self.variables: tuple[str, ...] = ()
        self.sizes: list[dict[str, Any]] = []
        self.polymorphic = self.refines = False
        self.last_filtered: tuple[Any, Any, ShapedArray] | None = None  # its block, value and aval (ops/winograd.py)
        self.meshes = Meshes(self)

    @property
    def run(self) -> RunNumber:
        """The number of the run in the function now under construction."""
        return self.runs[-1]

    def function_for(self, closed: ClosedJaxpr, name: str) -> tuple[Any, RunNumber]:
        """The private function that runs `closed` (which captures nothing)."""
        found = self.functions.get(id(closed))
        if found is None:
            made = self.build(closed.jaxpr, self._free_name(_symbol(name)), "private")
            found = self.functions[id(closed)] = (made, closed)  # the jaxpr is kept, so that its id stays its own
        return found[0]

    def inserted(self, key: Any, read: Callable[[], Any]) -> Any:
        """The function `main` of another module, copied into this one; once for each key."""
        if key not in self.others:
            self.others[key] = portable.insert(self.module, read(), f"exported{len(self.others)}_")
        return self.others[key]

    def _free_name(self, name: str) -> str:
        candidate, n = name, 0
        while candidate in self.taken:
            n += 1
            candidate = f"{name}_{n}"
        self.taken.add(candidate)
        return candidate

    def build(
        self,
        jaxpr: Jaxpr,
        name: str,
        visibility: str,
        consts: Sequence[np.ndarray] = (),
        donated: Sequence[int] = (),
        spread: Any = None,
        orders: Any = None,
    ) -> tuple[Any, RunNumber]:
        """A function of the jaxpr's invars, `consts` being the values of its constvars; results may take the memory of the arguments `donated`."""
        params, extra = jaxpr.invars, len(self.variables)
        types = [*[aval_type(SIZE)] * extra, *[aval_type(v.aval) for v in params]]
        function_type = self.ir.FunctionType.get(types, [aval_type(a.aval) for a in jaxpr.outvars])
        with self.ir.InsertionPoint(self.module.body):
            function = Function(self.ir, name, function_type, visibility)
        if donated:
            self._mark_donated(function, donated, len(params))
        if spread is not None:
            self.meshes.mark(function, spread, jaxpr)
        if orders is not None:
            self._mark_orders(function, orders)
        block = function.entry([mlir.location(n) for n in [*self.variables, *_argument_names(jaxpr)]])
        run = RunNumber(block)
        self.runs.append(run)
        arguments = list(block.arguments)
        self.sizes.append(dict(zip(self.variables, arguments)))
        with self.ir.InsertionPoint(block):
            captured = [self.mlir.hlo.constant(mlir.constant_attr(c)) for c in consts]
            outs = lower_equations(self, jaxpr, [*captured, *arguments[extra:]])
            give_back(self.ir, run.results(outs, bool(jaxpr.effects & python_effects) or visibility == "public"))
        self.runs.pop()
        self.sizes.pop()
        run.settle(function, self.ir)
        return function, run

    def build_polymorphic(
        self, jaxpr: Jaxpr, solution: Solution | None, consts: Sequence[np.ndarray], spread: Any = None
    ) -> None:
        """The function `main` of a program with symbolic dimensions, and the private function of those that it calls. Of
        programs for several platforms, `main` takes the platform's number first."""
        solution, platform_index = solution or Solution({}, [], []), len(self.platforms) > 1
        self.variables = (*[PLATFORM] * platform_index, *sorted(solution.values))
        self.polymorphic = True
        inner, run = self.build(jaxpr, self._free_name("_wrapped_jax_export_main"), "private", consts)
        if run.taken:
            raise NotImplementedError("a program with symbolic dimensions cannot call Python functions")
        first = [aval_type(SIZE)] * platform_index
        types = [*first, *[aval_type(v.aval) for v in jaxpr.invars]]
        with self.ir.InsertionPoint.at_block_begin(self.module.body):
            function = Function(self.ir, "main", self.ir.FunctionType.get(types, inner.type.results))
        if platform_index:
            constant = self.ir.DictAttr.get({"jax.global_constant": self.ir.StringAttr.get(PLATFORM)})
            none = self.ir.DictAttr.get({})
            function.attributes["arg_attrs"] = self.ir.ArrayAttr.get([constant, *[none] * len(jaxpr.invars)])
        if spread is not None:
            self.meshes.mark(function, spread, jaxpr, len(first))
        block = function.entry([mlir.location(n) for n in [*["platform"] * platform_index, *_argument_names(jaxpr)]])
        with self.ir.InsertionPoint(block):
            arguments = list(block.arguments)[len(first) :]
            found = variables_in_main(LoweringContext(self), solution, arguments)
            found |= dict(zip([PLATFORM], block.arguments)) if platform_index else {}
            # Refining gives the arguments static types; converted ones keep the call as it is.
            given = [
                a if is_static(v.aval.shape) else self.mlir.hlo.convert(a.type, a)
                for v, a in zip(jaxpr.invars, arguments)
            ]
            call = inner.call([*[found[v] for v in self.variables], *given])
            give_back(self.ir, list(call.results))

    def combination(self, taken: Sequence[ShapedArray], given: Sequence[ShapedArray], body: Callable[..., Any]) -> Any:
        """The name of a private function that combines elements."""
        return self.ir.FlatSymbolRefAttr.get(self.function(taken, given, body, "reducer").name)

    def function(
        self, taken: Sequence[ShapedArray], given: Sequence[ShapedArray], body: Callable[..., Any], name: str
    ) -> Any:
        """A private function; `body` gets and gives MLIR values."""
        kind = self.ir.FunctionType.get(list(map(aval_type, taken)), list(map(aval_type, given)))
        with self.ir.InsertionPoint(self.module.body):
            function = Function(self.ir, self._free_name(name), kind, "private")
        with self.ir.InsertionPoint(block := function.entry()):
            out = body(*block.arguments)
            give_back(self.ir, list(out) if isinstance(out, (list, tuple)) else [out])
        return function

    def _mark_donated(self, function: Any, donated: Sequence[int], arguments: int) -> None:
        yes, none = map(self.ir.DictAttr.get, ({"jax.buffer_donor": self.ir.BoolAttr.get(True)}, {}))
        function.attributes["arg_attrs"] = self.ir.ArrayAttr.get(
            [yes if i in donated else none for i in range(arguments)]
        )

    def _mark_orders(self, function: Any, orders: Any) -> None:
        """Say on a function in which order the axes of its arguments and results lie in memory."""
        ir = self.ir
        for attribute, side in (("arg_attrs", orders.ins), ("res_attrs", orders.outs)):
            known = function.attributes[attribute] if attribute in function.attributes else [()] * len(side)
            said = [{} if x is None else {"mhlo.layout_mode": ir.StringAttr.get(x.mode)} for x in side]
            fields = [{**{f.name: f.attr for f in old}, **new} for old, new in zip(known, said)]
            function.attributes[attribute] = ir.ArrayAttr.get(list(map(ir.DictAttr.get, fields)))


def _argument_names(jaxpr: Jaxpr) -> list[str]:
    given = jaxpr.debug.arg_names
    return [given[i] if i < len(given) else f"in{i}" for i in range(len(jaxpr.invars))]


_LONGEST = 100


def _symbol(name: str) -> str:
    """A name as MLIR takes it, and as XLA can make names of files of (of at most 255 characters) when it writes down what it does."""
    cleaned = "".join(c if (c.isalnum() and c.isascii()) or c == "." else "_" for c in name).strip("_")
    return cleaned[:_LONGEST] or "fn"


def _no_symbolic(eqn: JaxprEqn, error: Exception) -> str:
    where = call_sites.user_position(eqn.traceback)
    line = f", {place(where)}," if where else ""
    operands = ", ".join(a.aval.short() for a in eqn.invars)
    return with_advice(
        f"{eqn.primitive.name} of {operands}{line} cannot be exported with these symbolic dimensions: {error}",
        "export the function with numbers for the dimensions this operation meets",
    )


def _traced(fn: Callable[..., Any], avals: Sequence[ShapedArray], name: str) -> ClosedJaxpr:
    """The operations that another is made of, of which nothing says how they lie along Explicit axes: the compiler chooses."""
    if marked:
        avals = [a if getattr(a, "mark", None) is None else with_mark(a, varying(a), NO_SUMS, None) for a in avals]
    with meshes_in_force(None):
        return trace_to_jaxpr(fn, avals, DebugInfo(name))


def aval_type(aval: ShapedArray) -> Any:
    """The MLIR type of values of an aval; of keys that of their words."""
    below = physical(aval)
    return mlir.tensor_type(below.shape, below.dtype)


def lower_equations(module: Module, jaxpr: Jaxpr, values: Sequence[Any], prefix: str = "") -> list[Any]:
    """Lower the equations whose results are read, at the current insertion point; `values` are the constvars' and
    invars'. Paths begin with `prefix`."""
    env: dict[Var, Any] = dict(zip([*jaxpr.constvars, *jaxpr.invars], values))
    ctx = LoweringContext(module)

    ctx.look_for_levels(jaxpr)
    platform = module.platform if not module.polymorphic and module.meshes.group is None else ""
    forms, describe = ValueForms(jaxpr, platform), module.describe
    lower = plain = ctx.lower_symbolic if module.polymorphic else ctx.lower_equation
    if forms:
        lower = lambda eqn, values: forms.lower(ctx, eqn, values, plain)
    for i, eqn in jaxpr.live()[0]:
        ctx.path, ctx.equation = f"{prefix}e{i}", eqn
        with mlir.location(ctx.path, describe and describe(eqn)):
            values = [ctx.literal(a) if type(a) is Literal else env[a] for a in eqn.invars]  # pyright: ignore[reportArgumentType]
            out = lower(eqn, values)
        env.update(zip(eqn.outvars, out if eqn.primitive.multiple_results else (out,)))
    return [ctx.literal(a) if type(a) is Literal else forms.whole(ctx, a, env[a]) for a in jaxpr.outvars]  # pyright: ignore[reportArgumentType]


class LoweringContext(ForeignCalls, Patterns, Collectives, Rewriting):
    """What a `lower` rule works with: builders, types, the avals of its equation, and helpers for common patterns.

    `hlo` and `chlo` are the builders of the dialects; `avals_in` and `avals_out` those of the equation being lowered.
    """

    def __init__(self, module: Module, path: str = ""):
        self.module = module
        self.path = path
        self.ir = module.ir
        self.hlo, self.chlo = module.mlir.hlo, module.mlir.chlo
        self.avals_in: list[ShapedArray] = []
        self.avals_out: list[ShapedArray] = []
        self.effects = no_effects
        self.equation: JaxprEqn | None = None

    @property
    def module_context(self) -> Module:
        """`module`, by JAX's name."""
        return self.module

    def lower_equation(self, eqn: JaxprEqn, values: Sequence[Any]) -> Any:
        self.avals_in = [a.aval for a in eqn.invars]
        self.avals_out = [v.aval for v in eqn.outvars]
        self.effects = eqn.effects & python_effects if eqn.effects else no_effects
        if marked and self.module.meshes.group is not None:
            return self.module.meshes.lower_laid(self, eqn, values)
        return self.lower_unlaid(eqn, values)

    def lower_unlaid(self, eqn: JaxprEqn, values: Sequence[Any]) -> Any:
        """The results of an equation, of which nothing says how they lie."""
        primitive, rules = eqn.primitive, eqn.primitive.lowerings
        rule = (rules.get(self.module.platform) or rules.get(None)) if rules else None
        if rule or primitive.is_users:
            return self.by_users_rule(rule or primitive.lower, values, eqn.params)
        return primitive.lower(self, *values, **eqn.params)

    def lower_symbolic(self, eqn: JaxprEqn, values: Sequence[Any]) -> Any:
        """As `lower_equation`, in a program with symbolic dimensions: builders that look at their operands may leave a size
        open that the aval knows. Raises NotImplementedError for what cannot be lowered with such dimensions."""
        avals = [a.aval for a in [*eqn.invars, *eqn.outvars]]
        try:
            out = self.lower_equation(eqn, values)
        except Exception as error:
            if isinstance(error, NotImplementedError) or all(is_static(a.shape) for a in avals):
                raise
            raise NotImplementedError(_no_symbolic(eqn, error)) from error
        outs = out if eqn.primitive.multiple_results else [out]
        kinds = [aval_type(v.aval) for v in eqn.outvars]
        outs = [x if x.type == kind else self.hlo.convert(kind, x) for x, kind in zip(outs, kinds)]
        return outs if eqn.primitive.multiple_results else outs[0]

    @property
    def sizes(self) -> Sizes:
        """Sizes as values, for programs with symbolic dimensions."""
        return Sizes(self, self.module.sizes[-1])

    def by_platform(self, number: Callable[[str], int]) -> Any:
        """The number for the platform that the program runs on, an i32 scalar."""
        numbers = list(map(number, self.module.platforms))
        result = self.scalar(numbers[0], np.int32)
        for i, other in enumerate(numbers):
            if other != numbers[0]:
                here = self.compare(self.module.sizes[-1][PLATFORM], self.scalar(i, np.int32), "EQ")
                result = self.hlo.select(here, self.scalar(other, np.int32), result)
        return result

    def size_as(self, size: Any, aval: ShapedArray) -> Any:
        """A size as a number of the dtype of `aval`."""
        if not self.module.polymorphic:
            raise NotImplementedError(
                f"the symbolic dimension {size} has no value here: it has one in functions that are exported, when they are called"
            )
        return self.convert(self.sizes.scalar(size), SIZE.dtype, aval.dtype)

    def builder(self, name: str) -> Any:
        """A builder by name: of StableHLO, or of CHLO for `chlo.` and the name. `maximum` and `minimum` take complex
        numbers, too."""
        found = self.module.builders.get(name)
        if found is None:
            dialect, _, short = name.rpartition(".")
            found = getattr(self.chlo if dialect else self.hlo, short)
            if name in _BETTER:
                found = functools.partial(self._extreme, found, _BETTER[name])
            self.module.builders[name] = found
        return found

    def _extreme(self, plain: Any, better: str, x: Any, y: Any) -> Any:
        """The greater or lesser of two values. Of complex numbers the greater real part decides, then the imaginary part;
        NaN wins."""
        if not self._is_complex(x):
            return plain(x, y)
        wins = self.hlo.or_(self.compare(x, y, better), self.compare(x, x, "NE"))
        return self.hlo.select(wins, x, y)

    def _is_complex(self, x: Any) -> bool:
        return isinstance(self.ir.RankedTensorType(x.type).element_type, self.ir.ComplexType)

    # Types and constants

    def rank(self, value: Any) -> int:
        """The number of axes of an MLIR value."""
        return self.ir.RankedTensorType(value.type).rank

    def type(self, aval: ShapedArray) -> Any:
        """The MLIR tensor type of an aval (of the array below, for keys)."""
        return aval_type(aval)

    def constant(self, value: Any) -> Any:
        """A NumPy value as a constant."""
        value = np.asarray(value)
        if value.dtype == dtypes.float0:
            value = np.zeros(value.shape, bool)
        return self.hlo.constant(mlir.constant_attr(value))

    def literal(self, literal: Literal) -> Any:
        return self.constant(np.asarray(literal.value, literal.aval.dtype))

    def full(self, value: Any, aval: ShapedArray) -> Any:
        """A constant of an aval with all elements `value`."""
        scalar = np.asarray(value).astype(bool if aval.dtype == dtypes.float0 else aval.dtype)
        if self.module.polymorphic and not is_static(aval.shape):
            return self.sizes.broadcast(self.constant(scalar), aval, ())
        return self.hlo.constant(mlir.repeated_attr(scalar, aval.shape))

    def int(self, value: int) -> Any:
        return self.ir.IntegerAttr.get(self.ir.IntegerType.get_signless(64), value)

    def ints(self, values: Sequence[int]) -> Any:
        """An attribute of 64-bit integers."""
        return mlir.ints_attr(tuple(values))

    # Structure

    def inline(self, fn: Callable[..., Any], *values: Any, avals: Sequence[ShapedArray] | None = None) -> Any:
        """Lower a Python function over other primitives in place of the equation: it gets tracers of `avals`, which are those of
        the equation's operands where nothing is said."""
        avals_in, avals_out = self.avals_in, self.avals_out
        several = []

        def flat(*args):
            out = fn(*args)
            several.append(isinstance(out, (list, tuple)))
            return list(out) if several[-1] else [out]

        closed = _traced(flat, avals_in if avals is None else avals, "inline")
        outs = self.inline_jaxpr(closed, *values)
        self.avals_in, self.avals_out = avals_in, avals_out
        return outs if several[-1] else outs[0]

    def inline_jaxpr(self, closed: ClosedJaxpr, *values: Any) -> list[Any]:
        """Lower the equations of `closed` under the location of the present equation."""
        env: dict[Var, Any] = {v: self.constant(np.asarray(c)) for v, c in zip(closed.jaxpr.constvars, closed.consts)}
        env.update(zip(closed.jaxpr.invars, values))
        inner = LoweringContext(self.module, self.path)
        inner.equation = self.equation
        for _, eqn in closed.jaxpr.live()[0]:
            args = [inner.literal(a) if isinstance(a, Literal) else env[a] for a in eqn.invars]
            out = inner.lower_symbolic(eqn, args) if self.module.polymorphic else inner.lower_equation(eqn, args)
            env.update(zip(eqn.outvars, out if eqn.primitive.multiple_results else [out]))
        return [inner.literal(a) if isinstance(a, Literal) else env[a] for a in closed.jaxpr.outvars]

    def call(self, closed: ClosedJaxpr, *values: Any, name: str = "fn") -> list[Any]:
        """Call an inner jaxpr as a function of its own; equal jaxprs share one.

        The call's location carries a number besides the path: XLA's inliner does not prefix names of the callee that
        begin like the call's own (`e10` in a call at `e1`).
        """
        function, run = self.module.function_for(closed, name)
        self.module.calls += 1
        operands = [*values, self.module.run.get()] if run.taken else list(values)
        if self.module.variables:
            operands = [*[self.module.sizes[-1][v] for v in self.module.variables], *operands]
        with mlir.location(f"{self.path}({self.module.calls})"):
            results = list(function.call(operands).results)
        if run.given:
            self.module.run.now = results.pop()
        return results

    def python(self, callback: Any, values: Sequence[Any]) -> list[Any]:
        """Call the Python function of `callback` with the equation's operands (see `control.callbacks`)."""
        return call_python(self, callback, values)

    def region(self, operation: Any, index: int, avals: Sequence[ShapedArray], body: Callable[..., Any]) -> None:
        """Fill region `index` of an operation: `body` gets the block's arguments and gives what the block returns."""
        block = operation.regions[index].blocks.append(*[self.type(a) for a in avals])
        before = self.module.run.now
        with self.ir.InsertionPoint(block):
            out = body(*block.arguments)
            self.hlo.return_(list(out) if isinstance(out, (list, tuple)) else [out])
        self.module.run.now = before  # a value of the region is none outside of it

    def inner_jaxpr(self, closed: ClosedJaxpr, values: Sequence[Any], segment: str = "") -> list[Any]:
        """Lower an inner jaxpr (which captures nothing) in place, in a region, say; `segment` is what it adds to the path
        (see `core.jaxpr.subjaxprs`)."""
        return lower_equations(self.module, closed.jaxpr, values, subpath(self.path, segment))

    def while_loop(
        self,
        avals: Sequence[ShapedArray],
        values: Sequence[Any],
        going: Callable[..., Any],
        body: Callable[..., Any],
        going_has_effects: bool = False,
    ) -> list[Any]:
        """Values of the given avals after `body` ran while `going` gave true; both get and give MLIR values."""
        if going_has_effects:
            return self._tested_ahead(avals, values, going, body)
        if self.effects:
            avals, values, going, body = self._threaded(avals, values, going, body)
        operation = self.hlo.WhileOp([self.type(a) for a in avals], list(values))
        self.module.loops += 1
        self.region(operation, 0, avals, going)
        self.region(operation, 1, avals, lambda *state: body(*self._with_terms(state, avals)))
        self.module.loops -= 1
        results = self._with_terms(operation.results, avals)
        if self.effects:
            self.module.run.now = results.pop()
        return results

    def _with_terms(self, values: Sequence[Any], avals: Sequence[ShapedArray]) -> list[Any]:
        return [self.module.meshes.with_terms(self, value, aval) for value, aval in zip(values, avals)]

    def _threaded(self, avals: Any, values: Any, going: Any, body: Any) -> tuple[Any, ...]:
        """The parts of a loop that carries the number of the run, last."""
        run = self.module.run

        def iteration(*state):
            run.now = state[-1]
            return [*body(*state[:-1]), run.get()]

        return [*avals, NUMBER], [*values, run.get()], lambda *state: going(*state[:-1]), iteration

    def _tested_ahead(self, avals: Any, values: Any, going: Any, body: Any) -> list[Any]:
        """A loop whose condition has effects. The region for conditions gives nothing but the answer, so the condition is
        computed before the loop and at the end of each iteration, and carried."""
        flag = ShapedArray((), np.dtype(bool))

        def tested(*state):
            (answer,) = going(*state)
            return [answer, *state]

        return self.while_loop(
            [flag, *avals], tested(*values), lambda answer, *_: answer, lambda _, *state: tested(*body(*state))
        )[1:]

    def case(self, index: Any, avals: Sequence[ShapedArray], branches: Sequence[Callable[[], Any]]) -> list[Any]:
        """What the branch of number `index` (an i32 scalar) gives; the branches read outer values as they are."""
        run, threaded = self.module.run, bool(self.effects)
        types = [self.type(a) for a in avals]
        if threaded:
            types.append(self.type(NUMBER))
            branches = [lambda branch=branch: [*branch(), run.get()] for branch in branches]
        operation = self.hlo.CaseOp(types, index, len(branches))
        for i, branch in enumerate(branches):
            self.region(operation, i, (), branch)
        results = list(operation.results)
        if threaded:
            run.now = results.pop()
        return results

    def count(self, size: Any) -> Any:
        """A size as an i32 scalar."""
        return self.sizes.scalar(size) if is_symbolic_dim(size) else self.scalar(size, np.int32)

    def scalar(self, value: Any, dtype: Any) -> Any:
        return self.constant(np.asarray(value, dtype))

    def zeros(self, aval: ShapedArray) -> Any:
        """Zeros of an aval (of the array below, for keys)."""
        below = physical(aval)
        return self.module.meshes.with_terms(self, self.broadcast_in_dim(self.scalar(0, below.dtype), below, ()), aval)

    def element(self, value: Any, aval: ShapedArray, index: Any) -> Any:
        """`value[index]` along the first axis: `aval` is the element's, `index` an i32 scalar."""
        whole = self._as_row(aval)
        starts = [index, *[self.scalar(0, np.int32)] * (len(whole.shape) - 1)]
        if self.module.polymorphic and not is_static(whole.shape):
            return self.reshape(self.sizes.dynamic_slice(value, whole, starts), aval)
        piece = self.hlo.dynamic_slice(value, starts, self.ints(whole.shape))
        row = self.module.meshes.with_terms(self, piece, whole)
        return self.module.meshes.with_terms(self, self.hlo.reshape(self.type(aval), row), aval)

    def with_element(self, value: Any, element: Any, aval: ShapedArray, index: Any) -> Any:
        """`value` with `element`, of aval `aval`, at `index` along the first axis."""
        whole = self._as_row(aval)
        row = self.module.meshes.with_terms(self, self.reshape(element, whole), whole)
        updated = self.hlo.dynamic_update_slice(
            value, row, [index, *[self.scalar(0, np.int32)] * (len(whole.shape) - 1)]
        )
        return self.module.meshes.with_terms(self, updated, whole)

    def _as_row(self, aval: ShapedArray) -> ShapedArray:
        """An element (of the array below, for keys) with an axis of size one before the others."""
        below, mark = physical(aval), aval.mark
        return ShapedArray((1, *below.shape), below.dtype, False, mark if mark is None else mark.beside(0))

    def counted_loop(
        self, count: Any, avals: Sequence[ShapedArray], values: Sequence[Any], body: Callable[..., Sequence[Any]]
    ) -> list[Any]:
        """Values of the given avals after `count` iterations of `body`, a Python function over primitives of (i, *values)."""
        number = ShapedArray((), np.dtype(np.int32))
        closed = _traced(body, [number, *avals], "loop")

        def iteration(i, *state):
            return [self.hlo.add(i, self.scalar(1, np.int32)), *self.inline_jaxpr(closed, i, *state)]

        def going(i, *state):
            return self.compare(i, self.count(count), "LT")

        return self.while_loop([number, *avals], [self.scalar(0, np.int32), *values], going, iteration)[1:]


def lower_jaxpr(
    closed: ClosedJaxpr,
    name: str,
    donated: Sequence[int] = (),
    describe: Callable[[JaxprEqn], mlir.Described] | None = None,
    solution: Solution | None = None,
    platforms: Sequence[str] = ("cpu",),
    spread: Any = None,
    orders: Any = None,
    rewrites: list[Rewrite] | None = None,
) -> Any:
    """The module of a program whose arguments are its invars; small captured constants are written into it. Symbolic
    dimensions need their `solution` from the arguments' shapes. `describe` gives what the location of an equation says besides
    its path: a name, and a file with a range (see `xla.mlir.location`). `spread`: the layouts of a program over several devices
    (`xla.spread.Spread`); `orders`: in which order axes lie in memory (`arranged.Orders`); `rewrites`: a list that gets what was written
    as other operations."""
    mlir.load_imported_dialects()
    with mlir.context(), mlir.location():
        module = Module(name, platforms)
        if spread is not None:
            mlir.know_layouts()
            module.meshes.group, module.meshes.mesh = spread.group, spread.mesh
        module.describe = describe
        module.rewrites = [] if rewrites is None else rewrites
        if solution is not None or len(platforms) > 1:
            module.build_polymorphic(closed.jaxpr, solution, closed.consts, spread)
            module.module.operation.attributes["jax.uses_shape_polymorphism"] = module.ir.BoolAttr.get(True)
            return module.module
        module.build(closed.jaxpr, "main", "public", closed.consts, donated, spread, orders)
        return portable.with_static_shapes(module.module) if module.refines else module.module
