"""What the user's expressions stand for in a frame. Nothing is called, no code of the user's runs."""

from __future__ import annotations

import ast
from types import FrameType, ModuleType
from typing import Any


def value_in(frame: FrameType, node: ast.AST) -> Any:
    """What a name, an attribute of a module, or one that an object keeps under its name (`self.width`) stands for; None for others."""
    match node:
        case ast.Name(id=name):
            return frame.f_locals.get(name, frame.f_globals.get(name))
        case ast.Attribute(value=owner, attr=attr):
            of = value_in(frame, owner)
            return getattr(of, attr, None) if isinstance(of, ModuleType) else getattr(of, "__dict__", {}).get(attr)
    return None
