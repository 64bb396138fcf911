"""A document in an attribute: JSON, compressed, as base64 text; the same document always gives the same text."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

from .words import Document


_LARGE = 4_000_000  # bytes; beyond that, time counts more than the last few per cent


def pack(document: Document) -> str:
    """`document` as text for the attribute `data-jitscope-document`."""
    said = json.dumps(document, separators=(",", ":")).encode()
    level = 9 if len(said) < _LARGE else 6
    return base64.b64encode(gzip.compress(said, level, mtime=0)).decode()


def unpack(text: str) -> dict[str, Any]:
    """The document that `pack` made `text` of."""
    return json.loads(gzip.decompress(base64.b64decode(text)))
