"""`jitscope view FILE`: a saved notebook or document as a page in the browser, without a kernel or a server."""

from __future__ import annotations

import json
import re
import sys
import tempfile
import webbrowser
from pathlib import Path
from typing import Any

import jitscope_widgets
from jitscope_widgets.escapes import escape
from jitscope_widgets.words import title


def main(file: str, browser: bool = True) -> int:
    """Open a saved notebook or document as a page, whose place is printed; the exit status."""
    try:
        made = page_of(Path(file))
    except (OSError, ValueError, jitscope_widgets.DocumentError) as error:
        print(f"jitscope: {file} cannot be viewed: {reason(error)}", file=sys.stderr)
        return 1
    folder = Path(tempfile.mkdtemp(prefix="jitscope-"))
    target = folder / f"{re.sub(r'[^A-Za-z0-9_-]+', '_', Path(file).stem) or 'view'}.html"
    target.write_text(made, encoding="utf-8", errors="replace")
    print(target)
    if browser and not webbrowser.open(target.as_uri()):
        print("jitscope: no browser could be started; open the page above in one.", file=sys.stderr)
    return 0


def reason(error: Exception) -> str:
    """Why a file cannot be shown, in words."""
    if isinstance(error, json.JSONDecodeError):
        return f"it is no JSON ({error.msg} in line {error.lineno})"
    if isinstance(error, UnicodeDecodeError):
        return "it is not text in UTF-8"
    return getattr(error, "strerror", None) or str(error)


def page_of(file: Path) -> str:
    """The page for a notebook with outputs, or for a document that was saved as JSON."""
    if file.suffix in (".py", ".html", ".htm"):
        raise ValueError("it is neither a notebook (.ipynb) nor a document (.json)")
    text = file.read_text(encoding="utf-8")
    known = json.loads(text)
    if isinstance(known, dict) and "cells" in known:
        return _notebook(file, known)
    jitscope_widgets.validate(known)
    return jitscope_widgets.page(known, title(known))


def _notebook(file: Path, notebook: dict[str, Any]) -> str:
    """The whole notebook where nbconvert is installed, else its code and the views in it. Raises ValueError for no notebook."""
    cells = notebook["cells"]
    if not isinstance(cells, list) or not all(
        isinstance(one, dict) and {"cell_type", "source"} <= one.keys() for one in cells
    ):
        raise ValueError("it has no cells as nbformat 4 writes them")
    try:
        from jitscope_widgets.notebook import convert

        return jitscope_widgets.enliven_notebook_html(convert(file))
    except ImportError:
        return jitscope_widgets.page(list(_blocks(notebook)) or ["<p>No jitscope view is saved in it.</p>"], file.name)


def _blocks(notebook: dict[str, Any]):
    for cell in notebook["cells"]:
        shown = [
            "".join(output["data"]["text/html"])
            for output in cell.get("outputs", ())
            if "data-jitscope-document" in "".join(output.get("data", {}).get("text/html", ""))
        ]
        if shown:
            yield f"<pre>{chr(10).join(map(escape, ''.join(cell['source']).splitlines()))}</pre>"
            yield from shown
