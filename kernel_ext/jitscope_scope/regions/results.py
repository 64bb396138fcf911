"""The call of a region's function, and where its results go."""

from __future__ import annotations

import ast
from collections.abc import Mapping

import numpy as np

from . import growing, in_place, kinds, list_buffers, made_lists as lists_made, naming, number_lists
from .answers import CannotCompile
from .homes import Home, shares
from .views import view_again
from .watching import Visit


def call_of(
    name: str,
    passed: str,
    outs: list[str],
    lists: Mapping[str, str | None],
    visit: Visit,
    home: Home,
    body: naming.Statements,
    in_rows: list[str],
    numbers: Mapping[str, int],
    made_lists: lists_made.MadeLists,
) -> list[str]:
    """Calls the function and puts its results where the cell had them: into the arrays themselves, or as new values of the same types."""
    if not home.numpy:
        return _of_arrays(name, passed, outs, lists, visit, home, kinds.literals(body))
    result = f"{name}_results"
    lines = ["with jitscope.enable_x64(True):", f"    {result} = jitscope.device_get({name}_compiled({passed}))"]
    objects = {id(v): n for n, v in visit.live.items() if isinstance(v, np.ndarray)}
    names: dict[str, str] = {}
    for n in outs:
        final = visit.ends[n]
        if id(final) in objects and isinstance(final, np.ndarray):
            names[objects[id(final)]] = n
    changed = set(visit.changed) | (_exchanged(body, in_place.names_stored(body, visit.values)) & names.keys())
    if missing := changed - names.keys():
        raise CannotCompile(
            0, "effect", f"`{min(missing)}` is changed in place and has no name afterwards", min(missing)
        )
    moved = {first: last for first, last in names.items() if first != last}
    lines += [f"{name}_{first} = {first}" for first in moved]
    seen: dict[int, str] = {}
    binds: list[str] = []
    tail: list[str] = []
    views = {n: again for n in outs if (again := view_again(n, body, visit, outs)) is not None}
    for k, n in enumerate(outs):
        final, value = visit.ends[n], visit.after[n]
        first = objects.get(id(final)) if isinstance(final, np.ndarray) else None
        if n in made_lists.texts:
            growing.no_views(n, visit)
            same = seen.setdefault(id(final), n)
            tail += made_lists.kept_again(n, visit)
            binds.append(f"{n} = {same}" if same != n else made_lists.bound(n, f"{result}[{k}]"))
        elif first is not None:
            source = f"{name}_{first}" if first in moved else first
            if first in changed:
                lines.append(f"{source}[...] = {result}[{k}]")
            if source != n:
                binds.append(f"{n} = {source}")
        elif isinstance(value, np.ndarray):
            if id(final) in seen:
                binds.append(f"{n} = {seen[id(final)]}")
                continue
            if n in views:
                tail += views[n]
                continue
            seen[id(final)] = n
            _no_view(n, final, visit, [o for o in outs if o not in views])
            order = (
                ", order='F'" if value.ndim > 1 and value.flags.f_contiguous and not value.flags.c_contiguous else ""
            )
            binds.append(f"{n} = {result}[{k}].copy({order.removeprefix(', ')})")
        elif n in numbers:
            binds += number_lists.put_back(n, numbers[n], f"{result}[{k}]")
        elif isinstance(value, np.generic):
            binds.append(f"{n} = {result}[{k}][()]")
        elif isinstance(value, (bool, int, float, complex)):
            binds.append(f"{n} = {type(value).__name__}({result}[{k}])")
        else:
            raise CannotCompile(0, "object", f"`{n}` becomes a {type(value).__name__}", n)
    for k, n in enumerate(lists, len(outs)):
        end = f"[:{result}[{len(outs) + len(lists) + in_rows.index(n)}]]" if n in in_rows else ""
        growing.no_views(n, visit)
        again = made_lists.extended(n, f"{result}[{k}]") if n in made_lists.rows else None
        binds.append(again or growing.afterwards(n, f"{result}[{k}]{end}", visit.after[n], None, home))
    tail += [f"{n} = {m}[-1]" for m, n in growing.put_last(body, visit).items() if m in lists and n in outs]
    for m, n in list_buffers.put_last(body, in_rows, visit).items():
        if n in outs:
            tail += [f"if {result}[{len(outs) + len(lists) + in_rows.index(m)}]:", f"    {n} = {m}[-1]"]
    ends = [f"{name}_{first}" for first in moved]
    return [*lines, *binds, *tail, f"del {', '.join([result, *ends])}"]


def _of_arrays(
    name: str,
    passed: str,
    outs: list[str],
    lists: Mapping[str, str | None],
    visit: Visit,
    home: Home,
    literals: Mapping[str, str],
) -> list[str]:
    """The same where the cell's arrays are the compiler's own. `literals` are names of numbers that the text has."""
    result = f"{name}_results"
    lines = [f"{result} = {name}_compiled({passed})"]
    for k, n in enumerate(outs):
        value = visit.after[n]
        if isinstance(value, (np.ndarray, np.generic)):
            raise CannotCompile(0, "object", f"`{n}` is an array of NumPy among those of {home.arrays}", n)
        kind = f"{type(value).__name__}({{}})" if isinstance(value, (int, float, complex)) else "{}"
        lines.append(f"{n} = {literals.get(n) or kind.format(f'{result}[{k}]')}")
    for k, n in enumerate(lists, len(outs)):
        lines.append(growing.afterwards(n, f"{result}[{k}]", visit.after.get(n), lists[n], home))
    return [*lines, f"del {result}"]


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
    made = (
        [] if value.base is None else [(o, visit.ends[o]) for o in outs]
    )  # views of an array that is no view are told themselves
    others = [(n, v) for n, v in [*visit.live.items(), *made]]
    for n, v in others:
        if isinstance(v, np.ndarray) and v is not value and shares(v, value):
            raise CannotCompile(0, "effect", f"`{name}` is afterwards a view of `{n}` (aliasing)", name)
