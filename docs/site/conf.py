"""Sphinx's settings for the site; build.py lays out the files it reads."""

import re
import sys
from pathlib import Path
from typing import Any


sys.path.insert(0, str(Path(__file__).parent))

from docstrings import as_rst


project = "jitscope"
extensions = ["myst_nb", "sphinx.ext.autodoc"]
exclude_patterns = ["cache"]

# Notebooks are run here, from top to bottom; cells that are meant to raise are tagged.
nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True
nb_code_prompt_show = "Show how this is checked"
nb_code_prompt_hide = "Hide how this is checked"
nb_kernel_rgx_aliases = {".*": "python3"}
# The view as HTML, which carries its document: a live widget would want a kernel, and code from a network.
nb_mime_priority_overrides = [("html", "application/vnd.jupyter.widget-view+json", None)]
nb_ipywidgets_js: dict[str, Any] = {}

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
suppress_warnings = [
    "myst.header",  # some pages begin several times at the first level
    "misc.highlighting_failure",  # messages of errors are prose
]

autodoc_typehints = "none"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 100
add_module_names = False

html_theme = "furo"
html_title = "jitscope"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_show_search_summary = False  # it would read other pages, which a browser forbids on the disk
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_permalinks_icon = "#"
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"


def _docstring(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    lines[:] = [*as_rst("\n".join(lines).strip(), value), ""]


def _view(app: Any, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """The code that brings views to life, once on each page that has some; widgets have no kernel here."""
    scripts = context.get("script_files", [])
    scripts[:] = [one for one in scripts if one.attributes.get("type") != "application/vnd.jupyter.widget-state+json"]
    if re.search(r"<[^>]+\bdata-jitscope-document=", context.get("body", "")):
        app.add_js_file("jitscope-view.js", loading_method="defer")


def _accessible(app: Any, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Headings of the navigation say their level, folds are called what they say, and wide code scrolls by keyboard."""
    for part in ("furo_navigation_tree", "body"):
        text = context.get(part, "")
        text = text.replace('role="heading">', 'role="heading" aria-level="2">')
        text = text.replace(' aria-label="Toggle hidden content"', "")  # the visible text says it better
        context[part] = re.sub(r'(<div class="highlight">)<pre>', r'\1<pre tabindex="0">', text)


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", _docstring)
    app.connect("html-page-context", _view, priority=900)
    app.connect("html-page-context", _accessible, priority=901)
