"""When a set of samples counts: what it has to reach of a function's signature."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from typing import Any

from tests.oracle.samples import Function, Sample, spellings


NEVER_GIVEN = ("out", "sharding", "out_sharding")
"""Parameters that wait for many devices, or are there for NumPy's sake alone."""


def faults(function: Function, recorded: dict[str, Any]) -> list[str]:
    """What the samples of a function miss, in words."""
    found = []
    given = [s for s in function.samples if not s.fails and _succeeds(function, s, recorded)]
    signature = recorded["signature"]
    if signature is not None:
        found += _parameters(function, given, signature)
    if not function.option("nozero") and not any(_empty(function, s, recorded) for s in given):
        found.append("no sample has an array of size 0")
    if not function.option("noerror") and not any(s.fails for s in function.samples):
        found.append("no sample is an error")
    return found


def _succeeds(function: Function, sample: Sample, recorded: dict[str, Any]) -> bool:
    at = function.samples.index(sample)
    return bool(sample.reason) or any("error" not in answers[at] for answers in recorded["answers"].values())


def _empty(function: Function, sample: Sample, recorded: dict[str, Any]) -> bool:
    at = function.samples.index(sample)
    outs = [answers[at].get("out", "") for answers in recorded["answers"].values()]
    return {"e", "n"} & set(sample.names) != set() or any("[0" in o or ",0" in o for o in outs) or ":0]" in sample.expr


def _parameters(function: Function, given: Sequence[Sample], signature: list[list[str]]) -> list[str]:
    parameters = [inspect.Parameter(name, inspect._ParameterKind[kind]) for name, kind, _ in signature]
    defaults = {name: default for name, _, default in signature}
    reached: set[str] = set()
    negative: set[str] = set()
    for sample in given:
        for call in _calls(function, sample):
            for name, value in _bound(function, call, parameters):
                if ast.unparse(value) != defaults.get(name) or not defaults.get(name):
                    reached.add(name)
                if _has_negative(value):
                    negative.add(name)
    spared = function.option("noparams").split(",")
    wanted = [p.name for p in parameters if p.name not in (*NEVER_GIVEN, *spared, "self", "kwargs", "kwds")]
    missed = [name for name in wanted if name not in reached]
    if not any(True for s in given for _ in _calls(function, s)) and not function.name.startswith("Array."):
        return [f"no sample calls it (as {' or '.join(spellings(function.name))})"]
    found = [f"these parameters take no value but the default: {', '.join(missed)}"] if missed else []
    axes = [n for n in wanted if n.startswith("axis") and n not in negative and not function.option("noaxis")]
    return found + ([f"these are never negative: {', '.join(axes)}"] if axes else [])


def _calls(function: Function, sample: Sample) -> Iterator[ast.Call]:
    method = "." + function.name.removeprefix("Array.") if function.name.startswith("Array.") else None
    for node in ast.walk(ast.parse(sample.expr, mode="eval")):
        if isinstance(node, ast.Call):
            path = ast.unparse(node.func)
            if path in spellings(function.name) or (method and path.endswith(method)):
                yield node
            elif path == "functools.partial" and node.args and ast.unparse(node.args[0]) in spellings(function.name):
                yield ast.Call(node.args[0], node.args[1:], node.keywords)


def _bound(function: Function, call: ast.Call, parameters: list[inspect.Parameter]) -> Iterator[tuple[str, ast.expr]]:
    """Parameters and what a call gives for them."""
    own = [p for p in parameters if p.name != "self"] if function.name.startswith("Array.") else parameters
    positional = [p for p in own if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in own if p.kind == p.VAR_POSITIONAL), None)
    for at, value in enumerate(call.args):
        if isinstance(value, ast.Starred):
            yield from ((p.name, value) for p in positional[at:])
            if rest:
                yield rest, value
        elif at < len(positional):
            yield positional[at].name, value
        elif rest:
            yield rest, value
    for keyword in call.keywords:
        if keyword.arg is not None:
            yield keyword.arg, keyword.value


def _has_negative(value: ast.expr) -> bool:
    return any(isinstance(n, ast.UnaryOp) and isinstance(n.op, ast.USub) for n in ast.walk(value))
