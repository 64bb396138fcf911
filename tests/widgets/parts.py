"""The parts that documents for tests are made of."""

from __future__ import annotations

from typing import Any


Document = dict[str, Any]

CODE = [
    "def layer(x, w, b):",
    "    z = x @ w + b",
    "    return 1.05 * jnp.where(",
    "        z > 0, z, 1.67 * (jnp.exp(z) - 1))",
]


def quantity(value: float | None, unit: str = "s", origin: str = "measured", note: str = "") -> Document:
    return {"value": value, "unit": unit, "origin": "unknown" if value is None else origin, "note": note}


def position(line: int, column: int = 4, end_column: int = 20, text: str = "", cell: str | None = "In [3]") -> Document:
    return {
        "file": "cell-3",
        "cell": cell,
        "line": line,
        "end_line": line,
        "column": column,
        "end_column": end_column,
        "function": "layer",
        "text": text or (CODE[line - 1] if line <= len(CODE) else ""),
    }


def node(ident: str, kind: str = "equation", label: str = "", **fields: Any) -> Document:
    whole = {
        "id": ident,
        "kind": kind,
        "label": label or ident,
        "scope": None,
        "types": ["f32[64,7]"],
        "bytes": 1792,
        "text": "",
        "params": {},
        "paths": [],
        "positions": [],
        "fused_into": None,
    }
    return whole | fields


def edge(source: str, target: str, kind: str = "f32[64,7]", size: int = 1792) -> Document:
    return {"from": source, "to": target, "type": kind, "bytes": size}


def graph(nodes: list[Document], edges: list[Document], level: str = "jaxpr", title: str = "layer") -> Document:
    return {"kind": "graph", "version": 1, "level": level, "title": title, "nodes": nodes, "edges": edges}
