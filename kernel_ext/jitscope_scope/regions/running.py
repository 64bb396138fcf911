"""Run as a program: watches the cells of a file, and writes the regions found as JSON."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import traceback
import types
from pathlib import Path

from .cells import read
from .finding import Watch


def main(path: Path, out: Path) -> int:
    """Runs the cells of `path`; the exit status is 1 where one of them raised, which is then told in one line."""
    cells = read(path)
    module = types.ModuleType("__main__")
    module.__file__ = str(path)
    sys.modules["__main__"], sys.argv = module, [str(path)]
    sys.path.insert(0, str(path.resolve().parent))
    watch = Watch(module.__dict__)
    for cell in cells:
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                watch.run(cell)
        except BaseException as error:
            of_notebook = f"cell {cell.number}, " if path.suffix == ".ipynb" else ""
            print(
                f"{of_notebook}line {_line(error, watch.file(cell)) + cell.first - 1}: {_said(error)}", file=sys.stderr
            )
            return 1
    watch.let_go()
    with contextlib.redirect_stdout(io.StringIO()):
        regions = [r.as_json() for r in watch.regions()]
    out.write_text(json.dumps(regions), encoding="utf-8")
    return 0


def _line(error: BaseException, file: str) -> int:
    """The innermost line of a cell's own code that an error passed through."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return (lines[-1] if lines else getattr(error, "lineno", None)) or 1


def _said(error: BaseException) -> str:
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {text}".splitlines()[0].removesuffix(": ")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
