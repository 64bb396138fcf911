"""Looking again at what edits make of a program: those that lead from one sharp bit to another are not offered."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace

from ...source_code.edits import Edit, applied, moved
from ...source_code.text import Code
from ..code.forms import last_name
from ..diagnostic import Diagnostic, Fix


Look = Callable[[Code], list[Diagnostic]]
_MOST = 10


def without_refuted_edits(found: list[Diagnostic], code: Code, look: Look) -> list[Diagnostic]:
    """Diagnostics of a program, without the edits after which something is found that was not there, which the fix says then, or
    their own sharp bit still is. Only the first few are looked at one by one, the edits of others are left out."""
    found = [replace(one, fix=Fix(_OUTSIDE)) if _hands_on(one, code) else one for one in found]
    editing = [one for one in found if one.fix.edits]
    if not editing or (not _overlap(editing) and _left(editing, found, code, look) == []):
        return found
    first = editing[:_MOST]
    return [replace(one, fix=_fix(one, found, code, look, one in first)) if one in editing else one for one in found]


def _fix(one: Diagnostic, found: list[Diagnostic], code: Code, look: Look, looked_at: bool) -> Fix:
    """The fix of a diagnostic, without edits that mend nothing, and with what is left to do after them."""
    left = _left([one], found, code, look) if looked_at else None
    if left == []:
        return one.fix
    next_one = next((other for other in left or () if other.message != one.message and other.severity == "error"), None)
    more = f" That alone is not enough: {next_one.message} {next_one.fix.text}" if next_one is not None else ""
    return replace(one.fix, edits=(), text=f"{one.fix.text}{more}")


def _hands_on(one: Diagnostic, code: Code) -> bool:
    """Whether an edit takes away `int(…)`, `bool(…)` or `.item()` and who uses the number may be no operation of arrays: that fails next."""
    spans = {edit.span for edit in one.fix.edits}
    if not spans:
        return False
    converting = [call for call in code.of(ast.Call) if last_name(call) in _CONVERTING and code.span(call) in spans]
    return any(not _is_for_arrays(use, code) for call in converting for use in _uses(call, code))


_OUTSIDE = (
    "Keep it an array where jnp computes with it; what needs the number itself belongs outside of the traced function."
)
_CONVERTING = {"int", "float", "bool", "complex", "item", "tolist"}


def _uses(call: ast.Call, code: Code) -> list[ast.AST]:
    """Where the value of a call is used: where the name that it is given is read, or where it stands."""
    match code.parents.get(call):
        case ast.Assign(targets=[ast.Name(id=name) as target]):
            scope = code.scopes.binding(name, target)
            reads = [one for one in code.of(ast.Name) if one.id == name and isinstance(one.ctx, ast.Load)]
            return [one for one in reads if code.scopes.binding(name, one) is scope]
    return [call]


def _is_for_arrays(use: ast.AST, code: Code) -> bool:
    """Whether a value is given back, or to arithmetic, comparisons or functions of the library."""
    above = code.parents.get(use)
    match above:
        case ast.BinOp(left=left, right=right):
            return not any(isinstance(side, _SEQUENCES) or _is_text(side) for side in (left, right))
        case ast.Call(func=func):
            return use is func or code.dotted(func).startswith("jax.") or getattr(func, "id", "") in _OF_NUMBERS
        case ast.keyword():
            call = code.parents.get(above)
            return isinstance(call, ast.Call) and code.dotted(call.func).startswith("jax.")
        case ast.Subscript(slice=index):
            return use is not index
        case ast.For(iter=iterated):
            return use is not iterated
        case ast.Dict() | ast.List() | ast.Tuple() | ast.Set():
            return _is_for_arrays(above, code)
    return True


_SEQUENCES = (ast.List, ast.Tuple, ast.JoinedStr, ast.ListComp)
_OF_NUMBERS = {"abs", "round", "max", "min", "sum", "pow", "print"}


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


def _overlap(editing: list[Diagnostic]) -> bool:
    spans = sorted(edit.span for one in editing for edit in one.fix.edits)
    return any((a.end_line, a.end_column) > (b.line, b.column) for a, b in itertools.pairwise(spans))


def _left(some: list[Diagnostic], found: list[Diagnostic], code: Code, look: Look) -> list[Diagnostic] | None:
    """What is found beside the rest after the edits of some of what was found; None where that is no program."""
    edits = [edit for one in some for edit in one.fix.edits]
    rest = {(one.id, moved(one.span.line, edits)) for one in found if one not in some}
    try:
        left = look(_edited(code, edits))
    except (SyntaxError, ValueError, RecursionError):
        return None
    return [one for one in left if (one.id, one.span.line) not in rest]


def _edited(code: Code, edits: Iterable[Edit]) -> Code:
    edits = tuple(edits)
    cells = []
    for cell in code.cells:
        timed = tuple((moved(first, edits), moved(last, edits)) for first, last in cell.timed)
        cells.append(cell._replace(first=moved(cell.first, edits), last=moved(cell.last, edits), timed=timed))
    return Code(applied(code.text, edits), code.file, cells, code.names)
