"""Modules of flax and equinox: changes that plain `jit` loses, members that begin equal, arrays among static fields."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...source_code.bindings import is_given_back, root_name
from ...source_code.edits import Edit
from ...source_code.parameters import given_to, keyword, parameters
from ...source_code.tree import Function, below
from ..code.functions import TracedFunction
from ..code.walk import Walk
from ..diagnostic import Diagnostic, Fix
from .diagnostics import diagnostic
from .updates import has_variables


# --- objects of nnx under plain jit ---------------------------------------------------------------------------------------------


def lost_changes(walk: Walk) -> Iterator[Diagnostic]:
    """trace-time-mutation of `optimizer.update(model, grads)` under `jax.jit`, which gives no object back: `nnx.jit` does."""
    if "nnx" not in walk.code.text or has_variables(walk.code):
        return
    for traced in walk.functions.traced:
        if traced.by == "jit" and isinstance(traced.function, ast.FunctionDef):
            yield from _lost(traced.function, traced, walk)


def _lost(function: ast.FunctionDef, traced: TracedFunction, walk: Walk) -> Iterator[Diagnostic]:
    for name in parameters(function):
        if name in traced.static or not _is_of_nnx(function, name, walk) or is_given_back(name, function):
            continue
        change = _change_of(function, name, walk) or _run_that_changes(function, name, walk)
        if change is not None:
            message = f"this changes a copy of `{name}`: jax.jit gives no object back, so the caller's stays as it was."
            fix = "Compile the function with nnx.jit, which gives changes back; or return the object and go on with that one."
            yield diagnostic(walk.code, "trace-time-mutation", change, message, fix)


def _is_of_nnx(function: Function, name: str, walk: Walk) -> bool:
    """Whether all calls that the program shows give an argument an object of flax.nnx."""
    given = [value for call in walk.code.of(ast.Call) for value in _given_at(call, function, name, walk)]
    return bool(given) and all(_makes_object(value, walk) for value in given)


def _given_at(call: ast.Call, function: Function, name: str, walk: Walk) -> list[ast.expr]:
    traced = walk.functions.compiled_at(call)
    if traced is None or traced.function is not function:
        return []
    given = given_to(parameters(function), call)
    return [given[name]] if name in given else []


def _makes_object(node: ast.expr, walk: Walk) -> bool:
    """Whether an expression is an object of a class of nnx, or of one of this program that is made of `nnx.Module`."""
    owner = walk.functions.instance(node, node)
    if owner is not None:
        return any(walk.code.dotted(base) == "flax.nnx.Module" for base in owner.bases)
    if isinstance(node, ast.Name):
        made = walk.code.values_of(node)
        return bool(made) and all(isinstance(one, ast.Call) and _is_class_of_nnx(one, walk) for one in made)
    return isinstance(node, ast.Call) and _is_class_of_nnx(node, walk)


def _is_class_of_nnx(call: ast.Call, walk: Walk) -> bool:
    module, _, name = walk.code.dotted(call.func).rpartition(".")
    return module == "flax.nnx" and name in _CHANGING_CLASSES


_CHANGING_CLASSES = {
    "Optimizer", "ModelAndOptimizer", "MultiMetric", "BatchNorm", "Dropout", "Rngs", "Variable", "Param", "BatchStat",
}  # fmt: skip
_CHANGING_METHODS = {"update", "reset"}


def _change_of(function: ast.FunctionDef, name: str, walk: Walk) -> ast.AST | None:
    """What a function does to an object of its arguments: a method that changes it, or a store into its attributes."""
    for node in walk.code.within(function):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=base), attr=attr)) if base == name:
                if attr in _CHANGING_METHODS and isinstance(walk.code.parents.get(node), ast.Expr):
                    return node
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store(), value=ast.Attribute()):
                if root_name(node) == name:
                    return node
    return None


def _run_that_changes(function: ast.FunctionDef, name: str, walk: Walk) -> ast.AST | None:
    """A call of an object of the arguments, `model(x)`, that counts a mask drawn, or takes in the mean of a batch: of a class of flax's that
    does, or of one of this program whose `__call__` stores into `self` or calls such a member."""
    if any(word in walk.code.text for word in _STILL):
        return None
    calls = [one for one in walk.code.of(ast.Call) if _given_at(one, function, name, walk)]
    given = [value for one in calls for value in _given_at(one, function, name, walk)]
    for node in walk.code.within(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            if given and all(_changes_when_run(value, walk) for value in given):
                return node
    return None


_STILL = (".eval(", "deterministic", "use_running_average", "set_attributes", "nnx.view(")
"""What has layers draw no mask, and take in no mean."""
_COUNTING = {"flax.nnx.Dropout", "flax.nnx.BatchNorm"}


def _changes_when_run(node: ast.expr, walk: Walk, depth: int = 4) -> bool:
    """Whether the object that an expression gives changes itself when it is called."""
    if isinstance(node, ast.Call) and walk.code.dotted(node.func) in _COUNTING:
        return True
    owner = walk.functions.instance(node, node)
    if owner is None:
        made = walk.code.values_of(node)
        return bool(made) and all(isinstance(one, ast.Call) and _changes_when_run(one, walk, depth) for one in made)
    run = next((one for one in owner.body if isinstance(one, ast.FunctionDef) and one.name == "__call__"), None)
    if run is None or not depth or not run.args.args:
        return False
    own = run.args.args[0].arg
    members = _members(owner, walk)
    for part in (one for statement in run.body for one in _always(statement)):
        match part:
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store(), value=ast.Attribute()):
                if root_name(part) == own:
                    return True
            case ast.Call(func=ast.Attribute(value=ast.Name(id=base), attr=attr)) if base == own and attr in members:
                if _changes_when_run(members[attr], walk, depth - 1):
                    return True
    return False


def _always(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement that run whenever it is come to."""
    if not isinstance(statement, ast.If | ast.For | ast.While | ast.Try | ast.Match | ast.FunctionDef | ast.ClassDef):
        yield from (one for one in below(statement) if not isinstance(one, ast.Lambda | ast.IfExp))


def _members(owner: ast.ClassDef, walk: Walk) -> dict[str, ast.expr]:
    """What `__init__` gives attributes of `self`, once each."""
    start = next((one for one in owner.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"), None)
    found: dict[str, list[ast.expr]] = {}
    for node in below(start) if start is not None else ():
        match node:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=attr)], value=value):
                found.setdefault(attr, []).append(value)
    return {attr: values[0] for attr, values in found.items() if len(values) == 1}


def outer_streams(walk: Walk) -> Iterator[Diagnostic]:
    """trace-time-mutation of `rngs()` in a compiled function, where `rngs = nnx.Rngs(0)` is from outside of it: flax refuses it."""
    if "Rngs" not in walk.code.text or has_variables(walk.code):
        return
    for traced in walk.functions.traced:
        if traced.by not in ("jit", "nnx.jit", "filter_jit"):
            continue
        for call in (one for one in walk.code.within(traced.function) if isinstance(one, ast.Call)):
            stream = call.func.value if isinstance(call.func, ast.Attribute) else call.func
            if isinstance(stream, ast.Name) and _is_outer_stream(stream, walk):
                message = f"`{stream.id}` is from outside and counts the keys that it gives: compiled calls would not count, so flax raises."
                fix = f"Give the function {stream.id} as an argument and compile it with nnx.jit, which gives the count back; or pass a key."
                yield diagnostic(walk.code, "trace-time-mutation", call, message, fix)


def _is_outer_stream(name: ast.Name, walk: Walk) -> bool:
    """Whether the only value of a name, given at the top of the program, is `nnx.Rngs(…)`."""
    scope = walk.code.scopes.binding(name.id, name)
    binders = walk.code.scopes.binders(scope, name.id) if isinstance(scope, ast.Module) else ()
    made = getattr(walk.code.parents.get(binders[0]), "value", None) if len(binders) == 1 else None
    return isinstance(made, ast.Call) and walk.code.dotted(made.func) == "flax.nnx.Rngs"


# --- members that begin equal ---------------------------------------------------------------------------------------------------


def equal_members(walk: Walk) -> Iterator[Diagnostic]:
    """key-not-threaded of `nn.vmap(Block, variable_axes={"params": 0}, split_rngs={"params": False})`."""
    for call in walk.code.of(ast.Call):
        kind = walk.code.dotted(call.func)
        if kind not in ("flax.linen.vmap", "flax.linen.scan"):
            continue
        axis, split = (_entry(keyword(call, name), "params") for name in ("variable_axes", "split_rngs"))
        if (
            isinstance(axis, ast.Constant)
            and type(axis.value) is int
            and isinstance(split, ast.Constant)
            and split.value is False
        ):
            each = "member" if kind.endswith("vmap") else "layer"
            message = (
                f"each {each} has parameters of its own, and all of them are drawn with one key: they begin equal."
            )
            fix = Fix("Write `True`: one key for each.", (Edit(walk.code.span(split), "True"),))
            yield diagnostic(walk.code, "key-not-threaded", split, message, fix)


def _entry(node: ast.expr | None, name: str) -> ast.expr | None:
    """What a dict has under a text."""
    if not isinstance(node, ast.Dict):
        return None
    return next((v for k, v in zip(node.keys, node.values) if getattr(k, "value", None) == name), None)


def shared_masks(walk: Walk) -> Iterator[Diagnostic]:
    """key-not-threaded of `nnx.vmap(run, in_axes=(None, 0))` of a module with dropout: all rows draw with one key."""
    text = walk.code.text
    if "nnx.vmap" not in text or "Dropout" not in text or any(word in text for word in _SPLIT_OR_STILL):
        return
    for call in walk.code.of(ast.Call):
        axes = keyword(call, "in_axes") if walk.code.dotted(call.func) == "flax.nnx.vmap" else None
        function, calls = _mapped(call, walk)
        if not isinstance(axes, ast.Tuple) or not isinstance(function, ast.FunctionDef):
            continue
        if all(isinstance(one, ast.Constant) and one.value is None for one in axes.elts):
            continue
        for i, (axis, name) in enumerate(zip(axes.elts, parameters(function))):
            whole = isinstance(axis, ast.Constant) and axis.value is None
            given = [one.args[i] for one in calls if len(one.args) > i]
            if whole and _is_called(name, function) and given and all(_drops(one, walk) for one in given):
                message = f"`{name}` goes to every row as it is, with its random numbers: all rows draw the same mask."
                yield diagnostic(walk.code, "key-not-threaded", axis, message, Fix(_SPLIT.format(name=name)))


_SPLIT_OR_STILL = ("split_rngs", ".eval(", "deterministic", "StateAxes")
_SPLIT = (
    "Put nnx.split_rngs(splits=n) round it, n the number of rows, and nnx.StateAxes({{nnx.RngState: 0, ...: None}}) in place of this None: "
    "then each row draws with a key of its own, and the parameters of {name} stay shared."
)


def _mapped(call: ast.Call, walk: Walk) -> tuple[Function | None, list[ast.Call]]:
    """The function that `nnx.vmap` maps, as a decorator or by its name, and the calls of what that gives."""
    around = walk.code.parents.get(call)
    if isinstance(around, ast.FunctionDef) and call in around.decorator_list:
        named = [one for one in walk.code.of(ast.Call) if isinstance(one.func, ast.Name) and one.func.id == around.name]
        return around, [one for one in named if walk.functions.named(around.name, one) is around]
    function = walk.functions.named(call.args[0].id, call) if call.args and isinstance(call.args[0], ast.Name) else None
    if isinstance(around, ast.Call) and around.func is call:
        return function, [around]
    if isinstance(around, ast.Assign) and len(around.targets) == 1 and isinstance(around.targets[0], ast.Name):
        name, scope = around.targets[0].id, walk.code.scopes.binding(around.targets[0].id, call)
        named = [one for one in walk.code.of(ast.Call) if isinstance(one.func, ast.Name) and one.func.id == name]
        alone = scope is not None and len(walk.code.scopes.binders(scope, name)) == 1
        return function, [one for one in named if alone and walk.code.scopes.binding(name, one) is scope]
    return None, []


def _is_called(name: str, function: ast.FunctionDef) -> bool:
    return any(
        isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == name for one in below(function)
    )


def _drops(node: ast.expr, walk: Walk, depth: int = 4) -> bool:
    """Whether an expression is `nnx.Dropout(…)`, or an object of a class of this program that makes one, or an object with one."""
    if isinstance(node, ast.Call) and walk.code.dotted(node.func) == "flax.nnx.Dropout":
        return True
    owner = walk.functions.instance(node, node)
    if owner is not None:
        made = [one for one in below(owner) if isinstance(one, ast.Call)] if depth else []
        return any(_drops(one, walk, depth - 1) for one in made)
    made = walk.code.values_of(node)
    return bool(made) and all(isinstance(one, ast.Call) and _drops(one, walk, depth) for one in made)


# --- static fields --------------------------------------------------------------------------------------------------------------


_ARRAYS = {"jax.Array", "jax.numpy.ndarray", "jaxtyping.Array", "numpy.ndarray"}
_FIELDS = {"equinox.field", "equinox.static_field"}


def static_arrays(walk: Walk) -> Iterator[Diagnostic]:
    """pytree-array-in-aux of `scale: jax.Array = eqx.field(static=True)`."""
    for owner in walk.code.of(ast.ClassDef):
        if not any(walk.code.dotted(base) == "equinox.Module" for base in owner.bases):
            continue
        for field in owner.body:
            match field:
                case ast.AnnAssign(target=ast.Name(id=name), annotation=kind, value=ast.Call() as made):
                    if _is_static(made, walk) and _is_array(kind, walk):
                        message = f"`{name}` is an array among the static fields: calls compare these with ==, which raises where a model has another array in its place."
                        fix = "Take static=True away: an array is a leaf of its module; jax.lax.stop_gradient keeps it as it is."
                        yield diagnostic(walk.code, "pytree-array-in-aux", made, message, fix, "warning")


def _is_static(made: ast.Call, walk: Walk) -> bool:
    dotted = walk.code.dotted(made.func)
    return dotted in _FIELDS and (
        dotted.endswith("static_field") or getattr(keyword(made, "static"), "value", None) is True
    )


def _is_array(kind: ast.expr, walk: Walk) -> bool:
    """Whether an annotation is an array's: `jax.Array`, `Float[Array, "n"]`."""
    if isinstance(kind, ast.Subscript) and walk.code.dotted(kind.value).startswith("jaxtyping."):
        first = kind.slice.elts[0] if isinstance(kind.slice, ast.Tuple) else kind.slice
        return _is_array(first, walk)
    return walk.code.dotted(kind) in _ARRAYS
