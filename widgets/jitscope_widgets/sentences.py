"""What the still views and the live views say in the same words: the tables and sentences of `sentences.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


_TABLE: dict[str, Any] = json.loads(Path(__file__).with_name("sentences.json").read_text(encoding="utf-8"))
TABLES: dict[str, Any] = _TABLE["tables"]
_SENTENCES: dict[str, str] = _TABLE["sentences"]


def say(name: str, **values: object) -> str:
    """A sentence with its places filled. Raises KeyError for a sentence or a place that is not in the table."""
    return _SENTENCES[name].format(**values)
