"""The built front end that lies beside this package, and what to say when it is not there."""

from __future__ import annotations

from pathlib import Path


FOLDER = Path(__file__).with_name("static")
LOADER, VIEW, PAGE_VIEW = "loader.js", "view.js", "view.iife.js"


def read(name: str) -> str:
    """The text of one of the built files."""
    return (FOLDER / name).read_text(encoding="utf-8")


def view_problem() -> str:
    """One sentence when the interactive views are missing from this installation, else ""."""
    missing = [name for name in (LOADER, VIEW, PAGE_VIEW) if not (FOLDER / name).is_file()]
    if not missing:
        return ""
    return (
        f"The interactive views are not part of this installation ({', '.join(missing)} not built), so static ones are "
        "shown; in a checkout of jitscope, `make front` builds them."
    )
