"""Syntax newer than the Python that runs: which release a text needs.

Its newer forms are written in the older way; if that is Python, nothing else is wrong with the text.
"""

from __future__ import annotations

import re

from .ipython import no_python


_PARAMETERS = re.compile(r"^(\s*(?:async\s+)?(?:def|class)\s+\w+)\[[^\]\n]*\]", re.MULTILINE)
_ALIAS = re.compile(r"^(\s*)type\s+(\w+)(?:\[[^\]\n]*\])?\s*=", re.MULTILINE)
_QUOTES = re.compile(r"""(\{[^{}"'\n]*)"([^"'{}\n]*)"(?=[^{}"'\n]*\})""")
_TEMPLATE = re.compile(r"""(?<![\w"'])[tT]([rR]?)(?=["'])""")
_SEVERAL = re.compile(r"^(\s*except\s+)([\w.]+(?:\s*,\s*[\w.]+)+)(\s*:)", re.MULTILINE)
_OLDER = (
    ("3.12", _PARAMETERS, r"\1"),
    ("3.12", _ALIAS, r"\1\2 ="),
    ("3.12", _QUOTES, r"\1'\2'"),
    ("3.14", _TEMPLATE, r"f\1"),
    ("3.14", _SEVERAL, r"\1(\2)\3"),
)
"""The release of Python from which on a form is there, the form, and the older one for it."""


def python_needed(text: str) -> str:
    """The release of Python that a text needs, such as "3.12"; "" where a newer form is not all that keeps it from being read."""
    newest = ""
    for release, form, older in _OLDER:
        changed = form.sub(older, text)
        if changed == text:
            continue
        text, newest = changed, max(newest, release)
        if not no_python(text):
            return newest
    return ""
