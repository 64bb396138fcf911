"""The command `jitscope regions`: runs a file, and says which of its parts could be compiled, for how much."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jitscope_widgets


def main(file: str, as_json: bool) -> int:
    """Prints the regions as text or JSON; the exit status is 1 where the file could not be read or run."""
    from jitscope_scope.regions import of_file

    try:
        found = of_file(Path(file))
    except ValueError as error:  # says of which file
        print(f"jitscope regions: {error}", file=sys.stderr)
        return 1
    except RuntimeError as error:
        print(f"jitscope regions: {file} ended before its end, and was not looked at: {error}", file=sys.stderr)
        return 1
    print(json.dumps({"regions": found}, indent=1) if as_json else text(found))
    return 0


def text(found: list[dict[str, Any]]) -> str:
    """The regions for people, edits below them, in lines as long as the longest of an edit."""
    lines = [line for one in found for line in (one["edit"] or "").splitlines()]
    document = {"kind": "regions", "version": 1, "title": "", "note": "", "regions": found}
    return jitscope_widgets.text(document, width=max(100, *(len(line) + 8 for line in lines)) if lines else 100)
