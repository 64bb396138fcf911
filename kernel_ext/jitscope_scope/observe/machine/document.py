"""The document of a program's machine code: its functions with the kernels that run them, their loops, and LLVM's IR."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from jitscope.core.words import counted
from jitscope.xla.dumps import DumpFile
from jitscope.xla.hlo_module import Computation
from jitscope.xla.serialized import Parts

from ...annotations import (
    CodeBlock,
    CodeFunction,
    CodeLoop,
    CodeText,
    Kernel,
    MachineDocument,
    MachineKernel,
    MachineModule,
    Position,
    Quantity,
)
from ..cost import bytes_written
from ..timing import quantity
from .disassembly import Disassembly, Instruction, disassembled
from .flow import Loop, depths_of, loops_of
from .linking import Link, Use, links_of, uses_of
from .llvm import functions_in, nesting_of, values_in
from .mix import mix_of, sentence_of
from .objects import functions_of


TEXTS = 1_000_000
"""Characters of code that a document holds; what is left out can be asked for by the function's name."""
LONGEST = 400_000
"""Characters of one text that a document holds."""


@dataclass(slots=True)
class Module:
    """A module of LLVM's IR: its text before and after LLVM's passes, "" where XLA wrote none."""

    name: str
    before: str = ""
    after: str = ""

    @property
    def functions(self) -> list[str]:
        """Those that are left after the passes, or were there before."""
        return functions_in(self.after or self.before)


@dataclass(slots=True)
class Code:
    """All that was found out about a program's code."""

    title: str
    kernels: Sequence[Kernel]
    runs: Callable[[str], int | None]
    computations: Sequence[Computation]
    parts: Parts | None
    files: Sequence[DumpFile]
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)
    modules: list[Module] = field(default_factory=list)
    functions: list[Disassembly] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    uses: dict[str, Use] = field(default_factory=dict)


_FILE = re.compile(r"(?P<module>.+)\.ir-(?P<when>no-opt|with-opt)\.ll")


def read(code: Code) -> Code:
    """Fill in what the files and the executable's parts tell."""
    code.modules = _modules(code.files)
    written = [file.content for file in code.files if file.name.endswith(".o")]
    objects = list(code.parts.objects) if code.parts else written
    for content in objects:
        try:
            code.functions += [disassembled(function) for function in functions_of(content)]
        except ValueError as error:
            code.notes.append(f"An object file is left out: {error}.")
    code.notes += _doubts(code, sorted(objects) == sorted(written))
    names = [one.function.name for one in code.functions]
    code.links = links_of(code.kernels, code.computations, code.parts, names)
    code.uses = uses_of(
        names, code.links, {n: _called(one) for n, one in zip(names, code.functions)}, code.computations
    )
    return code


def _modules(files: Sequence[DumpFile]) -> list[Module]:
    found: dict[str, Module] = {}
    for file in files:
        name = _FILE.fullmatch(file.name)
        if name is not None:
            module = found.setdefault(name["module"], Module(name["module"]))
            if name["when"] == "no-opt":
                module.before = file.text
            else:
                module.after = file.text
    return list(found.values())


def _doubts(code: Code, same: bool) -> list[str]:
    notes = []
    if not code.functions:
        notes.append(
            "No machine code was found: no kernel of this program has code of its own, or its backend keeps it."
        )
    if code.functions and not code.modules:
        notes.append("XLA wrote no LLVM IR for this program.")
    if code.parts is None:
        notes.append("XLA cannot write down this executable, so the machine code is that of compiling it again.")
    elif code.modules and code.functions and not same:
        notes.append(
            "Compiling again for LLVM's IR gave other object files than those that run: the IR may differ from the code."
        )
    return notes


def _called(one: Disassembly) -> list[str]:
    return [instruction.calls for instruction in one.instructions if instruction.calls]


def machine_document(code: Code, wanted: str = "") -> MachineDocument:
    """The document; of the texts those of the function `wanted` first, then those that take most time, as far as there is room.
    Raises ValueError where there is no function of that name."""
    names = {one.function.name for one in code.functions}
    if wanted and wanted not in names:
        raise ValueError(f"{code.title} has no function {wanted}")
    places = _Places(code.kernels)
    by_name = {kernel["name"]: kernel for kernel in code.kernels}
    module_of = {name: at for at, module in enumerate(code.modules) for name in module.functions}
    written = bytes_written(code.computations, code.runs)
    functions = [
        _function(one, code.uses[one.function.name], by_name, module_of, places, written) for one in code.functions
    ]
    functions.sort(key=lambda one: (-(one["share"] or 0.0), -(one["written"]["value"] or 0.0)))
    modules = [_module(module, code.computations) for module in code.modules]
    _put_texts(code, functions, modules, wanted)
    return {
        "kind": "machine",
        "version": 1,
        "title": code.title,
        "triple": (code.parts.triple if code.parts else "") or _triple(code.modules),
        "processor": code.parts.processor if code.parts else "",
        "sentence": _sentence(code, functions),
        "notes": code.notes,
        "functions": functions,
        "modules": modules,
        "kernels": [_kernel(link, by_name[link.kernel], places) for link in code.links],
        "positions": places.all,
        "cost": quantity(
            code.seconds, "s", note="compiled once more for LLVM's IR; the machine code was read, nothing was run"
        ),
    }


class _Places:
    """The lines that kernels stem from, each once."""

    def __init__(self, kernels: Iterable[Kernel]):
        self.all: list[Position] = []
        self._known: dict[tuple[str, int], int] = {}
        self._of = {kernel["name"]: self._lines(kernel) for kernel in kernels}

    def _lines(self, kernel: Kernel) -> list[int]:
        return list(dict.fromkeys(self._line(position) for position in kernel["positions"]))

    def _line(self, position: Position) -> int:
        key = position["file"], position["line"]
        if key not in self._known:
            self._known[key] = len(self.all)
            self.all.append(position)
        return self._known[key]

    def of(self, kernels: Iterable[str]) -> list[int]:
        """The lines of some kernels."""
        return sorted({line for kernel in kernels for line in self._of.get(kernel, ())})


def _kernel(link: Link, kernel: Kernel, places: _Places) -> MachineKernel:
    return {
        "name": link.kernel,
        "function": link.function,
        "note": link.note,
        "share": kernel.get("share"),
        "lines": places.of([link.kernel]),
    }


def _function(
    one: Disassembly,
    use: Use,
    kernels: Mapping[str, Kernel],
    module_of: Mapping[str, int],
    places: _Places,
    written: Callable[[str], int | None],
) -> CodeFunction:
    name, machine = one.function.name, one.function.machine
    loops = loops_of([block.ways for block in one.blocks])
    inside = [_loop(one, loop) for loop in loops]
    hot = _hot(inside)
    mix = mix_of(machine, one.instructions)
    shares = [
        share for kernel in use.kernels if kernel in kernels and (share := kernels[kernel].get("share")) is not None
    ]
    return {
        "name": name,
        "machine": machine,
        "module": module_of.get(name),
        "role": use.role,
        "note": use.note,
        "kernels": use.kernels,
        "lines": places.of(use.kernels),
        "share": sum(shares) if shares and use.role == "kernel" else None,
        "written": _written(use, kernels, written),
        "bytes": len(one.function.code),
        "mix": mix,
        "undecoded": sum(i.size for i in one.instructions if i.unknown),
        "loops": inside,
        "hot": hot,
        "sentence": sentence_of(mix if hot is None else inside[hot]["mix"]),
        "calls": [{"name": called, "count": count} for called, count in Counter(map(_callee, _calls(one))).items()],
        "blocks": None,
        "left_out": 0,
    }


def _calls(one: Disassembly) -> list[Instruction]:
    return [i for i in one.instructions if i.what == "call" or i.calls]


def _callee(instruction: Instruction) -> str:
    return instruction.calls or f"unknown ({instruction.operands})"


def _written(use: Use, kernels: Mapping[str, Kernel], written: Callable[[str], int | None]) -> Quantity:
    """What the kernels of a function write in one call of the program."""
    known = [kernel for kernel in use.kernels if kernel in kernels] if use.role == "kernel" else []
    each = [size for size in map(written, known) if size is not None]
    if not each or len(each) < len(known):
        return quantity(None, "B")
    return quantity(
        float(sum(each)), "B", "modelled", "what its kernels put into memory, in all their runs of one call"
    )


def _loop(one: Disassembly, loop: Loop) -> CodeLoop:
    mix = mix_of(one.function.machine, (i for block in loop.blocks for i in one.blocks[block].instructions))
    return {
        "header": loop.header,
        "blocks": list(loop.blocks),
        "parent": loop.parent,
        "depth": loop.depth,
        "innermost": loop.innermost,
        "mix": mix,
        "sentence": sentence_of(mix),
    }


def _hot(loops: Sequence[CodeLoop]) -> int | None:
    """Of the innermost loops the deepest, of equal ones that with the widest vectors, then the longest: where the work most likely
    is. It is not measured."""
    innermost = [at for at, loop in enumerate(loops) if loop["innermost"]]
    return max(
        innermost,
        key=lambda at: (loops[at]["depth"], loops[at]["mix"]["bits"] or 0, loops[at]["mix"]["total"], -at),
        default=None,
    )


_EMITTER = re.compile(r'^!\d+ = !\{!"(xla_cpu_emitter__\w+|ir_emitter)"\}', re.MULTILINE)


def _module(module: Module, computations: Sequence[Computation]) -> MachineModule:
    """A module without its texts."""
    found = _EMITTER.search(module.before or module.after)
    instructions = {i.name for c in computations for i in c.instructions}
    return {
        "name": module.name,
        "emitter": found.group(1).removeprefix("xla_cpu_emitter__").replace("__hlo_opcode__", " for ").replace("_", " ")
        if found
        else "",
        "values": [name for name in values_in(module.before) if name in instructions],
        "before": None,
        "after": None,
    }


def _triple(modules: Sequence[Module]) -> str:
    found = [re.search(r'^target triple = "(.*)"', module.before or module.after, re.MULTILINE) for module in modules]
    return next((one.group(1) for one in found if one), "")


def _put_texts(code: Code, functions: Sequence[CodeFunction], modules: Sequence[MachineModule], wanted: str) -> None:
    room = TEXTS
    blocks = {one.function.name: one for one in code.functions}
    for function in sorted(functions, key=lambda one: one["name"] != wanted):  # stable: the rest stays in order
        at = function["module"]
        listed = _listing(blocks[function["name"]], function["loops"])
        texts = (
            (code.modules[at].before, code.modules[at].after)
            if at is not None and modules[at]["after"] is None
            else ("", "")
        )
        size = sum(min(len(text), LONGEST) for text in (*texts, "".join(block["code"] for block in listed)))
        if room < size and room < TEXTS:
            continue
        room -= size
        function["blocks"], function["left_out"] = _shortened(listed)
        if at is not None and modules[at]["after"] is None:
            modules[at]["before"], modules[at]["after"] = (_text(text) for text in texts)


def _text(text: str) -> CodeText:
    """A text with where the depth in loops changes in it; of a very long one the beginning."""
    kept = text if len(text) <= LONGEST else text[: text.rindex("\n", 0, LONGEST) + 1]
    left_out = text.count("\n", len(kept))
    count = kept.count("\n")
    return {
        "text": kept,
        "left_out": left_out,
        "nesting": [[line, depth] for line, depth in nesting_of(text) if line <= count],
    }


def _shortened(blocks: list[CodeBlock]) -> tuple[list[CodeBlock], int]:
    """The blocks, later ones of very long code without their instructions, and how many instructions these are."""
    room, left_out = LONGEST, 0
    for block in blocks:
        room -= len(block["code"])
        if room < 0:
            left_out += block["code"].count("\n") + 1
            block["code"] = ""
    return blocks, left_out


def _listing(one: Disassembly, loops: Sequence[CodeLoop]) -> list[CodeBlock]:
    depths = depths_of(len(one.blocks), [Loop(x["header"], tuple(x["blocks"]), depth=x["depth"]) for x in loops])
    of_place = {block.at: number for number, block in enumerate(one.blocks)}
    return [
        {"code": "\n".join(_line(i, of_place) for i in block.instructions), "depth": depth, "ways": block.ways}
        for block, depth in zip(one.blocks, depths)
    ]


def _line(one: Instruction, of_place: Mapping[int, int]) -> str:
    """Where it begins (hexadecimal), name, operands, remark: with tabs between them."""
    note = ""
    if one.jumps is not None and one.jumps in of_place:
        note = f"to block {of_place[one.jumps]}"
    elif one.calls:
        note = f"calls {one.calls}"
    elif one.target is not None:
        note = str(one.target)
    return f"{one.at:x}\t{one.mnemonic}\t{one.operands}\t{note}"


def _sentence(code: Code, functions: Sequence[CodeFunction]) -> str:
    size = sum(one["bytes"] for one in functions)
    loops = {one["name"] for one in code.kernels if one["kind"] == "loop"}
    links = [link for link in code.links if link.kernel not in loops]
    own = sum(link.function is not None for link in links)
    of = f"{own:,} of {counted(len(links), 'kernel')}" if links else "no kernel"
    shared = " (some share one)" if own > sum(one["role"] == "kernel" for one in functions) else ""
    head = f"{counted(len(functions), 'function')}, {size:,} bytes of machine code, for {of}{shared}"
    unknown = sum(link.function is None and link.note.startswith("Unknown") for link in links)
    return f"{head}; of {counted(unknown, 'kernel')} the function is unknown" if unknown else head
