"""An executed notebook as one HTML file that works from the disk: no kernel, no network, views that can be clicked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .page import enliven_notebook_html


_PREFERRED = [  # nbconvert's order, but never the widget, which would want a kernel or the network
    "text/html",
    "application/javascript",
    "text/markdown",
    "image/svg+xml",
    "text/latex",
    "image/png",
    "image/jpeg",
    "text/plain",
]
_LIGHT_BODY = re.compile(r' data-jp-theme-light="true"(?: data-jp-theme-name="[^"]*")?')


def export_notebook(path_in: str | Path, path_out: str | Path) -> Path:
    """Write the notebook at `path_in`, with the outputs it has, as an HTML page to `path_out`; return that path.

    Formulas of Markdown cells stay as their TeX source: what would draw them is not part of the page.
    """
    target = Path(path_out)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(enliven_notebook_html(convert(Path(path_in))), encoding="utf-8", errors="replace")
    return target


def convert(path: Path) -> str:
    """The notebook as nbconvert writes it, with the HTML of the views instead of the widgets; ImportError without nbconvert."""
    try:
        import nbformat
        from nbconvert import HTMLExporter
        from traitlets.config import Config
    except ImportError as error:
        raise ImportError(f"exporting a notebook needs nbconvert ({error}): pip install nbconvert") from error
    notebook: Any = nbformat.read(path, as_version=4)
    notebook.metadata.pop("widgets", None)
    exporter = HTMLExporter(config=Config({"NbConvertBase": {"display_data_priority": _PREFERRED}}))
    exported, _ = exporter.from_notebook_node(notebook, resources={"metadata": {"name": path.stem}})
    return _in_both_themes(exported, map(Path, exporter.template_paths))


def _in_both_themes(exported: str, templates: Iterable[Path]) -> str:
    """A page of nbconvert's, which is light, dark as well where the reader prefers that."""
    sheets = (folder / "static/theme-dark.css" for folder in templates)
    dark = next((sheet.read_text(encoding="utf-8") for sheet in sheets if sheet.exists()), None)
    if dark is None:
        return exported
    head, end, body = exported.partition("</head>")
    style = f'<style media="(prefers-color-scheme: dark)">{dark}:root{{color-scheme:dark}}</style>\n'
    return f"{head}{style}{end}{_LIGHT_BODY.sub('', body, count=1)}"
