"""What two programs have in common: their equations, and the kernels that XLA made of them, by structure and in their order."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, TypeVar

from jitscope.core.hashing import written
from jitscope.core.jaxpr import Jaxpr, JaxprEqn, subjaxprs
from jitscope.core.printing import shown_params
from jitscope.xla.hlo_module import Computation

from ..fusion import Kernels
from ..hlo_flow import flow_of
from ..positions import equations_of as all_equations


Document = dict[str, Any]
T = TypeVar("T")


class Aligned(NamedTuple):
    """How many things are in both, and those that are in one alone, by their place in it."""

    common: int
    only_one: list[int]
    only_other: list[int]


def aligned(one: Sequence[Hashable], other: Sequence[Hashable]) -> Aligned:
    """Two sequences, so that as much as can be stands in both in the same order."""
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    common, only_one, only_other = 0, [], []
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            common += j - i
        else:
            only_one += range(i, j)
            only_other += range(k, m)
    return Aligned(common, only_one, only_other)


def equations_of(jaxpr: Jaxpr) -> list[tuple[str, JaxprEqn, Hashable]]:
    """All equations with their paths and what makes two of them equal: primitive, parameters but for inner jaxprs, types."""
    return [(path, eqn, _key(eqn)) for path, eqn in all_equations(jaxpr)]


def _key(eqn: JaxprEqn) -> Hashable:
    inner = {segment for segment, _ in subjaxprs(eqn.params)} if eqn.params else set()
    plain = () if inner else tuple((name, written(eqn.params[name])) for name in sorted(eqn.params))
    types = (*(str(v.aval) for v in eqn.invars), "->", *(str(v.aval) for v in eqn.outvars))
    return eqn.primitive.name, plain, types


def equation_text(eqn: JaxprEqn) -> str:
    """`tanh f32[3] -> f32[3]`"""
    params = "".join(f" {name}={value}" for name, value in shown_params(eqn).items())
    takes = ", ".join(v.aval.short() for v in eqn.invars)
    text = f"{eqn.primitive.name}{params} {takes} -> {', '.join(v.aval.short() for v in eqn.outvars)}"
    return text if len(text) <= 200 else text[:199] + "…"


def kernels_of(computations: Sequence[Computation]) -> list[tuple[Document, Hashable]]:
    """The kernels of an optimised program, and what makes two of them equal: opcode, type, the operations in them."""
    found = Kernels(flow_of(computations, True), {}, {}).all()
    return [(kernel, _kernel_key(kernel)) for kernel in found]


def _kernel_key(kernel: Document) -> Hashable:
    members = Counter((member["opcode"], member["type"]) for member in kernel["members"])
    return kernel["kind"], kernel["opcode"], kernel["type"], frozenset(members.items())
