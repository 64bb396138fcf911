"""Sample documents of tuned programs."""

from __future__ import annotations

from typing import Any

from tests.widgets.parts import Document, quantity


def tuning(taken: bool = True, library: str = "") -> Document:
    """What came of tuning a function: a winner or none, forms that were slower, wrong, failed and not tried."""

    def form(name: str, outcome: str, ratio: float | None = None, why: str = "", **more: Any) -> Document:
        ends = {"low": None, "high": None} if ratio is None else {"low": 0.94 * ratio, "high": 1.08 * ratio}
        same = (
            None
            if outcome in ("not tried", "failed")
            else {"max_abs": 2e-7, "max_rel": 4e-6, "bits": False, "ulp": 48.0}
        )
        known = same is not None
        return {
            "name": name,
            "outcome": outcome,
            "why": why,
            "ratio": ratio,
            **ends,
            "pairs": 0 if ratio is None else 40,
            "same": same,
            "share": None if same is None else same["max_rel"],
            "compile": quantity(0.21 if known else None, "s"),
            "memory": quantity(2.2e6 if known else None, "B", "modelled"),
            **more,
        }

    first = [form("short axes written out", "taken", 0.43)] if taken else []
    bits = {"max_abs": 0.0, "max_rel": 0.0, "bits": True, "ulp": 0.0}
    far = {"max_abs": 0.3, "max_rel": 0.012, "bits": False, "ulp": 1e5}
    others = [
        form("XLA's library without reductions", "faster", 0.61),
        form("vectors of 512 bits", "no difference", 1.003, same=bits, share=0.0),
        form("without fusion", "slower", 2.9),
        form(
            "XLA's older emitter",
            "other results",
            None,
            "the result differs by 1.2e-02 of its size, more than 3.5e-04",
            same=far,
            share=0.012,
        ),
        form("4 iterations of each scan at a time", "failed", None, "XLA refuses it: <b>no</b>"),
        form("one thread for each kernel", "not tried", None, "too little of the time for compiling was left"),
    ]
    return {
        "kind": "tuning",
        "version": 1,
        "title": "nbody",
        "library": library,
        "taken": "short axes written out" if taken else None,
        "plain": quantity(0.0797, "s"),
        "tried": [*first, *(others if taken else others[1:])],
        "bound": "A number passes if it is off by at most half of the digits of its dtype.",
        "stopped": "too little was left of the time for compiling, 11 s, to compile 1 other form",
        "on": "the arguments of the call",
        "kept": "" if not library else "jax keeps no such thing",
        "written": "jax.jit(nbody, compiler_options={'xla_cpu_prefer_vector_width': 512})" if library and taken else "",
        "method": "each form runs in pairs with the program as it was",
        "compilations": 7,
        "limit": quantity(20.0, "s"),
        "cost": quantity(19.3, "s"),
    }
