"""Which mesh is in force. (Apart from what meshes are, so that programs on one device need not load that.)"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from .annotations import AbstractMesh, Mesh


concrete: ContextVar[Mesh | None] = ContextVar("jitscope_mesh", default=None)
abstract: ContextVar[AbstractMesh | None] = ContextVar("jitscope_abstract_mesh", default=None)
summed_later: ContextVar[frozenset] = ContextVar("jitscope_summed_later", default=frozenset())
"""The axes over which products leave their sums open, where `out_sharding` asks for a result that is unreduced over them."""


named = False
on_first_mesh: list[Callable[[], None]] = []


def a_mesh_is_made() -> None:
    """From now on arrays on one device may be known by meshes, too: tell those who went by devices alone."""
    global named
    if not named:
        named = True
        for tell in on_first_mesh:
            tell()


def current_mesh() -> Mesh | None:
    """The mesh of devices that `set_mesh` put in force."""
    return concrete.get()


def mesh_in_force() -> Any:
    """What of meshes belongs to the key of a trace: None where none is in force."""
    mesh, grid, later = concrete.get(), abstract.get(), summed_later.get()
    return None if mesh is None and grid is None and not later else (mesh, grid, later)


@contextmanager
def meshes_in_force(state: Any) -> Iterator[None]:
    """What `mesh_in_force` gave, in force again inside the block."""
    variables: list[ContextVar[Any]] = [concrete, abstract, summed_later]
    tokens = [one.set(value) for one, value in zip(variables, state or (None, None, frozenset()))]
    try:
        yield
    finally:
        for one, token in zip(variables, tokens):
            one.reset(token)
