"""Functions given to a loop or a `cond` that take other arguments than they are called with: what the call gives them, in which order."""

from __future__ import annotations

import ast
import itertools
import re
from types import CodeType, FrameType, TracebackType

from jitscope.core import source
from jitscope.core.source import Position

from ...source_code.frames import entries, position_of, value_in
from ...source_code.parameters import positional
from ...source_code.places import path_at
from ..loop_order import ORDER, swapped


_WRONG_NUMBER = re.compile(
    r"(\S.*?)\(\) (?:takes .+ positional arguments? but \d+ (?:was|were) given|missing \d+ required positional argument)"
)
_FUNCTIONS = {
    "fori_loop": [(2, "body_fun")],
    "scan": [(0, "f")],
    "while_loop": [(0, "cond_fun"), (1, "body_fun")],
    "cond": [(1, "true_fun"), (2, "false_fun")],
}
"""Where each takes its functions, and by which names."""


def order_of(error: BaseException, traceback: TracebackType | None) -> str:
    """How the loop calls a function whose parameters are too many, too few or in the other order, for an error of that; else ""."""
    steps = _steps(traceback)
    users = [i for i, (_, where) in enumerate(steps) if source.in_program(where.file)]
    if not users:
        return ""
    last = users[-1]
    wrong = _WRONG_NUMBER.match(str(error)) if type(error) is TypeError else None
    if wrong is not None and last < len(steps) - 1:
        name, given = _call(*steps[last])
        return ORDER[name] if any(code.co_qualname == wrong[1] for code in given) else ""
    at, name, code = _loop_around(steps, users)
    return _swapped(name, code) if at is not None and code is not None else ""


def swapped_loop(error: BaseException) -> tuple[str, Position] | None:
    """What is said of the loop around an error whose function surely takes its arguments in the other order, and where it is called."""
    steps = _steps(error.__traceback__)
    at, name, code = _loop_around(steps, [i for i, (_, where) in enumerate(steps) if source.in_program(where.file)])
    said = _swapped(name, code, sure=True) if code is not None else ""
    return (said, at) if said and at is not None else None


def _loop_around(steps: list[_Step], users: list[int]) -> tuple[Position | None, str, CodeType | None]:
    """The call of a loop in which an error arose, in itself or in the function that it was given: where, its name, and that function."""
    for i in reversed(users[-2:]):
        name, given = _call(*steps[i])
        if name and (i == users[-1] or steps[users[-1]][0].f_code in given):
            return steps[i][1], name, given[0] if given else None
    return None, "", None


def carry_of(error: BaseException, traceback: TracebackType | None) -> str:
    """What jax calls `loop_carry` in an error of a `fori_loop`, in the user's words: the parameter of the function that it is given; else ""."""
    said = _LOOP_CARRY.search(str(error)) if type(error) is TypeError else None
    if said is None:
        return ""
    place = f"loop_carry[{1 if said[1] == 'scan' else 2}]"  # beside the number, and in a while_loop its end
    for step in reversed(_steps(traceback)):
        if not source.in_program(step[1].file):
            continue
        name, given = _call(*step)
        if name == "fori_loop" and given and given[0].co_argcount == 2 and place in str(error):
            return f"{place} is {given[0].co_varnames[1]}: what {given[0].co_name} takes second, and returns."
    return ""


_LOOP_CARRY = re.compile(r"(scan|while_loop) body function carry input .*\bloop_carry\[", re.DOTALL)


def _swapped(name: str, code: CodeType, sure: bool = False) -> str:
    """The same where a function is called with two, and what its parameters are named says that they stand in the other order."""
    return swapped(name, *code.co_varnames[:2], sure=sure) if code.co_argcount == 2 else ""


_Step = tuple[FrameType, Position]


def _steps(traceback: TracebackType | None) -> list[_Step]:
    return [(one.tb_frame, position_of(one)) for one in entries(traceback)]


def _call(frame: FrameType, where: Position) -> tuple[str, list[CodeType]]:
    """The loop that a line calls, and the code of the functions it gives it."""
    own = itertools.takewhile(lambda node: not isinstance(node, ast.Lambda), path_at(where))
    call = next((node for node in own if isinstance(node, ast.Call)), None)
    function = value_in(frame, call.func) if call is not None else None
    name = str(getattr(function, "__name__", ""))
    of_library = str(getattr(function, "__module__", "")).partition(".")[0] in ("jax", "jitscope")
    if call is None or name not in _FUNCTIONS or not of_library:
        return "", []
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    nodes = [call.args[i] if i < len(call.args) else named.get(parameter) for i, parameter in _FUNCTIONS[name]]
    return name, [code for node in nodes if node is not None and (code := _code(node, frame)) is not None]


def _code(node: ast.expr, frame: FrameType) -> CodeType | None:
    """The code of a function that an argument names, or of the lambda that it is."""
    if not isinstance(node, ast.Lambda):
        code = getattr(value_in(frame, node), "__code__", None)
        return code if isinstance(code, CodeType) else None
    parameters = tuple(positional(node))
    lambdas = [c for c in frame.f_code.co_consts if isinstance(c, CodeType) and c.co_name == "<lambda>"]
    same = [c for c in lambdas if c.co_firstlineno == node.lineno and c.co_varnames[: c.co_argcount] == parameters]
    return same[0] if len(same) == 1 else None
