"""A program's code as text: LLVM's IR of all modules, and the machine code of all functions."""

from __future__ import annotations

from collections.abc import Iterator

from .disassembly import Disassembly
from .document import Code
from .flow import depths_of, loops_of


def llvm_text(code: Code, before: bool = False) -> str:
    """LLVM's IR after its passes, or before them, with a remark above each module on the kernels that run its functions."""
    parts = []
    for module in code.modules:
        text = module.before if before else module.after
        said = [f"; {name}: {_kernels(code, name)}" for name in module.functions if name in code.uses]
        parts.append("\n".join([f"; {module.name}", *said, text.rstrip()]))
    return "\n\n".join(parts)


def assembly_text(code: Code) -> str:
    """The machine code of all functions in Intel's syntax (on arm64 in ARM's), in blocks; a block's header says which blocks may be
    next, and in how many loops it is."""
    return "\n\n".join("\n".join(_function(code, one)) for one in code.functions)


def _kernels(code: Code, name: str) -> str:
    kernels = code.uses[name].kernels
    return f"run by {', '.join(kernels)}" if kernels else "who runs it is unknown"


def _function(code: Code, one: Disassembly) -> Iterator[str]:
    name = one.function.name
    yield f"{name}:  ; {_kernels(code, name)}"
    depths = depths_of(len(one.blocks), loops_of([block.ways for block in one.blocks]))
    for number, (block, depth) in enumerate(zip(one.blocks, depths)):
        ways = f", then block {' or '.join(map(str, block.ways))}" if block.ways else ""
        yield f"block {number}:  ; {f'in {depth} loop' + 's' * (depth > 1) if depth else 'in no loop'}{ways}"
        for i in block.instructions:
            note = i.calls or (str(i.target) if i.target is not None else "")
            yield f"  {i.at:6x}  {i.mnemonic:<12} {i.operands}{f'  ; {note}' if note else ''}".rstrip()
