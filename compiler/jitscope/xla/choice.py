"""How one program is compiled otherwise than by the rules of `cpu_tuning`: what `jitscope.tune` found to be faster for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ..named_tuple import NamedTuple


Flags = tuple[tuple[str, Any], ...]


class Choice(NamedTuple):
    """Rules of `cpu_tuning` by name that are left out (False) or taken (True) whatever else is said of them, how many iterations of a scan
    stand in one of the compiled loop (0: as it was written), and flags of XLA's."""

    rules: tuple[tuple[str, bool], ...] = ()
    unroll: int = 0
    flags: Flags = ()

    @property
    def lowers(self) -> bool:
        """Whether it changes the program that XLA is given."""
        return bool(self.rules or self.unroll)

    def joined(self, other: Choice) -> Choice:
        """Both together; what `other` says goes before."""
        rules = tuple(sorted((dict(self.rules) | dict(other.rules)).items()))
        flags = tuple(sorted((dict(self.flags) | dict(other.flags)).items()))
        return Choice(rules, other.unroll or self.unroll, flags)

    def as_options(self) -> Flags:
        """What tells its program from those with the same equations compiled otherwise."""
        unroll = (("tuned: unroll", self.unroll),) if self.unroll else ()
        return (*[(f"tuned: {name}", on) for name, on in self.rules], *unroll, *self.flags)

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return {"rules": dict(self.rules), "unroll": self.unroll, "flags": dict(self.flags)}

    @classmethod
    def of_json(cls, found: Mapping[str, Any]) -> Choice:
        """What `as_json` gave. Raises ValueError for anything else."""
        try:
            rules, unroll, flags = dict(found["rules"]), found["unroll"], dict(found["flags"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"it is no choice: {error}") from None
        good = all(isinstance(on, bool) for on in rules.values())
        good = good and all(isinstance(value, (bool, int, float, str)) for value in flags.values())
        if not good or not isinstance(unroll, int):
            raise ValueError("it is no choice")
        return cls(tuple(sorted(rules.items())), unroll, tuple(sorted(flags.items())))


PLAIN = Choice()
RECOMPUTED = "values of checkpoint computed again"
"""What `checkpoint` asks for, as a rule that a choice may leave out: then XLA keeps the values."""
_in_force: ContextVar[Choice] = ContextVar("jitscope_choice", default=PLAIN)


@contextmanager
def choosing(choice: Choice) -> Iterator[None]:
    """What is lowered inside is lowered so."""
    token = _in_force.set(choice)
    try:
        yield
    finally:
        _in_force.reset(token)


def recomputes() -> bool:
    """Whether what `checkpoint` asks to be computed again is."""
    return (RECOMPUTED, False) not in _in_force.get().rules


chosen = _in_force.get
"""chosen(): what is in force."""
