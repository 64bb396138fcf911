"""The command `jitscope regions`: runs a file, and says which of its parts could be compiled, for how much."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(file: str, as_json: bool) -> int:
    """Prints the regions as text or JSON; the exit status is 1 where the file could not be read or run."""
    from jitscope_scope.regions import of_file

    try:
        found = of_file(Path(file))
    except (OSError, ValueError, RuntimeError) as error:
        print(f"jitscope regions: {file} could not be looked at: {error}", file=sys.stderr)
        return 1
    print(json.dumps({"regions": found}, indent=1) if as_json else text(found))
    return 0


def text(found: list[dict[str, object]]) -> str:
    """The regions for people, a paragraph each; edits below their regions."""
    if not found:
        return "No loop and no long stretch of array operations was seen."
    parts = []
    for r in found:
        lines = f"line {r['line']}" if r["line"] == r["end_line"] else f"lines {r['line']} to {r['end_line']}"
        parts.append(f"cell {r['cell']}, {lines}: {r['verdict']}\n    {r['reason']}")
        if r["edit"]:
            parts.append("\n".join("    | " + line for line in str(r["edit"]).splitlines()))
    return "\n\n".join(parts)
