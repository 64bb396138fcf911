"""`typing.NamedTuple`, cheap to define.

Python's checks the annotation of each field and compiles one function for each class. Fifty such classes took a seventh of
the time that importing jitscope takes beyond NumPy and jaxlib. Here a class is defined by its getters and a copy of the one function that makes tuples of so many
fields; everything else is inherited.
"""

from __future__ import annotations

from typing import TYPE_CHECKING


if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    import functools
    import sys
    from collections import namedtuple
    from types import FunctionType

    _Field = type(namedtuple("_One", "field").field)
    _UNKNOWN_FIELD = TypeError if sys.version_info >= (3, 13) else ValueError  # as Python's

    class _NamedTupleType(type):
        def __new__(cls, name, bases, namespace):
            if bases != (tuple,) and NamedTuple in bases:  # not those that inherit from one with fields
                fields = tuple(namespace.get("__annotations__", ()))
                defaults = {field: namespace[field] for field in fields if field in namespace}
                make = _new(len(fields))
                code = make.__code__.replace(co_varnames=("cls", *fields))
                new = FunctionType(code, make.__globals__, "__new__", tuple(defaults.values()) or None)
                namespace |= {field: _Field(n, f"Alias for field number {n}") for n, field in enumerate(fields)}
                namespace |= {
                    "__slots__": (),
                    "__new__": new,
                    "__match_args__": fields,
                    "__orig_bases__": (NamedTuple,),
                    "_fields": fields,
                    "_field_defaults": defaults,
                }
            return super().__new__(cls, name, bases, namespace)

    @functools.cache
    def _new(count):
        """The function that makes a tuple of so many fields."""
        names = "".join(f"field{n}, " for n in range(count))
        return eval(f"lambda cls, {names}: new(cls, ({names}))", {"new": tuple.__new__, "__name__": "named_tuple"})

    class NamedTuple(tuple, metaclass=_NamedTupleType):
        """A tuple whose elements have names: the annotations of the class, and their values where they have one."""

        __slots__ = ()
        _fields = ()

        @classmethod
        def _make(cls, values):
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **changes):
            made = self._make(map(changes.pop, self._fields, self))
            if changes:
                raise _UNKNOWN_FIELD(f"Got unexpected field names: {list(changes)!r}")
            return made

        __replace__ = _replace

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self._asdict().items())})"

        def __getnewargs__(self):
            return tuple(self)
