"""The sharp bits: what each id stands for. docs/sharp-bits.md has a section for each."""

from __future__ import annotations

from typing import Literal, NamedTuple


Severity = Literal["error", "warning", "info"]


class SharpBit(NamedTuple):
    """`severity`: "error" raises, "warning" gives a wrong result in silence, "info" is slow or misleading."""

    severity: Severity
    title: str


CATALOGUE: dict[str, SharpBit] = {
    # tracing and side effects
    "trace-time-print": SharpBit("warning", "print and f-strings see tracers, once"),
    "stale-capture": SharpBit("warning", "a captured value changed after the trace"),
    "trace-time-mutation": SharpBit("warning", "a change of outer state happens once, while tracing"),
    "host-nondeterminism": SharpBit("warning", "random numbers and clocks of Python are frozen by the trace"),
    "tracer-leak": SharpBit("error", "a tracer was used after its trace had ended"),
    # control flow
    "branch-on-tracer": SharpBit("error", "an `if` on a value that is not known while tracing"),
    "logical-op-on-tracer": SharpBit("error", "`and`, `or`, `not`, chains and `in` want a Python truth"),
    "loop-on-tracer": SharpBit("error", "a Python loop whose number of iterations is traced"),
    "flag-arg-traced": SharpBit("error", "a flag was traced"),
    "isinstance-on-tracer": SharpBit("warning", "isinstance gives another answer under jit"),
    "cond-branch-mismatch": SharpBit("error", "the branches of a cond give different types"),
    "cond-runs-both": SharpBit("info", "both branches of a cond run"),
    "loop-carry-mismatch": SharpBit("error", "the carry of a loop changes its type"),
    "loop-argument-order": SharpBit("warning", "the function of a loop takes its arguments in the other order"),
    "unrolled-loop": SharpBit("info", "a Python loop was unrolled into many equations"),
    # shapes and indexing
    "data-dependent-shape": SharpBit("error", "a shape that depends on values"),
    "traced-shape-arg": SharpBit("error", "a traced value used as a size or axis"),
    "traced-slice-bound": SharpBit("error", "a slice with a traced bound"),
    "oob-index": SharpBit("warning", "an index out of bounds is clamped or dropped"),
    "silent-broadcast": SharpBit("warning", "a column and a row of one length became a square"),
    # dtypes
    "x64-truncation": SharpBit("warning", "64-bit values were cut to 32 bits"),
    "int-overflow": SharpBit("warning", "integers wrapped around"),
    "low-precision-sum": SharpBit("warning", "a sum in 16 bits lost digits"),
    # recompilation
    "recompile-shape": SharpBit("info", "compiled again for another shape"),
    "recompile-dtype": SharpBit("info", "compiled again for another dtype"),
    "recompile-weak-type": SharpBit("info", "compiled again because one call passed a Python number"),
    "recompile-static-value": SharpBit("info", "compiled again for each value of a static argument"),
    "recompile-fresh-function": SharpBit("info", "compiled again because the function was made again"),
    "recompile-static-object": SharpBit("info", "compiled again for static objects of equal content"),
    "recompile-pytree": SharpBit("info", "compiled again for another tree structure"),
    "recompile-call-form": SharpBit("info", "compiled again for another way to write the same call"),
    "recompile-config": SharpBit("info", "compiled again because an option changed"),
    "recompile-device": SharpBit("info", "compiled again for another device or sharding"),
    # static arguments
    "static-unhashable": SharpBit("error", "a static argument has no hash"),
    "static-mutable-stale": SharpBit("warning", "a static object changed after the trace"),
    # pytrees and classes
    "not-a-jax-type": SharpBit("error", "an argument or result that is no array and no pytree"),
    "pytree-init-validates": SharpBit("error", "a pytree's constructor refuses placeholders"),
    "pytree-array-in-aux": SharpBit("error", "an array among a pytree's static fields"),
    "pytree-registered-twice": SharpBit("error", "a class was registered as a pytree twice"),
    # randomness
    "key-reuse": SharpBit("warning", "a random key was used twice"),
    "key-not-threaded": SharpBit("warning", "each iteration or row draws the same random numbers"),
    # updates and donation
    "item-assignment": SharpBit("error", "arrays cannot be changed in place"),
    "update-result-dropped": SharpBit("warning", "a new array was made and dropped"),
    "donation-misuse": SharpBit("error", "an array was used after it was donated"),
    "numpy-alias-race": SharpBit("warning", "a NumPy buffer changed while a program read it"),
    # NaN and differentiation
    "silent-nan": SharpBit("warning", "a NaN appeared"),
    "where-grad-nan": SharpBit("warning", "NaN from the branch that jnp.where did not take"),
    "grad-singular-point": SharpBit("warning", "a derivative that is not finite"),
    "grad-bad-signature": SharpBit("error", "grad of something that is no real scalar function"),
    "grad-zero": SharpBit("warning", "a derivative that is always zero"),
    "grad-of-while": SharpBit("error", "reverse mode through a loop without a fixed length"),
    # host, timing, memory
    "host-call-on-tracer": SharpBit("error", "a function of Python or NumPy was given a tracer"),
    "misleading-timing": SharpBit("info", "the clock stopped before the result was there"),
    "captured-constant": SharpBit("info", "a large array is baked into the program"),
    # several devices
    "accidental-replication": SharpBit("info", "a large array is whole on each device, and nobody asked for it"),
    "large-all-gather": SharpBit("info", "a large array is gathered on each device"),
}
