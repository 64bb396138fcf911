"""Jaxprs as text, in JAX's format."""

from __future__ import annotations

import itertools
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Any

import numpy as np

from ..xla import layout
from . import call_sites, dtypes
from .jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, jaxprs_in, subjaxprs
from .primitive import HigherOrder, Primitive


_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def variable_names() -> Iterator[str]:
    """a, b, …, z, ba, bb, … (numbers in base 26)."""
    yield from _LETTERS
    for more in itertools.count(1):
        yield from map("".join, itertools.product(_LETTERS[1:], *[_LETTERS] * more))


class Names:
    """The names of a program's variables, in the order in which they are printed; results that nobody reads are `_`.

    `shared`: programs that occur several times, with the names under which they are printed once, in front. Arguments and
    results of the others have the names of the operands and results of their equation. `notes`: what is said
    behind an equation. `shapes`: whether avals are printed where variables are defined. `brief`: numbers with as many digits as tell
    them apart in their own dtype (`1.67:f32[]`), not with those of a double.
    """

    def __init__(
        self,
        jaxpr: Jaxpr,
        notes: Callable[[JaxprEqn], str | None] = lambda eqn: None,
        shapes: bool = True,
        brief: bool = False,
    ):
        self.notes, self.shapes, self.brief = notes, shapes, brief
        self.shared = _shared(jaxpr)
        taken = {*self.shared.values()}
        self._fresh = (name for name in variable_names() if name not in taken)
        self._names: dict[Var, str] = {}
        self._lines: dict[JaxprEqn, str] = {}
        self._read = _read(jaxpr)
        for program in (*self.shared, jaxpr):
            self._walk(program)

    def of(self, var: Var) -> str:
        """The variable's name."""
        name = self._names.get(var)
        if name is None:
            name = self._names[var] = next(self._fresh) if var in self._read else "_"
        return name

    def line(self, eqn: JaxprEqn) -> str:
        """The equation as one line, without the programs it holds."""
        line = self._lines.get(eqn)
        if line is None:
            line = self._lines[eqn] = _line(eqn, self)
        return line

    def _walk(self, jaxpr: Jaxpr) -> None:
        for var in (*jaxpr.constvars, *jaxpr.invars):
            self.of(var)
        for eqn in jaxpr.eqns:
            inner = subjaxprs(eqn.params) if eqn.params else ()
            jaxprs = [sub.jaxpr for _, sub in inner if sub.jaxpr not in self.shared] if inner else ()
            if jaxprs and isinstance(eqn.primitive, HigherOrder) and eqn.primitive.shares_names:
                self._share(jaxprs[0].invars, eqn.invars)
                self._share(jaxprs[0].outvars, eqn.outvars)
            for var in eqn.outvars:
                self.of(var)
            for jaxpr in jaxprs:
                self._walk(jaxpr)

    def _share(self, inner: Sequence[Atom], outer: Sequence[Atom]) -> None:
        taken = set()
        for var, like in zip(inner, outer):
            if isinstance(var, Var) and isinstance(like, Var) and like not in taken and var not in self._names:
                taken.add(like)
                self._names[var] = self.of(like)


def _shared(jaxpr: Jaxpr) -> dict[Jaxpr, str]:
    """The inner jaxprs that occur more than once, outer ones first, with names of their own."""
    counts: Counter[Jaxpr] = Counter()
    called: dict[Jaxpr, str] = {}
    todo = deque([jaxpr])
    while todo:
        current = todo.popleft()
        counts[current] += 1
        if counts[current] > 2:
            continue  # what it holds has been counted twice already
        for eqn in current.eqns:
            for _, inner in subjaxprs(eqn.params) if eqn.params else ():
                called.setdefault(inner.jaxpr, str(eqn.params.get("name", "jaxpr")).strip("<>"))
                todo.append(inner.jaxpr)
    names: dict[Jaxpr, str] = {}
    taken: Counter[str] = Counter()
    for inner, count in counts.items():
        if count > 1:
            name = called[inner]
            names[inner] = f"{name}{taken[name]}" if taken[name] else name
            taken[name] += 1
    return names


def _read(jaxpr: Jaxpr) -> set[Var]:
    """The variables that are arguments or that somebody reads, at all levels."""
    read: set[Var] = set()
    for current in jaxprs_in(jaxpr):
        read.update(current.constvars, current.invars)
        if current is not jaxpr:
            read.update(v for eqn in current.eqns if eqn.effects for v in eqn.outvars)
        read.update([a for a in current.outvars if type(a) is Var])
        read.update([a for eqn in current.eqns for a in eqn.invars if type(a) is Var])
    return read


# Parts as text -------------------------------------------------------------------------------------------------------


def literal_text(literal: Literal, brief: bool = False) -> str:
    """2.0:f32[]; see `Names` for `brief`."""
    item = literal.value
    if brief and dtypes.is_float(literal.aval.dtype):
        return f"{np.asarray(item).astype(literal.aval.dtype)[()]!s}:{literal.aval.short()}"
    if type(item) not in (float, int, bool):
        value = item if isinstance(item, np.generic) else np.asarray(item)
        narrow = value.dtype.itemsize < 4 and dtypes.is_float(value.dtype)
        item = (value.astype(np.float32) if narrow else value).item()
    return f"{item}:{literal.aval.short()}"


def atom_text(atom: Atom, names: Names) -> str:
    """A literal as itself, a variable by its name."""
    return names.of(atom) if isinstance(atom, Var) else literal_text(atom, names.brief)


def binder_text(var: Var, names: Names) -> str:
    """b:f32[3]"""
    return f"{names.of(var)}:{var.aval.short()}" if names.shapes else names.of(var)


def param_text(value: Any) -> str:
    """A parameter that is not a jaxpr."""
    if isinstance(value, (np.dtype, dtypes.ExtendedDType)):
        return value.name
    if isinstance(value, tuple):
        inner = ", ".join(repr(v) if isinstance(v, (str, Enum)) else param_text(v) for v in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if callable(value):
        return getattr(value, "__qualname__", None) or repr(value)
    return str(value)


# Layout --------------------------------------------------------------------------------------------------------------


def _words(words: Sequence[str]) -> layout.Doc:
    filled = layout.group(layout.line_break())  # a break of its own: as many words on each line as fit
    return layout.nest(2, layout.group(layout.join(filled, [layout.text(word) for word in words])))


def _brackets(opening: str, docs: Sequence[layout.Doc], closing: str) -> layout.Doc:
    inside = [layout.text(opening), layout.line_break(""), layout.join(layout.line_break(), docs)]
    return layout.group(
        layout.concat([layout.nest(2, layout.concat(inside)), layout.line_break(""), layout.text(closing)])
    )


def shown_params(eqn: JaxprEqn) -> dict[str, str]:
    """The parameters worth printing, without the programs."""
    if not eqn.params:
        return {}
    params = eqn.primitive.shown_params(eqn.params)
    return {name: param_text(value) for name, value in params.items() if not _holds(value)}


def _holds(value: Any) -> bool:
    return hasattr(value, "jaxpr") or (isinstance(value, tuple) and any(hasattr(v, "jaxpr") for v in value))


def _line(eqn: JaxprEqn, names: Names) -> str:
    results, operands = [binder_text(v, names) for v in eqn.outvars], [atom_text(a, names) for a in eqn.invars]
    whole = _own_text(eqn, results, operands)
    if whole is not None:
        return whole
    params = eqn.params and shown_params(eqn)
    inside = f"[{' '.join(f'{k}={v}' for k, v in params.items())}]" if params else ""
    return f"{' '.join(results)}{' = ' * bool(results)}{eqn.primitive.name}{inside} {' '.join(operands)}"


def _own_text(eqn: JaxprEqn, results: list[str], operands: list[str]) -> str | None:
    if type(eqn.primitive).text is Primitive.text:
        return None
    return eqn.primitive.text(results, operands, [a.aval for a in eqn.invars], **eqn.params)


def _equation(eqn: JaxprEqn, names: Names, depth: int) -> layout.Doc:
    if len(line := names.line(eqn)) <= _WIDTH - 8 * depth and not (eqn.params and subjaxprs(eqn.params)):
        return layout.text(line, names.notes(eqn))
    outs, operands = [binder_text(v, names) for v in eqn.outvars], [atom_text(a, names) for a in eqn.invars]
    whole = _own_text(eqn, outs, operands)
    if whole is not None:
        return layout.text(whole, names.notes(eqn))
    name = layout.text(" = " * bool(eqn.outvars) + eqn.primitive.name, names.notes(eqn))
    parts = [_words(outs), name]
    params = eqn.primitive.shown_params(eqn.params)
    if params:
        parts.append(
            _brackets("[", [layout.text(f"{name}=") + _value(params[name], names, depth) for name in params], "]")
        )
    return layout.concat([*parts, layout.text(" "), _words(operands)])


def _value(value: Any, names: Names, depth: int) -> layout.Doc:
    if isinstance(value, ClosedJaxpr):
        name = names.shared.get(value.jaxpr)
        return _program(value.jaxpr, names, depth + 1) if name is None else layout.text(name)
    if isinstance(value, tuple) and value and all(isinstance(v, ClosedJaxpr) for v in value):
        return _brackets("(", [_value(v, names, depth) for v in value], ")")
    return layout.text(param_text(value))


def _program(jaxpr: Jaxpr, names: Names, depth: int = 1) -> layout.Doc:
    constants, arguments = ([binder_text(v, names) for v in variables] for variables in (jaxpr.constvars, jaxpr.invars))
    outs = ", ".join(atom_text(a, names) for a in jaxpr.outvars)
    equations = [_equation(eqn, names, depth) for eqn in jaxpr.eqns]
    body = layout.concat([layout.line_break(), layout.join(layout.line_break("; "), equations)])
    inside = [
        layout.text("{ lambda "),
        _words(constants),
        layout.text("; "),
        _words(arguments),
        layout.text(". let"),
        layout.nest(2, body),
        layout.line_break(),
        layout.text(f"in ({outs}{',' * (len(jaxpr.outvars) == 1)})"),
    ]
    return layout.group(layout.concat([layout.nest(2, layout.concat(inside)), layout.text(" }")]))


_WIDTH = 80


def format_equation(eqn: JaxprEqn) -> str:
    """An equation by itself."""
    names = Names(Jaxpr([], [], list(eqn.outvars), [eqn]))
    return layout.render(_equation(eqn, names, 0))


def format_jaxpr(
    jaxpr: Jaxpr, source_lines: bool = False, scopes: bool = False, names: Names | None = None, shapes: bool = True
) -> str:
    """The whole program; with `source_lines`, every equation followed by its place, `# file:line:column (function)`, with
    `scopes` by the named scopes it was written in, `# [layer/attention]`. `names`, if they are known, those of the variables.
    Without `shapes` variables have no avals."""

    def notes(eqn: JaxprEqn) -> str | None:
        around = "/".join(call_sites.names_of(eqn.traceback)) if scopes else ""
        where = call_sites.user_position(eqn.traceback) if source_lines else None
        return " ".join([f"[{around}]"] * bool(around) + [str(where)] * (where is not None)) or None

    names = names or Names(jaxpr, notes, shapes)
    shared = [
        layout.concat([layout.text(f"let {name} = "), _program(inner, names), layout.text(" in"), layout.line_break()])
        for inner, name in names.shared.items()
    ]
    return layout.render(layout.concat([*shared, _program(jaxpr, names)]))
