"""Random keys used twice, and keys that do not change where they should."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Literal

from jitscope.core.words import counted, root_of

from ...source_code.bindings import bound, stored
from ...source_code.parameters import keyword, parameters
from ...source_code.text import Code
from ...source_code.tree import Function, below, children
from ..code.functions import TracedFunction
from ..code.values import TREE_MAPS
from ..code.walk import Walk
from ..diagnostic import Diagnostic, Fix
from .diagnostics import diagnostic, short


_NO_USE = {
    "key", "PRNGKey", "fold_in", "clone", "wrap_key_data", "key_data", "key_impl", "default_prng_impl", "rbg_key",
    "threefry2x32_key", "unsafe_rbg_key",
}  # fmt: skip
_SEEDS = ("jax.random.key", "jax.random.PRNGKey")
Uses = dict[str, ast.Call]
"""By the source of a key, the call that used it up."""


class _Draws:
    """Which functions of the program use up which of their arguments as keys."""

    def __init__(self, walk: Walk) -> None:
        self.walk, self.code = walk, walk.code
        self._known: dict[Function, Uses] = {}

    def used(self, call: ast.Call) -> str:
        """The source of the key that a call uses up, or ""."""
        dotted = self.code.dotted(call.func)
        if dotted.startswith("jax.random."):
            if dotted.rpartition(".")[2] in _NO_USE:
                return ""
            return self._source(call.args[0] if call.args else keyword(call, "key"))
        if (given := self._given_to_library(call, dotted)) is not None:
            return self._source(given)
        function = self.walk.functions.called(call)
        names = parameters(function) if function is not None else []
        for name in self._of(function) if function is not None else ():
            at = names.index(name)
            key = self._source(call.args[at] if at < len(call.args) else keyword(call, name))
            if key:
                return key
        return next(iter(self._from_outside(function)), "") if function is not None else ""

    def _given_to_library(self, call: ast.Call, dotted: str) -> ast.expr | None:
        """The key that a call of a library written for jax uses up: a layer of equinox's that is made; `init` of a flax module,
        `run` and `init` of numpyro's inference, `sample` of a distribution; `rngs` of a module that is applied."""
        if dotted.startswith("equinox.nn."):
            return keyword(call, "key")
        rngs = keyword(call, "rngs")
        if isinstance(rngs, ast.Dict) and len(rngs.values) == 1:
            return rngs.values[0] if isinstance(rngs.values[0], ast.Name) and not _is_quiet(call) else None
        infers = isinstance(call.func, ast.Call) and self.code.dotted(call.func.func) == "numpyro.infer.Predictive"
        drawing = isinstance(call.func, ast.Attribute) and call.func.attr in ("init", "run", "sample") and not dotted
        first = call.args[0] if call.args else None
        return first if (infers or drawing) and self._is_key(first) else None

    def same(self, first: ast.Call, second: ast.Call, code: Code) -> Literal["equal", "related", "meant"]:
        """How the numbers that two calls draw from one key belong together: "equal" where one distribution is drawn twice in one function
        or cell, "meant" where people want it so: one order for two arrays, one seed for two models or runs, in a function that is kept."""
        one, other = (code.dotted(call.func) for call in (first, second))
        drawn = [dotted.rpartition(".")[2] if dotted.startswith("jax.random.") else "" for dotted in (one, other)]
        if all(name in _SHARED for name in drawn) and (first is not second or _goes_through(first, code)):
            return "meant"
        if first is second and self._masks(second):
            return "equal"  # one mask in each iteration
        if not any(drawn) and all(self._is_of_library(call) for call in (first, second)):
            return "meant"
        together = code.function_around(first) is not None or code.cell_of(first) is code.cell_of(second)
        return "equal" if drawn[0] and drawn[0] == drawn[1] and together else "related"

    def _masks(self, call: ast.Call) -> bool:
        """Whether a call gives the key to a module that is applied, itself or through functions of the program; `params` are drawn once."""
        rngs = keyword(call, "rngs")
        if rngs is not None:
            return [getattr(one, "value", "") for one in getattr(rngs, "keys", ())] != ["params"]
        function = self.walk.functions.called(call)
        inner = self._of(function).values() if function is not None else ()
        return any(one is not call and self._masks(one) for one in inner)

    def _is_of_library(self, call: ast.Call) -> bool:
        return self._given_to_library(call, self.code.dotted(call.func)) is not None

    def _is_key(self, node: ast.expr | None) -> bool:
        """Whether a name is given a key somewhere in the program."""
        return isinstance(node, ast.Name) and node.id in self._keys

    @cached_property
    def _keys(self) -> set[str]:
        found: set[str] = set()
        for node in self.code.of(ast.Assign, ast.For):
            match node:
                case ast.Assign(targets=targets, value=ast.Call(func=func)) if self._gives_keys(func):
                    found.update(*(stored(target) for target in targets))
                case ast.For(target=target, iter=ast.Call(func=func)) if self._gives_keys(func):
                    found |= stored(target)
        return found

    def _gives_keys(self, function: ast.expr) -> bool:
        return self.code.dotted(function) in (
            *_SEEDS,
            "jax.random.split",
            "jax.random.fold_in",
            "jax.random.clone",
        )

    def _of(self, function: Function) -> Uses:
        """The arguments that a function uses up, itself or in a function inside it that has no such name of its own."""
        if function not in self._known:
            self._known[function] = {}  # of a call in its own body
            calls = {self.used(call): call for call in below(function) if isinstance(call, ast.Call)}
            own = set(parameters(function)) - stored(function)
            binding = self.code.scopes.binding
            self._known[function] = {k: one for k, one in calls.items() if k in own and binding(k, one) is function}
        return self._known[function]

    def _from_outside(self, function: Function) -> list[str]:
        """The names of the whole program that a function, which is not traced, uses up as keys."""
        if (
            function in self.walk.functions.traced_functions
            or self.walk.functions.scope_of(function) is not self.code.tree
        ):
            return []
        own = bound(function)
        used = (_drawn_with(call, self.code) for call in _own_calls(function, self.code))
        return [name for name in used if name and name not in own]

    def _source(self, key: ast.expr | None) -> str:
        """The source of a key that has a name, or ""."""
        match key:
            case ast.Name(id=name):
                return name
            case ast.Subscript(value=ast.Name(), slice=ast.Constant()):
                return self.code.source(key)
            case ast.Attribute(value=ast.Name(), attr=name) if name in self._declared:
                return self.code.source(key)
        return ""

    @cached_property
    def _declared(self) -> set[str]:
        """The attributes that the program itself declares, or gives a value: of others nobody knows that they are the same each time."""
        found = {node.attr for node in self.code.of(ast.Attribute) if isinstance(node.ctx, ast.Store)}
        for one in self.code.of(ast.ClassDef):
            found |= {n.target.id for n in one.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)}
        return found - {one.name for one in self.code.of(ast.FunctionDef)}


_OFF = {"train", "training", "is_training", "enable_dropout", "use_dropout", "stochastic"}


def _is_quiet(call: ast.Call) -> bool:
    """Whether a call says that it draws nothing: `deterministic=True`, `train=False`."""
    said = {one.arg: getattr(one.value, "value", None) for one in call.keywords}
    return said.get("deterministic") is True or any(said.get(name) is False for name in _OFF)


def _drawn_with(call: ast.Call, code: Code) -> str:
    """The name of the key that a function of the library uses up, or ""."""
    dotted = code.dotted(call.func)
    if not dotted.startswith("jax.random.") or dotted.rpartition(".")[2] in _NO_USE:
        return ""
    key = call.args[0] if call.args else keyword(call, "key")
    return key.id if isinstance(key, ast.Name) else ""


def _goes_through(call: ast.Call, code: Code) -> bool:
    """Whether what is drawn from is the array that a loop goes through: arrays in one order."""
    drawn = call.args[1] if len(call.args) > 1 else None
    for node in code.around(call):
        loops = node.generators if isinstance(node, ast.ListComp | ast.GeneratorExp) else [node]
        for one in loops:
            if (
                isinstance(one, ast.For | ast.comprehension)
                and isinstance(drawn, ast.Name)
                and drawn.id in stored(one.target)
            ):
                return True
    return False


# --- used twice -------------------------------------------------------------------------------------------------------------


def used_twice(walk: Walk) -> Iterator[Diagnostic]:
    """key-reuse. What certainly gives the same numbers twice is told at each line; of what is one by the letter alone (a key that is split
    after it was drawn with, one seed for two experiments) the first of a program."""
    code = walk.code
    if "random" not in code.text or _is_test(code.file.rpartition("/")[2]):
        return
    draws = _Draws(walk)
    bodies = [code.tree.body]
    functions = code.of(ast.FunctionDef, ast.AsyncFunctionDef)
    bodies += [n.body for n in functions if not n.name.startswith("test")]
    found: dict[ast.Call, Diagnostic] = {}
    for body in bodies:
        look = _Reuse(draws)
        look.block(body, {})
        found |= look.found
    weak = sorted((one for one in found.values() if one.lower), key=lambda one: one.span)
    yield from (one for one in found.values() if not one.lower)
    if weak:
        others = len(weak) - 1
        more = (
            f" So {'does' if others == 1 else 'do'} {counted(others, 'other place')} of this program." if others else ""
        )
        yield replace(weak[0], message=weak[0].message + more)


def _is_test(file: str) -> bool:
    """Tests draw what they need from whatever key there is."""
    return file.startswith("test_") or file.endswith("_test.py")


def _is_lost(key: str, paths: set[str]) -> bool:
    """Whether a key belongs to what was given a new value."""
    return any(key == path or key.startswith((f"{path}[", f"{path}.")) for path in paths)


def _given_anew(node: ast.AST, code: Code) -> set[str]:
    """What a statement gives a value, by its source: names, attributes, elements; of an object whose method is called all attributes."""
    found: set[str] = set()
    for one in below(node):
        match one:
            case ast.Name(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                found.add(code.source(one))
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"))):
                found.add("self")
    return found


_SHARED = {"permutation", "choice", "shuffle"}
"""Samplers that draw an order: two arrays are often shuffled by one on purpose."""


class _Reuse:
    """Follows the keys of one function through its statements."""

    def __init__(self, draws: _Draws) -> None:
        self.draws, self.code = draws, draws.code
        self.found: dict[ast.Call, Diagnostic] = {}

    def block(self, body: list[ast.stmt], uses: Uses) -> bool:
        """Whether the end of the block is reached."""
        return all(self.statement(one, uses) for one in body)

    def statement(self, node: ast.stmt, uses: Uses) -> bool:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return True
            case ast.If(test=test, body=body, orelse=orelse):
                self.expression(test, uses)
                self.branches([body, orelse], uses)
            case ast.For(target=target, iter=iterated, body=body):
                self.expression(iterated, uses)
                self.loop(body, uses, stored(target))
            case ast.While(test=test, body=body):
                self.expression(test, uses)
                self.loop(body, uses, set())
            case ast.With(items=items, body=body):
                for item in items:
                    self.expression(item.context_expr, uses)
                return self.block(body, uses)
            case ast.Try(body=body, handlers=handlers, finalbody=final):
                self.branches([body, *(h.body for h in handlers)], uses)
                self.block(final, uses)
            case ast.Match(subject=subject, cases=cases):
                self.expression(subject, uses)
                self.branches([*(case.body for case in cases), []], uses)
            case _:
                self.expression(node, uses)
                self.forget(_given_anew(node, self.code), uses)
                return not isinstance(node, ast.Return | ast.Raise | ast.Continue | ast.Break)
        return True

    def forget(self, paths: set[str], uses: Uses) -> None:
        """What was given a new value is no used key any more."""
        for key in [key for key in uses if _is_lost(key, paths)]:
            del uses[key]

    def branches(self, blocks: list[list[ast.stmt]], uses: Uses) -> None:
        """What is used in one of several blocks is used after them; what one of them gave anew is fresh there only."""
        before = dict(uses)
        after = [own for block in blocks if self.block(block, own := dict(before))]
        uses.clear()
        for own in after:
            uses.update(own)

    def loop(self, body: list[ast.stmt], uses: Uses, own: set[str]) -> None:
        """Twice: the second iteration meets what the first used up."""
        for _ in range(2):
            self.forget(own, uses)
            if not self.block(body, uses):
                return

    def expression(self, node: ast.AST, uses: Uses) -> None:
        if isinstance(node, ast.Lambda):
            return
        if isinstance(node, ast.IfExp):
            self.expression(node.test, uses)
            self.branches([[ast.Expr(node.body)], [ast.Expr(node.orelse)]], uses)
            return
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq):
            return  # whether two draws are the same is a question worth asking
        if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.DictComp | ast.SetComp):
            self.comprehension(node, uses)
            return
        for child in children(node):
            self.expression(child, uses)
        if isinstance(node, ast.Call) and (key := self.draws.used(node)):
            self.use(node, key, uses)

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.DictComp | ast.SetComp, uses: Uses) -> None:
        """A loop with names of its own."""
        own = {name for g in node.generators for name in stored(g.target)}
        outer = {key: call for key, call in uses.items() if root_of(key) not in own}
        for child in children(node):
            self.expression(child, outer)
        once = set(below(node.generators[0].iter))
        for call in [c for c in below(node) if isinstance(c, ast.Call) and c not in once]:
            key = self.draws.used(call)
            if key and root_of(key) not in own:
                self.use(call, key, outer)
        uses.update({key: call for key, call in outer.items() if root_of(key) not in own})

    def use(self, call: ast.Call, key: str, uses: Uses) -> None:
        first = uses.get(key)
        if first is None:
            uses[key] = call
            return
        how = self.draws.same(first, call, self.code)
        if how == "meant":
            return
        if first is call or _in_other_branch(first, call, self.code):  # that of an iteration before
            again = "in every iteration"
            fix = "Split it before the loop and take one key for each iteration: for k in jax.random.split(key, n)."
        else:
            again = "in this line" if first.lineno == call.lineno else f"here, after {self.code.line_told(first, call)}"
            fix = f"Split it first: {key}, own = jax.random.split({key}), and use each part once."
        message = f"the key `{key}` is used again {again}: the random numbers are not independent of each other."
        lower = None if how == "equal" else "info"
        self.found[call] = diagnostic(self.code, "key-reuse", call, message, Fix(fix), lower)


def _in_other_branch(first: ast.Call, call: ast.Call, code: Code) -> bool:
    """Whether two calls stand in two branches of one `if`, so that none comes after the other in one pass."""
    around = [[call, *code.around(call)], [first, *code.around(first)]]
    for one in around[0]:
        if isinstance(one, ast.If | ast.IfExp) and one in around[1]:
            arms = [path[path.index(one) - 1] for path in around]
            in_body = [arm is one.body or (isinstance(one.body, list) and arm in one.body) for arm in arms]
            return one.test not in arms and in_body[0] != in_body[1]
    return False


# --- not threaded -------------------------------------------------------------------------------------------------------------

_REPEATED = {
    "scan": "iteration", "fori_loop": "iteration", "while_loop": "iteration", "map": "iteration", "vmap": "row", "pmap": "row",
    "jit": "call",
}  # fmt: skip


def not_threaded(walk: Walk) -> Iterator[Diagnostic]:
    """key-not-threaded: numbers drawn in a loop's body, a mapped or a compiled function, with a key from outside or of a fixed seed."""
    if _is_test(walk.code.file.rpartition("/")[2]):
        return
    for traced in walk.functions.traced:
        if traced.by in _REPEATED and parameters(traced.function):
            yield from _fixed(traced, walk)


def _fixed(traced: TracedFunction, walk: Walk) -> Iterator[Diagnostic]:
    code, function = walk.code, traced.function
    carried = _carried_on(traced, code)
    names = bound(function) - carried
    each = _REPEATED[traced.by]
    for call in _own_calls(function, code):
        dotted = code.dotted(call.func)
        if not dotted.startswith("jax.random.") or dotted.rpartition(".")[2] in _NO_USE:
            continue
        key = call.args[0] if call.args else None
        root = key
        while isinstance(root, ast.Attribute) or (
            isinstance(root, ast.Subscript) and isinstance(root.slice, ast.Constant)
        ):
            root = root.value
        if isinstance(root, ast.Name) and root.id in traced.unsure:
            continue
        own = names - traced.static
        captured = isinstance(root, ast.Name) and root.id not in own and not code.dotted(root)
        seeded = _is_seed(key, code) or (isinstance(key, ast.Name) and _is_seeded(key.id, function, code))
        if captured or seeded:
            is_meant = (
                isinstance(root, ast.Name) and traced.by == "vmap" and root.id in traced.static
            )  # by in_axes=None
            if is_meant and isinstance(root, ast.Name) and _is_mapped_too(root.id, function, walk):
                continue
            how = f"`{short(code, key)}` is the same" if key is not None and captured else "the seed is fixed"
            message = f"{how} in every {each}, so every {each} draws from the same random bits."
            fix = {
                "iteration": "Give each iteration its own key: scan over jax.random.split(key, n), or jax.random.fold_in(key, i).",
                "row": "Map over the keys as well: jax.vmap(f)(jax.random.split(key, n), xs).",
                "call": "Take the key as an argument, and pass another one in each call.",
            }[each]
            if isinstance(root, ast.Name) and root.id in carried:
                fix = f"Split it in each iteration, {root.id}, own = jax.random.split({root.id}): draw with own, and carry {root.id} on."
            yield diagnostic(
                code, "key-not-threaded", call, message, Fix(fix), "info" if is_meant or not captured else None
            )


def same_for_leaves(walk: Walk) -> Iterator[Diagnostic]:
    """key-not-threaded: numbers drawn for each leaf of a tree with one key from outside. One order for all leaves is wanted so."""
    code = walk.code
    if _is_test(code.file.rpartition("/")[2]):
        return
    for call in code.of(ast.Call):
        given = call.args[0] if call.args and code.dotted(call.func) in TREE_MAPS else None
        function = walk.functions.named(given.id, call) if isinstance(given, ast.Name) else given
        if not isinstance(function, ast.FunctionDef | ast.Lambda):
            continue
        for draw in _own_calls(function, code):
            key, sampler = _drawn_with(draw, code), code.dotted(draw.func).rpartition(".")[2]
            if key and key not in bound(function) and sampler not in _SHARED:
                message = (
                    f"`{key}` is the same for every leaf of the tree, so every leaf draws from the same random bits."
                )
                fix = (
                    f"Make a tree of keys and map over it as well: jax.random.split({key}, n) for its n leaves, and "
                    "jax.tree.unflatten(jax.tree.structure(tree), list(keys))."
                )
                yield diagnostic(code, "key-not-threaded", draw, message, Fix(fix))


_CARRY = {"scan": 0, "while_loop": 0, "fori_loop": 1}
"""Which argument of a loop's body is the carry."""


def _carried_on(traced: TracedFunction, code: Code) -> frozenset[str]:
    """The names of a loop's body that are parts of its carry, or the carry itself, and that it carries on as they came."""
    function, at = traced.function, _CARRY.get(traced.by)
    names = parameters(function)
    if at is None or len(names) <= at or not isinstance(function, ast.FunctionDef):
        return frozenset()
    own = [node for node in below(function) if code.function_around(node) is function]
    given = [node.id for node in own if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    results = [node.value for node in own if isinstance(node, ast.Return)]
    if traced.by == "scan":
        results = [one.elts[0] if isinstance(one, ast.Tuple) and one.elts else None for one in results]
    came = {(): names[at]} if names[at] not in given else {}
    for node in own:
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=parts)], value=ast.Name(id=name)) if name == names[at]:
                came |= {(i,): x.id for i, x in enumerate(parts) if isinstance(x, ast.Name) and given.count(x.id) == 1}
    on = [_named_parts(one) for one in results]
    return frozenset(name for place, name in came.items() if on and all(one.get(place) == name for one in on))


def _named_parts(carry: ast.expr | None) -> dict[tuple[int, ...], str]:
    """The names in a carry that is returned: of the whole at (), of the i-th part at (i,)."""
    match carry:
        case ast.Name(id=name):
            return {(): name}
        case ast.Tuple(elts=parts):
            return {(i,): one.id for i, one in enumerate(parts) if isinstance(one, ast.Name)}
    return {}


def _is_mapped_too(name: str, function: Function, walk: Walk) -> bool:
    """Whether another `vmap` of the same function, inside or around, maps an argument."""
    return any(
        one.function is function and one.by == "vmap" and name not in one.static for one in walk.functions.traced
    )


def _own_calls(function: Function, code: Code) -> Iterator[ast.Call]:
    for node in below(function):
        if isinstance(node, ast.Call) and code.function_around(node) is function:
            yield node


def _is_seed(node: ast.AST | None, code: Code) -> bool:
    return (
        isinstance(node, ast.Call)
        and code.dotted(node.func) in _SEEDS
        and bool(node.args)
        and isinstance(node.args[0], ast.Constant)
    )


def _is_seeded(name: str, function: Function, code: Code) -> bool:
    """Whether the only value a function gives a name is a key with a fixed seed."""
    given = [
        node.value
        for node in below(function)
        if isinstance(node, ast.Assign) and any(name in stored(target) for target in node.targets)
    ]
    return len(given) == 1 and _is_seed(given[0], code)
