"""The texts of errors for people: what happened, in which line of the user's code, why, and in the last lines what to do."""

from __future__ import annotations

import re
import sys

from . import call_sites, source, users_source
from .annotations import Tracer


ADVICE = "what to do: "


def with_advice(what: str, advice: str) -> str:
    """What happened, where and why, and in the last line what to do, in the names of the code that runs."""
    return f"{what}\n  {ADVICE}{users_source.in_own_names(advice)}"


def advice_of(message: str) -> str:
    """What a message says is to be done; "" where it does not say."""
    return next((line.partition(ADVICE)[2].strip() for line in message.splitlines() if ADVICE in line), "")


def message_here(what: str, advice: str = "", asked: str = "", detail: str = "") -> str:
    """What happened, the user's line that runs now, marked, and what to do.

    Where `asked` says what Python wanted of a traced value (see `rewrites.rewritten` of the scope), and the line can be rewritten, that is the
    advice, and the one given stands below as the general one. `detail` is a line between.
    """
    where = asking_line()
    message = what + _marked(where)
    if not advice:
        return message
    written = users_source.rewrite(where, asked, _names_at(where)) if asked else ""
    lines = [
        with_advice(message, written or advice),
        detail,
        written and f"in general: {users_source.in_own_names(advice)}",
    ]
    return "\n  ".join(filter(None, lines))


def _names_at(where: source.Position | None) -> dict[str, object]:
    """What the local names stand for in the frame that runs a line now."""
    frame = sys._getframe()
    while where is not None and frame is not None:
        if frame.f_code.co_filename == where.file and frame.f_lineno in range(where.line, where.end_line + 1):
            return dict(frame.f_locals)
        frame = frame.f_back
    return {}


MAKE_STATIC = "make the argument it stems from static"
_FLAG = "if the argument is a flag, make it static"
_OF_ITS_OWN = "pass it as an argument of its own that is static"
_PART = re.compile(r"argument [A-Za-z_]\w*[.\[]")
CHOOSE = (
    "jnp.where(condition, a, b) chooses between values, lax.cond between computations; & | ~ stand for and/or/not; "
    f"{_FLAG} (static_argnames=...)"
)


def conversion_message(tracer: Tracer, wanted: str, advice: str, asked: str = "number") -> str:
    """What was wanted of a tracer that it cannot give, in which line, what the value is, and what to write."""
    if argument := argument_of(tracer):
        advice = advice.replace("static_argnames=...", f"static_argnames={argument!r}")
    elif _PART.match(tracer.origin()):
        advice = advice.replace(MAKE_STATIC, _OF_ITS_OWN).replace(_FLAG, f"if it is a flag, {_OF_ITS_OWN}")
    who = "NumPy" if asked == "array" else "Python"
    what = f"{who} needs {'to know ' if asked == 'bool' else ''}{wanted}, but {tracer.refusal}."
    return message_here(what, advice, asked, f"the value is {tracer.description()}")


def argument_of(tracer: Tracer) -> str:
    """The argument that a traced value is, by name; "" for what was computed, and for a part of an argument, as `s[0]` of `*s`."""
    root = re.match(r"argument ([A-Za-z_]\w*)(?![\w.\[])", tracer.origin())
    return root[1] if root else ""


def ambiguous_message(tracer: Tracer) -> str:
    """Why an array of several elements is neither true nor false, in which line, and what to write."""
    what = f"the truth of {tracer.aval.short()} is ambiguous: Python needs one truth, and there are {tracer.aval.size} elements."
    advice = f".any() or .all() make one truth of many; {CHOOSE}"
    return message_here(what, advice, "bool", f"the value is {tracer.description()}")


def immutable_message() -> str:
    """Why elements are not assigned to, in which line, and what to write."""
    advice = "x = x.at[index].set(value) gives a new array with the change (in compiled code no copy is made)"
    return message_here("arrays cannot be changed in place.", advice, "assignment")


def asking_line() -> source.Position | None:
    """The user's line that runs now; where a library that knows no tracers asks, the line that called it."""
    frames = call_sites.user_frames(call_sites.capture())
    own = (where for where in frames if source.is_users(where.file))
    return next(own, frames[0] if frames else None)


def place(where: source.Position) -> str:
    """in line 3 of f, columns 5-9: y = sin(x)"""
    where = source.as_typed(where)
    return f"in line {where.line} of {where.function}{_columns(where)}: {where.text.strip()}"


def _columns(where: source.Position) -> str:
    if not _one_line(where):
        return ""
    first, last = where.column + 1, where.end_column
    return f", column {first}" if first == last else f", columns {first}-{last}"


def _one_line(where: source.Position) -> bool:
    return where.line == where.end_line and where.column < where.end_column


def _marked(where: source.Position | None) -> str:
    """A line of a message: the source line, with marks below the expression; "" where there is none."""
    if where is None:
        return ""
    shown, where = f"\n  {place(where)}", source.as_typed(where)
    if _one_line(where) and where.text.isascii():
        text = where.text.strip()
        before = where.column - (len(where.text) - len(where.text.lstrip()))
        if 0 <= before < len(text):
            at = len(shown) - 1 - len(text) + before
            shown += "\n" + " " * at + "^" * (where.end_column - where.column)
    return shown
