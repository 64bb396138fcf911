"""Private names of JAX that libraries cannot do without, each with who takes it and for what. Nothing here is for users, and
nothing in jitscope imports it: with `examples/alias.py`, `jax._src.…` is found here."""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import Any

from . import api as _api, checkify, lax as _lax, tree
from .api import effects_barrier
from .api_util import safe_map
from .backend.static import as_tuple
from .control.refs import AbstractRef
from .core import dtypes, source
from .core.avals import ShapedArray, physical
from .core.errors import TypePromotionError
from .core.trace import evaluating
from .flatten_util import ravel_pytree
from .numpy.dtypes import finfo
from .ops.elementwise import stop_gradient_p
from .xla.mlir import bindings


__path__: list[str] = []


def _module(name: str, /, **names: Any) -> None:
    full = f"{__name__}.{name}"
    module = sys.modules[full] = ModuleType(full)
    vars(module).update(names)
    parent, _, short = full.rpartition(".")
    setattr(sys.modules[parent], short, module)


class _Exclusions(list):
    """Files whose frames are not shown: what is put in is not a place of a user's."""

    def append(self, path: str, /) -> None:
        super().append(path)
        source.add_internal(path)


class _NodeTypes:
    """`type in registry`: whether its values are nodes of trees."""

    def __contains__(self, kind: type) -> bool:
        return tree.is_tree_node(kind)


def _both_numbers_and_names(
    signature: inspect.Signature, argnums: Any, argnames: Any
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Numbers and names of the arguments that are meant, those that were not said (None) from the others."""
    either = [
        (i, p.name)
        for i, p in enumerate(signature.parameters.values())
        if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    ]
    numbers, names = (x if x is None else as_tuple(x) for x in (argnums, argnames))
    if numbers is None:
        numbers = tuple(i for i, name in either if name in (names or ()))
    elif names is None:
        names = tuple(name for i, name in either if {i, i - len(signature.parameters)} & {*numbers})
    return numbers, names or ()


_excluded = _Exclusions()
# equinox, jaxtyping and flax hide their frames in tracebacks; flax shows them again.
_module(
    "traceback_util",
    _exclude_paths=_excluded,
    register_exclusion=_excluded.append,
    include_frame=lambda frame: not source.is_internal(frame.f_code.co_filename),
    api_boundary=lambda fun, **_: fun,
)
# equinox waits for callbacks that raise its runtime errors, and catches the one of promotion.
_module("dispatch", wait_for_tokens=effects_barrier)
# … and flax makes a dtype of its own for fp8.
_module(
    "dtypes",
    DType=dtypes.DType,
    ExtendedDType=dtypes.ExtendedDType,
    TypePromotionError=TypePromotionError,
    extended=dtypes.extended,
    finfo=finfo,
)
# flax (fp8), numpyro: is anything being traced?
_module("core", ShapedArray=ShapedArray, physical_aval=physical, trace_state_clean=evaluating)
# lineax gives stop_gradient a transpose rule.
_module("ad_util", stop_gradient_p=stop_gradient_p)
# blackjax has the path of old.
_module("flatten_util", ravel_pytree=ravel_pytree)
# flax.nnx: checkify under its private path, the avals of mutable arrays, and which types are nodes.
_module("checkify", **{name: getattr(checkify, name) for name in checkify.__all__})
_module("state", __path__=[])
_module("state.types", AbstractRef=AbstractRef)
_module("tree_util", _registry=_NodeTypes())
# JAX's page about interpreters of jaxprs walks through equations with it.
_module("util", safe_map=safe_map)
# e3nn_jax completes numbers and names of arguments from each other.
_module("api_util", infer_argnums_and_argnames=_both_numbers_and_names)
# JAX's page about primitives takes operations and transformations from where they are written.
_module("api", **{name: getattr(_api, name) for name in _api.__all__})
_module("lax", lax=_lax, __path__=[])
sys.modules[f"{__name__}.lax.lax"] = _lax
# Lowering rules, as JAX's documentation writes them, build with these modules.
_module("lib", __path__=[])
_module("lib.mlir", __path__=[], ir=bindings().ir)
_module("lib.mlir.dialects", hlo=bindings().hlo)
# chex imports it to forbid compilation on some platforms; that does not work here.
_module("compiler")
