"""The JSON schema of documents."""

from __future__ import annotations

from typing import Any

from . import types
from .fields import records


def schema() -> dict[str, Any]:
    """A JSON schema (2020-12) of documents of every kind; no record may have other fields than its own."""
    import msgspec  # only who asks for it pays

    every = tuple(types().values())
    ways, components = msgspec.json.schema_components(every, ref_template="#/$defs/{name}")
    for record in records(*every):
        components[record.__name__]["additionalProperties"] = False
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A document of jitscope",
        "oneOf": list(ways),
        "$defs": components,
    }
