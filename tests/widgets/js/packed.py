"""Writes packed.json, documents packed by Python for the TypeScript tests: `python -m tests.widgets.js.packed`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jitscope_widgets.envelope import pack, pack_compilation
from tests.widgets import documents as made


FILE = Path(__file__).with_suffix(".json")


def packed() -> dict[str, Any]:
    odd = made.graph([made.node("e0", params={"$rows": "1", "__proto__": "2", "$": "3"})], [])
    numbers = {"kind": "numbers", "seconds": [at * 37 / 1e9 for at in range(40)], "third": [at / 3 for at in range(40)]}
    every = [made.layer_cell(), made.timing(), odd, numbers]
    many = made.cell(compilations=[made.layer_compilation() | {"id": at} for at in range(8)])
    return {
        "documents": [{"text": pack(document).text, "document": document} for document in every],
        "rows": {"text": pack(many, 100_000).text, "part": pack_compilation(many["compilations"][3])},
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(packed()))
