"""Compilation documents of the four programs as files: `python -m tests.programs.documents FOLDER [NAME …]`."""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from jitscope_scope import observe

from .rows import row_of


NAMES = ("transformer", "lstm", "resnet", "unrolled")


def document_of(name: str) -> dict[str, Any]:
    """The compilation document of a program, run once."""
    module = import_module(f"tests.programs.{name}")
    return observe.compilation_document(row_of(module.program, *module.arguments()))


def main(folder: str, *names: str) -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name in names or NAMES:
        start = time.perf_counter()
        document = document_of(name)
        text = json.dumps(document)
        (Path(folder) / f"{name}.json").write_text(text)
        seconds = time.perf_counter() - start
        print(f"{name}: {document['headline']}; {len(text) / 1e6:.1f} MB, {seconds:.1f} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
