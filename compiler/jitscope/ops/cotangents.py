"""Cotangents inside of `shard_map`, whose types follow from those of the values."""

from __future__ import annotations

import math
from typing import Any

from ..core.avals import ShapedArray, aval_of
from ..core.part_types import sums_of, varying
from ..core.varying import as_term, manual, manual_axes, vary_over
from .elementwise.division import div_p
from .families import scalar_like


def as_cotangent(ct: Any, aval: ShapedArray) -> Any:
    """A cotangent with what its type must say of the axes over which the code at hand sees one device: `aval`'s. Where that is terms of
    a sum and each device has the sum, as of a value that is `reduced` and was used as if it were not, each takes an equal share."""
    ct = vary_over(ct, varying(aval))
    terms = sums_of(aval).unreduced & frozenset(manual_axes())
    if whole := terms - varying(aval_of(ct)) - sums_of(aval_of(ct)).unreduced:
        sizes: Any = manual()
        ct = vary_over(ct, whole)
        ct = div_p(ct, scalar_like(ct, math.prod(sizes.mesh.shape[n] for n in whole)))
    return as_term(ct, terms & varying(aval_of(ct)))
