"""Which functions of a program are traced, by what, and which of their arguments are not."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ...source_code.parameters import argument_for, is_generator, is_open, parameters, positional
from ...source_code.text import Cell, Code
from ...source_code.tree import Function
from .arguments import handed_on, rest, static_names, unmapped
from .definitions import Definitions
from .each_time import EACH_TIME, compiled_within
from .libraries import Libraries


@dataclass(frozen=True)
class TracedFunction:
    """A function that is traced. `by` is the transformation ("jit", "scan", …), `static` the arguments that stay Python values,
    `bound` those of them that it has already (`self` of a method, what `partial` gave), `site` where it is said."""

    function: Function
    by: str
    site: ast.AST
    static: frozenset[str] = field(default=frozenset(), compare=False)
    bound: frozenset[str] = field(default=frozenset(), compare=False)
    unsure: frozenset[str] = field(default=frozenset(), compare=False)
    """The arguments that may stay Python values for all that is said there: what the calls give them tells."""
    inside: bool = field(default=False, compare=False)
    """Whether it is defined inside of a function that is traced without values."""
    each_time: bool = field(default=False, compare=False)
    """Whether Python runs it in each call: `grad` or `vmap` of it, and nothing compiles that."""

    @property
    def sorts(self) -> bool:
        """Whether the transformation itself tells arrays from what else is among the arguments, and gives changed objects back."""
        return self.by in _SORTING.values()

    @property
    def abstract(self) -> bool:
        """Whether values are unknown inside: `grad` of code that runs has values."""
        return self.inside or self.by not in _WITH_VALUES

    @property
    def ends(self) -> bool:
        """Whether tracers of its trace have no value once the call is over."""
        return self.by not in ("eval_shape", "make_jaxpr")

    @property
    def kept(self) -> bool:
        """Whether what is traced runs later, without Python."""
        return self.ends and not self.each_time


_WITH_VALUES = {
    "grad", "value_and_grad", "jvp", "vjp", "linearize", "jacrev", "jacfwd", "hessian", "checkpoint", "remat", "shard_map",
}  # fmt: skip

_TAKES: dict[str, tuple[int, ...]] = {
    "jax.jit": (0,), "jax.pmap": (0,), "jax.vmap": (0,), "jax.grad": (0,), "jax.value_and_grad": (0,), "jax.jacfwd": (0,),
    "jax.jacrev": (0,), "jax.hessian": (0,), "jax.jvp": (0,), "jax.vjp": (0,), "jax.linearize": (0,), "jax.checkpoint": (0,),
    "jax.remat": (0,), "jax.eval_shape": (0,), "jax.make_jaxpr": (0,), "jax.shard_map": (0,),
    "jax.lax.scan": (0,), "jax.lax.map": (0,), "jax.lax.while_loop": (0, 1), "jax.lax.fori_loop": (2,),
    "jax.lax.cond": (1, 2), "jax.lax.switch": (1,), "jax.lax.associative_scan": (0,),
}  # fmt: skip
"""Where transformations and control flow take functions."""
_GIVING_ARRAYS = {
    f"jax.{name}" for name in ("jit", "pmap", "vmap", "grad", "value_and_grad", "jacfwd", "jacrev", "hessian")
}
_SORTING = {
    "equinox.filter_jit": "filter_jit",
    "equinox.filter_vmap": "filter_vmap",
    "equinox.filter_pmap": "filter_pmap",
    "flax.nnx.jit": "nnx.jit",
    "flax.nnx.vmap": "nnx.vmap",
    "flax.nnx.pmap": "nnx.pmap",
    "flax.nnx.scan": "nnx.scan",
}
"""Transformations of libraries that take any object: nothing is known of an argument by itself."""
_LIFTING = {f"flax.linen.{name}" for name in ("scan", "remat", "checkpoint", "vmap", "jit", "map_variables")}
_LIBRARIES = ("jax.", "flax.", "equinox.")
_LAYERS = ("flax.linen.", "flax.nnx.", "equinox.nn.")
_KEYWORDS = {"fun", "f", "fn", "body_fun", "cond_fun", "true_fun", "false_fun", "branches"}


class Functions:
    """The functions of a program: found by name, and those that are traced."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self._by_scope: Definitions[Function] = Definitions(code)
        self._classes: Definitions[ast.ClassDef] = Definitions(code)
        self._lifted: dict[str, ast.ClassDef] = {}
        self._instances: Definitions[ast.ClassDef] = Definitions(code)
        """The classes of the objects that names are given, by scope: `model = Model()`."""
        self._attributes: dict[tuple[ast.AST, str], set[ast.ClassDef]] = {}
        """The same of attributes, by class: `self.layer = Layer()`."""
        self._layers: set[tuple[ast.AST, str]] = set()
        """Names and attributes that are given a layer of a library."""
        self._arguments: dict[tuple[ast.AST, str], ast.ClassDef | None] = {}
        self.compiled: dict[tuple[ast.AST, str], list[tuple[int, TracedFunction]]] = {}
        """The compiled functions that names are given, by scope, each with its line: `step = jax.jit(f)`."""
        self.traced: list[TracedFunction] = []
        self._collect()
        self._find()
        self._nest()
        for given in self.compiled.values():
            given.sort(key=lambda one: one[0])

    def _nest(self) -> None:
        """`grad` of a function inside of a compiled one sees no values either, and is compiled with it."""
        compiled = compiled_within(self)
        self.traced = [
            replace(one, each_time=one.by in EACH_TIME and one.function not in compiled) for one in self.traced
        ]
        without = {one.function for one in self.traced if one.abstract}
        self.traced = [
            replace(one, inside=True) if not one.abstract and without & set(self.code.around(one.function)) else one
            for one in self.traced
        ]

    # names

    def _collect(self) -> None:
        assigned = self.code.of(ast.Assign)
        for node in self.code.of(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self._by_scope.add(self.scope_of(node), node.name, node, node)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self._by_scope.add(self.scope_of(node), target.id, node, node.value)
            elif isinstance(node, ast.ClassDef):
                self._classes.add(self.scope_of(node), node.name, node, node)
        for node in assigned:
            if lifted := self._lifted_by(node.value):
                self._lifted |= {target.id: lifted for target in node.targets if isinstance(target, ast.Name)}
        for node in assigned:
            if isinstance(node.value, ast.Call):
                for target in node.targets:
                    self._collect_object(target, node.value)
        for node in assigned:
            if isinstance(node.value, ast.Call):
                returned = self._returned_by(node.value)
                for target in node.targets if len(returned) == 1 else []:
                    if isinstance(target, ast.Name) and not self._by_scope.has(self.scope_of(node), target.id):
                        self._by_scope.add(self.scope_of(node), target.id, node, returned[0])

    def _collect_object(self, target: ast.expr, value: ast.Call) -> None:
        made, layer = self.class_made(value), self.code.dotted(value.func).startswith(_LAYERS)
        match target:
            case ast.Name(id=name):
                owner = self.scope_of(target)
                if made:
                    self._instances.add(owner, name, target, made)
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                owner = next((one for one in self.code.around(target) if isinstance(one, ast.ClassDef)), None)
                if owner is None:
                    return
                if made:
                    self._attributes.setdefault((owner, name), set()).add(made)
            case _:
                return
        if layer:
            self._layers.add((owner, name))

    def class_made(self, node: ast.AST) -> ast.ClassDef | None:
        """The class of this program of which an expression such as `Model(3)` makes an object."""
        match node:
            case ast.Call(func=ast.Name(id=name)):
                return self._class(name, node) or self._lifted.get(name)
            case ast.Call(func=ast.Call() as inner):
                return self._lifted_by(inner)
        return None

    def _lifted_by(self, node: ast.expr) -> ast.ClassDef | None:
        """The class of this program of which a library makes one that is called as it is: `nn.remat(Block)`."""
        match node:
            case ast.Call(func=func, args=[ast.Name(id=name), *_]) if self.code.dotted(func) in _LIFTING:
                return self._class(name, node)
        return None

    def _class(self, name: str, at: ast.AST) -> ast.ClassDef | None:
        """The class that a name means at a place."""
        scope = self.code.scopes.binding(name, at)
        return self._classes.at(scope, name, at) if scope is not None else None

    def is_class(self, node: ast.expr) -> bool:
        """Whether a name means a class of this program."""
        scope = self.code.scopes.binding(node.id, node) if isinstance(node, ast.Name) else None
        return scope is not None and self._classes.has(scope, node.id)  # pyright: ignore[reportAttributeAccessIssue]

    def instance(self, node: ast.expr, at: ast.AST) -> ast.ClassDef | None:
        """The class of the object that an expression gives: `self`, a name that was given one, or a call that makes one."""
        match node:
            case ast.Name(id="self" | "cls"):
                return next((one for one in self.code.around(at) if isinstance(one, ast.ClassDef)), None)
            case ast.Name(id=name):
                scope = self.code.scopes.binding(name, at)
                if scope is None:
                    return None
                if not self._instances.has(scope, name) and isinstance(scope, Function) and name in parameters(scope):
                    return self._argument(scope, name)
                return self._instances.at(scope, name, at)
            case ast.Attribute(value=ast.Name(id="self") as base, attr=name) if (
                owner := self.instance(base, at)
            ) is not None:
                found = self._attributes.get((owner, name), set())
                return next(iter(found)) if len(found) == 1 else None
        return self.class_made(node)

    def _argument(self, function: Function, name: str) -> ast.ClassDef | None:
        """The class of the objects that all calls give an argument; None where one may give something else."""
        key = (function, name)
        if key not in self._arguments:
            self._arguments[key] = None  # of a call in its own body
            places = positional(function)
            found = [
                self.instance(value, call)
                for call in self._calls.get(function, ())
                if (value := argument_for(call, name, places)) is not None
            ]
            self._arguments[key] = found[0] if found and all(one is found[0] for one in found) else None
        return self._arguments[key]

    @cached_property
    def _calls(self) -> dict[Function, list[ast.Call]]:
        """The calls of functions of this program by a name, or of what a library made of one: `nnx.grad(loss)(model)`."""
        found: dict[Function, list[ast.Call]] = {}
        for call in self.code.of(ast.Call):
            if (function := self._callee(call.func, call)) is not None:
                found.setdefault(function, []).append(call)
        return found

    def is_called(self, function: Function) -> bool:
        """Whether the program shows calls of a function, each with all of its arguments."""
        calls = self._calls.get(function, ())
        return bool(calls) and not any(is_open(call) for call in calls)

    def given(self, function: Function, name: str) -> list[ast.expr]:
        """What the calls of a function that the program shows give an argument."""
        places = positional(function)
        found = (argument_for(call, name, places) for call in self._calls.get(function, ()))
        return [one for one in found if one is not None]

    @cached_property
    def _made(self) -> dict[tuple[ast.AST, str], ast.Call]:
        """The calls whose results names are given, by scope."""
        return {
            (self.scope_of(node), target.id): node.value
            for node in self.code.of(ast.Assign)
            if isinstance(node.value, ast.Call)
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    def _callee(self, node: ast.expr, at: ast.AST) -> Function | None:
        named = self.named(node.id, at) if isinstance(node, ast.Name) else None
        return named or self.transformed(node, at)

    def transformed(self, node: ast.expr, at: ast.AST) -> Function | None:
        """The function of which a library made what an expression means, of the same arguments: `nnx.jit(f)`, `jax.value_and_grad(f)`."""
        if isinstance(node, ast.Name):
            made = self._made.get((self.scope_of(at), node.id)) or self._made.get((self.code.tree, node.id))
            return self.transformed(made, at) if made is not None else None
        match node:
            case ast.Call(func=func, args=[ast.Name(id=name), *_]) if self.code.dotted(func).startswith(_LIBRARIES):
                return self.named(name, at)
        return None

    def gives_arrays(self, node: ast.expr, at: ast.AST) -> bool:
        """Whether an expression is what a transformation of jax made, which gives trees of arrays for traced arguments: `jax.grad(f)`."""
        if isinstance(node, ast.Name):
            scope = self.code.scopes.binding(node.id, at)
            made = [self.code.parents.get(one) for one in self.code.scopes.binders(scope, node.id)] if scope else []
            node = made[0].value if len(made) == 1 and isinstance(made[0], ast.Assign) else node
        return isinstance(node, ast.Call) and self.code.dotted(node.func) in _GIVING_ARRAYS

    def is_called_back(self, node: Function) -> bool:
        """Whether a function runs on the host, in each call: `jax.debug.callback(f, x)`, `jax.pure_callback(f, …)`."""
        name = getattr(node, "name", "")
        calls = [one for one in self.code.of(ast.Call) if self.code.dotted(one.func).endswith("callback")]
        return any(isinstance(one, ast.Name) and one.id == name for call in calls for one in call.args[:1])

    def is_layer(self, node: ast.expr, at: ast.AST) -> bool:
        """Whether an expression is a layer of a library, which gives arrays for arrays: `nn.Dense(3)`, `self.linear`."""
        match node:
            case ast.Call(func=func):
                return self.code.dotted(func).startswith(_LAYERS)
            case ast.Name(id=name):
                return (self.scope_of(at), name) in self._layers
            case ast.Attribute(value=ast.Name(id="self") as base, attr=name):
                return (self.instance(base, at), name) in self._layers
        return False

    def applied(self, node: ast.expr, at: ast.AST) -> Function | None:
        """The method that `model.apply` of flax runs, whose first argument, the variables, it is not given; also by the name `apply_fn`,
        where all that the program gives by this name are one."""
        match node:
            case ast.Attribute(value=base, attr="apply" | "init" | "init_with_output"):
                owner = self.instance(base, at)
                if owner is None or not self._is_of_flax(owner):
                    return None
                given = [k.value for k in at.keywords if k.arg == "method"] if isinstance(at, ast.Call) else []
                match given:
                    case []:
                        name = "__call__"
                    case [ast.Constant(value=str() as name)] | [ast.Attribute(attr=name)]:
                        pass
                    case _:
                        return None
                return self._method_of(owner, name)
            case ast.Attribute(attr="apply_fn"):
                found = self._apply_fns
                return found[0] if found and all(one is found[0] for one in found) else None
        return None

    @cached_property
    def _apply_fns(self) -> list[Function | None]:
        calls = self.code.of(ast.Call)
        return [self.applied(k.value, call) for call in calls for k in call.keywords if k.arg == "apply_fn"]

    def _is_of_flax(self, owner: ast.ClassDef) -> bool:
        return any(
            self.code.dotted(base) == "flax.linen.Module"
            or (
                isinstance(base, ast.Name)
                and (above := self._class(base.id, owner)) is not None
                and above is not owner
                and self._is_of_flax(above)
            )
            for base in owner.bases
        )

    def of_object(self, node: ast.expr, at: ast.AST) -> Function | None:
        """The method that an expression means (`self.step`, `model.loss`), or that calling an object calls."""
        of_class = False
        if isinstance(node, ast.Attribute):
            owner, name = self.instance(node.value, at), node.attr
            if owner is None and self.is_class(node.value):
                owner, of_class = self._class(node.value.id, at), True  # pyright: ignore[reportAttributeAccessIssue]
        else:
            owner, name = self.instance(node, at), "__call__"
        found = self._method_of(owner, name, of_class)
        if found is None and isinstance(node, ast.Attribute):
            found = self._method_of(self.instance(node, at), "__call__")
        return found

    def _method_of(self, owner: ast.ClassDef | None, name: str, of_class: bool = False) -> Function | None:
        seen: set[ast.ClassDef] = set()
        while owner is not None and owner not in seen:
            seen.add(owner)
            if (found := self._by_scope.last(owner, name)) is not None:
                usual = parameters(found)[:1] and not _is_free(found)
                return found if usual and (not of_class or _is_decorated(found, "classmethod")) else None
            bases = [self._class(base.id, owner) for base in owner.bases if isinstance(base, ast.Name)]
            owner = next((base for base in bases if base is not None), None)
        return None

    def scope_of(self, node: ast.AST) -> ast.AST:
        """The function, class or module that a node stands in."""
        scope = self.code.scopes.of(node)
        while not isinstance(scope, ast.ClassDef | ast.Module | Function):
            scope = self.code.scopes.of(scope)
        return scope

    def named(self, name: str, at: ast.AST) -> Function | None:
        """The function that a name means at a place, if the program defines it."""
        scope = self.code.scopes.binding(name, at)
        return self._by_scope.at(scope, name, at) if scope is not None else None

    @cached_property
    def traced_functions(self) -> set[Function]:
        """The functions that are traced, by whatever."""
        return {one.function for one in self.traced}

    def called(self, call: ast.Call) -> Function | None:
        """The function that a call calls by its name, if the program defines it."""
        return self.named(call.func.id, call) if isinstance(call.func, ast.Name) else None

    def compiled_at(self, call: ast.Call) -> TracedFunction | None:
        """The compiled function that a call calls, if the program tells: by a decorator, a name, or at once."""
        match call.func:
            case ast.Name(id=name):
                scope = self.code.scopes.binding(name, call)
                if scope is not None and (scope, name) in self.compiled:
                    return self._meant_at(call, scope, self.compiled[scope, name])
            case ast.Attribute(value=base, attr=name):
                owner = self.instance(base, call)
                given = self.compiled.get((owner, name), ()) if owner is not None else ()
                traced = given[-1][1] if given else None
                if traced is not None and self.scope_of(traced.function) is owner and not traced.bound:
                    return replace(traced, bound=frozenset(parameters(traced.function)[:1]))
                return traced
            case ast.Call() as inner:
                made = self._of_call(inner)
                return next((one for one in made if one.by == "jit"), None)
        return None

    def _meant_at(self, call: ast.Call, scope: ast.AST, given: list[tuple[int, TracedFunction]]) -> TracedFunction:
        """Which of the functions that a name was given one after the other a call calls: in the same scope the one before it."""
        before = [traced for line, traced in given if line <= call.lineno]
        return before[-1] if before and self.scope_of(call) is scope else given[-1][1]

    # what is traced

    def _find(self) -> None:
        for node in self.code.of(ast.FunctionDef, ast.AsyncFunctionDef, ast.Call):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for i, decorator in enumerate(node.decorator_list):
                    found = self._decorated(node, decorator)
                    wrappers = [w for below in node.decorator_list[i + 1 :] for w in self._returned_by(below)]
                    found += [_wrapping(one, wrapper) for one in found for wrapper in wrappers]
                    self._note(found, (self.scope_of(node), node.name))
            else:
                found = self._of_call(node)
                above = self.code.parents.get(node)
                target = above.targets[0] if isinstance(above, ast.Assign) and len(above.targets) == 1 else None
                self._note(found, self._bound_by(target, node))
        self._find_those_of_cells()

    def _find_those_of_cells(self) -> None:
        """What `%%jit` compiles. Of what compiled functions alone call, each call is a part of theirs, with its Python values."""
        cells = {
            f: cell for f in self.code.of(ast.FunctionDef) if not f.decorator_list and (cell := self._compiling_cell(f))
        }
        compiled: set[ast.AST] = {*cells, *(one.function for one in self.traced)}
        users: dict[Function | None, set[ast.AST | None]] = defaultdict(set)
        for name in self.code.of(ast.Name) if cells else ():
            function = self.named(name.id, name) if isinstance(name.ctx, ast.Load) else None
            user = self._outermost(name) if function in cells else None
            if user is not function:
                users[function].add(user)
        for function, cell in cells.items():
            if not users[function] or not users[function] <= compiled:
                static = cell.static.get(function.name, frozenset())
                self._note(
                    [TracedFunction(function, "jit", function, static)], (self.scope_of(function), function.name)
                )
        for found in self.compiled.values() if cells else ():
            found.sort(key=lambda one: one[0])

    def _outermost(self, node: ast.AST) -> ast.AST | None:
        """The outermost function that a node stands in."""
        found = None
        while (node := self.code.parents.get(node)) is not None:  # pyright: ignore[reportAssignmentType]
            found = node if isinstance(node, Function) else found
        return found

    def _bound_by(self, target: ast.expr | None, at: ast.AST) -> tuple[ast.AST, str] | None:
        """The scope and name, or the class and attribute, that an assignment gives a value."""
        match target:
            case ast.Name(id=name):
                return self.scope_of(at), name
            case ast.Attribute(value=base, attr=name) if (owner := self.instance(base, at)) is not None:
                return owner, name
        return None

    def _note(self, found: list[TracedFunction], bound: tuple[ast.AST, str] | None) -> None:
        self.traced += found
        jitted = next((one for one in found if one.by == "jit"), None)
        if jitted and bound:
            self.compiled.setdefault(bound, []).append((jitted.site.lineno, jitted))  # pyright: ignore[reportAttributeAccessIssue]

    @cached_property
    def _libraries(self) -> Libraries:
        return Libraries(self.code)

    def _returned_by(self, maker: ast.expr) -> list[Function]:
        """The functions that a function of this program defines and returns, by a name of it (`counted`) or a call of it."""
        maker = maker.func if isinstance(maker, ast.Call) else maker
        made = self.named(maker.id, maker) if isinstance(maker, ast.Name) else None
        if isinstance(maker, ast.Attribute):
            made = self.of_object(maker, maker)
        if not isinstance(made, ast.FunctionDef):
            return []
        names = [n.value.id for n in made.body if isinstance(n, ast.Return) and isinstance(n.value, ast.Name)]
        return [found for name in names if (found := self._by_scope.last(made, name)) is not None]

    def _compiling_cell(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Cell | None:
        """`%%jit` compiles plain functions at the top of the cell that have an argument, and none that is written for jax."""
        cell = self.code.cell_of(node)
        plain = (
            isinstance(node, ast.FunctionDef)
            and isinstance(self.code.parents.get(node), ast.Module)
            and bool(parameters(node))
            and not is_generator(node)
        )
        if not plain or cell is None or not cell.compiles(node.name) or self._libraries.left_alone(node, cell):
            return None
        return cell

    def _decorated(self, node: Function, decorator: ast.expr) -> list[TracedFunction]:
        """`@jit`, `@partial(jit, static_argnums=0)`, `@jit(static_argnames="n")`."""
        call = decorator if isinstance(decorator, ast.Call) else None
        dotted = self.code.dotted(call.func if call else decorator)
        if call and dotted == "functools.partial" and call.args:
            dotted = self.code.dotted(call.args[0])
        if dotted in _SORTING:
            return [TracedFunction(node, _SORTING[dotted], decorator, frozenset(parameters(node)))]
        if dotted not in _TAKES or dotted.startswith("jax.lax."):
            return []
        static = static_names(node, call.keywords) if call else frozenset()
        by = dotted.rpartition(".")[2]
        made = ast.Call(ast.Name(by), [], call.keywords if call else [])
        return [_given_options(TracedFunction(node, by, decorator, static), made)]

    def _of_call(self, call: ast.Call) -> list[TracedFunction]:
        """`jit(f)`, `jit(grad(f))`, `lax.scan(body, …)`."""
        dotted = self.code.dotted(call.func)
        if dotted in _SORTING:
            meant = self._meant(call.args[0], call) if call.args else []
            return [TracedFunction(f, _SORTING[dotted], call, frozenset(parameters(f)), bound) for f, bound in meant]
        if dotted not in _TAKES:
            return []
        given = [call.args[i] for i in _TAKES[dotted] if i < len(call.args)]
        given += [k.value for k in call.keywords if k.arg in _KEYWORDS]
        found: list[TracedFunction] = []
        for one in given:
            for part in one.elts if isinstance(one, ast.List | ast.Tuple) else [one]:
                before = [""] if self.applied(part, call) is not None else []
                for function, bound in self._meant(part, call):
                    static = static_names(function, call.keywords, bound, before) | bound
                    traced = TracedFunction(function, dotted.rpartition(".")[2], call, static, bound)
                    found.append(_given_options(traced, call, before))
        return found

    def _meant(self, node: ast.expr, at: ast.AST) -> list[tuple[Function, frozenset[str]]]:
        """The functions that an expression means, with the arguments that are bound already."""
        match node:
            case ast.Lambda():
                return [(node, frozenset())]
            case ast.Name(id=name):
                function = self.named(name, at)
                return [(function, frozenset())] if function is not None else self._method(node, at)
            case ast.Attribute():
                return self._method(node, at)
            case ast.Call() if self.class_made(node):
                return self._method(node, at)
            case ast.Call(func=func, args=[inner, *further], keywords=keywords):
                dotted = self.code.dotted(func)
                if dotted == "functools.partial":
                    if self.applied(inner, at) is not None:
                        further = further[1:]
                        if any(k.arg == "method" for k in keywords):
                            return []
                    return [
                        (f, bound | frozenset(rest(f, bound)[: len(further)]) | {k.arg for k in keywords if k.arg})
                        for f, bound in self._meant(inner, at)
                    ]
                if dotted in _TAKES:
                    return self._meant(inner, at)
                return [(function, frozenset()) for function in self._returned_by(node)]
            case ast.Call():
                return [(function, frozenset()) for function in self._returned_by(node)]
        return []

    def _method(self, node: ast.expr, at: ast.AST) -> list[tuple[Function, frozenset[str]]]:
        function = self.of_object(node, at) or self.applied(node, at)
        return [(function, frozenset(parameters(function)[:1]))] if function is not None else []


def _given_options(traced: TracedFunction, call: ast.Call, before: Sequence[str] = ()) -> TracedFunction:
    """The same with the arguments that `vmap` does not map, and that `grad` hands on as they are."""
    match traced.by:
        case "vmap":
            static, unsure = unmapped(traced.function, call, traced.bound, before)
            return replace(traced, static=traced.static | static, unsure=unsure)
        case "grad" | "value_and_grad" | "jacfwd" | "jacrev" | "hessian":
            return replace(traced, unsure=handed_on(traced.function, call, traced.bound, before))
    return traced


def _wrapping(traced: TracedFunction, wrapper: Function) -> TracedFunction:
    """What a decorator below `jit` made of a function, traced in its place."""
    static = frozenset(parameters(wrapper)) if traced.static else traced.static
    return replace(traced, function=wrapper, static=static)


def _is_free(function: Function) -> bool:
    """Whether a method is not given the object it is called on, nor its class."""
    return _is_decorated(function, "staticmethod", "property")


def _is_decorated(function: Function, *names: str) -> bool:
    decorators = [] if isinstance(function, ast.Lambda) else function.decorator_list
    return any(isinstance(one, ast.Name) and one.id in names for one in decorators)
