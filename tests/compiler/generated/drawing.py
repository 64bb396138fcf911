"""Draw programs from seeds: chains of combinators, each in the function given to the one before, with operations between.

The drawing knows which variables move under which derivative, because two combinators refuse some: forward derivatives do
not go through custom_vjp, reverse ones not through while_loop. There the arguments come through `stop_gradient`.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import random
from collections.abc import Sequence

import numpy as np

from .operations import SIZES, Level, Scope, Shape, View, Writer, innermost
from .programs import KINDS, MAIN, Call, Function, Program, Var


COUNT = 2000
"""How many programs there are, by seeds from 0."""


def chain_of(seed: int) -> tuple[str, ...]:
    """The combinators of a program, outermost first: all triples of the main ones twice, then pairs with one of the others
    and one or two more."""
    triples, pairs = list(itertools.product(MAIN, repeat=3)), list(itertools.product(KINDS, repeat=2))
    # Strides that share no factor with the number of choices, so that neighbours differ in all places.
    if seed < 2 * len(triples):
        return triples[seed * 147 % len(triples)]
    pairs = [(a, b) for a, b in pairs if a not in MAIN or b not in MAIN]
    rng = random.Random(seed)
    more = [rng.choice(KINDS) for _ in range(rng.choice((1, 2, 2)))]
    return (*pairs[seed * 59 % len(pairs)], *more) if rng.random() < 0.5 else (*more, *pairs[seed * 59 % len(pairs)])


@functools.cache
def program(seed: int) -> Program:
    """The program of a seed."""
    return _Drawing(seed).program()


@dataclasses.dataclass(frozen=True)
class Carry:
    """How a scan carries a value: as it is given, taken apart and made in the body, and found in the end. `counts`: with a
    counter of the iterations before it."""

    given: str
    opening: str
    made: str
    found: str
    counts: bool = False


CARRIES = (
    Carry("{0}", "", "{0}", "{0}"),
    Carry("{0}", "", "{0}", "{0}"),
    Carry("(0, {0})", "{1}, {0} = state", "({1} + 1, {0})", "{0}[0], {0}[1]", True),
    Carry('{{"h": {0}, "none": None}}', '{0} = state["h"]', '{{{{"h": {0}, "none": None}}}}', '{0}["h"]'),
)


class _Drawing(Writer):
    """One program in the making."""

    def program(self) -> Program:
        chain, rng = chain_of(self.seed), np.random.default_rng(self.seed)
        shapes = [self.shape(1, 1), self.shape(0, 2)]
        params = [Var(name, shape) for name, shape in zip("xy", shapes)]
        scope = Scope(list(params), [], [()])
        before = self.mix(scope, params)
        main = self.blended(scope, self.combinator(scope, chain), before)
        side = self.operation(scope, self.any_of(scope.floats()))
        results = [self.operation(scope, main), self.fitted(scope, side, ())]
        returned = "{0}, {1}"
        if scope.integers():
            results.append(self.any_of(scope.integers()))
            returned = "{0}, {1}, {2}"
        function = Function("program", "x, y", params, scope.body, results, returned)
        return Program(
            self.seed, chain, function, self.constants, [np.round(rng.normal(size=s) * 0.8, 3) for s in shapes]
        )

    # Functions

    def function(
        self,
        scope: Scope,
        params: Sequence[Var],
        shapes: Sequence[Shape],
        rest: Sequence[str],
        *,
        views: list[View] | None = None,
        captures: bool = True,
        quiet: bool = False,
        header: str = "",
        opening: Sequence[str] = (),
        returned: str = "",
        bounded: bool = False,
        extra: Sequence[Var] = (),
    ) -> Function:
        """A function of `params` with results of the given shapes, the first made with the combinators in `rest`.

        It may read outer variables if `captures`, those that do not move only if `quiet`. `returned` may mention, after the
        results, the variables in `extra`.
        """
        outer = [v for v in (*scope.own, *scope.outer) if not quiet or not v.active] if captures else []
        inner = Scope(list(params), outer, scope.views if views is None else views)
        h = self.mix(inner, params)
        if rest:
            h = self.blended(inner, self.combinator(inner, rest), h)
        results = []
        for i, shape in enumerate(shapes):
            y = self.fitted(inner, h if i == 0 else self.any_of(inner.floats()), shape)
            results.append(self.state(inner, "jnp.tanh({0})", [y], shape) if bounded or self.chance(0.2) else y)
        returned = returned or ", ".join(f"{{{i}}}" for i in range(len(results)))
        header = header or ", ".join(p.name for p in params)
        name = f"f{next(self.functions)}"
        return Function(name, header, list(params), inner.body, [*results, *extra], returned, list(opening))

    def apply(
        self,
        scope: Scope,
        kind: str,
        text: str,
        args: Sequence[Var],
        held: Sequence[Function],
        shapes: Sequence[Shape],
        pattern: str = "",
        integers: int = 0,
        **options,
    ) -> Var:
        """Write a call down; its first result that is not an integer. The first `integers` results are."""
        read = [*args, *[v for f in held for v in f.free()]]
        active = frozenset().union(*[v.active for v in read]) & scope.known_levels()
        targets = [self.var(s, frozenset() if i < integers else active, i < integers) for i, s in enumerate(shapes)]
        scope.body.append(Call(targets, text, list(args), pattern, kind=kind, held=list(held), **options))
        scope.own += [*targets[integers + 1 :], *targets[:integers], targets[integers]]
        return targets[integers]

    def twice(self, scope: Scope, kind: str, made: str, args: Sequence[Var], f: Function, shape: Shape) -> Var:
        """A function that a combinator made once, called twice: on other values, and where it was traced before."""
        g, names = f"{f.name}_made", self._names(args)
        others = names.replace("{0}", f"{self.number()} * {{0}}")
        return self.apply(scope, kind, f"{g}({names}) - {g}({others})", args, [f], [shape], before=[f"{g} = {made}"])

    # Combinators: each writes one call into the scope, the rest of the chain into the function it is given

    def combinator(self, scope: Scope, chain: Sequence[str]) -> Var:
        kind, rest = chain[0], chain[1:]
        if self.chance(0.08) and len(chain) > 1:
            self.combinator(scope, (self.any_of(KINDS),))  # another one beside it
        return getattr(self, f"_{kind}")(scope, rest)

    def _arguments(self, scope: Scope, count: int | None = None) -> list[Var]:
        return [self.argument(scope, self.shape()) for _ in range(count or self.random.randint(1, 2))]

    def _names(self, args: Sequence[Var]) -> str:
        return ", ".join(f"{{{i}}}" for i in range(len(args)))

    def _jit(self, scope, rest):
        args = self._arguments(scope)
        params, shape = [self.param(a) for a in args], self.shape()
        plain = f"{{f0}}({self._names(args)})"
        text = f"jx.jit({{f0}})({self._names(args)})"
        if self.chance(0.15):
            number = self.var((), frozenset(), integer=True)
            params.append(number)
            text = f"jx.jit({{f0}}, static_argnums={len(args)})({self._names(args)}, 2)"
            plain = f"{{f0}}({self._names(args)}, 2)"
        elif self.chance(0.15) and len(args) == 2:
            text = f"jx.jit({{f0}})({{0}}, {params[1].name}={{1}})"
        f = self.function(scope, params, [shape], rest)
        if len(args) == len(params) and self.chance(0.15):
            return self.twice(scope, "jit", "jx.jit({f0})", args, f, shape)
        return self.apply(scope, "jit", text, args, [f], [shape], direct=plain)

    def _checkpoint(self, scope, rest):
        args, shape = self._arguments(scope), self.shape()
        f = self.function(scope, [self.param(a) for a in args], [shape], rest)
        policies = [f", policy=jx.checkpoint_policies.{p}_saveable" for p in ("everything", "nothing", "dots")]
        option = self.any_of(["", "", "", ", prevent_cse=False", *policies])
        names = self._names(args)
        if self.chance(0.15):
            return self.twice(scope, "checkpoint", f"jx.checkpoint({{f0}}{option})", args, f, shape)
        direct = f"{{f0}}({names})"
        return self.apply(
            scope, "checkpoint", f"jx.checkpoint({{f0}}{option})({names})", args, [f], [shape], direct=direct
        )

    def _vmap(self, scope, rest):
        size, elements = self.any_of(SIZES), [self.shape() for _ in range(self.random.randint(1, 2))]
        axes = [self.random.randint(0, len(e)) for e in elements]
        if len(axes) == 2 and self.chance(0.5):
            axes[1] = None
        args = [self.argument(scope, e if a is None else (*e[:a], size, *e[a:])) for e, a in zip(elements, axes)]
        params, shapes = [self.param(x, e) for x, e in zip(args, elements)], [self.shape()]
        if self.chance(0.2):
            shapes.append(self.shape())
        f = self.function(scope, params, shapes, rest)
        out_axes = [self.random.randint(0, len(s)) for s in shapes]
        results = [(*s[:a], size, *s[a:]) for s, a in zip(shapes, out_axes)]
        in_text = axes[0] if len(axes) == 1 or (axes[0] == axes[1] and self.chance(0.5)) else tuple(axes)
        if self.chance(0.15):
            out_axes[0] -= len(results[0])  # counted from the end
        out_text = out_axes[0] if len(out_axes) == 1 else tuple(out_axes)
        text = f"jx.vmap({{f0}}, in_axes={in_text}, out_axes={out_text})({self._names(args)})"
        return self.apply(scope, "vmap", text, args, [f], results)

    def _deeper(self, scope: Scope, *forward: bool) -> tuple[list[View], frozenset[int]]:
        """The views with further derivatives inside, and the numbers of those."""
        levels = tuple(Level(next(self.levels), f) for f in forward)
        return [(*view, *levels) for view in scope.views], frozenset(level.number for level in levels)

    def _grad(self, scope, rest):
        args = self._arguments(scope)
        views, new = self._deeper(scope, False)
        numbers = (0,) if len(args) == 1 else self.any_of(((0,), (1,), (0, 1)))
        params = [self.param(a, more=new if i in numbers else frozenset()) for i, a in enumerate(args)]
        if numbers == (0, 1) and self.chance(0.5):
            return self._grad_of_a_tree(scope, rest, args, params, views)
        aux = self.chance(0.15)
        f = self.function(scope, params, [(), ()] if aux else [()], rest, views=views)
        argnums = "" if numbers == (0,) else f", argnums={numbers if len(numbers) > 1 else numbers[0]}"
        shapes = [args[i].shape for i in numbers]
        pattern = self._names(shapes)
        options = ", has_aux=True" if aux else ""
        if aux:
            pattern, shapes = f"({pattern}), {{{len(shapes)}}}", [*shapes, ()]
        name = "grad"
        if not aux and self.chance(0.3):
            name, pattern, shapes = "value_and_grad", f"{{{len(shapes)}}}, ({pattern})", [*shapes, ()]
        text = f"jx.{name}({{f0}}{argnums}{options})({self._names(args)})"
        return self.apply(scope, "grad", text, args, [f], shapes, pattern)

    def _grad_of_a_tree(self, scope, rest, args, params, views):
        opening = [f'{params[0].name}, ({params[1].name}, _) = tree["a"], tree["b"]']
        f = self.function(scope, params, [()], rest, views=views, header="tree", opening=opening)
        before = [f'{f.name}_tree = jx.grad({{f0}})({{{{"b": ({{1}}, None), "a": {{0}}}}}})']
        text = f'{f.name}_tree["a"], {f.name}_tree["b"][0]'
        return self.apply(scope, "grad", text, args, [f], [a.shape for a in args], before=before)

    def _vjp(self, scope, rest):
        args, shape = self._arguments(scope), self.shape()
        ct = self.argument(scope, shape)
        views, new = self._deeper(scope, False)
        f = self.function(scope, [self.param(a, more=new) for a in args], [shape], rest, views=views)
        if len(args) == 1 and self.chance(0.3) and len(shape) + len(args[0].shape) <= 2:
            return self.apply(scope, "vjp", "jx.jacrev({f0})({0})", args, [f], [shape + args[0].shape])
        if self.chance(0.2) and max(len(a.shape) for a in args) < 2 and len(shape) < 2:
            size = self.any_of(SIZES)
            cts = self.argument(scope, (size, *shape))
            text = f"jx.vmap(jx.vjp({{f0}}, {self._names(args)})[1])({{{len(args)}}})"
            pattern = "{0}, {1}" if len(args) == 2 else "({0},)"
            return self.apply(scope, "vjp", text, [*args, cts], [f], [(size, *a.shape) for a in args], pattern)
        text = f"jx.vjp({{f0}}, {self._names(args)})[1]({{{len(args)}}})"
        pattern = "{0}, {1}" if len(args) == 2 else "({0},)"
        return self.apply(scope, "vjp", text, [*args, ct], [f], [a.shape for a in args], pattern)

    def _jvp(self, scope, rest):
        args, shape = self._arguments(scope), self.shape()
        tangents = [self.argument(scope, a.shape) for a in args]
        views, new = self._deeper(scope, True)
        f = self.function(scope, [self.param(a, more=new) for a in args], [shape], rest, views=views)
        k = len(args)
        primal, moving = (", ".join(f"{{{i}}}" for i in range(start, start + k)) for start in (0, k))
        text = f"jx.jvp({{f0}}, ({primal},), ({moving},))"
        return self.apply(scope, "jvp", text, [*args, *tangents], [f], [shape, shape], "{1}, {0}")

    def _linearize(self, scope, rest):
        args, shape = self._arguments(scope), self.shape()
        tangents = [self.argument(scope, a.shape) for a in args]
        views, new = self._deeper(scope, True)
        f = self.function(scope, [self.param(a, more=new) for a in args], [shape], rest, views=views)
        k = len(args)
        primal, moving = (", ".join(f"{{{i}}}" for i in range(start, start + k)) for start in (0, k))
        return self.apply(
            scope, "linearize", f"jx.linearize({{f0}}, {primal})[1]({moving})", [*args, *tangents], [f], [shape]
        )

    def _jacfwd(self, scope, rest):
        x, hessian = self.argument(scope, self.shape(1, 1)), self.chance(0.25)
        shape = () if hessian else self.shape()
        views, new = self._deeper(scope, True, False) if hessian else self._deeper(scope, True)
        f = self.function(scope, [self.param(x, more=new)], [shape], rest, views=views)
        out = x.shape * 2 if hessian else (*shape, *x.shape)
        return self.apply(scope, "jacfwd", f"jx.{'hessian' if hessian else 'jacfwd'}({{f0}})({{0}})", [x], [f], [out])

    # Control flow: what a loop carries may come to move in any iteration, so all that is in reach counts

    def _loop_param(self, scope: Scope, like: Var, quiet: bool = False, shape: Shape | None = None) -> Var:
        return self.param(like, shape, frozenset() if quiet else scope.everything())

    def _scan(self, scope, rest):
        length, element, y_shape = self.any_of(SIZES), self.shape(), self.shape()
        init = self.argument(scope, self.shape())
        carry, count = self._loop_param(scope, init), self.var((), frozenset(), integer=True)
        params, args, xs, x = [carry], [init], f"None, length={length}", "_"
        if self.chance(0.75):
            args.append(self.argument(scope, (length, *element)))
            params.append(self._loop_param(scope, args[1], shape=element))
            xs, x = "{1}", params[1].name
        stacks = self.chance(0.8)
        shapes = [carry.shape, y_shape] if stacks else [carry.shape]
        style = self.any_of(CARRIES)
        counts, made = [count] * style.counts, style.made.format("{0}", f"{{{len(shapes)}}}")
        f = self.function(
            scope, [*params, *counts], shapes, rest, bounded=True, extra=counts,
            header=f"{'state' if style.opening else carry.name}, {x}",
            opening=[style.opening.format(carry.name, count.name)] if style.opening else [],
            returned=f"{made}, {'{1}' if stacks else None}",
        )  # fmt: skip
        options = self.any_of(("", "", "", ", reverse=True", ", unroll=2", ", unroll=True", ", reverse=True, unroll=2"))
        text = f"lax.scan({{f0}}, {style.given}, {xs}{options})"
        results = [*[()] * style.counts, carry.shape, *[(length, *y_shape)] * stacks]
        if style.opening == "" and not stacks and self.chance(0.5):
            again = text.replace("{0}", f"{self.number()} * {{0}}")
            return self.apply(scope, "scan", f"{text}[0] - {again}[0]", args, [f], results)
        before = [f"{f.name}_carry, {f.name}_ys = {text}"]
        found = style.found.format(f"{f.name}_carry") + f", {f.name}_ys" * stacks
        return self.apply(scope, "scan", found, args, [f], results, integers=style.counts, before=before)

    def _map(self, scope, rest):
        length, element, shape = self.any_of(SIZES), self.shape(), self.shape()
        xs = self.argument(scope, (length, *element))
        f = self.function(scope, [self._loop_param(scope, xs, shape=element)], [shape], rest)
        option = self.any_of(("", "", ", batch_size=2"))
        return self.apply(scope, "map", f"lax.map({{f0}}, {{0}}{option})", [xs], [f], [(length, *shape)])

    def _while_loop(self, scope, rest):
        x = self.argument(scope, self.shape())
        quiet = scope.refuses_reverse(x.active | scope.everything())
        if quiet:
            x = self.still(scope, x)
        f = self.function(scope, [self._loop_param(scope, x, quiet)], [x.shape], rest, quiet=quiet, bounded=True)
        going = self.any_of(("s[0] < 3", "(s[0] < 4) & (jnp.sum(s[1] * s[1]) > 0.4)",
                             "(s[0] < 4) & (jnp.max(jx.jit({f0})(s[1])) < 0.8)"))  # fmt: skip
        text = f"lax.while_loop(lambda s: {going}, lambda s: (s[0] + 1, {{f0}}(s[1])), (0, {{0}}))"
        return self.apply(scope, "while_loop", text, [x], [f], [(), x.shape], "{0}, {1}", 1, quiet=quiet)

    def _fori_loop(self, scope, rest):
        x, dynamic = self.argument(scope, self.shape()), self.chance(0.4)
        quiet = dynamic and scope.refuses_reverse(x.active | scope.everything())
        bounds, args = self.any_of(("0, 3", "1, 3")), [x]
        if quiet:
            args = [self.still(scope, x)]
        if dynamic:
            bounds = "0, {1}"
            args.append(self.counter(scope))
        number = self.var((), frozenset(), integer=True)
        f = self.function(
            scope, [number, self._loop_param(scope, args[0], quiet)], [x.shape], rest, quiet=quiet, bounded=True
        )
        return self.apply(
            scope, "fori_loop", f"lax.fori_loop({bounds}, {{f0}}, {{0}})", args, [f], [x.shape], quiet=quiet
        )

    def _branches(self, scope: Scope, rest, args, count: int) -> tuple[list[Function], Shape]:
        shape, chosen = self.shape(), self.random.randrange(count)
        held = []
        for i in range(count):
            inner = rest if i == chosen else rest[: self.any_of((0, 0, 1))]
            params = [self.param(a) for a in args]
            if not params:
                x = self.any_of(scope.floats())
                held.append(self._closure(scope, x, shape, inner))
            else:
                held.append(self.function(scope, params, [shape], inner))
        return held, shape

    def _closure(self, scope: Scope, x: Var, shape: Shape, rest) -> Function:
        """A function without parameters."""
        inner = Scope([x], [*scope.own, *scope.outer], scope.views)
        h = self.operation(inner, x)
        if rest:
            h = self.blended(inner, self.combinator(inner, rest), h)
        y = self.fitted(inner, h, shape)
        return Function(f"f{next(self.functions)}", "", [], inner.body, [y], "{0}")

    def _cond(self, scope, rest):
        args = self._arguments(scope) if self.chance(0.8) else []
        p = self.argument(scope, ())
        held, shape = self._branches(scope, rest, args, 2)
        names = "".join(f", {{{i}}}" for i in range(len(args)))
        text = f"lax.cond({{{len(args)}}} > {self.number()}, {{f0}}, {{f1}}{names})"
        return self.apply(scope, "cond", text, [*args, p], held, [shape])

    def _switch(self, scope, rest):
        args, number = self._arguments(scope), self.counter(scope)
        held, shape = self._branches(scope, rest, args, 3)
        names = "".join(f", {{{i}}}" for i in range(len(args)))
        text = f"lax.switch({{{len(args)}}}, [{{f0}}, {{f1}}, {{f2}}]{names})"
        return self.apply(scope, "switch", text, [*args, number], held, [shape])

    # Functions with rules of their own: they capture nothing, and their rules are the true derivative, found in another way

    def _ruled(self, scope: Scope, args: Sequence[Var], forward: bool, vjp: bool) -> tuple[list[View], list[Var]]:
        """The views under which the function and its rule run, and its parameters."""
        active = frozenset().union(*[a.active for a in args])
        views: list[View] = []
        numbers = set()
        for view in scope.views:
            met = innermost(view, active)
            if met is None:
                views.append(view)
                continue
            outside = tuple(level for level in view if level is not met)
            transposed = forward and not vjp and (not met.forward or met.transposed)
            inside = Level(next(self.levels), forward, transposed)
            numbers.add(inside.number)
            views += [outside, (*outside, inside)]
        return list(dict.fromkeys(views)), [self.param(a, more=frozenset(numbers)) for a in args]

    def _shared(self, scope: Scope) -> list[Var]:
        """Arguments, the second one mostly from outside: the same for all examples, if they are mapped here."""
        outer = [v for v in scope.outer if not v.integer and len(v.shape) < 2]
        outer = [v for v in outer if v.active] or outer
        if not outer or self.chance(0.4):
            return self._arguments(scope)
        return [scope.floats()[-1], self.any_of(outer)]

    def _custom_vjp(self, scope, rest):
        args = self._shared(scope)
        quiet = scope.refuses_forward(frozenset().union(*[a.active for a in args]))
        if quiet:
            args = [self.still(scope, a) for a in args]
        shape, style = self.shape(), self.any_of(("again", "kept", "again"))
        if len(args) == 1 and len(args[0].shape) == 1 and self.chance(0.5):
            style, shape = "columns", self.shape(1, 1)
        views, params = self._ruled(scope, args, style == "columns", True)
        integer = style == "again" and self.chance(0.2)
        if integer:
            args, params = [*args, self.counter(scope)], [*params, self.var((), frozenset(), integer=True)]
        f = self.function(scope, params, [shape], rest, views=views, captures=False)
        g = f"{f.name}_ruled"
        rules = {
            "again": "lambda *xs: ({f0}(*xs), xs), lambda xs, ct: jx.vjp({f0}, *xs)[1](ct)",
            "kept": "lambda *xs: jx.vjp({f0}, *xs), lambda pull, ct: pull(ct)",
            "columns": "lambda x: ({f0}(x), x), lambda x, ct: (ct @ jx.jacfwd({f0})(x),)",
        }[style]
        before = [f"{g} = jx.custom_vjp({{f0}})", f"{g}.defvjp({rules})"]
        names = self._names(args)
        return self.apply(scope, "custom_vjp", f"{g}({names})", args, [f], [shape], before=before, quiet=quiet,
                          direct=f"{{f0}}({names})")  # fmt: skip

    def _custom_jvp(self, scope, rest):
        args, shape = self._shared(scope), self.shape()
        style = self.any_of(("jvp", "linearize", "each"))
        if len(args) == 1 and len(args[0].shape) == 1 and self.chance(0.5):
            style = "rows"
        views, params = self._ruled(scope, args, style != "rows", False)
        f = self.function(scope, params, [shape], rest, views=views, captures=False)
        g = f"{f.name}_ruled"
        each = ["lambda t, out, x: jx.jvp({f0}, (x,), (t,))[1]"]
        if len(args) == 2:
            each = ["lambda t, out, x, y: jx.jvp(lambda x: {f0}(x, y), (x,), (t,))[1]",
                    "lambda t, out, x, y: jx.jvp(lambda y: {f0}(x, y), (y,), (t,))[1]"]  # fmt: skip
        rule = {
            "jvp": "defjvp(lambda xs, ts: jx.jvp({f0}, xs, ts))",
            "linearize": "defjvp(lambda xs, ts: ({f0}(*xs), jx.linearize({f0}, *xs)[1](*ts)))",
            "rows": "defjvp(lambda xs, ts: ({f0}(*xs), jx.jacrev({f0})(*xs) @ ts[0]))",
            "each": f"defjvps({', '.join(each)})",
        }[style]
        before = [f"{g} = jx.custom_jvp({{f0}})", f"{g}.{rule}"]
        names = self._names(args)
        return self.apply(
            scope, "custom_jvp", f"{g}({names})", args, [f], [shape], before=before, direct=f"{{f0}}({names})"
        )
