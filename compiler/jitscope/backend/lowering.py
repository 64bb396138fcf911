"""Lowering: a jaxpr becomes a StableHLO module.

Each operation's location is the path of its equation (`e2`; inside a called function relative, XLA's inliner prefixes the
call's), so a module says nothing about files and lines and does not change when the code above it does.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import dtypes, source
from ..core.avals import ShapedArray, physical
from ..core.effects import no_effects, python_effects
from ..core.jaxpr import Atom, ClosedJaxpr, DebugInfo, Jaxpr, JaxprEqn, Literal, Var, subpath
from ..core.staging import trace_to_jaxpr
from ..core.trace import place
from ..symbolic.dimension import is_static, is_symbolic_dim
from ..symbolic.solving import Solution
from ..xla import lapack, mlir, portable
from .run_number import NUMBER, RunNumber, call_python
from .sizes import SIZE, Sizes, variables_in_main


PLATFORM = "_platform_index"
"""The name of the argument of programs for several platforms that says which of them it is."""
_BETTER = {"maximum": "GT", "minimum": "LT"}


class Module:
    """A module under construction: the builders, and the functions made so far (one for each jaxpr called)."""

    def __init__(self, name: str, platforms: Sequence[str] = ("cpu",)):
        self.platforms = tuple(platforms)
        self.platform = platforms[0] if len(platforms) == 1 else ""
        self.mlir = mlir.bindings()
        self.ir = self.mlir.ir
        self.module = self.ir.Module.create()
        self.module.operation.attributes["sym_name"] = self.ir.StringAttr.get(_symbol(name))
        self.functions: dict[int, Any] = {}
        self.others: dict[Any, Any] = {}
        self.taken: set[str] = {"main"}
        self.calls = 0
        self.builders: dict[str, Any] = {}
        self.runs: list[RunNumber] = []
        self.describe: Callable[[JaxprEqn], mlir.Described] | None = None
        self.variables: tuple[str, ...] = ()
        self.sizes: list[dict[str, Any]] = []
        self.polymorphic = self.refines = False

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
        self, jaxpr: Jaxpr, name: str, visibility: str, consts: Sequence[np.ndarray] = (), donated: Sequence[int] = ()
    ) -> tuple[Any, RunNumber]:
        """A function of the jaxpr's invars, `consts` being the values of its constvars; results may take the memory of the arguments `donated`."""
        params, extra = jaxpr.invars, len(self.variables)
        types = [*[aval_type(SIZE)] * extra, *[aval_type(v.aval) for v in params]]
        function_type = self.ir.FunctionType.get(types, [aval_type(a.aval) for a in jaxpr.outvars])
        with self.ir.InsertionPoint(self.module.body):
            function = self.mlir.func.FuncOp(name, function_type, visibility=visibility)
        if donated:
            self._mark_donated(function, donated, len(params))
        block = function.add_entry_block([mlir.location(n) for n in [*self.variables, *_argument_names(jaxpr)]])
        run = RunNumber(block)
        self.runs.append(run)
        arguments = list(block.arguments)
        self.sizes.append(dict(zip(self.variables, arguments)))
        with self.ir.InsertionPoint(block):
            captured = [self.mlir.hlo.constant(mlir.constant_attr(c)) for c in consts]
            outs = lower_equations(self, jaxpr, [*captured, *arguments[extra:]])
            self.mlir.func.ReturnOp(run.results(outs, bool(jaxpr.effects & python_effects) or visibility == "public"))
        self.runs.pop()
        self.sizes.pop()
        run.settle(function, self.ir)
        return function, run

    def build_polymorphic(self, jaxpr: Jaxpr, solution: Solution | None, consts: Sequence[np.ndarray]) -> None:
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
            function = self.mlir.func.FuncOp("main", self.ir.FunctionType.get(types, inner.type.results))
        if platform_index:
            constant = self.ir.DictAttr.get({"jax.global_constant": self.ir.StringAttr.get(PLATFORM)})
            none = self.ir.DictAttr.get({})
            function.arg_attrs = self.ir.ArrayAttr.get([constant, *[none] * len(jaxpr.invars)])
        block = function.add_entry_block(
            [mlir.location(n) for n in [*["platform"] * platform_index, *_argument_names(jaxpr)]]
        )
        with self.ir.InsertionPoint(block):
            arguments = list(block.arguments)[len(first) :]
            found = variables_in_main(LoweringContext(self), solution, arguments)
            found |= dict(zip([PLATFORM], block.arguments)) if platform_index else {}
            # Refining gives the arguments static types; converted ones keep the call as it is.
            given = [
                a if is_static(v.aval.shape) else self.mlir.hlo.convert(a.type, a)
                for v, a in zip(jaxpr.invars, arguments)
            ]
            call = self.mlir.func.CallOp(inner, [*[found[v] for v in self.variables], *given])
            self.mlir.func.ReturnOp(list(call.results))

    def combination(self, taken: Sequence[ShapedArray], given: Sequence[ShapedArray], body: Callable[..., Any]) -> Any:
        """The name of a private function that combines elements."""
        name = self._free_name("reducer")
        kind = self.ir.FunctionType.get(list(map(aval_type, taken)), list(map(aval_type, given)))
        with self.ir.InsertionPoint(self.module.body):
            function = self.mlir.func.FuncOp(name, kind, visibility="private")
        block = function.add_entry_block()
        with self.ir.InsertionPoint(block):
            out = body(*block.arguments)
            self.mlir.func.ReturnOp(list(out) if isinstance(out, (list, tuple)) else [out])
        return self.ir.FlatSymbolRefAttr.get(name)

    def _mark_donated(self, function: Any, donated: Sequence[int], arguments: int) -> None:
        yes = self.ir.DictAttr.get({"jax.buffer_donor": self.ir.BoolAttr.get(True)})
        none = self.ir.DictAttr.get({})
        function.arg_attrs = self.ir.ArrayAttr.get([yes if i in donated else none for i in range(arguments)])


def _argument_names(jaxpr: Jaxpr) -> list[str]:
    given = jaxpr.debug.arg_names
    return [given[i] if i < len(given) else f"in{i}" for i in range(len(jaxpr.invars))]


def _symbol(name: str) -> str:
    cleaned = "".join(c if c.isalnum() and c.isascii() else "_" for c in name).strip("_")
    return cleaned or "fn"


def _no_symbolic(eqn: JaxprEqn, error: Exception) -> str:
    where = source.user_position(eqn.traceback)
    line = f", {place(where)}," if where else ""
    operands = ", ".join(a.aval.short() for a in eqn.invars)
    return (
        f"{eqn.primitive.name} of {operands}{line} cannot be exported with these symbolic dimensions: {error}\n"
        "  what to do: export the function with numbers for the dimensions this operation meets"
    )


def aval_type(aval: ShapedArray) -> Any:
    below = physical(aval)
    return mlir.tensor_type(below.shape, below.dtype)


def lower_equations(module: Module, jaxpr: Jaxpr, values: Sequence[Any], prefix: str = "") -> list[Any]:
    """Lower the equations whose results are read, at the current insertion point; `values` are the constvars' and
    invars'. Paths begin with `prefix`."""
    env: dict[Var, Any] = dict(zip([*jaxpr.constvars, *jaxpr.invars], values))
    ctx = LoweringContext(module)

    def read(atom: Atom) -> Any:
        return ctx.literal(atom) if type(atom) is Literal else env[atom]  # pyright: ignore[reportArgumentType]

    for i, eqn in jaxpr.live()[0]:
        ctx.path = f"{prefix}e{i}"
        with mlir.location(ctx.path, None if module.describe is None else module.describe(eqn)):
            values = [read(a) for a in eqn.invars]
            out = ctx.lower_symbolic(eqn, values) if module.polymorphic else ctx.lower_equation(eqn, values)
        if eqn.primitive.multiple_results:
            env.update(zip(eqn.outvars, out))
        else:
            env[eqn.outvars[0]] = out
    return [read(a) for a in jaxpr.outvars]


class LoweringContext:
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

    def lower_equation(self, eqn: JaxprEqn, values: Sequence[Any]) -> Any:
        self.avals_in = [a.aval for a in eqn.invars]
        self.avals_out = [v.aval for v in eqn.outvars]
        self.effects = eqn.effects & python_effects
        primitive = eqn.primitive
        rules = primitive.lowerings
        if rules and (rule := rules.get(self.module.platform) or rules.get(None)):
            return rule(self, *values, **eqn.params)
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
        scalar = np.asarray(value).astype(aval.dtype)
        if self.module.polymorphic and not is_static(aval.shape):
            return self.sizes.broadcast(self.constant(scalar), aval, ())
        return self.constant(np.broadcast_to(scalar, aval.shape))

    def int(self, value: int) -> Any:
        return self.ir.IntegerAttr.get(self.ir.IntegerType.get_signless(64), value)

    def ints(self, values: Sequence[int]) -> Any:
        """An attribute of 64-bit integers."""
        return self.ir.DenseI64ArrayAttr.get([int(v) for v in values])

    # Structure

    def inline(self, fn: Callable[..., Any], *values: Any) -> Any:
        """Lower a Python function over other primitives in place of the equation: it gets tracers of `avals_in`."""
        avals_in, avals_out = self.avals_in, self.avals_out
        several = []

        def flat(*args):
            out = fn(*args)
            several.append(isinstance(out, (list, tuple)))
            return list(out) if several[-1] else [out]

        closed = trace_to_jaxpr(flat, avals_in, DebugInfo("inline"))
        outs = self.inline_jaxpr(closed, *values)
        self.avals_in, self.avals_out = avals_in, avals_out
        return outs if several[-1] else outs[0]

    def inline_jaxpr(self, closed: ClosedJaxpr, *values: Any) -> list[Any]:
        """Lower the equations of `closed` under the location of the present equation."""
        env: dict[Var, Any] = {v: self.constant(np.asarray(c)) for v, c in zip(closed.jaxpr.constvars, closed.consts)}
        env.update(zip(closed.jaxpr.invars, values))
        inner = LoweringContext(self.module, self.path)
        for _, eqn in closed.jaxpr.live()[0]:
            args = [inner.literal(a) if isinstance(a, Literal) else env[a] for a in eqn.invars]
            out = inner.lower_symbolic(eqn, args) if self.module.polymorphic else inner.lower_equation(eqn, args)
            env.update(zip(eqn.outvars, out if eqn.primitive.multiple_results else [out]))
        return [inner.literal(a) if isinstance(a, Literal) else env[a] for a in closed.jaxpr.outvars]

    def call(self, closed: ClosedJaxpr, *values: Any, name: str = "fn") -> list[Any]:
        """Call a held jaxpr as a function of its own; equal jaxprs share one.

        The call's location carries a number besides the path: XLA's inliner does not prefix names of the callee that
        begin like the call's own (`e10` in a call at `e1`).
        """
        function, run = self.module.function_for(closed, name)
        self.module.calls += 1
        operands = [*values, self.module.run.get()] if run.taken else list(values)
        if self.module.variables:
            operands = [*[self.module.sizes[-1][v] for v in self.module.variables], *operands]
        with mlir.location(f"{self.path}({self.module.calls})"):
            results = list(self.module.mlir.func.CallOp(function, operands).results)
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

    def held(self, closed: ClosedJaxpr, values: Sequence[Any], segment: str = "") -> list[Any]:
        """Lower a held jaxpr (which captures nothing) in place, in a region, say; `segment` is what it adds to the path
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
        self.region(operation, 0, avals, going)
        self.region(operation, 1, avals, body)
        results = list(operation.results)
        if self.effects:
            self.module.run.now = results.pop()
        return results

    def _threaded(self, avals: Any, values: Any, going: Any, body: Any) -> tuple[Any, ...]:
        """The parts of a loop that carries the number of the run, last."""
        run = self.module.run

        def turn(*state):
            run.now = state[-1]
            return [*body(*state[:-1]), run.get()]

        return [*avals, NUMBER], [*values, run.get()], lambda *state: going(*state[:-1]), turn

    def _tested_ahead(self, avals: Any, values: Any, going: Any, body: Any) -> list[Any]:
        """A loop whose condition has effects. The region for conditions gives nothing but the answer, so the condition is
        computed before the loop and at the end of each turn, and carried."""
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
        return self.broadcast_in_dim(self.scalar(0, below.dtype), below, ())

    def element(self, value: Any, aval: ShapedArray, index: Any) -> Any:
        """`value[index]` along the first axis: `aval` is the element's, `index` an i32 scalar."""
        inner = physical(aval).shape
        starts = [index, *[self.scalar(0, np.int32)] * len(inner)]
        if self.module.polymorphic and not is_static(inner):
            whole = ShapedArray((1, *inner), physical(aval).dtype)
            return self.reshape(self.sizes.dynamic_slice(value, whole, starts), aval)
        piece = self.hlo.dynamic_slice(value, starts, self.ints([1, *inner]))
        return self.hlo.reshape(self.type(aval), piece)

    def with_element(self, value: Any, element: Any, aval: ShapedArray, index: Any) -> Any:
        """`value` with `element`, of aval `aval`, at `index` along the first axis."""
        below = physical(aval)
        row = self.reshape(element, ShapedArray((1, *below.shape), below.dtype))
        return self.hlo.dynamic_update_slice(value, row, [index, *[self.scalar(0, np.int32)] * below.ndim])

    def counted_loop(
        self, count: Any, avals: Sequence[ShapedArray], values: Sequence[Any], body: Callable[..., Sequence[Any]]
    ) -> list[Any]:
        """Values of the given avals after `count` turns of `body`, a Python function over primitives of (i, *values)."""
        number = ShapedArray((), np.dtype(np.int32))
        closed = trace_to_jaxpr(body, [number, *avals], DebugInfo("loop"))

        def turn(i, *state):
            return [self.hlo.add(i, self.scalar(1, np.int32)), *self.inline_jaxpr(closed, i, *state)]

        def going(i, *state):
            return self.compare(i, self.count(count), "LT")

        return self.while_loop([number, *avals], [self.scalar(0, np.int32), *values], going, turn)[1:]

    def lapack(
        self,
        routine: str,
        values: Sequence[Any],
        avals_in: Sequence[ShapedArray],
        avals_out: Sequence[ShapedArray],
        aliases: Sequence[tuple[int, int]] = (),
        **attributes: Any,
    ) -> list[Any]:
        """Call a LAPACK routine of the dtype of the first operand (or the target of that name, if it ends in `_ffi`), for all
        matrices along the leading axes. A string of one letter, a bool or a 32-bit int are attributes; `aliases` are
        (operand, result) that share memory."""
        lapack.register()
        rank = max(a.ndim for a in avals_in)
        return self._foreign_call(
            routine if routine.endswith("_ffi") else _lapack_target(routine, avals_in[0]),
            values,
            (self._columns_first(avals_in, rank), self._columns_first(avals_out, rank)),
            avals_out,
            {name: self._lapack_attribute(v) for name, v in attributes.items()},
            aliases,
            {
                "mhlo.frontend_attributes": self.ir.DictAttr.get(
                    {"num_batch_dims": self.ir.StringAttr.get(str(rank - 2))}
                )
            },
        )

    def foreign(
        self,
        target: str,
        values: Sequence[Any],
        avals_in: Sequence[ShapedArray],
        avals_out: Sequence[ShapedArray],
        attributes: dict[str, Any],
        side_effect: bool = False,
        aliases: Sequence[tuple[int, int]] = (),
    ) -> list[Any]:
        """Call the native function registered with XLA as `target`; arrays lie in row-major order. `attributes`: bool, int
        (64 bits), float (64 bits), text, or what has a NumPy `array`."""
        layouts = _rows_first(avals_in), _rows_first(avals_out)
        given = {name: self._foreign_attribute(v) for name, v in attributes.items()}
        more = {"has_side_effect": self.ir.BoolAttr.get(True)} if side_effect else {}
        return self._foreign_call(target, values, layouts, avals_out, given, aliases, more)

    def _foreign_call(
        self,
        target: str,
        values: Sequence[Any],
        layouts: tuple[Sequence[Sequence[int]], Sequence[Sequence[int]]],
        avals_out: Sequence[ShapedArray],
        attributes: dict[str, Any],
        aliases: Sequence[tuple[int, int]],
        more: dict[str, Any],
    ) -> list[Any]:
        ir, several = self.ir, len(avals_out) > 1
        shapes: list[Any] = []
        if self.module.polymorphic and not all(is_static(a.shape) for a in avals_out):
            shapes = [self.sizes.vector(physical(a).shape) for a in avals_out]
            layouts = [*layouts[0], *[(0,)] * len(shapes)], layouts[1]
        shared = [
            self.hlo.OutputOperandAlias.get([result] if several else [], operand, []) for operand, result in aliases
        ]
        orders = [
            ir.ArrayAttr.get(
                [ir.DenseIntElementsAttr.get(np.asarray(list(o), np.int64), type=ir.IndexType.get()) for o in side]
            )
            for side in layouts
        ]
        operation = self.hlo.CustomCallOp(
            [self.type(a) for a in avals_out],
            [*values, *shapes],
            call_target_name=target,
            api_version=ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 4),
            backend_config=ir.DictAttr.get(attributes),
            operand_layouts=orders[0],
            result_layouts=orders[1],
            output_operand_aliases=ir.ArrayAttr.get(shared),
        )
        if shapes:
            places = np.arange(len(values), len(values) + len(shapes), dtype=np.int64)
            operation.operation.attributes["indices_of_shape_operands"] = ir.DenseIntElementsAttr.get(places)
        for name, attribute in more.items():
            operation.operation.attributes[name] = attribute
        return list(operation.results)

    def row_by_row(self, value: Any, aval: ShapedArray) -> Any:
        """The same value, of which XLA may not choose the layout: row-major."""
        if self.module.polymorphic:  # what refines shapes does not know the call
            return value
        ir, order = self.ir, np.arange(aval.ndim)[::-1].astype(np.int64)
        layout = ir.DenseIntElementsAttr.get(np.ascontiguousarray(order), type=ir.IndexType.get())
        operation = self.hlo.CustomCallOp(
            [self.type(aval)],
            [value],
            call_target_name="LayoutConstraint",
            result_layouts=ir.ArrayAttr.get([layout]),
            operand_layouts=ir.ArrayAttr.get([layout]),
        )
        return operation.result

    def _foreign_attribute(self, value: Any) -> Any:
        ir = self.ir
        if isinstance(value, bool):
            return ir.BoolAttr.get(value)
        if isinstance(value, int):
            return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
        if isinstance(value, float):
            return ir.FloatAttr.get(ir.F64Type.get(), value)
        if isinstance(value, str):
            return ir.StringAttr.get(value)
        return mlir.number_attr(value.array)

    def _lapack_attribute(self, value: Any) -> Any:
        ir = self.ir
        if isinstance(value, bool):
            return ir.BoolAttr.get(value)
        if isinstance(value, str):
            return ir.IntegerAttr.get(ir.IntegerType.get_unsigned(8), ord(value))
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(32), value)

    def _columns_first(self, avals: Sequence[ShapedArray], rank: int) -> list[list[int]]:
        """The layouts LAPACK reads: matrices lie column by column."""
        orders = []
        for aval in avals:
            order = list(range(aval.ndim))[::-1]
            if aval.ndim == rank:
                order[:2] = order[1], order[0]
            orders.append(order)
        return orders

    # Patterns

    def broadcast_scalars(self, values: Sequence[Any]) -> list[Any]:
        """Operands of an elementwise operation, scalars repeated to the shape of the others."""
        avals = self.avals_in
        if len({len(a.shape) for a in avals}) == 1:
            return list(values)
        shape = max((a.shape for a in avals), key=len)
        return [
            value if aval.shape else self.broadcast_in_dim(value, aval.update(shape=shape), ())
            for value, aval in zip(values, avals)
        ]

    def convert(self, value: Any, old: Any, new: Any) -> Any:
        """`value` of dtype `old` in dtype `new` (no complex number to a real one)."""
        if old == new:
            return value
        shape = tuple(self.ir.RankedTensorType(value.type).shape)
        return self.hlo.convert(mlir.tensor_type(shape, new), value)

    def reshape(self, value: Any, aval: ShapedArray) -> Any:
        """`value` in the shape of `aval`."""
        if self.module.polymorphic and not is_static(aval.shape):
            return self.sizes.reshape(value, aval)
        return self.hlo.reshape(self.type(aval), value)

    def broadcast_in_dim(self, value: Any, aval: ShapedArray, dims: Sequence[int]) -> Any:
        """`value` with its axes at `dims` of `aval`."""
        extra = range(aval.ndim, physical(aval).ndim)
        if self.module.polymorphic and not is_static(aval.shape):
            return self.sizes.broadcast(value, aval, [*dims, *extra])
        return self.hlo.broadcast_in_dim(self.type(aval), value, self.ints([*dims, *extra]))

    def transpose(self, value: Any, permutation: Sequence[int]) -> Any:
        aval = self.avals_in[0]
        return self.hlo.transpose(value, self.ints([*permutation, *range(aval.ndim, physical(aval).ndim)]))

    def slice(self, value: Any, starts: Sequence[int], limits: Sequence[int], strides: Sequence[int] | None) -> Any:
        aval = self.avals_in[0]
        inner = physical(aval).shape[aval.ndim :]
        steps = [*(strides or [1] * aval.ndim), *[1] * len(inner)]
        if self.module.polymorphic and not is_static([*starts, *limits]):
            shape = tuple(-((a - b) // s) for a, b, s in zip(starts, limits, steps))
            out = ShapedArray((*shape, *inner), physical(aval).dtype)
            return self.sizes.slice(value, out, [*starts, *[0] * len(inner)], [*limits, *inner], steps)
        return self.hlo.slice(
            value, self.ints([*starts, *[0] * len(inner)]), self.ints([*limits, *inner]), self.ints(steps)
        )

    def vector(self, sizes: Sequence[Any], dtype: Any) -> Any:
        """Sizes as a vector of numbers."""
        if is_static(sizes):
            return self.constant(np.asarray(sizes, dtype))
        return self.convert(self.sizes.vector(sizes), SIZE.dtype, dtype)

    def dynamic_slice(self, value: Any, aval: ShapedArray, starts: Sequence[Any], sizes: Sequence[Any]) -> Any:
        """The slice of `sizes` of a value of aval `aval`, moved into bounds."""
        if is_static(sizes):
            return self.hlo.dynamic_slice(value, starts, self.ints(sizes))
        return self.sizes.dynamic_slice(value, ShapedArray(tuple(sizes), aval.dtype), starts)

    def gather(self, value: Any, indices: Any, numbers: Any, sizes: Sequence[Any], indices_are_sorted: bool) -> Any:
        """The slices of `sizes` at the indices."""
        if is_static(sizes):
            return self.hlo.gather(value, indices, numbers, self.ints(sizes), indices_are_sorted=indices_are_sorted)
        return self.sizes.gather(value, indices, numbers, sizes, indices_are_sorted)

    def pad(self, value: Any, filler: Any, config: Sequence[tuple[int, int, int]]) -> Any:
        low, high, interior = ([c[i] for c in config] for i in range(3))
        if self.module.polymorphic and not is_static([*low, *high]):
            return self.sizes.pad(value, filler, self.avals_out[0], config)
        return self.hlo.pad(value, filler, self.ints(low), self.ints(high), self.ints(interior))

    def iota(self, aval: ShapedArray, dimension: int) -> Any:
        """Numbers 0, 1, … along one axis."""
        if self.module.polymorphic and not is_static(aval.shape):
            return self.sizes.iota(aval, dimension)
        return self.hlo.iota(self.type(aval), self.int(dimension))

    def compare(self, x: Any, y: Any, direction: str, total_order: bool = False) -> Any:
        """EQ, NE, LT, LE, GT or GE of two values of one type; complex numbers go by real part, then by imaginary part."""
        if direction[0] in "LG" and self._is_complex(x):
            a, b, c, d = self.hlo.real(x), self.hlo.real(y), self.hlo.imag(x), self.hlo.imag(y)
            beside = self.hlo.and_(self.compare(a, b, "EQ"), self.compare(c, d, direction))
            return self.hlo.or_(self.compare(a, b, f"{direction[0]}T"), beside)
        element = self.ir.RankedTensorType(x.type).element_type
        kind = "FLOAT"
        if isinstance(element, self.ir.IntegerType):
            kind = "UNSIGNED" if element.is_unsigned or element.width == 1 else "SIGNED"
        elif total_order:
            kind = "TOTALORDER"
        return self.hlo.compare(
            x, y, self.hlo.ComparisonDirectionAttr.get(direction), compare_type=self.hlo.ComparisonTypeAttr.get(kind)
        )

    def reduce(self, x: Any, identity: Any, combine: Callable[[Any, Any], Any], axes: Sequence[int]) -> Any:
        """The reduction of `x` over `axes` by a builder of two scalars."""
        dtype = self.avals_in[0].dtype
        scalar = ShapedArray((), dtype)
        operation = self.hlo.ReduceOp(
            [self.type(self.avals_out[0])], [x], [self.full(identity, scalar)], self.ints(axes)
        )
        self.region(operation, 0, [scalar, scalar], combine)
        return operation.result

    def reduce_pair(
        self, x: Any, index: Any, identity: Any, direction: str, axis: int, dtype: Any, index_dtype: Any
    ) -> Any:
        """The index of the first element along `axis` that beats all others; NaN beats everything."""
        value, place = ShapedArray((), dtype), ShapedArray((), index_dtype)
        out = self.avals_out[0]
        operation = self.hlo.ReduceOp(
            [self.type(out.update(dtype=dtype)), self.type(out)],
            [x, index],
            [self.full(identity, value), self.full(0, place)],
            self.ints([axis]),
        )

        def body(a, i, b, j):
            wins = self.compare(a, b, direction)
            if dtypes.is_float(dtype):
                wins = self.hlo.or_(wins, self.compare(a, a, "NE"))
            level = self.hlo.and_(self.compare(a, b, "EQ"), self.compare(i, j, "LT"))
            return [self.hlo.select(wins, a, b), self.hlo.select(self.hlo.or_(wins, level), i, j)]

        self.region(operation, 0, [value, place, value, place], body)
        return operation.results[1]

    def cumulative(self, x: Any, identity: Any, combine: Callable[[Any, Any], Any], axis: int, reverse: bool) -> Any:
        """The running reduction along `axis`, as a window that reaches back to the start."""
        aval = self.avals_in[0]
        scalar, n = ShapedArray((), aval.dtype), aval.shape[axis]
        if aval.size == 0:
            return x
        window = [n if i == axis else 1 for i in range(aval.ndim)]
        if is_symbolic_dim(n):
            ones = (1,) * aval.ndim
            reach = (0, n - 1) if reverse else (n - 1, 0)
            pads = [reach if i == axis else (0, 0) for i in range(aval.ndim)]
            geometry = {"window_dimensions": window, "padding": pads, "window_strides": ones, "base_dilation": ones}
            start = self.full(identity, scalar)
            return self.sizes.reduce_windows([x], [start], [aval], combine, {**geometry, "window_dilation": ones})[0]
        padding = np.zeros((aval.ndim, 2), np.int64)
        padding[axis] = (0, n - 1) if reverse else (n - 1, 0)
        ones = self.ints([1] * aval.ndim)
        operation = self.hlo.ReduceWindowOp(
            [self.type(aval)],
            [x],
            [self.full(identity, scalar)],
            self.ints(window),
            window_strides=ones,
            base_dilations=ones,
            window_dilations=ones,
            padding=self.ir.DenseIntElementsAttr.get(padding),
        )
        self.region(operation, 0, [scalar, scalar], combine)
        return operation.result


def _rows_first(avals: Sequence[ShapedArray]) -> list[Sequence[int]]:
    return [range(physical(a).ndim)[::-1] for a in avals]


def _lapack_target(routine: str, aval: ShapedArray) -> str:
    return f"lapack_{_LAPACK_LETTERS[aval.dtype.name]}{routine}_ffi"


_LAPACK_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}


def lower_jaxpr(
    closed: ClosedJaxpr,
    name: str,
    donated: Sequence[int] = (),
    describe: Callable[[JaxprEqn], mlir.Described] | None = None,
    solution: Solution | None = None,
    platforms: Sequence[str] = ("cpu",),
) -> Any:
    """The module of a program whose arguments are its invars; small captured constants are written into it. Symbolic
    dimensions need their `solution` from the arguments' shapes. `describe` gives what the location of an equation says besides
    its path: a name, and a file with a range (see `xla.mlir.location`)."""
    context = mlir.context()
    with context, mlir.location():
        module = Module(name, platforms)
        module.describe = describe
        if solution is not None or len(platforms) > 1:
            module.build_polymorphic(closed.jaxpr, solution, closed.consts)
            module.module.operation.attributes["jax.uses_shape_polymorphism"] = module.ir.BoolAttr.get(True)
            return module.module
        module.build(closed.jaxpr, "main", "public", closed.consts, donated)
        return portable.refined(module.module) if module.refines else module.module
