"""The call of a region's function, and where its results go."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from . import growing, in_place, kinds, list_buffers, naming, number_lists
from .answers import CannotCompile
from .homes import Home, shares
from .made_lists import MadeLists
from .views import view_again
from .watching import Visit


@dataclass(frozen=True)
class Results:
    """What the function called `name` gives: `outs`, then `lists` (with the columns of those that take tuples), then how long those `in_rows` are."""

    name: str
    outs: list[str]
    lists: Mapping[str, str | None]
    visit: Visit
    home: Home
    body: naming.Statements
    in_rows: list[str]
    numbers: Mapping[str, int]
    """Python's lists of numbers, which are arrays in the function."""
    made: MadeLists

    def call(self, passed: str) -> list[str]:
        """Calls the function and puts its results where the cell had them: into the arrays themselves, or as new values of the same types.
        Raises CannotCompile for what has no such place."""
        return _Places(self).lines(passed) if self.home.numpy else self._of_arrays(passed)

    def at(self, k: int) -> str:
        """One of the results."""
        return f"{self.name}_results[{k}]"

    def count(self, name: str) -> str:
        """How long one of the lists in rows is."""
        return self.at(len(self.outs) + len(self.lists) + self.in_rows.index(name))

    def _of_arrays(self, passed: str) -> list[str]:
        """Where the cell's arrays are the compiler's own."""
        visit, literals = self.visit, kinds.literals(self.body)
        lines = [f"{self.name}_results = {self.name}_compiled({passed})"]
        for k, n in enumerate(self.outs):
            value = visit.after[n]
            if isinstance(value, (np.ndarray, np.generic)):
                raise CannotCompile(0, "object", f"`{n}` is an array of NumPy among those of {self.home.arrays}", n)
            kind = f"{type(value).__name__}({{}})" if isinstance(value, (int, float, complex)) else "{}"
            lines.append(f"{n} = {literals.get(n) or kind.format(self.at(k))}")
        for k, n in enumerate(self.lists, len(self.outs)):
            lines.append(growing.afterwards(n, self.at(k), visit.after.get(n), self.lists[n], self.home))
        return [*lines, f"del {self.name}_results"]


class _Places:
    """Where the cell's arrays are NumPy's, which keep their identity."""

    def __init__(self, results: Results) -> None:
        self.results, visit = results, results.visit
        self.visit = visit
        self.objects = {id(v): n for n, v in visit.live.items() if isinstance(v, np.ndarray)}
        ends = {n: visit.ends[n] for n in results.outs}
        last = {self.objects[id(v)]: n for n, v in ends.items() if isinstance(v, np.ndarray) and id(v) in self.objects}
        exchanged = _exchanged(results.body, in_place.names_stored(results.body, visit.values)) & last.keys()
        self.changed = {*visit.changed} | exchanged
        if missing := self.changed - last.keys():
            said = f"`{min(missing)}` is changed in place and has no name afterwards"
            raise CannotCompile(0, "effect", said, min(missing))
        self.moved = [first for first, n in last.items() if first != n]
        """Names whose arrays other names have afterwards."""
        self.views = {
            n: again for n in results.outs if (again := view_again(n, results.body, visit, results.outs)) is not None
        }
        self.seen: dict[int, str] = {}
        """The names of arrays that are bound, by the arrays' identity."""
        self.stores: list[str] = []
        self.binds: list[str] = []
        self.tail: list[str] = []

    def lines(self, passed: str) -> list[str]:
        """The call, stores, names, and what stands on these."""
        name = self.results.name
        for k, n in enumerate(self.results.outs):
            self._put(n, self.results.at(k))
        for k, n in enumerate(self.results.lists, len(self.results.outs)):
            self._put_list(n, self.results.at(k))
        self._put_last()
        return [
            "with jitscope.enable_x64(True):",
            f"    {name}_results = jitscope.device_get({name}_compiled({passed}))",
            *(f"{name}_{first} = {first}" for first in self.moved),
            *self.stores,
            *self.binds,
            *self.tail,
            f"del {', '.join([f'{name}_results', *(f'{name}_{first}' for first in self.moved)])}",
        ]

    def _put(self, n: str, result: str) -> None:
        value, final, numbers = self.visit.after[n], self.visit.ends[n], self.results.numbers
        if n in self.results.made.texts:
            self._put_made(n, result)
        elif isinstance(final, np.ndarray) and id(final) in self.objects:
            self._put_array_of(self.objects[id(final)], n, result)
        elif isinstance(value, np.ndarray):
            self._put_new_array(n, result)
        elif n in numbers:
            self.binds += number_lists.put_back(n, numbers[n], result)
        elif isinstance(value, np.generic):
            self.binds.append(f"{n} = {result}[()]")
        elif isinstance(value, (bool, int, float, complex)):
            self.binds.append(f"{n} = {type(value).__name__}({result})")
        else:
            raise CannotCompile(0, "object", f"`{n}` becomes a {type(value).__name__}", n)

    def _put_made(self, n: str, result: str) -> None:
        """A list that turns make."""
        made = self.results.made
        growing.no_views(n, self.visit)
        same = self.seen.setdefault(id(self.visit.ends[n]), n)
        self.tail += made.kept_again(n, self.visit)
        self.binds.append(f"{n} = {same}" if same != n else made.bound(n, result))

    def _put_array_of(self, first: str, n: str, result: str) -> None:
        """The array that another name had before, or the same one."""
        source = f"{self.results.name}_{first}" if first in self.moved else first
        if first in self.changed:
            self.stores.append(f"{source}[...] = {result}")
        if source != n:
            self.binds.append(f"{n} = {source}")

    def _put_new_array(self, n: str, result: str) -> None:
        value, final = self.visit.after[n], self.visit.ends[n]
        assert isinstance(value, np.ndarray)
        if id(final) in self.seen:
            self.binds.append(f"{n} = {self.seen[id(final)]}")
        elif n in self.views:
            self.tail += self.views[n]
        else:
            self.seen[id(final)] = n
            _no_view(n, final, self.visit, [o for o in self.results.outs if o not in self.views])
            columns_first = value.ndim > 1 and value.flags.f_contiguous and not value.flags.c_contiguous
            self.binds.append(f"{n} = {result}.copy({'order=' + repr('F') if columns_first else ''})")

    def _put_list(self, n: str, result: str) -> None:
        """A list that grew."""
        results, visit = self.results, self.visit
        end = f"[:{results.count(n)}]" if n in results.in_rows else ""
        growing.no_views(n, visit)
        again = results.made.extended(n, result) if n in results.made.rows else None
        if again is None and n not in visit.after:
            raise CannotCompile(0, "object", f"`{n}` is a list that a function keeps, and appends to", n)
        self.binds.append(again or growing.afterwards(n, f"{result}{end}", visit.after[n], None, results.home))

    def _put_last(self) -> None:
        """Names of what lists took last."""
        results, visit = self.results, self.visit
        last = growing.put_last(results.body, visit).items()
        self.tail += [f"{n} = {m}[-1]" for m, n in last if m in results.lists and n in results.outs]
        for m, n in list_buffers.put_last(results.body, results.in_rows, visit).items():
            if n in results.outs:
                self.tail += [f"if {results.count(m)}:", f"    {n} = {m}[-1]"]


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
