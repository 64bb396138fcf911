"""A region as a compiled function and its call: the lines that take the place of the region's own."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from . import naming, words
from .answers import CannotCompile
from .functions import Functions
from .statements import Statements, indent
from .watching import Visit


@dataclass(frozen=True)
class Written:
    """The text of an edit in two parts: what defines the function, and what calls it in the region's place."""

    imports: tuple[str, ...]
    definition: tuple[str, ...]
    call: tuple[str, ...]
    reads: tuple[str, ...]
    inlined: frozenset[str] = frozenset()
    """Names of the user's functions that are part of it."""


def written(
    body: naming.Statements,
    visit: Visit,
    live: set[str],
    name: str,
    definitions: Mapping[tuple[str, int], ast.FunctionDef],
) -> Written:
    """The region as a function of what it reads. `visit` has the values at its start and end, `live` the names read afterwards.
    Raises CannotCompile with the line that has no compiled form."""
    values = visit.values
    home = _home(body, values)
    used, stored = naming.loaded(body), naming.stored_into(body)
    _nothing_hidden(body, values, stored, visit)
    made = naming.bound(body)
    arrays = {n for n in used | stored | made if n in values and _is_number(values[n])}
    written_names = made | stored
    static = {n for n in arrays if isinstance(values[n], (int, bool)) and n not in written_names}
    moving = arrays - static
    jnp, lax = _free("jnp", values, "jitscope.numpy"), _free("lax", values, "jitscope.lax")
    functions = Functions(values, definitions)
    target_stored = _in_place(body, values)
    writer = Statements(values, set(moving), target_stored, jnp, lax, home == "numpy", functions)

    def write(node: ast.FunctionDef, given: set[str]) -> list[str]:
        inner = Statements(
            values, set(given) | set(moving), naming.stored_into(node.body), jnp, lax, home == "numpy", functions
        )
        inner.expressions.local = given | naming.bound(node.body)
        inner.count = 100 * (1 + len(functions.lines))
        return [f"def {node.name}({ast.unparse(node.args)}):", *indent(_returning(node.body, inner))]

    functions.write = write
    outs = sorted(n for n in written_names & live if n in visit.after and n not in _lists(body, values))
    appended = _lists(body, values)
    lines = _whole(body, writer, live | set(outs))
    reads = sorted(
        {
            n
            for n in (naming.read_first(body) | functions.reads | stored)
            if n in values and _goes_in(values[n], n, appended)
        }
    )
    for n in reads:
        if not (_is_number(values[n]) or words.is_static(values[n])):
            raise CannotCompile(body[0].lineno, "object", f"`{n}` is a {type(values[n]).__name__}")
    fixed = [n for n in reads if words.is_static(values[n]) and n not in written_names]
    for n in written_names:
        _counts_only(n, body, visit)
    items = [f"items_of_{n}" for n in appended]
    definition = [
        f"def {name}({', '.join([n for n in reads if n not in fixed] + fixed)}):",
        *indent([*functions.lines, *lines, f"return ({', '.join([*outs, *items])},)"]),
        f'if globals().get("{name}_code") != {name}.__code__:  # compiled anew only when its text has changed',
        f"    {name}_code, {name}_compiled = {name}.__code__, jitscope.jit({name}{f', static_argnames={tuple(fixed)!r}' if fixed else ''})",
    ]
    passed = ", ".join(f"{n}={n}" if n in fixed else n for n in [n for n in reads if n not in fixed] + fixed)
    call = _call(name, passed, outs, appended, visit, home, body)
    imports = ["import jitscope"]
    imports += [f"import jitscope.numpy as {jnp}"] if f"{jnp}." in "\n".join(definition) else []
    imports += (
        [f"from jitscope import lax as {lax}" if lax != "lax" else "from jitscope import lax"]
        if f"{lax}." in "\n".join(definition)
        else []
    )
    return Written(tuple(imports), tuple(definition), tuple(call), tuple(reads), frozenset(functions.names))


def _whole(body: naming.Statements, writer: Statements, live: set[str]) -> list[str]:
    return [line for k, s in enumerate(body) for line in writer.statement(s, live | naming.loaded(body[k + 1 :]), None)]


def _returning(body: list[ast.stmt], writer: Statements) -> list[str]:
    """The body of a function of the user's; one `return` at the end, or one more in an `if` before it."""
    *first, last = body
    if not isinstance(last, ast.Return) or last.value is None:
        raise CannotCompile(last.lineno, "effect", "a function that is called here ends without `return`")
    end = writer.text(last.value) if not first else None
    lines: list[str] = []
    for k, s in enumerate(first):
        if (
            isinstance(s, ast.If)
            and len(s.body) == 1
            and isinstance(s.body[0], ast.Return)
            and s.body[0].value
            and not s.orelse
        ):
            rest = _returning(body[k + 1 :], writer)
            if len(rest) != 1:
                raise CannotCompile(s.lineno, "value read by Python", "a function returns in the middle of a branch")
            other = rest[0].removeprefix("return ")
            return [
                *lines,
                f"return {writer.jnp}.where({writer.text(s.test)}, {writer.text(s.body[0].value)}, {other})",
            ]
        lines += writer.statement(s, naming.loaded(body[k + 1 :]), None)
    return [*lines, f"return {end or writer.text(last.value)}"]


def _home(body: naming.Statements, values: Mapping[str, object]) -> str:
    """Whose arrays these are: "numpy", or "jitscope" for a cell that computes with jitscope's own."""
    seen = [values.get(n) for n in naming.loaded(body)]
    mods = {getattr(v, "__name__", "") for v in seen if isinstance(v, type(ast))}
    types = {type(v).__module__.partition(".")[0] for v in seen if hasattr(v, "dtype")}
    if "jax" in types or "jaxlib" in types or any(m == "jax" or m.startswith("jax.") for m in mods):
        raise CannotCompile(
            body[0].lineno, "other library", "arrays of jax are not followed yet: `%%jit` compiles its functions"
        )
    return "jitscope" if "jitscope" in types or any(m.startswith("jitscope") for m in mods) else "numpy"


def _nothing_hidden(body: naming.Statements, values: Mapping[str, object], stored: set[str], visit: Visit) -> None:
    for s in body:
        for node in ast.walk(s):
            if isinstance(node, (ast.Global, ast.Nonlocal, ast.Delete)):
                raise CannotCompile(node.lineno, "effect", "names outside of the region are bound or removed")
    arrays = {n: v for n, v in visit.live.items() if isinstance(v, np.ndarray)}
    for n in arrays:
        if arrays[n].dtype.hasobject or arrays[n].dtype.kind not in "biufc" or type(arrays[n]) is not np.ndarray:
            raise CannotCompile(body[0].lineno, "object", f"`{n}` holds objects ({arrays[n].dtype}), not numbers")
    touched = _in_place(body, values) & arrays.keys()
    for n in touched:
        for other, array in arrays.items():
            if other != n and np.may_share_memory(arrays[n], array):
                raise CannotCompile(
                    body[0].lineno, "effect", f"`{n}` is stored into and shares its memory with `{other}` (aliasing)"
                )


def _in_place(body: naming.Statements, values: Mapping[str, object]) -> set[str]:
    """Names that are stored into in place: `x[i] = …`, and `x += …` of arrays."""
    added = {
        s.target.id
        for b in body
        for s in ast.walk(b)
        if isinstance(s, ast.AugAssign)
        and isinstance(s.target, ast.Name)
        and isinstance(values.get(s.target.id), np.ndarray)
    }
    return naming.stored_into(body) | added


def _lists(body: naming.Statements, values: Mapping[str, object]) -> list[str]:
    """Lists that the region appends to, in the order of the text."""
    calls = [
        n
        for s in body
        for n in ast.walk(s)
        if isinstance(n, ast.Call)
        and isinstance(n.func, ast.Attribute)
        and n.func.attr == "append"
        and isinstance(n.func.value, ast.Name)
        and not isinstance(values.get(n.func.value.id), ModuleType)
    ]
    names = [n.func.value.id for n in calls]  # type: ignore[union-attr]
    if len(names) != len(set(names)):
        raise CannotCompile(calls[0].lineno, "object", f"`{names[0]}` is a Python list that grows in several places")
    for n, c in zip(names, calls, strict=True):
        if type(values.get(n)) is not list:
            raise CannotCompile(c.lineno, "object", f"`{n}` is not a list made before the loop")
        if len([x for s in body for x in ast.walk(s) if isinstance(x, ast.Name) and x.id == n]) != 1:
            raise CannotCompile(c.lineno, "object", f"`{n}` is a Python list that is read while it grows")
    return names


def _goes_in(value: object, name: str, lists: list[str]) -> bool:
    return (
        not (callable(value) and not isinstance(value, type))
        and not isinstance(value, type(ast))
        and name not in lists
        and not isinstance(value, type)
    )


def _is_number(value: object) -> bool:
    return isinstance(value, (np.ndarray, np.generic, int, float, complex)) or words.is_own_array(value)


def _free(wish: str, values: Mapping[str, object], module: str) -> str:
    found = values.get(wish)
    return wish if found is None or getattr(found, "__name__", "") == module else f"{wish}_of_jitscope"


def _counts_only(name: str, body: naming.Statements, visit: Visit) -> None:
    """Refuses Python's whole numbers that grow by more than counting: they have no bound, compiled ones have."""
    if type(visit.after.get(name)) is not int:
        return
    targets = naming.loop_targets(body)
    for s in [n for b in body for n in ast.walk(b) if isinstance(n, ast.stmt)]:
        names = {t.id for t in naming.targets_of(s) if isinstance(t, ast.Name)}
        if name not in names or isinstance(s, ast.For):
            continue
        step = s.value if isinstance(s, (ast.AugAssign, ast.Assign)) else None
        if isinstance(s, ast.AugAssign) and isinstance(s.op, (ast.Add, ast.Sub)) and isinstance(step, ast.Constant):
            continue
        if step is not None and isinstance(s, ast.Assign) and _bounded(step, targets):
            continue
        raise CannotCompile(
            s.lineno, "object", f"`{name}` is a Python whole number, which has no bound; compiled ones wrap around"
        )


def _bounded(node: ast.expr, counts: set[str]) -> bool:
    """Whether the value is one of the text's own numbers, or made of the loops' counts by adding and multiplying by such."""
    if isinstance(node, ast.IfExp):
        return _bounded(node.body, counts) and _bounded(node.orelse, counts)
    return naming.loaded([node]) <= counts and not any(isinstance(n, (ast.Pow, ast.LShift)) for n in ast.walk(node))


def _call(
    name: str, passed: str, outs: list[str], lists: list[str], visit: Visit, home: str, body: naming.Statements
) -> list[str]:
    """Calls the function and puts its results where the cell had them: into the arrays themselves, or as new values of the same types."""
    if home == "jitscope":
        if any(isinstance(visit.after[n], (np.ndarray, np.generic)) for n in outs):
            raise CannotCompile(0, "object", "arrays of NumPy and of jitscope are mixed")
        back, rest = [], []
        result = f"{name}_results"
        for k, n in enumerate(outs):
            value = visit.after[n]
            kind = type(value).__name__
            back.append(
                f"{n} = {kind}({result}[{k}])" if isinstance(value, (int, float, complex)) else f"{n} = {result}[{k}]"
            )
        for k, n in enumerate(lists, len(outs)):
            rest.append(f"{n}.extend({result}[{k}])")
        return [f"{result} = {name}_compiled({passed})", *back, *rest, f"del {result}"]
    result = f"{name}_results"
    lines = ["with jitscope.enable_x64(True):", f"    {result} = jitscope.device_get({name}_compiled({passed}))"]
    objects = {id(v): n for n, v in visit.live.items() if isinstance(v, np.ndarray)}
    names: dict[str, str] = {}
    for n in outs:
        final = visit.ends[n]
        if id(final) in objects and isinstance(final, np.ndarray):
            names[objects[id(final)]] = n
    changed = set(visit.changed) | (_exchanged(body, _in_place(body, visit.values)) & names.keys())
    if missing := changed - names.keys():
        raise CannotCompile(0, "effect", f"`{min(missing)}` is changed in place and has no name afterwards")
    moved = {first: last for first, last in names.items() if first != last}
    lines += [f"{name}_{first} = {first}" for first in moved]
    seen: dict[int, str] = {}
    binds: list[str] = []
    tail: list[str] = []
    for k, n in enumerate(outs):
        final, value = visit.ends[n], visit.after[n]
        first = objects.get(id(final)) if isinstance(final, np.ndarray) else None
        if first is not None:
            source = f"{name}_{first}" if first in moved else first
            if first in changed:
                lines.append(f"{source}[...] = {result}[{k}]")
            if source != n:
                binds.append(f"{n} = {source}")
        elif isinstance(value, np.ndarray):
            if id(final) in seen:
                binds.append(f"{n} = {seen[id(final)]}")
                continue
            seen[id(final)] = n
            if (again := _view_again(n, body, visit, outs)) is not None:
                tail.append(again)
                continue
            _no_view(n, final, visit, outs)
            order = (
                ", order='F'" if value.ndim > 1 and value.flags.f_contiguous and not value.flags.c_contiguous else ""
            )
            binds.append(f"{n} = {result}[{k}].copy({order.removeprefix(', ')})")
        elif isinstance(value, np.generic):
            binds.append(f"{n} = {result}[{k}][()]")
        elif isinstance(value, (bool, int, float, complex)):
            binds.append(f"{n} = {type(value).__name__}({result}[{k}])")
        else:
            raise CannotCompile(0, "object", f"`{n}` becomes a {type(value).__name__}")
    for k, n in enumerate(lists, len(outs)):
        grown = visit.after[n]
        assert isinstance(grown, list)
        last = grown[-1] if grown else 0.0
        rows = f"row.copy() for row in {result}[{k}]" if isinstance(last, np.ndarray) else ""
        binds.append(
            f"{n}.extend({rows or (f'{result}[{k}].tolist()' if isinstance(last, (int, float)) and not isinstance(last, np.generic) else f'{result}[{k}]')})"
        )
    ends = [f"{name}_{first}" for first in moved]
    return [*lines, *binds, *tail, f"del {', '.join([result, *ends])}"]


def _view_again(name: str, body: naming.Statements, visit: Visit, outs: list[str]) -> str | None:
    """What binds a name to the same view of an array as the last turn did, with the cell's own statement: `row = a[i]`."""
    value = visit.ends[name]
    owners = [
        n
        for n, v in visit.live.items()
        if isinstance(v, np.ndarray)
        and isinstance(value, np.ndarray)
        and v is not value
        and np.may_share_memory(v, value)
    ]
    made = [
        s
        for b in body
        for s in ast.walk(b)
        if any(isinstance(t, ast.Name) and t.id == name for t in naming.targets_of(s))
    ]
    if not owners or len(made) != 1:
        return None
    loops = naming.loop_targets(body)
    made_inside = naming.bound(body)
    s = made[0]
    if isinstance(s, ast.Assign) and isinstance(s.value, ast.Subscript) and isinstance(s.value.value, ast.Name):
        free = naming.loaded([s.value.slice])
        if s.value.value.id not in made_inside and free <= (visit.values.keys() - made_inside) | (loops & set(outs)):
            return ast.unparse(s)
    if isinstance(s, ast.For) and isinstance(s.iter, ast.Name) and s.iter.id not in made_inside and s in body:
        return f"{name} = {s.iter.id}[-1]"
    return None


def _exchanged(body: naming.Statements, stored: set[str]) -> set[str]:
    """The names that are stored into in place, and those that exchange arrays with them."""
    for s in [n for b in body for n in ast.walk(b)]:
        if (
            isinstance(s, ast.Assign)
            and isinstance(s.value, ast.Tuple)
            and all(isinstance(e, ast.Name) for e in s.value.elts)
        ):
            names = naming.loaded([s.value])
            stored = stored | names if names & stored else stored
    return stored


def _no_view(name: str, value: object, visit: Visit, outs: list[str]) -> None:
    assert isinstance(value, np.ndarray)
    others = [(n, v) for n, v in [*visit.live.items(), *((o, visit.ends[o]) for o in outs)]]
    for n, v in others:
        if isinstance(v, np.ndarray) and v is not value and np.may_share_memory(v, value):
            raise CannotCompile(0, "effect", f"`{name}` is afterwards a view of `{n}` (aliasing)")
