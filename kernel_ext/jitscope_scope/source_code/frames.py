"""Frames: those around one, those that an error went through, and what the user's expressions stand for in one. Nothing is called, no code
of the user's runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import FrameType, ModuleType, TracebackType
from typing import Any

from jitscope.core.source import Position, position_in


def outwards(frame: FrameType | None) -> Iterator[FrameType]:
    """A frame and those that called it, the innermost first."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    """The entries of a traceback, the outermost first."""
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def position_of(entry: TracebackType) -> Position:
    """Where the frame of an entry was when the error went through it."""
    return position_in(entry.tb_frame.f_code, entry.tb_lasti)


def value_in(frame: FrameType, node: ast.AST) -> Any:
    """What a name, an attribute of a module, or one that an object keeps under its name (`self.width`) stands for; None for others."""
    match node:
        case ast.Name(id=name):
            return frame.f_locals.get(name, frame.f_globals.get(name))
        case ast.Attribute(value=owner, attr=attr):
            of = value_in(frame, owner)
            return getattr(of, attr, None) if isinstance(of, ModuleType) else getattr(of, "__dict__", {}).get(attr)
    return None
