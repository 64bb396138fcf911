"""NumPy buffers that are written to while a compiled program may still read them. jitscope copies such arguments before a call
returns; jax may read them later."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from ...source_code.parameters import arguments, keyword
from ...source_code.text import Code
from ...source_code.tree import below
from ..code.walk import Walk
from ..diagnostic import Diagnostic, Fix
from .diagnostics import diagnostic
from .numbers import WIDE, may_be_on


Assignment = ast.Assign | ast.AnnAssign | ast.NamedExpr


def overwritten(walk: Walk) -> Iterator[Diagnostic]:
    """numpy-alias-race: a buffer that a compiled function was given is written to, in the next pass of a loop or in a later line,
    and nothing waits for the program."""
    code = walk.code
    if not _imports_jax(code):
        return
    told: set[tuple[str, ast.AST | None]] = set()
    given = _given(code)
    for name, write in sorted(_writes(code), key=lambda one: code.span(one[1])):
        around = _around(write, code)
        if not _is_buffer(given.get(name, ()), around, code):
            continue
        loop = next((one for one in around if isinstance(one, ast.For | ast.While)), None)
        if (name, loop) in told:
            continue
        if _in_next_pass(name, loop, walk) or _in_later_line(name, write, walk):
            told.add((name, loop))
            message = f"`{name}` is written to while a program that was given it may still read it."
            fix = Fix(f"Hand over a copy made now, {name}.copy(), or a fresh array; or wait for the result before.")
            yield diagnostic(code, "numpy-alias-race", write, message, fix)


def _imports_jax(code: Code) -> bool:
    return any(
        (isinstance(node, ast.Import) and any(a.name.split(".")[0] == "jax" for a in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "jax")
        for node in code.of(ast.Import, ast.ImportFrom)
    )


def _around(node: ast.AST, code: Code) -> list[ast.AST]:
    """The nodes around one, up to the function that it is in."""
    found: list[ast.AST] = []
    for one in code.around(node):
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            break
        found.append(one)
    return found


# --- the buffer --------------------------------------------------------------------------------------------------------------


def _writes(code: Code) -> Iterator[tuple[str, ast.AST]]:
    """What is changed in place, by its text, and the node that does it."""
    for node in code.of(ast.Subscript, ast.AugAssign, ast.Call):
        match node:
            case ast.Subscript(value=ast.Name() | ast.Attribute() as base, ctx=ast.Store()):
                yield ast.unparse(base), node
            case ast.AugAssign(target=ast.Name() | ast.Attribute() as base):
                yield ast.unparse(base), node
            case ast.Call(func=ast.Attribute(value=base, attr=name), args=args, keywords=keywords):
                if name in _CHANGING:
                    yield ast.unparse(base), node
                if args and (name in _FILLING or code.dotted(node.func) in _OF_NUMPY):
                    yield ast.unparse(args[0]), node
                yield from ((ast.unparse(k.value), node) for k in keywords if k.arg == "out")


_CHANGING = {"fill", "sort", "partition", "put", "itemset"}
_FILLING = {"readinto", "recv_into", "shuffle"}
_OF_NUMPY = {f"numpy.{name}" for name in ("copyto", "put", "place", "putmask", "put_along_axis", "fill_diagonal")}


def _is_buffer(made: Sequence[Assignment], around: Sequence[ast.AST], code: Code) -> bool:
    """Whether the only arrays that a name has are NumPy's, `made` outside of the loop that its write is in."""
    loops = [one for one in around if isinstance(one, ast.For | ast.While)]
    if made and all(_is_wide(node.value, code) for node in made) and not may_be_on(code):
        return False
    return bool(made) and all(
        isinstance(node.value, ast.Call)
        and code.dotted(node.value.func).startswith("numpy.")
        and not any(loop in code.around(node) for loop in loops)
        for node in made
    )


def _is_wide(made: ast.expr | None, code: Code) -> bool:
    """Whether a call makes an array of a 64-bit type: while these are off, a program is given a copy in 32 bits."""
    if not isinstance(made, ast.Call):
        return False
    asked = keyword(made, "dtype")
    if asked is not None:
        return ast.unparse(asked).rpartition(".")[2].strip("'\"") in _WIDE_NAMES
    called = code.dotted(made.func).removeprefix("numpy.")
    return len(made.args) <= _WITHOUT_DTYPE.get(called, -1)


_WIDE_NAMES = {*WIDE, "float", "int", "complex"}
_WITHOUT_DTYPE = {"zeros": 1, "ones": 1, "empty": 1, "arange": 3, "linspace": 3, "eye": 2}
"""Functions of NumPy that give 64 bits unless a dtype is asked for, and how many arguments come before that."""


def _given(code: Code) -> dict[str, list[Assignment]]:
    """The assignments of a program, by the text of what they give a value."""
    found: dict[str, list[Assignment]] = {}
    for node in code.of(ast.Assign, ast.AnnAssign, ast.NamedExpr):
        for name in _given_by(node):
            found.setdefault(name, []).append(node)
    return found


def _given_by(node: ast.AST) -> list[str]:
    match node:
        case ast.Assign(targets=targets):
            return [ast.unparse(target) for target in targets]
        case ast.AnnAssign(target=target) | ast.NamedExpr(target=target):
            return [ast.unparse(target)]
    return []


# --- who reads it ------------------------------------------------------------------------------------------------------------


def _in_next_pass(name: str, loop: ast.AST | None, walk: Walk) -> bool:
    readers = list(_readers(name, [loop], loop, walk)) if loop is not None else []
    return bool(readers) and not _waits([loop], readers, walk.code)


def _in_later_line(name: str, write: ast.AST, walk: Walk) -> bool:
    """Whether a statement before the write, in the same block, gives the buffer to a program."""
    code = walk.code
    statement = code.statement_around(write)
    block = code.block_of(statement) if statement is not None else []
    if statement not in block:
        return False
    before = block[: block.index(statement)]
    for at, one in enumerate(before):
        readers = list(_readers(name, [one], write, walk))
        if readers and not _waits(before[at:], readers, code):
            return not any(name in _given_by(node) for later in before[at:] for node in below(later))
    return False


def _readers(name: str, nodes: Iterable[ast.AST | None], write: ast.AST, walk: Walk) -> Iterator[ast.Call]:
    """The calls that give a buffer, or a view of it, to a compiled function, or make an array of its memory, where it is written to: what
    stands in a function that is defined there runs at another time."""
    own = walk.code.function_around(write)
    for node in nodes:
        for call in below(node) if node is not None else ():
            if (
                isinstance(call, ast.Call)
                and walk.code.function_around(call) is own
                and any(ast.unparse(one) == name for given in arguments(call) for one in _parts(given))
            ):
                dotted = walk.code.dotted(call.func)
                if dotted in _OF_MEMORY or walk.functions.compiled_at(call) is not None:
                    yield call


_OF_MEMORY = {"jax.numpy.asarray", "jax.numpy.array", "jax.device_put"}


def _parts(given: ast.expr) -> Iterator[ast.expr]:
    """An argument, what is in its containers, and what its slices are views of."""
    match given:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Dict(values=parts):
            for part in parts:
                yield from _parts(part)
        case ast.Subscript(value=base, slice=ast.Slice()):
            yield base
        case _:
            yield given


def _waits(nodes: Iterable[ast.AST | None], readers: Sequence[ast.Call], code: Code) -> bool:
    """Whether something waits for what the readers give: `float(y)`, `np.asarray(y)`, `y.block_until_ready()`."""
    results = {ast.unparse(target) for call in readers for target in _targets(code.statement_around(call))}
    for node in nodes:
        for call in below(node) if node is not None else ():
            if not isinstance(call, ast.Call):
                continue
            dotted = code.dotted(call.func)
            attribute = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            if attribute == "block_until_ready" or dotted in ("jax.block_until_ready", "jax.device_get"):
                return True
            plain = call.func.id if isinstance(call.func, ast.Name) else ""
            if attribute in ("item", "tolist") or plain in _OF_VALUES or dotted.startswith("numpy."):
                inside = list(below(call))
                if any(one in readers or ast.unparse(one) in results for one in inside if isinstance(one, ast.expr)):
                    return True
    return False


_OF_VALUES = {"float", "int", "bool", "print", "str", "repr"}


def _targets(statement: ast.stmt | None) -> Iterator[ast.expr]:
    for target in getattr(statement, "targets", [getattr(statement, "target", None)]):
        yield from target.elts if isinstance(target, ast.Tuple | ast.List) else [target] if target is not None else []
