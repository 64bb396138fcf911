"""In which order a loop gives its function what it carries and what counts, and functions whose parameters are named the other way round."""

from __future__ import annotations


ORDER = {
    "fori_loop": "fori_loop calls its function as body_fun(i, val): the number of the iteration first, then what the loop carries.",
    "scan": "scan calls its function as f(carry, x): what the loop carries first, then one slice of xs; it returns (carry, y).",
    "while_loop": "while_loop calls each of its functions as cond_fun(val) and body_fun(val): with one argument, all that the loop carries.",
    "cond": "cond calls each of its functions with the operands that follow them: cond(pred, true_fun, false_fun, *operands).",
}

SWAP = "Let the function take its arguments in the order in which the loop gives them."

_INDEX = {"i", "j", "k", "n", "t", "it", "idx", "ind", "index", "step", "iter", "iteration"}
_CARRY = {"carry", "c", "state", "h", "hidden", "acc", "accumulator", "total"}
_ONLY_CARRY = _CARRY - {"c", "h"} | {"loop_carry", "carry_in", "val", "init", "params"}
_SLICE = {"x", "xs", "x_t", "xt", "xi", "inp", "inputs", "t", "i", "batch", "token", "obs"}


def swapped(loop: str, first: str, second: str, sure: bool = False) -> str:
    """What a loop gives a function of two parameters whose names say that they stand in the other order; else "". `sure`: both names must
    say so."""
    counts = loop == "fori_loop" and second in _INDEX and (first in _ONLY_CARRY if sure else first not in _INDEX)
    carries = loop == "scan" and (
        second in _ONLY_CARRY and first in _SLICE if sure else second in _CARRY and first not in _CARRY
    )
    if counts:
        return f"{ORDER[loop]} Here {first} is the number, and {second} what it carries."
    return f"{ORDER[loop]} Here {first} is what it carries, and {second} the slice." if carries else ""
