"""How compiled functions are made and called: again and again, with static arguments, as methods, with other dtypes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...source_code.bindings import bound, read, stored
from ...source_code.parameters import given_to, parameters
from ...source_code.tree import below
from ..code.functions import TracedFunction
from ..code.values import gives_array
from ..code.walk import Walk
from ..diagnostic import Diagnostic, Fix
from .diagnostics import diagnostic, short, short_call


_LOOPS = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)
_TRANSFORMS = {
    "jax.grad", "jax.value_and_grad", "jax.vmap", "jax.jacfwd", "jax.jacrev", "jax.hessian", "functools.partial",
}  # fmt: skip


def made_in_loops(walk: Walk) -> Iterator[Diagnostic]:
    """recompile-fresh-function: `jit` of a new function in each iteration, or in each call."""
    code = walk.code
    traced = {one.function for one in walk.functions.traced if one.abstract}
    for node in code.of(ast.Call):
        if not (code.dotted(node.func) == "jax.jit" and node.args):
            continue
        function = code.function_around(node)
        if not _is_new(node.args[0], walk) or function in traced or _is_kept(node, code.parents):
            continue
        loop = next((one for one in code.around(node) if isinstance(one, (*_LOOPS, ast.FunctionDef, ast.Lambda))), None)
        above = code.parents.get(node)
        called = isinstance(above, ast.Call) and above.func is node
        if isinstance(above, ast.Attribute) and above.attr in ("lower", "trace", "eval_shape"):
            continue  # it is made to be compiled, and not to be called
        if isinstance(loop, _LOOPS) and not _in_iterable(node, loop, code.parents):
            if _is_of_iteration(node.args[0], loop, walk) or _is_called_in_loop(node, loop, walk):
                continue
            if not any(stored(loop) & read(one) for one in (*node.args[1:], *(k.value for k in node.keywords))):
                yield _fresh(walk, node, "iteration of the loop", loop)
        elif called and isinstance(function, ast.FunctionDef) and _is_called_again(function.name, walk):
            yield _fresh(walk, node, f"call of {function.name}", function)


def _is_of_iteration(function: ast.expr, loop: ast.AST, walk: Walk) -> bool:
    """Whether a function is made before the loop, so that it is the same in all iterations, or reads what changes with them, so that
    each needs a program of its own."""
    parts = _parts(function, walk)
    if isinstance(function, ast.Name) and len(parts) > 1 and loop not in walk.code.around(parts[1]):
        return True
    own = {getattr(part, "name", "") for part in parts}
    changing = (stored(loop) | {n.name for n in below(loop) if isinstance(n, ast.FunctionDef)}) - own - _numbers(loop)
    return any(changing & _read_outside(part) for part in parts)


def _read_outside(part: ast.AST) -> set[str]:
    """The names that a function, or an expression that makes one, reads and does not bind."""
    return read(part) - bound(part)


def _numbers(loop: ast.AST) -> set[str]:
    """The names that a loop gives numbers, which could be arguments as well."""
    if not isinstance(loop, ast.For):
        return set()
    match loop.iter:
        case ast.List(elts=elts) | ast.Tuple(elts=elts) if all(isinstance(one, ast.Constant) for one in elts):
            return stored(loop.target)
        case ast.Call(func=ast.Name(id="range")):
            return stored(loop.target)
    return set()


def _is_called_in_loop(node: ast.AST, loop: ast.AST, walk: Walk) -> bool:
    """Whether what is made has a name that a loop within calls: it is compiled once for many calls."""
    above = walk.code.parents.get(node)
    names = stored(above) if isinstance(above, ast.Assign) else set()
    inner = [one for one in below(loop) if isinstance(one, _LOOPS) and one is not loop]
    return any(isinstance(one, ast.Name) and one.id in names for each in inner for one in below(each))


def _is_called_again(name: str, walk: Walk) -> bool:
    """Whether the program calls a function twice, or in a loop."""
    code = walk.code
    calls = [n for n in code.of(ast.Call) if isinstance(n.func, ast.Name) and n.func.id == name]
    return len(calls) > 1 or any(isinstance(one, _LOOPS) for call in calls for one in code.around(call))


def _fresh(walk: Walk, node: ast.Call, each: str, around: ast.AST) -> Diagnostic:
    message = f"every {each} makes a new function, `{short(walk.code, node)}`, which is traced anew: nothing of the last one is found again."
    fix = f"Make it once, before: g = {short_call(walk.code, node, 60)}."
    parts = _parts(node.args[0], walk)
    given = stored(around) | {one.arg for one in below(around) if isinstance(one, ast.arg)}
    needed = sorted({name for part in parts for name in _read_outside(part)} & given)
    if needed:
        names = " and ".join(f"`{name}`" for name in needed)
        where = "before the loop" if isinstance(around, _LOOPS) else f"outside of {getattr(around, 'name', 'it')}"
        become = "its argument (a static one, if it is no array)"
        if len(needed) > 1:
            become = "its arguments (static ones, where they are no arrays)"
        fix = f"Make it once, {where}: the function reads {names} there, which can be {become}."
    return diagnostic(walk.code, "recompile-fresh-function", node, message, Fix(fix))


def _parts(function: ast.expr, walk: Walk) -> list[ast.AST]:
    """An expression that makes a function, and the functions of the program that it names."""
    named = (walk.functions.named(one.id, one) for one in below(function) if isinstance(one, ast.Name))
    return [function, *(one for one in named if one is not None)]


def _is_new(node: ast.expr, walk: Walk) -> bool:
    match node:
        case ast.Lambda():
            return True
        case ast.Call(func=func):
            return walk.code.dotted(func) in _TRANSFORMS
        case ast.Name(id=name):
            function = walk.functions.named(name, node)
            return (
                isinstance(function, ast.Lambda | ast.FunctionDef) and walk.code.function_around(function) is not None
            )
    return False


def _is_kept(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """`step = step or jit(…)`, `cache[key] = jit(…)`, `self.step = jit(…)`, `return jit(…)`, `steps.append(jit(…))` and
    `[jit(…) for …]` keep what they make."""
    above = parents.get(node)
    match above:
        case ast.ListComp(elt=one) | ast.GeneratorExp(elt=one) | ast.SetComp(elt=one) | ast.DictComp(value=one):
            return one is node
        case ast.Call(func=ast.Attribute(attr="append" | "add" | "setdefault" | "insert")):
            return node in above.args
    return (
        isinstance(above, ast.Assign) and any(isinstance(t, ast.Subscript | ast.Attribute) for t in above.targets)
    ) or isinstance(above, ast.Return | ast.BoolOp)


def _in_iterable(node: ast.AST, loop: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether a node belongs to what a loop iterates over, which is made once."""
    while parents[node] is not loop:
        node = parents[node]
    return isinstance(loop, ast.For) and node is loop.iter


def unhashable(walk: Walk) -> Iterator[Diagnostic]:
    """static-unhashable: a list, dict, set or array given for a static argument."""
    code = walk.code
    for call in code.of(ast.Call):
        traced = walk.functions.compiled_at(call)
        if traced is None or not traced.static:
            continue
        yield from _static_self(call, traced, walk)
        names = [name for name in parameters(traced.function) if name not in traced.bound]
        given = given_to(names, call)
        for name in (traced.static - traced.bound) & set(given):
            value = given[name]
            what, fix = _without_hash(value, walk)
            if what:
                message = f"`{name}` is static, and a static argument needs a hash: {what} has none."
                yield diagnostic(code, "static-unhashable", value, message, Fix(fix))


def _static_self(call: ast.Call, traced: TracedFunction, walk: Walk) -> Iterator[Diagnostic]:
    """`env.step(x)`, where `self` is static and the class of `env` has no hash."""
    if not isinstance(call.func, ast.Attribute) or not traced.static & traced.bound & {"self"}:
        return
    owner = walk.functions.instance(call.func.value, call)
    site = traced.site
    if owner is None or site not in getattr(traced.function, "decorator_list", ()):
        return
    if why := _compared_by_value(owner, walk):
        message = f"`self` of {getattr(traced.function, 'name', '')} is static, and a static argument needs a hash: {owner.name}, {why}, has none."
        field, kind = _field_without_hash(owner, walk)
        frozen = "" if field else "a frozen dataclass, or "
        one = f"{frozen}one with eq=False, which is told apart by identity; or register it as a pytree"
        fix = f"Make {owner.name} {one}{f': frozen, it has no hash either, since its {field} is {kind}' if field else ''}."
        yield diagnostic(walk.code, "static-unhashable", call.func.value, message, Fix(fix))


def _without_hash(value: ast.expr, walk: Walk) -> tuple[str, str]:
    """What an expression gives that has no hash, and what to pass instead; "" where it may have one."""
    owner = walk.functions.instance(value, value)
    if owner is not None and (why := _compared_by_value(owner, walk)):
        return f"{owner.name}, {why},", _with_hash(owner, walk)
    if isinstance(value, ast.Name):
        made = _only_value(value, walk)
        what, fix = (
            _without_hash(made, walk)
            if isinstance(made, ast.Dict | ast.List | ast.Set | ast.DictComp | ast.ListComp)
            else ("", "")
        )
        return (f"`{value.id}`, {what}," if what else ""), fix
    match value:
        case ast.List(elts=elts):
            inside = ", ".join(walk.code.source(e) for e in elts)
            return "a list", f"Pass a tuple: ({inside}{',' if len(elts) == 1 else ''})."
        case ast.Dict() | ast.DictComp():
            return "a dict", "Pass a tuple of pairs, or a frozen dataclass."
        case ast.Set() | ast.SetComp():
            return "a set", "Pass a frozenset."
        case ast.ListComp():
            return "a list", "Pass a tuple."
        case ast.Call(func=func) if _makes_array(walk.code.dotted(func)):
            return "an array", "Leave it out of the static arguments: arrays are traced."
    return "", ""


def _makes_array(dotted: str) -> bool:
    """Whether a function gives an array: numbers of NumPy's, and dtypes, have a hash."""
    module, _, name = dotted.rpartition(".")
    return name in _MAKE_ARRAYS if module == "numpy" else module == "jax.numpy" and gives_array(dotted)


_MAKE_ARRAYS = frozenset(
    "array asarray zeros ones full empty zeros_like ones_like full_like empty_like arange linspace logspace geomspace eye identity diag tri tril "
    "triu stack vstack hstack concatenate tile repeat outer meshgrid".split()
)


def _with_hash(owner: ast.ClassDef, walk: Walk) -> str:
    """What to do where a static argument is an object of a class that has no hash; a frozen dataclass has that of its fields."""
    field, kind = _field_without_hash(owner, walk)
    if kind == "an array":
        tree = f"register {owner.name} as a pytree (jax.tree_util.register_dataclass)"
        return f"Take it out of the static arguments, and {tree}: its {field} is an array, and arrays are traced."
    if kind:
        return f"Make it a frozen dataclass, and its {field}, {kind}, {_HASHABLE[kind]}: a frozen dataclass has the hash of its fields."
    return f"Make it a frozen dataclass, or give {owner.name} a __hash__."


def _field_without_hash(owner: ast.ClassDef, walk: Walk) -> tuple[str, str]:
    """The first field of a dataclass that has no hash by its annotation, and what it is; an array before others."""
    found: dict[str, str] = {}
    for one in owner.body:
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            kind = one.annotation.value if isinstance(one.annotation, ast.Subscript) else one.annotation
            name = walk.code.dotted(kind) or (kind.id if isinstance(kind, ast.Name) else "")
            what = "an array" if name in _ARRAYS else {"list": "a list", "dict": "a dict", "set": "a set"}.get(name, "")
            found |= {what: one.target.id} if what and what not in found else {}
    what = "an array" if "an array" in found else next(iter(found), "")
    return found.get(what, ""), what


_ARRAYS = {"jax.Array", "jax.numpy.ndarray", "numpy.ndarray"}
_HASHABLE = {"a list": "a tuple", "a dict": "a tuple of pairs", "a set": "a frozenset"}


def _only_value(name: ast.Name, walk: Walk) -> ast.expr | None:
    """What a name is given, where it is given one value only."""
    match [walk.code.parents.get(one) for one in walk.code.binders_of(name)]:
        case [ast.Assign(targets=[ast.Name()], value=value)]:
            return value
    return None


def _compared_by_value(owner: ast.ClassDef, walk: Walk) -> str:
    """Why objects of a class have no hash: Python takes it away where they are compared by value and can be changed."""
    methods = {one.name for one in owner.body if isinstance(one, ast.FunctionDef)}
    named = {name for one in owner.body if isinstance(one, ast.Assign) for name in stored(one)}
    if "__hash__" in methods | named:
        return ""
    for one in owner.decorator_list:
        call = one if isinstance(one, ast.Call) else None
        if walk.code.dotted(call.func if call else one) == "dataclasses.dataclass":
            options = {k.arg: getattr(k.value, "value", None) for k in call.keywords} if call else {}
            safe = options.keys() <= _OPTIONS_OF_DATACLASSES
            plain = (
                options.get("frozen") in (None, False)
                and options.get("eq") in (None, True)
                and not options.get("unsafe_hash")
            )
            return "a dataclass that can be changed" if safe and plain and len(owner.decorator_list) == 1 else ""
    return "which has __eq__ and no __hash__" if "__eq__" in methods and not owner.decorator_list else ""


_OPTIONS_OF_DATACLASSES = frozenset(
    "frozen eq unsafe_hash order repr init slots kw_only match_args weakref_slot".split()
)


def methods(walk: Walk) -> Iterator[Diagnostic]:
    """not-a-jax-type: `@jit` on a method of a class that is no pytree."""
    code = walk.code
    for traced in walk.functions.traced:
        function = traced.function
        owner = code.parents.get(function)
        if not isinstance(owner, ast.ClassDef) or traced.by != "jit" or isinstance(function, ast.Lambda):
            continue
        first = parameters(function)[:1]
        if first != ["self"] or "self" in traced.static or traced.site not in function.decorator_list:
            continue
        if owner.bases or owner.decorator_list or owner.keywords or _is_registered(owner, walk):
            continue
        message = f"`self` is an argument of the compiled {function.name}, and {owner.name} is no pytree."
        fix = (
            f"Register {owner.name} (jax.tree_util.register_dataclass), or make self static: "
            "@partial(jax.jit, static_argnums=0), if its attributes never change."
        )
        yield diagnostic(code, "not-a-jax-type", function, message, Fix(fix))


def _is_registered(owner: ast.ClassDef, walk: Walk) -> bool:
    if any(isinstance(node, ast.FunctionDef) and node.name == "tree_flatten" for node in owner.body):
        return True
    return any(
        "register" in walk.code.dotted(node.func)
        and any(isinstance(a, ast.Name) and a.id == owner.name for a in node.args)
        for node in walk.code.of(ast.Call)
    )
