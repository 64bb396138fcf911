"""From an error to the sharp bit it tells of, at the line that caused it.

Errors that know more than their traceback say so themselves (`core.errors.stepped_on`). Of the others, those of tracers that
were asked for a value, the code at the line tells which construct asked.
"""

from __future__ import annotations

import ast
import dataclasses
import re
import sysconfig
from collections.abc import Mapping
from types import CodeType, FrameType, TracebackType
from typing import Any

from jitscope import tree
from jitscope.control.carry import advice_on_types
from jitscope.core import source
from jitscope.core.messages import ADVICE, advice_of
from jitscope.core.source import Position
from jitscope.core.trace import Tracer
from jitscope.core.words import cut, sentence

from ... import jaxwatch
from ...source_code.choosing import can_choose
from ...source_code.edits import Span
from ...source_code.frames import entries, position_of, value_in
from ...source_code.names import Names, imported
from ...source_code.places import path_at, path_in, with_index
from ...source_code.ranks import fitted
from ...source_code.rewrites import rewritten
from ...source_code.text import code_in
from ..catalogue import CATALOGUE
from ..code.forms import is_logical
from ..diagnostic import Diagnostic, Fix
from ..look import look
from ..loop_order import SWAP
from . import readonly
from .bodies import swapped_loop
from .caches import cached_tracer, places_made
from .containers import is_spoken_of, kept_tracer
from .nans import told_of_failure
from .refused_values import refused
from .stale import StaleOperand, stale_operand
from .unknown_values import unknown_value


_OTHERS = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def explained(error: BaseException) -> Diagnostic | None:
    """The sharp bit that an error tells of; None if it tells of none, or of nothing in the user's code."""
    frames = _user_frames(error.__traceback__)
    if not frames:
        return None
    frame, where = frames[-1]
    names = imported(frame.f_globals)
    if (told := told_of_failure(error)) is not None:
        return told.in_names(names)
    if (told := readonly.written_to(error, frame, where, names)) is not None:
        return told
    told = readonly.filled_with_traced(error, where, names) or readonly.refused(error, frame, where, names)
    if told is not None:
        return told
    if (loop := swapped_loop(error)) is not None:
        said, at = loop
        return Diagnostic(
            "loop-argument-order", at.file, Span.of(at), said, Fix(TO_DO["loop-argument-order"]), (), "trace"
        )
    known, cause, *_ = getattr(error, "sharp_bit", None) or jaxwatch.mistake(error) or ("", None)
    stale = stale_operand(error) if not known else None
    if stale is not None and (one := _stale(stale, [frame for frame, _ in frames])) is not None:
        return one.in_names(names)
    known = known or _kind(error, frame, where)
    if _in_unflatten(error.__traceback__):
        known, cause = "pytree-init-validates", None
    elif _is_quoted(error, where):
        return None
    if known not in CATALOGUE:
        return None
    one = _kept(error, cause, [frame for frame, _ in frames]) if known == "tracer-leak" else None
    one = one or _confirmed(known, cause or where, names) or _made(known, cause or where, error, names, frame)
    if one.id == "branch-on-tracer" and one.message.endswith(f"but {Tracer.refusal}.") and (test := _test(where)):
        one = dataclasses.replace(
            one, message=f"`{test}` is not known while tracing, so Python cannot choose a branch."
        )
    if known == "data-dependent-shape" and not one.fix.edits:  # the ranks, which code does not tell, are known here
        one = dataclasses.replace(one, fix=_fix(_ASKED[known], where, one.fix.text, names, frame.f_locals))
    return one.in_names(names)


def _test(where: Position) -> str:
    """What decides between the branches around a piece of code; "" where that stands in none of them."""
    path = path_at(where)
    for inner, node in zip([None, *path], path):
        match node:
            case ast.If(test=test) | ast.IfExp(test=test) if inner in (None, test):
                return cut(ast.unparse(test), 40)
            case ast.Match(subject=subject):
                return cut(ast.unparse(subject), 40)
            case ast.stmt():
                return ""
    return ""


def _is_quoted(error: BaseException, where: Position) -> bool:
    """Whether the user's own line raises an error with a text of its own, which may quote another one."""
    if hasattr(error, "sharp_bit"):
        return False
    statement = next((node for node in path_at(where) if isinstance(node, ast.stmt)), None)
    own = isinstance(statement, ast.Raise) and error.__traceback__ is not None and statement.exc is not None
    return isinstance(error, AssertionError) or own


def _kept(error: BaseException, cause: Position | None, frames: list[FrameType]) -> Diagnostic | None:
    """What kept a tracer beyond its trace, where that is found by name."""
    made = places_made(error, cause)
    kept = cached_tracer(made, frames) or kept_tracer(lambda held: is_spoken_of(held, error, cause), made, frames)
    return _leak(kept.where, kept.said, kept.fix) if kept is not None else None


def _stale(stale: StaleOperand, frames: list[FrameType]) -> Diagnostic | None:
    """The same of an operand that did not fit, which is the tracer itself."""
    kept = cached_tracer(stale.made, frames) or kept_tracer(lambda held: held is stale.tracer, stale.made, frames)
    if kept is not None:
        return _leak(kept.where, kept.said, kept.fix)
    return _leak(stale.where, stale.said(), TO_DO["tracer-leak"]) if stale.where is not None else None


def _leak(where: Position, said: str, fix: str) -> Diagnostic:
    return Diagnostic("tracer-leak", where.file, Span.of(where), said, Fix(fix), (), "trace")


def _user_frames(traceback: TracebackType | None) -> list[tuple[FrameType, Position]]:
    """The user's frames of a traceback, the outermost first: no library's."""
    return [(one.tb_frame, position_of(one)) for one in entries(traceback) if _is_users(one.tb_frame.f_code)]


def _is_users(code: CodeType) -> bool:
    return not source.is_internal(code.co_filename) and not code.co_filename.startswith((*_OTHERS, "<frozen"))


def _in_unflatten(traceback: TracebackType | None) -> bool:
    """Whether the error arose in a class of the user's while one of its objects was rebuilt from placeholders."""
    rebuilding = last = False
    before: TracebackType | None = None
    for one in entries(traceback):
        code = one.tb_frame.f_code
        if _is_users(code):
            last = _rebuilds(code) or code.co_name in ("__init__", "__post_init__")
        rebuilding = rebuilding or _rebuilds(code) or _is_rebuilt(one, before)
        before = one
    return rebuilding and last


def _rebuilds(code: CodeType) -> bool:
    return tree.is_unflatten(code) or jaxwatch.rebuilds(code)


def _is_rebuilt(traceback: TracebackType, before: TracebackType | None) -> bool:
    """Whether a frame is the constructor of a tree's node that the line before it does not call: the library does."""
    frame = traceback.tb_frame
    made = type(frame.f_locals.get("self"))
    if (
        frame.f_code.co_name != "__init__"
        or before is None
        or not (tree.is_tree_node(made) or jaxwatch.is_tree_class(made))
    ):
        return False
    path = path_at(position_of(before))
    call = next((node for node in path if isinstance(node, ast.Call)), None)
    return call is not None and _called(call) not in (made.__name__, "cls", "replace", "_replace", "type", "__init__")


def _confirmed(known: str, where: Position, names: Names) -> Diagnostic | None:
    """What the static look says of the line, if it says the same: it has the better fix. `names` are those of other cells."""
    text = source.code_of(where.file)
    same = [one for one in look(text, where.file, known=names) if one.id == known]
    here = [one for one in same if one.span.line <= where.line <= one.span.end_line]
    if not here and known in _CAUSED_ELSEWHERE and len(same) == 1:
        here = same
    exact = [one for one in here if one.span.meets(Span.of(where))]
    return dataclasses.replace((exact or here)[0], origin="trace") if here else None


_CAUSED_ELSEWHERE = {"not-a-jax-type", "donation-misuse", "tracer-leak"}
"""These are told where the look finds their cause, which is seldom the line that raises."""


def _made(known: str, where: Position, error: BaseException, names: Names, frame: FrameType) -> Diagnostic:
    if (
        known in _OF_VALUES
        and jaxwatch.mistake(error) is not None
        and (told := refused(known, error, frame)) is not None
    ):
        return Diagnostic(known, where.file, Span.of(where), told.said, Fix(told.fix), (), "trace")
    if _wants_hash(error):
        return Diagnostic(known, where.file, Span.of(where), _NO_HASH, Fix(_BY_WHAT_IS_KNOWN), (), "trace")
    if (told := next((said for words, said in _ONE_MEMORY if words in str(error)), "")) and known == "donation-misuse":
        return Diagnostic(known, where.file, Span.of(where), told, Fix(_TO_EACH_ITS_OWN), (), "trace")
    if (unknown := unknown_value(error)) is not None and known != "pytree-init-validates":
        asked = "array" if type(error).__name__ == "TracerArrayConversionError" else _ASKED.get(known)
        fix = _fix(asked, where, unknown.fix, names, frame.f_locals)
        return Diagnostic(known, where.file, Span.of(where), unknown.said, fix, unknown.evidence, "trace")
    of_jax = jaxwatch.mistake(error)
    first, *rest = str(error).splitlines() or [CATALOGUE[known].title]
    rest = [of_jax.told, *rest] if of_jax is not None else rest
    lines = (line.strip() for line in rest if ADVICE not in line)
    evidence = tuple(line for line in lines if line.strip("^") and not line.startswith(_TOLD_ELSEWHERE))
    said, *advised = _INLINE.split(first.strip(), maxsplit=1)
    otherwise = _on_types(known, str(error)) or TO_DO.get(known, "")
    fix = _fix(
        _ASKED.get(known),
        where,
        sentence("".join(advised) or advice_of(str(error)) or otherwise),
        names,
        frame.f_locals,
    )
    if known == "pytree-init-validates":
        said = f"`{where.function}` runs while an object is rebuilt from what stands for its arrays, and fails with that: {said}"
        converts = fix.text.startswith("Write ") and type(error).__name__ != "TracerBoolConversionError"
        fix = fix if converts else Fix(_REBUILT)
    return Diagnostic(known, where.file, Span.of(where), said, fix, evidence, "trace")


def _on_types(known: str, said: str) -> str:
    """What to do about trees, a carry or branches of jax's whose types differ, or a derivative of no real number, by what its error
    tells; "" of other errors."""
    if known == "pytree-registered-twice" and said.startswith("pytree structure error"):
        return "Make the objects again that were made before the class was defined again."
    if known == "grad-bad-signature" and (told := next((one for words, one in _OF_RESULTS if words in said), "")):
        return told
    if known in _SAME_STRUCTURE and "pytree structure" in said.partition("\n")[0]:
        return _SAME_STRUCTURE[known]
    return _on_carry(said) if known == "loop-carry-mismatch" else ""


_REAL = "Take the real part of the result, or ask for holomorphic=True where the function is complex differentiable."
_SUM = "Sum the result, or take jax.jacrev, which differentiates each element; has_aux=True is for results that come along."
_OF_NONE = "Return the number that is to be differentiated: a function without `return` gives None."
_AUX = (
    "Ask for has_aux=True, which differentiates the first of two results and gives the other one beside the derivative."
)
_OF_RESULTS = (
    ("Output was None", _OF_NONE),
    ("it returned None", _OF_NONE),
    ("Output was (", _AUX),
    ("it returned tuple with ", _AUX),
    ("return a real float", _REAL),
    ("real-valued outputs", _REAL),
    ("Gradient only defined for", _SUM),
    (" to return ", _SUM),
)
"""What errors of a derivative say of a result, and what to do."""

_SAME_STRUCTURE = {
    "cond-branch-mismatch": "Let all branches return the same structure: the same containers, keys and lengths.",
    "loop-carry-mismatch": "Let the body return a carry of the structure that it gets: the same containers, keys and lengths.",
}


def _on_carry(said: str) -> str:
    """What to do about a loop of jax's whose carry changes its type, by the first shapes that its error tells."""
    if "a pair" in said.partition("\n")[0]:
        return "Return a pair: the carry, and what the scan stacks, None if there is nothing to stack."
    found = re.search(
        r"has type \w+\[([\d,]*)\]\S* but the corresponding output carry component has type \w+\[([\d,]*)\]", said
    )
    before, after = ([int(n) for n in one.split(",") if n] for one in found.groups()) if found else ([], [])
    return advice_on_types(before, after)


_OF_VALUES = ("not-a-jax-type", "static-unhashable", "flag-arg-traced")

TO_DO = {
    "cond-branch-mismatch": "Convert one of the results (.astype, jnp.broadcast_to), so that they agree.",
    "donation-misuse": "Use what the call gave back in place of what it was given, or do not donate that: a call takes the memory of its "
    "donated arguments.",
    "flag-arg-traced": "Make the argument static (static_argnames=…): text, functions and other objects are no arrays, and each value of a "
    "static argument has a program of its own.",
    "grad-bad-signature": "Pass floats (3.0 in place of 3), choose other arguments with argnums, or pass allow_int=True.",
    "loop-argument-order": SWAP,
    "pytree-registered-twice": "Define the class and register it in one cell, which may be run again: the class is a new one then.",
    "traced-shape-arg": "Make the argument that it is computed of static (static_argnames=…); a number that an object keeps is static data of its "
    "class, and stays a number in a module under equinox.filter_jit. A size that follows from shapes is known: x.shape[0].",
    "trace-time-mutation": "Pass the object as an argument of the traced function, and compile that with nnx.jit, which gives its changes back: it "
    "was made outside, where the change of a trace cannot stay.",
    "tracer-leak": "Return the value from the traced function, and use what the call gives: an attribute, a list or a cache outside keeps "
    "what stood for it in the trace. Where a cache keeps it, make the value with NumPy.",
    "static-unhashable": "Give a static argument a value that has a hash: a tuple in place of a list. An array is no static argument: it is traced.",
}
"""What to do about errors of jax's and Python's that do not say so."""

_NO_HASH = "A dict, a set and a function under lru_cache look things up by their hash, and a traced value has none."
_BY_WHAT_IS_KNOWN = "Look things up by what is known while tracing: a shape, a name, a static argument; or do it outside of the traced function."

_READ_AS_WELL = (
    "One array is given for a donated argument and for another one: its memory cannot be given away and read as well."
)
_ONE_MEMORY = (
    (
        "donate the same buffer twice",
        "One array is given for two donated arguments, and a call can take its memory once.",
    ),
    ("previously donated in the same call", _READ_AS_WELL),
    ("donated and passed a second time in the same call", _READ_AS_WELL),
)
_TO_EACH_ITS_OWN = "Give one of them a copy, x.copy(), or donate one of the arguments alone."

_INLINE = re.compile(rf"\. (?:{ADVICE[0].upper()}{ADVICE[1:]}|(?=If it is not data|To make .* a tree))")
_REBUILT = (
    "Rebuild the object without its checks: in tree_unflatten, object.__new__(cls) and then its fields, one by one. A registered "
    "dataclass is rebuilt by its constructor: check in a function that makes the object."
)


_TOLD_ELSEWHERE = ("in line ", "in general: ")
"""Lines of a message that the mark in the code, the fix and its explanation say."""

_ASKED = {
    "branch-on-tracer": "bool", "logical-op-on-tracer": "bool", "data-dependent-shape": "mask", "traced-slice-bound": "slice",
    "item-assignment": "assignment",
}  # fmt: skip


def _fix(asked: str | None, where: Position, otherwise: str, names: Names, values: Mapping[str, Any]) -> Fix:
    code = code_in(where.file, names) if asked is not None else None
    path = path_in(code.tree, where) if code is not None else []
    found = rewritten(path, asked) if path and asked is not None else None
    if code is None or found is None or not found.whole or not hasattr(found.node, "lineno"):
        return Fix(otherwise)
    if not can_choose(found.choices, values):
        return Fix(otherwise)
    text = code.names.own(fitted(found.text, found.of_one_rank, values) or found.text)
    sure = found.is_edit and code.names.knows(text)
    edits = (code.in_place_of(found.node, text),) if sure else ()
    unless = f" ({found.differs})" if found.differs else ""
    return Fix(f"Write `{text}`{found.note}{unless}.", edits)


def in_text_of_error(where: Position) -> bool:
    """Whether code belongs to a `raise` or an `assert`: there a tracer is what people want to see."""
    return any(isinstance(node, ast.Raise | ast.Assert) for node in path_at(where))


def whole_call(where: Position) -> Position:
    """The outermost call or text that a piece of code belongs to: `print(f"{x} {y}")` is one, and shows both."""
    nodes = [node for node in path_at(where) if isinstance(node, ast.Call | ast.JoinedStr)]
    return where.at(nodes[-1]) if nodes else where


def says_what_is_meant(where: Position) -> bool:
    """Whether a call says with `mode=` what happens to indices out of bounds."""
    call = next((node for node in path_at(where) if isinstance(node, ast.Call)), None)
    given = [k.value for k in call.keywords if k.arg == "mode"] if call is not None else []
    return any(getattr(value, "value", value) in ("fill", "drop", "clip", "wrap") for value in given)


# --- what asked ---------------------------------------------------------------------------------------------------------------


def _kind(error: BaseException, frame: FrameType, where: Position) -> str:
    """Which sharp bit it is when a tracer, or an array, was asked for what it cannot give."""
    path, name = path_at(where), type(error).__name__
    if name == "TracerBoolConversionError" or (name == "ValueError" and "ambiguous" in str(error)):
        return _of_truth(path, frame)
    if name == "NonConcreteBooleanIndexError":
        return "data-dependent-shape"
    if name == "UnexpectedTracerError":
        return "tracer-leak"
    if name == "KeyReuseError":
        return "key-reuse"
    if isinstance(error, OverflowError) and any(words in str(error) for words in _TOO_LARGE):
        return "x64-truncation"
    if name == "FloatingPointError":
        return "silent-nan"
    if isinstance(error, TypeError) and "is not an array, a number or a tree of those" in str(error):
        return "not-a-jax-type"
    if name == "TracerArrayConversionError":
        return "traced-shape-arg" if _sized(path, frame) else "host-call-on-tracer"
    if name == "ConcretizationTypeError" and " argument must be known statically" in str(error):
        return "traced-shape-arg"
    if name in ("TracerIntegerConversionError", "ConcretizationTypeError") or Tracer.refusal in str(error):
        return _of_number(path, frame)
    if _wants_hash(error):
        return "host-call-on-tracer"
    if isinstance(error, (TypeError, IndexError, ValueError)):
        return _of_types(error, path, frame)
    return ""


def _wants_hash(error: BaseException) -> bool:
    return isinstance(error, TypeError) and re.match(r"unhashable type: '\w*Tracer'", str(error)) is not None


def _of_truth(path: list[ast.AST], frame: FrameType) -> str:
    """The innermost construct that wanted the truth of the expression."""
    for node, above in zip(path, [*path[1:], None]):
        if isinstance(node, ast.If | ast.IfExp | ast.While | ast.Assert):
            if isinstance(node, ast.While):
                return "loop-on-tracer"
            return "flag-arg-traced" if _is_flag(node.test, frame) else _unless_logical(node.test)
        match above:
            case ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                return "flag-arg-traced" if _is_flag(node, frame) else "logical-op-on-tracer"
            case ast.While(test=test) if test is node:
                return "loop-on-tracer"
            case ast.If(test=test) | ast.IfExp(test=test) | ast.Assert(test=test) if test is node:
                return "flag-arg-traced" if _is_flag(test, frame) else _unless_logical(node)
        match node:
            case ast.Compare(ops=ops) if len(ops) > 1 or isinstance(ops[0], ast.In | ast.NotIn):
                return "logical-op-on-tracer"
            case ast.Call(func=ast.Name(id="max" | "min" | "sorted" | "any" | "all" | "bool")):
                return "logical-op-on-tracer"
            case ast.Call(
                func=ast.Name(id="reduce") | ast.Attribute(attr="reduce"), args=[ast.Name(id="max" | "min"), *_]
            ):
                return "logical-op-on-tracer"
            case ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                return "flag-arg-traced" if _is_flag(node, frame) else "logical-op-on-tracer"
            case ast.comprehension():
                return "branch-on-tracer"
    call = path[0] if path else None
    in_library = isinstance(call, ast.Call) and _of_library(call.func, frame)
    return "traced-shape-arg" if in_library and _sized(path, frame) else "branch-on-tracer"


def _unless_logical(node: ast.AST) -> str:
    return "logical-op-on-tracer" if is_logical(node) else "branch-on-tracer"


def _is_flag(test: ast.AST, frame: FrameType) -> bool:
    """Whether an argument is asked for its truth as it is (`train`, `not train`), and is a boolean or an integer."""
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test = test.operand
    value = frame.f_locals.get(test.id) if isinstance(test, ast.Name) else None
    if not isinstance(value, Tracer):
        return jaxwatch.is_flag(value)
    if value.made_at() is not None:
        return False
    return not value.aval.shape and value.aval.dtype.kind in "biu"


_SIZED = {
    "zeros", "ones", "empty", "full", "eye", "identity", "arange", "linspace", "broadcast_to", "reshape", "tile", "one_hot",
    "tri",
}  # fmt: skip
_SIZES = {
    "axis", "shape", "size", "num_classes", "num_segments", "length", "axes", "dtype", "num", "reps", "pad_width", "indices_or_sections",
}  # fmt: skip
_COUNTED = {
    "nonzero", "flatnonzero", "argwhere", "unique", "where", "union1d", "intersect1d", "setdiff1d", "extract", "repeat",
    "bincount",
}  # fmt: skip


def _of_number(path: list[ast.AST], frame: FrameType) -> str:
    for node in path:
        match node:
            case ast.Call(func=ast.Name(id="range")):
                return "loop-on-tracer"
            case ast.Call(func=ast.Name(id="float" | "int" | "complex" | "bool" | "round")):
                return "host-call-on-tracer"
            case ast.Call(func=ast.Attribute(attr="item" | "tolist")):
                return "host-call-on-tracer"
            case ast.Call(func=ast.Attribute(value=ast.Name(id="math"))):
                return "host-call-on-tracer"
            case ast.Call() as call:
                if _called(call) in _COUNTED:
                    return "data-dependent-shape"
                if _sized(path, frame):
                    return "traced-shape-arg"
            case ast.Subscript(slice=ast.Slice()):
                return "traced-slice-bound"
            case ast.Subscript():
                return "host-call-on-tracer"
            case ast.stmt():
                break
    return "host-call-on-tracer"


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _sized(path: list[ast.AST], frame: FrameType) -> bool:
    """Whether a tracer stands where the innermost call takes a size or an axis."""
    call = next((node for node in path if isinstance(node, ast.Call)), None)
    if call is None:
        return False
    given = [k.value for k in call.keywords if k.arg in _SIZES]
    if _called(call) in _SIZED:
        given += call.args
    elif _of_library(call.func, frame):
        given += call.args[1:]
    elif isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
        given += call.args[:1] if _is_traced(call.func.value, frame) else []
    return any(_is_traced(part, frame) for one in given for part in ast.walk(one))


def _of_library(function: ast.expr, frame: FrameType) -> bool:
    """Whether an expression such as `jnp.sum` means a function of the library."""
    return str(getattr(value_in(frame, function), "__module__", "")).partition(".")[0] in ("jitscope", "jax")


def _is_traced(node: ast.AST, frame: FrameType) -> bool:
    """Whether a name, or an attribute that an object keeps under a name (`self.width`), is a tracer."""
    value = value_in(frame, node)
    return isinstance(value, Tracer) or jaxwatch.is_tracer(value)


def _of_types(error: BaseException, path: list[ast.AST], frame: FrameType) -> str:
    for node in with_index(path):
        match node:
            case ast.Assign(targets=[ast.Subscript(), *_]) | ast.AugAssign(target=ast.Subscript()):
                return "item-assignment" if "changed in place" in str(error) or "immutable" in str(error) else ""
            case ast.Subscript(slice=index):
                traced = any(_is_traced(n, frame) for n in ast.walk(index) if isinstance(n, ast.Name))
                if traced and any(isinstance(one, ast.Slice) for one in ast.walk(index)):
                    return "traced-slice-bound"
            case ast.Call() if _ASKS_FOR_VALUES.search(str(error)) and _sized(path, frame):
                return "traced-shape-arg"
            case ast.stmt():
                break
    return ""


_TOO_LARGE = ("does not fit", "out of bounds for", "too large to convert to int32", "too large to convert to uint32")
_ASKS_FOR_VALUES = re.compile(r"Tracer|traced|concrete|static", re.IGNORECASE)
"""What an error says where it was a tracer that could not be taken; of other shapes that do not fit it speaks of those."""
