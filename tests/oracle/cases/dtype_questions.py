"""Questions about dtypes: what is a subtype of what, what is promoted to what, limits, kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tests.oracle.library import Library
from tests.oracle.programs import outcome
from tests.oracle.results import Plain


CATEGORIES = tuple(
    "generic number integer signedinteger unsignedinteger inexact floating complexfloating flexible character".split()
)
DTYPES = tuple(
    "bool int4 uint4 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bfloat16 float16 float32 float64 complex64 "
    "complex128 float4_e2m1fn float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 "
    "float8_e5m2fnuz float8_e8m0fnu".split()
)
TYPES = {"bool": bool, "int": int, "float": float, "complex": complex}


def promoted() -> dict[str, Any]:
    """What `promote_types` is asked about, by name."""
    return {n: np.dtype(n if n in np.sctypeDict else getattr(ml_dtypes, n)) for n in DTYPES} | {
        f"type {n}": t for n, t in TYPES.items()
    }


def names(o: Library) -> dict[str, Any]:
    """What `issubdtype` is asked about, by name."""
    found: dict[str, Any] = {f"dtype {n}": np.dtype(n if n in np.sctypeDict else getattr(ml_dtypes, n)) for n in DTYPES}
    found |= {f"jnp.{n}": getattr(o.jnp, n) for n in ("float32", "int4", "float8_e5m2", "bool_")}
    found |= {f"type {n}": t for n, t in TYPES.items()} | {n: getattr(o.jnp, n) for n in CATEGORIES}
    return found | {
        "extended": o.dtypes.extended,
        "prng_key": o.dtypes.prng_key,
        "key dtype": o.random.key(0).dtype,
        "None": None,
    }


EXPRESSIONS = (
    "dtypes.canonicalize_dtype(float)",
    "dtypes.canonicalize_dtype('int64')",
    "dtypes.canonicalize_dtype(None)",
    "dtypes.canonicalize_dtype(key.dtype)",
    "str(dtypes.canonicalize_dtype(key.dtype, allow_extended_dtype=True))",
    "dtypes.canonicalize_dtype(dtypes.float0)",
    *[f"dtypes.scalar_type_of({x})" for x in ("1", "True", "2.0", "1j", "np.float32(1)", "np.zeros(2, 'int8')",
      "jnp.ones(2, 'bfloat16')", "'float16'", "jnp.int4", "float", "key", "dtypes.float0")],
    "dtypes.result_type(1, return_weak_type_flag=True)",
    "dtypes.result_type(1, np.float16, return_weak_type_flag=True)",
    "dtypes.result_type()",
    "dtypes.result_type('int4', 1)",
    *[f"dtypes.itemsize_bits({x})" for x in ("jnp.int4", "jnp.float8_e5m2", "'bool'", "float",
      "jnp.float4_e2m1fn", "jnp.bfloat16", "key.dtype")],
    "jnp.promote_types('int8', float)",
    "jnp.promote_types(int, 'uint8')",
    "jnp.promote_types('bfloat16', 'float16')",
    "jnp.result_type(np.int8(1), 2.5)",
    "jnp.result_type(jnp.ones(2, 'int8'), 2)",
    "jnp.result_type(key)",
    "jnp.result_type(key, key).name",
    "jnp.can_cast('int8', 'int16')",
    "jnp.isdtype(jnp.bfloat16, 'real floating')",
    "jnp.isdtype('int8', ('bool', 'integral'))",
    "jnp.finfo('int8')",
    "jnp.iinfo('float32')",
    "jnp.iinfo(jnp.int4).min, jnp.iinfo(jnp.uint4).max",
)  # fmt: skip


def _rows(o: Library, ask: Callable[[Any, Any], Any], named: dict[str, Any], name: str) -> Plain:
    """The answers for one and each of all."""
    return Plain({other: outcome(ask, named[name], x) for other, x in named.items()})


def _limits(o: Library, name: str) -> Plain:
    info = o.jnp.iinfo(name) if "int" in name else o.jnp.finfo(name)
    fields = ("bits", "max", "min", "eps", "tiny", "nmant")
    return Plain({f: repr(float(getattr(info, f))) for f in fields if hasattr(info, f)})


def _expression(o: Library, expr: str) -> Plain:
    return Plain(outcome(eval, expr, {"np": np, "jnp": o.jnp, "dtypes": o.dtypes, "key": o.random.key(0)}))


SUBTYPES = [*(f"dtype {n}" for n in DTYPES), *(f"jnp.{n}" for n in ("float32", "int4", "float8_e5m2", "bool_")),
            *(f"type {n}" for n in TYPES), *CATEGORIES, "extended", "prng_key", "key dtype", "None"]  # fmt: skip
PROMOTED = list(promoted())
NARROW = {f"promote_types of {n}": lambda o, n=n: _rows(o, o.jnp.promote_types, promoted(), n) for n in PROMOTED}

CASES = {
    **{f"issubdtype of {n}": lambda o, n=n: _rows(o, o.jnp.issubdtype, names(o), n) for n in SUBTYPES},
    **NARROW,
    **{f"{name}, with 64 bits": case for name, case in NARROW.items()},
    **{f"limits of {n}": lambda o, n=n: _limits(o, n) for n in DTYPES if n != "bool"},
    **{expr: lambda o, expr=expr: _expression(o, expr) for expr in EXPRESSIONS},
}
WIDE = [name for name in CASES if name.endswith(", with 64 bits")]
