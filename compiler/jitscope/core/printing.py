"""Jaxprs as text, in JAX's format."""
from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import dtypes
from .jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var

_WIDTH = 88
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def variable_names() -> Iterator[str]:
    """a, b, …, z, ba, bb, … (numbers in base 26)."""
    for n in itertools.count():
        name = ""
        while True:
            n, digit = divmod(n, 26)
            name = _LETTERS[digit] + name
            if n == 0:
                break
        yield name


class Names:
    """Gives each variable a name when it is first met; results that nobody reads are `_`."""

    def __init__(self, jaxpr: Jaxpr):
        self._fresh = variable_names()
        self._names: dict[Var, str] = {}
        self._read = set(_reads(jaxpr))

    def define(self, var: Var) -> str:
        if var not in self._read:
            return "_"
        return self.of(var)

    def of(self, var: Var) -> str:
        if var not in self._names:
            self._names[var] = next(self._fresh)
        return self._names[var]


def _reads(jaxpr: Jaxpr) -> Iterator[Var]:
    yield from jaxpr.constvars
    yield from jaxpr.invars
    for eqn in jaxpr.eqns:
        yield from (a for a in eqn.invars if isinstance(a, Var))
        for sub in _held(eqn.params):
            yield from _reads(sub.jaxpr)
    yield from (a for a in jaxpr.outvars if isinstance(a, Var))


def _held(params: dict[str, Any]) -> Iterator[ClosedJaxpr]:
    for value in params.values():
        if isinstance(value, ClosedJaxpr):
            yield value
        elif isinstance(value, tuple):
            yield from (v for v in value if isinstance(v, ClosedJaxpr))


def literal_text(literal: Literal) -> str:
    """2.0:f32[]"""
    value = np.asarray(literal.value)
    item = value.astype(np.float32).item() if dtypes.is_float(value.dtype) and value.dtype.itemsize < 4 else value.item()
    return f"{item}:{literal.aval.short()}"


def atom_text(atom: Atom, names: Names) -> str:
    return literal_text(atom) if isinstance(atom, Literal) else names.of(atom)


def param_text(value: Any) -> str:
    """A parameter that is not a jaxpr."""
    if isinstance(value, (np.dtype, dtypes.ExtendedDType)):
        return value.name
    if isinstance(value, tuple):
        inner = ", ".join(map(param_text, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if callable(value):
        return getattr(value, "__qualname__", None) or repr(value)
    return str(value)


def equation_text(eqn: JaxprEqn, names: Names, indent: str = "") -> str:
    """`c:f32[3] = sin b`; what does not fit in a line stands below, indented."""
    outs = " ".join(f"{names.define(v)}:{v.aval.short()}" for v in eqn.outvars)
    ins = "".join(f" {atom_text(a, names)}" for a in eqn.invars)
    head = f"{outs} = {eqn.primitive.name}"
    params = eqn.primitive.shown_params(eqn.params)
    if not params:
        return head + ins
    deeper = indent + "  "
    texts = [f"{name}={_value_text(params[name], names, deeper)}" for name in params]
    line = f"{head}[{' '.join(texts)}]{ins}"
    if _fits(line, indent):
        return line
    rows = "".join(f"\n{deeper}{text}" for text in texts)
    return f"{head}[{rows}\n{indent}]{ins}"


def _fits(line: str, indent: str) -> bool:
    return "\n" not in line and len(line) + len(indent) <= _WIDTH


def _value_text(value: Any, names: Names, indent: str) -> str:
    if isinstance(value, ClosedJaxpr):
        return _body_text(value.jaxpr, names, indent)
    if isinstance(value, tuple) and any(isinstance(v, ClosedJaxpr) for v in value):
        deeper = indent + "  "
        rows = "\n".join(deeper + _value_text(v, names, deeper) for v in value)
        return f"(\n{rows}\n{indent})"
    return param_text(value)


def _body_text(jaxpr: Jaxpr, names: Names, indent: str) -> str:
    def binders(variables: list[Var]) -> str:
        return "".join(f" {names.of(v)}:{v.aval.short()}" for v in variables)

    head = f"{{ lambda{binders(jaxpr.constvars) or ' '};{binders(jaxpr.invars)}. let"
    deeper = indent + "    "
    eqns = [equation_text(eqn, names, deeper) for eqn in jaxpr.eqns]
    outs = ", ".join(atom_text(a, names) for a in jaxpr.outvars)
    outs = f"({outs},)" if len(jaxpr.outvars) == 1 else f"({outs})"
    line = f"{head} {'; '.join(eqns)} in {outs} }}"
    if len(eqns) == 0 or (len(eqns) == 1 and indent and _fits(line, indent)):
        return line
    rows = "".join(f"\n{deeper}{eqn}" for eqn in eqns)
    return f"{head}{rows}\n{indent}  in {outs} }}"


def format_jaxpr(jaxpr: Jaxpr) -> str:
    """The whole program."""
    return _body_text(jaxpr, Names(jaxpr), "")
