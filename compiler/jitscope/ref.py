"""Mutable arrays: `new_ref` makes one, `ref[...]` reads it, `ref[...] = x` changes it."""

from .control.refs import (
    AbstractRef as AbstractRef,
    Ref as Ref,
    addupdate as addupdate,
    empty_ref as empty_ref,
    free_ref as free_ref,
    freeze as freeze,
    get as get,
    new_ref as new_ref,
    set_ as set,  # noqa: F401
    swap as swap,
)
