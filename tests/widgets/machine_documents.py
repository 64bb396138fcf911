"""A document of machine code for tests."""

from __future__ import annotations

from typing import Any

from tests.widgets.parts import Document, position, quantity


_BEFORE = """; ModuleID = 'layer'
define ptr @multiply_fusion(ptr %0) {
  br label %1

1:                                                ; preds = %1, %0
  %2 = phi i64 [ 0, %0 ], [ %4, %1 ]
  %3 = fmul float 1.050000e+00, 2.000000e+00
  %4 = add i64 %2, 1
  %5 = icmp slt i64 %4, 128
  br i1 %5, label %1, label %6

6:                                                ; preds = %1
  ret ptr null
}
"""
_AFTER = """; ModuleID = 'layer'
define noundef ptr @multiply_fusion(ptr nofree readonly captures(none) %0) local_unnamed_addr #0 {
  %2 = load ptr, ptr %0, align 8, !invariant.load !3
  br label %vector.body

vector.body:                                      ; preds = %vector.body, %1
  %3 = phi i64 [ 0, %1 ], [ %5, %vector.body ]
  %4 = fmul <8 x float> %wide.load, splat (float 1.050000e+00)
  %5 = add nuw i64 %3, 8
  %6 = icmp eq i64 %5, 128
  br i1 %6, label %7, label %vector.body, !llvm.loop !6

7:                                                ; preds = %vector.body
  ret ptr null
}
"""


def _mix(
    total: int, bits: int | None = None, lanes: str = "", reads: int = 0, writes: int = 0, **counts: int
) -> Document:
    named = {name.replace("_", " "): count for name, count in counts.items()}
    return {"total": total, "counts": named, "reads": reads, "writes": writes, "bits": bits, "lanes": lanes}


def _function(name: str, **fields: Any) -> Document:
    return {
        "name": name,
        "machine": "x86-64",
        "module": None,
        "role": "kernel",
        "note": "",
        "kernels": [name],
        "lines": [],
        "share": None,
        "written": quantity(512, "B", "modelled"),
        "bytes": 64,
        "mix": _mix(12, move=11, branch=1),
        "undecoded": 0,
        "loops": [],
        "hot": None,
        "sentence": "12 instructions; 3 read memory, 2 write it",
        "calls": [],
        "blocks": None,
        "left_out": 0,
    } | fields


def machine() -> Document:
    """Two functions for three of four kernels: one with a loop on vectors, one whose code is not kept."""
    loop = _mix(5, 256, "8 × f32", 1, 1, float_arithmetic=1, integer=1, move=2, branch=1)
    sentence = (
        "5 instructions on vectors of 256 bits (8 × f32): 1 float arithmetic, 1 integer; 1 read memory, 1 write it"
    )
    blocks = [
        {"code": "0\tmovabs\trcx, 0\t.rodata.cst4+0: 1.05 if read as f32\na\tvbroadcastss\tymm0, dword ptr [rcx]\t", "depth": 0,
         "ways": [1]},
        {"code": "f\tvmovups\tymm1, ymmword ptr [rax + rdx]\t\n14\tvmulps\tymm1, ymm1, ymm0\t\n"
                 "18\tvmovups\tymmword ptr [rax + rdx], ymm1\t\n1d\tadd\trdx, 0x20\t\n21\tjne\t0xf\tto block 1", "depth": 1,
         "ways": [1, 2]},
        {"code": "23\tcall\trbx\tcalls <memcpy>\n25\tret\t\t", "depth": 0, "ways": []},
    ]  # fmt: skip
    hot = _function(
        "multiply_fusion",
        module=0,
        kernels=["multiply_fusion", "multiply_fusion.1"],
        lines=[0, 1],
        share=0.72,
        bytes=38,
        mix=_mix(9, 256, "8 × f32", 2, 1, float_arithmetic=1, integer=1, move=4, branch=2, call=1),
        loops=[
            {
                "header": 1,
                "blocks": [1],
                "parent": None,
                "depth": 1,
                "innermost": True,
                "mix": loop,
                "sentence": sentence,
            }
        ],
        hot=0,
        sentence=sentence,
        calls=[{"name": "<memcpy>", "count": 1}],
        blocks=blocks,
    )
    library = "The library YNNPACK runs this; its code comes with jaxlib and is none of this program's."
    kernels = [("ynn_fusion", None, library, 0.2, [0]), ("multiply_fusion", "multiply_fusion", "", 0.5, [0, 1]),
               ("multiply_fusion.1", "multiply_fusion", "", 0.22, [1]), ("wrapped_add", "wrapped_add", "", 0.08, [1])]  # fmt: skip
    return {
        "kind": "machine",
        "version": 1,
        "title": "layer",
        "triple": "x86_64-unknown-linux-gnu",
        "processor": "znver5",
        "sentence": "2 functions, 102 bytes of machine code, for 3 of 4 kernels (some share one)",
        "notes": ["Compiling again for LLVM's IR gave other object files than those that run: the IR may differ from the code."],
        "functions": [hot, _function("wrapped_add", lines=[1], share=0.08, module=1, undecoded=2)],
        "modules": [
            {"name": "multiply_fusion_kernel_module", "emitter": "loop fusion kernel emitter for fusion", "values": [],
             "before": {"text": _BEFORE, "left_out": 0, "nesting": [[0, 0], [4, 1], [11, 0]]},
             "after": {"text": _AFTER, "left_out": 7, "nesting": [[0, 0], [5, 1], [12, 0]]}},
            {"name": "wrapped_add", "emitter": "", "values": ["e0.1"], "before": None, "after": None},
        ],
        "kernels": [
            {"name": name, "function": function, "note": note, "share": share, "lines": lines}
            for name, function, note, share, lines in kernels
        ],
        "positions": [position(2, 8, 13), position(3, 4, 20)],
        "cost": quantity(0.14, note="compiled once more for LLVM's IR; the machine code was read, nothing was run"),
    }  # fmt: skip
