"""What is tuned to XLA's compiler for the CPU stands in one file; where else its name stands, platforms are named or told apart."""

from __future__ import annotations

import ast
from pathlib import Path


COMPILER = Path(__file__).parents[1] / "compiler" / "jitscope"
NAMES = {
    "xla/cpu_tuning.py": "what is tuned, and whether it holds for a program's platform",
    "xla/devices.py": "the client, and names of its devices",
    "xla/ffi.py": "where native functions are registered",
    "xla/lapack.py": "the library of that platform",
    "api/devices.py": "backends that are asked for by name",
    "api/processes.py": "backends that are asked for by name",
    "backend/from_jax.py": "on which platform an array of JAX is",
    "backend/disk/environment.py": "the machine that a program on disk is for",
    "backend/foreign.py": "operands whose layout XLA's compiler for the CPU may not choose",
    "backend/lowering.py": "the platform that programs are lowered for, if none is named",
    "backend/stages.py": "platforms that `lower` is asked for",
    "core/jax_options.py": "JAX's options that name a platform",
    "export/calling.py": "whether an exported program is for this platform",
    "export/checks.py": "native functions that only this platform has",
    "export/exporting.py": "the platform that functions are exported for, if none is named",
    "interpreters/mlir.py": "platforms that a lowering rule may be for",
}


def test_the_cpu_is_named_where_platforms_are_told_apart_alone() -> None:
    found = {
        path.relative_to(COMPILER).as_posix()
        for path in COMPILER.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value == "cpu"
    }
    assert found == set(NAMES)
