"""Named tuples beside Python's."""

from __future__ import annotations

import copy
import inspect
import pickle
import typing
from collections.abc import Callable
from typing import Any

import pytest

from jitscope import named_tuple, tree


class Ours(named_tuple.NamedTuple):
    """A point."""

    x: int
    y: float = 2.0
    name: str | None = None

    @property
    def size(self) -> float:
        return self.x * self.y


class Pythons(typing.NamedTuple):
    """A point."""

    x: int
    y: float = 2.0
    name: str | None = None

    @property
    def size(self) -> float:
        return self.x * self.y


class Inherits(Ours):
    def twice(self) -> Inherits:
        return self._replace(x=2 * self.x)


class Empty(named_tuple.NamedTuple):
    pass


def raised(act: Callable[[], Any]) -> type[BaseException] | None:
    try:
        act()
    except Exception as error:
        return type(error)
    return None


@pytest.mark.parametrize(
    "look",
    [
        lambda kind: tuple(kind(1)),
        lambda kind: tuple(kind(name="a", x=3, y=1.0)),
        lambda kind: (kind(1).x, kind(1, 5).y, kind(1).name, kind(2, 3).size),
        lambda kind: kind(1) == kind(1, 2.0) == (1, 2.0, None),
        lambda kind: hash(kind(1)),
        lambda kind: repr(kind(1, name="b")).partition("(")[2],
        lambda kind: (kind._fields, kind._field_defaults, kind.__match_args__, kind.__doc__, kind.__slots__),
        lambda kind: kind(1)._asdict(),
        lambda kind: tuple(kind(1)._replace(y=4.0)),
        lambda kind: tuple(kind._make([1, 2, 3])),
        lambda kind: [(p.name, p.default, p.kind) for p in inspect.signature(kind).parameters.values()],
        lambda kind: raised(lambda: kind()),
        lambda kind: raised(lambda: kind(1, z=1)),
        lambda kind: raised(lambda: kind(1)._replace(z=1)),
        lambda kind: raised(lambda: kind._make([1])),
        lambda kind: raised(lambda: setattr(kind(1), "x", 2)),
        lambda kind: raised(lambda: kind(1).z),
        lambda kind: tuple(tree.leaves(kind(1, 2))),
        lambda kind: type(tree.map(lambda x: x + 1, kind(1, 2))) is kind,
    ],
)
def test_it_is_as_pythons(look: Callable[[Any], Any]) -> None:
    assert look(Ours) == look(Pythons)


@pytest.mark.parametrize("kind", [Ours, Inherits])
def test_copies(kind: type[Ours]) -> None:
    value = kind(3, name="c")
    for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert type(again) is kind and again == value


def test_patterns_and_heirs() -> None:
    match Ours(1, 2.0, "d"):
        case Ours(x, y, name=named):
            assert (x, y, named) == (1, 2.0, "d")
        case _:
            pytest.fail("no match")
    assert Inherits(2).twice() == (4, 2.0, None) and type(Inherits(2).twice()) is Inherits
    assert Empty() == () and Empty._fields == ()
