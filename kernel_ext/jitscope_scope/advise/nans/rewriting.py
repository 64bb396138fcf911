"""Fixes of a NaN: the user's own expression with a guard in it, offered only when the function was run with it and has no NaN then."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jitscope.core import source
from jitscope.core.source import Position

from ...source_code.edits import Edit, applied
from ...source_code.places import path_at
from ...source_code.text import Code, code_in
from ..code.trial import holding, runs_elsewhere, with_code_of
from . import causes


if TYPE_CHECKING:
    from .report import Answer


class CheckedFix(NamedTuple):
    """A fix that was run: what it does, its edits, where they are, and how it was proved."""

    text: str
    edits: tuple[Edit, ...]
    position: Position
    checked: str


def checked_fixes(report: Answer) -> list[CheckedFix]:
    """The fixes that keep the results as they were, but for the NaN. The simplest that works is enough."""
    if not report.nan and not report.derivative:
        return []  # the infinity may be meant
    for text, edit, position in _proposals(report):
        proof = _proof(report, position, (edit,))
        if proof:
            return [CheckedFix(text, (edit,), position, proof)]
    return []


Proposal = tuple[str, Edit, Position]


def _proposals(report: Answer) -> Iterator[Proposal]:
    for finding in (report.source, report.finding, report.infinity):
        position = finding.position if finding else None
        if position is None:
            continue
        path, code = path_at(position), code_in(position.file)
        if code is None:
            continue
        guarded = _guarded(path[0]) if path else None
        if guarded is not None:
            yield from _guards(report, code, path, guarded, position)


def _guarded(node: ast.AST) -> ast.expr | None:
    """The part of an expression that must not have the value at which it is bad: the argument, the divisor, the base."""
    match node:
        case ast.Call(args=[ast.expr() as first, *_]):
            return first
        case ast.BinOp(op=ast.Div(), right=right):
            return right
        case ast.BinOp(op=ast.Pow(), left=left):
            return left
    return None


def _guards(report: Answer, code: Code, path: list[ast.AST], part: ast.expr, position: Position) -> Iterator[Proposal]:
    node, text = path[0], ast.unparse(part)
    jnp = _numpy(path, position)
    if report.where is not None:
        mask = _mask(report.where)
        if mask is not None:
            condition, taken = mask
            chosen = f"{text}, 1.0" if taken(node) else f"1.0, {text}"
            words = "Make what the branch that is not taken computes harmless, too: a second where inside."
            yield words, Edit(code.span(part), f"{jnp}.where({condition}, {chosen})"), position
            if taken(node) is _either:
                yield words, Edit(code.span(part), f"{jnp}.where({condition}, 1.0, {text})"), position
        return
    name = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
    if report.derivative or report.infinity is None or name not in ("exp", "exp2"):
        if name == "norm" and isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
            yield (
                "Keep the square root away from 0.",
                Edit(code.span(node), f"{jnp}.sqrt({jnp}.sum({_inner(part)} ** 2) + 1e-12)"),
                position,
            )
        elif report.derivative and name in ("sqrt", "rsqrt"):
            yield "Keep the square root away from 0.", Edit(code.span(part), f"{text} + 1e-12"), position
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            yield (
                "Divide by 1 where the divisor is 0.",
                Edit(code.span(part), f"{jnp}.where({_inner(part)} == 0, 1, {text})"),
                position,
            )
        elif name in ("log", "log2", "log10") and not report.derivative and _is_product(report):
            words = "Take the logarithm of 1 where the number is 0: it is multiplied with 0."
            yield words, Edit(code.span(part), f"{jnp}.where({_inner(part)} > 0, {text}, 1.0)"), position
    elif _is_softmax(report):
        inner = _inner(part)
        words = "Subtract the maximum before exp: the quotient is the same, and nothing overflows."
        yield words, Edit(code.span(part), f"{inner} - {jnp}.max({text}, axis=-1, keepdims=True)"), position


def _is_softmax(report: Answer) -> bool:
    """Whether the NaN is a quotient of what one factor leaves as it is: a vector by its own sum, by the code; else rows of a result that
    are finite have to show it."""
    finding = report.finding
    if finding is None or finding.primitive != "div":
        return False
    match path_at(finding.position)[:1] if finding.position else []:
        case [
            ast.BinOp(
                left=left, op=ast.Div(), right=ast.Call(func=ast.Attribute(value=of, attr="sum"), args=args) as sum
            )
        ]:
            summed = ast.unparse(args[0] if ast.unparse(of) in ("jnp", "np", "jax.numpy") and args else of)
            if summed == ast.unparse(left) and (finding.operands[0].ndim == 1 or "axis=-1" in ast.unparse(sum)):
                return True
    floats = (causes.wide(x) for x in report.ran().results if causes.wide(x).dtype.kind in "fc")
    return any(np.isfinite(x).any() and not np.isfinite(x).all() for x in floats)


def _is_product(report: Answer) -> bool:
    return report.finding is not None and report.finding.primitive == "mul"


def _inner(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if isinstance(node, (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.Constant)) else f"({text})"


def _numpy(path: Sequence[ast.AST], position: Position) -> str:
    """What the code calls jitscope.numpy, or jax.numpy; NumPy is no help to a traced value."""
    functions = holding(path, position)
    given = functions[0].__globals__ if functions else {}
    for node in ast.walk(path[-1]):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.attr in ("where", "log", "sqrt", "exp", "sum")
            and getattr(given.get(node.value.id), "__name__", "") != "numpy"
        ):
            return node.value.id
    return "jnp"


def _either(_: ast.AST) -> bool:
    return True


def _mask(where: Position) -> tuple[str, Any] | None:
    """The condition of a `where`, and what tells whether an expression is in what it takes where that holds. (An expression that
    is in neither was given a name before: both are tried.)"""
    path = path_at(where)
    call = next((n for n in path if isinstance(n, ast.Call) and len(n.args) == 3), None)
    if call is None or ast.unparse(call.func).rpartition(".")[2] != "where":
        return None
    second = {(n.lineno, n.col_offset, n.end_col_offset) for n in ast.walk(call.args[2]) if isinstance(n, ast.expr)}
    first = {(n.lineno, n.col_offset, n.end_col_offset) for n in ast.walk(call.args[1]) if isinstance(n, ast.expr)}

    def taken(node: Any) -> bool:
        return (node.lineno, node.col_offset, node.end_col_offset) not in second

    names = [n.id for n in ast.walk(call.args[1]) if isinstance(n, ast.Name)]
    return ast.unparse(call.args[0]), taken if first or names else _either


# Proofs --------------------------------------------------------------------------------------------------------------------------


def _proof(report: Answer, position: Position, edits: tuple[Edit, ...]) -> str:
    """How the fix was proved, or ""."""
    if runs_elsewhere(position.file):
        return ""
    try:
        functions = holding(path_at(position), position)
        text = applied(source.code_of(position.file), edits)
        with with_code_of(functions, text, position.file) as changed:
            after = report.run_again() if changed else None
        before = report.ran()
    except Exception:  # code of the user's that was changed: whatever it raises, this is no fix
        return ""
    if after is None or [x.shape for x in after.results] != [x.shape for x in before.results]:
        return ""
    if any(causes.bad(x).any() for x in after.results if causes.wide(x).dtype.kind in "fc"):
        return ""
    pairs = [*zip(before.results, after.results)]
    valued = before.masked is not None and after.masked is not None
    if valued:
        pairs.append((before.masked, after.masked))  # pyright: ignore[reportArgumentType]
    if not all(_kept(*pair) for pair in pairs):
        return ""
    finite = sum(int((~causes.bad(x)).sum()) for x in before.results if causes.wide(x).dtype.kind in "fc")
    numbers = (
        "the finite number of the result is" if finite == 1 else f"the {finite:,} finite numbers of the result are"
    )
    same = f", {numbers} as before to four digits" if finite else ""
    same += ", the value of the where is the same" if valued else ""
    return f"Run with these arguments: the {report.what.removeprefix('an ')} is gone{same}."


def _kept(before: np.ndarray, after: np.ndarray) -> bool:
    """Whether what was finite is the same to four digits, of numbers far below the largest fewer."""
    a, b = causes.wide(before), causes.wide(after)
    if a.dtype.kind not in "fc":
        return np.array_equal(a, b)
    finite = np.isfinite(a)
    largest = float(np.abs(a[finite]).max(initial=0.0))
    return np.allclose(a[finite], b[finite], rtol=1e-4, atol=1e-6 * largest)
