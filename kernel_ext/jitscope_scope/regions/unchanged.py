"""Regions of compiled libraries' arrays whose statements stay as they are: the loop becomes the compiler's, what it changes in objects and
containers is handed in and taken out, and the text is traced in each run, so that it sees that run's functions and objects."""

from __future__ import annotations

import ast
from collections.abc import Mapping

import numpy as np

from . import growing, naming, paths
from .answers import CannotCompile
from .effects import Effects
from .functions import Functions
from .homes import Home, is_array, is_number
from .parts import Written, allowed_in, free_name, imports_of
from .statements import Loop, Statements, indent
from .watching import Visit


LARGE = 4096
"""Elements of an array in an object from which it is handed in, and not compiled into the code."""


def unchanged(
    body: naming.Statements,
    visit: Visit,
    live: set[str],
    name: str,
    home: Home,
    definitions: Mapping[tuple[str, int], ast.FunctionDef],
) -> Written:
    """The region as a function that is traced anew in each run. Raises CannotCompile with the line that has no compiled form."""
    effects, line = Effects(definitions), body[0].lineno
    effects.of_region(body, visit.values)
    bound = naming.bound(body)
    if hidden := effects.reads & bound & visit.values.keys():
        raise CannotCompile(line, "effect", f"a function that is called reads `{min(hidden)}`, which changes here")
    changed, read = _places(body, visit, bound, line)
    columns = growing.columns(body, visit.values, home)
    lists = [*growing.lists(body, visit.values), *columns]
    jnp = free_name("jnp", visit.values, f"{home.library}.numpy")
    lax = free_name("lax", visit.values, f"{home.library}.lax")
    writer = Unchanged(visit.values, bound, jnp, lax, home, [p.text for p in changed], name)
    writer.columns = frozenset(columns)
    outs = sorted(n for n in bound & live if n in visit.after and n not in lists)
    lines = [
        line
        for k, s in enumerate(body)
        for line in writer.statement(s, live | naming.loaded(body[k + 1 :]) | set(outs), None)
    ]
    early = sorted(n for n in naming.read_first(body) & (bound | _arrays(visit.values)) if n in visit.values)
    for n in [n for n in early if n in bound]:
        _is_carried(visit.values[n], n, line, home)
    places = [*(p.text for p in changed), *(p.text for p in read)]
    names = [*early, *(f"place_{k}" for k in range(len(places)))]
    ends = [*outs, *(p.text for p in changed), *(f"items_of_{n}" for n in lists)]
    opened = [f"{_tuple(places)} = {_tuple([f'place_{k}' for k in range(len(places))])}"] if places else []
    inner = [f"def {name}({', '.join(names)}):", *indent([*opened, *lines, f"return {_tuple(ends)}"])]
    given, kept, results = f"{name}_given", f"{name}_kept", f"{name}_results"
    call = [*inner, f"{given} = {_tuple([*early, *places])}", *_compiled(name, home)]
    binds = []
    for k, end in enumerate(ends[: len(outs) + len(changed)]):
        value = visit.after[end] if k < len(outs) else visit.places_after[end].value
        binds.append(f"{end} = {_converted(value, f'{results}[{k}]', end, home)}")
    for k, n in enumerate(lists, len(outs) + len(changed)):
        binds.append(growing.afterwards(n, f"{results}[{k}]", visit.after.get(n), columns.get(n), home))
    if places:
        put_back = f"{_tuple(places)} = {kept}"
        ran = [f"{kept} = {_tuple(places)}", "try:", *indent(call), "finally:", f"    {put_back}"]
        call = [*ran]
    passing = [
        given,
        results,
        name,
        *([kept] if places else []),
        *([f"{name}_text", f"{name}_lowered"] if home.arrays == "jax" else []),
    ]
    call = [*call, *binds, f"del {', '.join(passing)}"]
    definition = [f'{name}_compiled = globals().get("{name}_compiled", {{}})'] if home.arrays == "jax" else []
    reads = sorted({*early, *(p.text for p in [*changed, *read])})
    return Written(
        tuple(imports_of(home, jnp, lax, "\n".join(call))),
        tuple(definition),
        tuple(call),
        tuple(reads),
        allowed=allowed_in(home),
    )


def _compiled(name: str, home: Home) -> list[str]:
    given, results = f"{name}_given", f"{name}_results"
    if home.arrays != "jax":
        return [f"{results} = jitscope.jit({name})(*{given})"]
    return [
        f"{name}_lowered = jax.jit({name}).lower(*{given})",
        f"{name}_text = {name}_lowered.as_text() + str({name}_lowered.out_tree)",
        f"if {name}_text not in {name}_compiled:  # traced in each run, compiled when its text is a new one",
        f"    {name}_compiled[{name}_text] = {name}_lowered.compile()",
        f"{results} = {name}_compiled[{name}_text](*{given})",
    ]


def _places(
    body: naming.Statements, visit: Visit, bound: set[str], line: int
) -> tuple[list[paths.Leaf], list[paths.Leaf]]:
    """The places in objects and containers that change, and the large arrays in others."""
    before, after = visit.places, visit.places_after
    roots = {p.root for p in before.values()}
    if again := roots & bound & naming.stored_into(body):
        raise CannotCompile(line, "object", f"`{min(again)}` is bound anew and stored into")
    appended = {n.func.value.id for s in body for n in ast.walk(s) if growing.appends(n, visit.values)}  # type: ignore[attr-defined, union-attr]
    kept = {t: p for t, p in before.items() if p.root not in bound | appended}
    new = [t for t, p in after.items() if t not in before and p.root in roots - bound - appended]
    new += [t for t in kept if t not in after]
    if new:
        raise CannotCompile(line, "object", f"`{new[0]}` is made or removed here")
    changed = [p for t, p in kept.items() if after[t].value is not p.value]
    for p in changed:
        if not is_number(p.value) and not _is_tree(p.value):
            raise CannotCompile(line, "object", f"`{p.text}` changes and is a {type(p.value).__name__}")
        if isinstance(p.value, (np.ndarray, np.generic)):
            raise CannotCompile(line, "object", f"`{p.text}` changes and is an array of NumPy")
    for p in kept.values():
        if isinstance(p.value, np.ndarray) and visit.inner_changed(p.text, p.value):
            raise CannotCompile(line, "effect", f"`{p.text}` is changed in place")
    texts = {p.text for p in changed}
    read = [p for p in kept.values() if p.text not in texts and is_array(p.value) and np.size(p.value) > LARGE]  # type: ignore[arg-type]
    return changed, read


def _arrays(values: Mapping[str, object]) -> set[str]:
    return {n for n, v in values.items() if is_array(v)}


def _is_tree(value: object) -> bool:
    """Whether a value is a tuple or container of arrays and numbers, which the compiler's functions take."""
    if isinstance(value, (tuple, list)):
        return all(map(_is_tree, value))
    if type(value) is dict:
        return all(map(_is_tree, value.values()))
    return value is None or is_number(value)


def _is_carried(value: object, name: str, line: int, home: Home) -> None:
    if not _is_tree(value) and not _is_registered(value, home):
        raise CannotCompile(line, "object", f"`{name}` is a {type(value).__name__}")


def _is_registered(value: object, home: Home) -> bool:
    if home.arrays == "jax":
        from jax import tree  # type: ignore[import-not-found]
    else:
        from jitscope import tree
    return all(map(is_number, tree.leaves(value)))


def _converted(value: object, text: str, name: str, home: Home) -> str:
    if isinstance(value, (bool, int, float, complex)):
        return f"{type(value).__name__}({text})"
    if isinstance(value, (np.ndarray, np.generic)):
        raise CannotCompile(0, "object", f"`{name}` is an array of NumPy among those of {home.arrays}")
    if not is_array(value) and not _is_tree(value) and not _is_registered(value, home):
        raise CannotCompile(0, "object", f"`{name}` becomes a {type(value).__name__}")
    return text


def _tuple(parts: list[str]) -> str:
    return f"({', '.join(parts)},)" if parts else "()"


class Unchanged(Statements):
    """Writes statements as they stand; loops, branches on values, and lists that grow, as the compiler needs them."""

    def __init__(
        self,
        values: Mapping[str, object],
        bound: set[str],
        jnp: str,
        lax: str,
        home: Home,
        places: list[str],
        name: str,
    ) -> None:
        moving = {n for n in bound if is_number(values.get(n)) and not isinstance(values.get(n), (bool, int))}
        super().__init__(values, moving | _arrays(values), (), jnp, lax, home, Functions({}, {}))
        self.places = {p: f"place_{k}" for k, p in enumerate(places)}
        self.top = True

    def text(self, node: ast.expr) -> str:
        return ast.unparse(node)

    def statement(self, s: ast.stmt, live: set[str], guard: str | None) -> list[str]:
        match s:
            case ast.For() if self.top:
                self.top = False
                return super().statement(s, live, guard)
            case ast.While():
                if not self.top:
                    raise CannotCompile(s.lineno, "value read by Python", "a `while` loop stands in a loop")
                self.top = False
                return super().statement(s, live, guard)
            case ast.For():
                if naming.leaves(s.body):
                    return ast.unparse(s).splitlines()
                head = f"for {ast.unparse(s.target)} in {ast.unparse(s.iter)}:"
                return [head, *indent(self.block(s.body, live, guard))]
            case ast.If():
                return self._if(s, live, guard)
            case ast.Expr(value=ast.Call() as call) if growing.appends(call, self.values) and self.items is not None:
                return super().statement(s, live, guard)
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))]) if name in self.columns:
                return super()._assign(s, guard)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="float"), args=[inner])):
                return [f"{name} = {ast.unparse(inner)}"]
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Expr() | ast.Pass() | ast.FunctionDef():
                if guard and not all(isinstance(t, ast.Name) for t in naming.targets_of(s)):
                    raise CannotCompile(
                        s.lineno, "value read by Python", f"`{ast.unparse(s)[:50]}` under a branch on a value"
                    )
                return ast.unparse(s).splitlines()
            case ast.With() | ast.Import() | ast.ImportFrom():
                raise CannotCompile(s.lineno, "effect", f"`{ast.unparse(s).splitlines()[0][:60]}` enters a context")
        return super().statement(s, live, guard)

    def _rows(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and is_array(self.values.get(node.id))

    def loop(self, s: ast.For | ast.While, live: set[str]) -> Loop:
        return LoopOfPlaces(self, s.body, live, s)


class LoopOfPlaces(Loop):
    """A loop that carries whole trees of arrays, and what changes in objects and containers."""

    def __init__(self, writer: Statements, body: list[ast.stmt], live: set[str], s: ast.For | ast.While) -> None:
        super().__init__(writer, body, live, s)
        assert isinstance(writer, Unchanged)
        self.places = writer.places
        stored = naming.stored_into(body) - naming.bound(body)
        self.before = [n for n in self.before if n not in stored]
        self.after = [n for n in self.after if n not in stored]

    def _names(self) -> str:
        names = [*self.before, *self.places, *self.after]
        return ", ".join(names) + "," if names else "()"

    def _open(self) -> str:
        if not self.after:
            return f"{self._names()} = {self.carry}" if self._given() else "pass"
        count = len(self._given()) + len(self.after)
        return f"{self._names()} = (*{self.carry}, {', '.join(['False'] * len(self.after))})[:{count}]"

    def _given(self) -> list[str]:
        return [*self.before, *self.places]

    def _started(self, one_step: str) -> list[str]:
        jnp, library = self.w.jnp, self.w.home.library
        given = ", ".join(self._given()) + "," if self._given() else ""
        if not given and not self.after:
            return [f"{self.carry} = ()"]
        start, like = self.w.fresh("start"), self.w.fresh("like")
        tree = f"{library}.tree.map"
        lines = [f"{start} = ({given})", f"{like} = {library}.eval_shape(lambda c: {one_step}, {start})"]
        if self.places:
            lines.append(f"({given}) = {start}")
        same = f"lambda v, s: {jnp}.broadcast_to({jnp}.asarray(v, s.dtype), s.shape)"
        count = len(self._given())
        lines.append(f"{self.carry} = {tree}({same}, {start}, {like}[:{count}])" if count else f"{self.carry} = ()")
        if self.after:
            lines.append(f"{self.carry} += {tree}(lambda s: {jnp}.zeros(s.shape, s.dtype), {like}[{count}:])")
        return lines
