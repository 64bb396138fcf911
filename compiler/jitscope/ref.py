"""Mutable arrays: `new_ref` makes one, `ref[...]` reads it, `ref[...] = x` changes it."""

from .control.refs import (
    AbstractRef,
    Ref,
    addupdate,
    empty_ref,
    free_ref,
    freeze,
    get,
    new_ref,
    set_ as set,
    swap,
)


__all__ = ["AbstractRef", "Ref", "addupdate", "empty_ref", "free_ref", "freeze", "get", "new_ref", "set", "swap"]
