"""A document in an attribute: JSON, compressed, as base64 text; the same document always gives the same text."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

from .words import Document


def pack(document: Document) -> str:
    """`document` as text for the attribute `data-jitscope-document`."""
    said = json.dumps(document, separators=(",", ":"))
    return base64.b64encode(gzip.compress(said.encode(), 9, mtime=0)).decode()


def unpack(text: str) -> dict[str, Any]:
    """The document that `pack` made `text` of."""
    return json.loads(gzip.decompress(base64.b64decode(text)))
