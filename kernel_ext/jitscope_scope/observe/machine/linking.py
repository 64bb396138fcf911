"""Which function of the object files each kernel runs, and what runs kernels that have no code of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from jitscope.xla.hlo_module import Computation, Instruction
from jitscope.xla.serialized import Parts, Step

from ...annotations import CodeRole, Kernel


@dataclass(slots=True)
class Link:
    """The function a kernel runs, or None and why not."""

    kernel: str
    function: str | None
    note: str = ""


@dataclass(slots=True)
class Use:
    """What a function is for: the kernels that run it, themselves or through other functions. role: "kernel", or "comparator"
    and the like for what XLA's runtime calls, or "helper" for what other functions call; or "unknown"."""

    role: CodeRole = "unknown"
    kernels: list[str] = field(default_factory=list)
    note: str = ""


def links_of(
    kernels: Sequence[Kernel], computations: Sequence[Computation], parts: Parts | None, symbols: Iterable[str]
) -> list[Link]:
    """What each kernel of a program runs. With the executable's own `parts` this is what it says; without them a kernel's function
    is the one of its name, as XLA names functions, and where there is none it is unknown (equal kernels share code)."""
    instructions = {i.name: i for c in computations for i in c.instructions}
    known = frozenset(symbols)
    steps = {step.instruction: step for step in parts.steps} if parts else {}
    steps = {**_in_one_piece(steps, instructions, computations), **steps}
    return [
        _by_step(kernel, steps, instructions) if parts else _by_name(kernel, known, instructions) for kernel in kernels
    ]


def _in_one_piece(
    steps: Mapping[str, Step], instructions: Mapping[str, Instruction], computations: Sequence[Computation]
) -> dict[str, Step]:
    """The instructions in loops and calls that are run as one function, with its step."""
    inside = {c.name: c.instructions for c in computations}
    found: dict[str, Step] = {}
    for step in steps.values():
        outer = instructions.get(step.instruction)
        if step.kind == "kernel" and outer is not None and outer.opcode in ("call", "while", "conditional"):
            waiting = [*outer.calls]
            while waiting:
                for one in inside.get(waiting.pop(), ()):
                    found[one.name] = step
                    waiting += one.calls
    return found


def _by_step(kernel: Kernel, steps: Mapping[str, Step], instructions: Mapping[str, Instruction]) -> Link:
    name = kernel["name"]
    step = steps.get(name)
    if step is None:
        return Link(name, None, _without_step(kernel))
    if step.kind == "kernel":
        if step.function and step.instruction != name:
            return Link(name, step.function, "XLA runs the small loop, or call, that this is in as one function.")
        return Link(name, step.function, "" if step.function else "XLA does not say which function this kernel runs.")
    return Link(name, None, _run_by(step.kind, instructions.get(name)))


def _without_step(kernel: Kernel) -> str:
    if kernel["kind"] == "loop":
        return f"{_RUN_BY['while']} XLA may run a small one in one piece; which steps are in it is not known here."
    return "XLA's list of what it runs has no step of this name; what runs it is unknown."


_RUN_BY = {
    "while": "XLA's runtime repeats the kernels of this loop; the loop itself has no code of its own.",
    "conditional": "XLA's runtime takes one of the branches; the choice has no code of its own.",
    "call": "XLA's runtime runs the steps of this call one after the other.",
    "copy": "XLA's runtime copies; no code is made for it.",
    "ynn-fusion": "The library YNNPACK runs this; its code comes with jaxlib and is none of this program's.",
    "xnn-fusion": "The library XNNPACK runs this; its code comes with jaxlib and is none of this program's.",
    "onednn-fusion": "The library oneDNN runs this; its code comes with jaxlib and is none of this program's.",
    "dot": "The library Eigen runs this matrix product; its code comes with jaxlib and is none of this program's.",
    "convolution": "The library Eigen runs this convolution; its code comes with jaxlib and is none of this program's.",
    "fft": "A library runs this Fourier transform; its code comes with jaxlib and is none of this program's.",
    "sort": "XLA's runtime sorts; only the comparison of two elements is code of this program.",
    "topk": "XLA's runtime does this; no code is made for it.",
}


def _run_by(kind: str, instruction: Instruction | None) -> str:
    if kind == "custom-call" and instruction is not None:
        target = instruction.custom_call_target or ""
        if "python" in target and "callback" in target:
            return "A call back into Python: no code is made for it."
        return f"A call of the routine {target}, which is none of this program's code."
    said = _RUN_BY.get(kind)
    return said or f"XLA's runtime runs this by itself (a step of the kind {kind}); no code is made for it."


def _by_name(kernel: Kernel, symbols: frozenset[str], instructions: Mapping[str, Instruction]) -> Link:
    name = kernel["name"]
    if name in symbols:
        return Link(name, name)
    instruction = instructions.get(name)
    opcode = instruction.opcode if instruction else kernel["opcode"]
    if instruction is not None and instruction.kind == "kCustom":
        for library in ("ynn", "xnn", "onednn"):
            if f'"__{library}_fusion"' in instruction.backend_config:
                return Link(name, None, _RUN_BY[f"{library}-fusion"])
    if opcode in ("while", "sort", "custom-call", "copy", "conditional"):
        return Link(name, None, _run_by(opcode, instruction))
    return Link(
        name,
        None,
        "Unknown: XLA cannot write down this executable, and no function has this kernel's name. It may share an equal kernel's code.",
    )


def uses_of(
    names: Sequence[str],
    links: Sequence[Link],
    calls: Mapping[str, Iterable[str]],
    computations: Sequence[Computation],
) -> dict[str, Use]:
    """What each function is for, where `calls` gives the functions that each calls."""
    uses = {name: Use() for name in names}
    for link in links:
        if link.function in uses:
            uses[link.function].role = "kernel"
            uses[link.function].kernels.append(link.kernel)
    applied = {name: i for c in computations for i in c.instructions for name in i.calls if i.opcode != "fusion"}
    for name, use in uses.items():
        if use.role == "unknown" and name in applied:
            use.role = "comparator" if applied[name].opcode == "sort" else "helper"
            use.kernels.append(applied[name].name)
            use.note = f"The computation that {applied[name].opcode} applies to elements; XLA's runtime calls it."
    for name, use in list(uses.items()):
        for other in _reached(name, calls):
            if use.kernels and other in uses and uses[other].role == "unknown":
                uses[other].kernels = list(dict.fromkeys([*uses[other].kernels, *use.kernels]))
                uses[other].note = "Called by other functions of the program."
    for use in uses.values():
        if use.role == "unknown" and use.kernels:
            use.role = "helper"
    return uses


def _reached(name: str, calls: Mapping[str, Iterable[str]]) -> list[str]:
    found, waiting = [name], [name]
    while waiting:
        for other in calls.get(waiting.pop(), ()):
            if other not in found:
                found.append(other)
                waiting.append(other)
    return found[1:]
