"""Documents of programs on targets as XLA's compilers (jaxlib 0.10.2) make them, for the tests of views, which run without these compilers:
`python -m tests.targets.record`, where they are installed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


FOLDER = Path(__file__).with_name("recorded")


def recorded(name: str) -> Any:
    """A document by its name: "layer-h100", "step-v5e", "norm-beside"."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def main() -> None:
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
    import jitscope as jx
    from tests.targets.programs import PROGRAMS, SHARDED

    function, arguments = PROGRAMS["layer"]()
    h100 = jx.inspect(function)(*arguments).on("h100")
    function, arguments = PROGRAMS["layer norm"]()
    seen = jx.inspect(function)(*arguments)
    step, given = SHARDED["step over 4 × 2 devices"]()
    found = {
        "layer-h100": h100.document,
        "step-v5e": jx.inspect(step)(*given).on("v5e:2x4").document,
        "norm-beside": seen.on("h100").compare(seen.on("v5e"), seen).document,
    }
    FOLDER.mkdir(exist_ok=True)
    for name, document in found.items():
        text = json.dumps(document, ensure_ascii=False, indent=1).replace(str(Path.cwd()) + "/", "")
        (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
