"""Comments that silence diagnostics.

`# jitscope: ok key-reuse` silences an id in its line, without an id all of them; a comment on a line of its own does so for the
whole file.
"""

from __future__ import annotations

import io
import re
import tokenize

from .diagnostic import Diagnostic


_COMMENT = re.compile(r"#\s*jitscope:\s*ok(?:\s+([\w\s,-]+))?")
_EVERYWHERE = 0


def heard(found: list[Diagnostic], text: str) -> list[Diagnostic]:
    """The diagnostics of a program that no comment in its text silences."""
    silenced = _silenced(text)
    return [
        one
        for one in found
        if not {one.id, "*"} & (silenced.get(_EVERYWHERE, set()) | silenced.get(one.span.line, set()))
    ]


def _silenced(text: str) -> dict[int, set[str]]:
    """The ids that comments silence, by line; "*" stands for all."""
    found: dict[int, set[str]] = {}
    if "jitscope:" not in text:
        return found
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            match = _COMMENT.match(token.string) if token.type == tokenize.COMMENT else None
            if match:
                alone = not token.line[: token.start[1]].strip()
                found.setdefault(_EVERYWHERE if alone else token.start[0], set()).update(
                    re.findall(r"[\w-]+", match[1] or "") or ["*"]
                )
    except (tokenize.TokenError, SyntaxError):
        pass
    return found
