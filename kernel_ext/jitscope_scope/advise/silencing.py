"""Comments that silence diagnostics.

`# jitscope: ok key-reuse` silences an id in its line, without an id all of them; a comment on a line of its own does so for the
whole file.
"""

from __future__ import annotations

import io
import re
import tokenize

from ..source_code.edits import Edit, Span
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


def silencer(text: str, line: int, id: str) -> Edit | None:
    """The edit that silences an id in a line of a program; None where no comment can stand there: inside a string, before a
    line that goes on, in text that is no Python."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return None
    lines = text.split("\n")
    if line > len(lines) or any(_inside_string(token, line) for token in tokens) or lines[line - 1].endswith("\\"):
        return None
    comment = next((one for one in tokens if one.type == tokenize.COMMENT and one.start[0] == line), None)
    if comment is None:
        end = len(lines[line - 1].rstrip())
        return Edit(Span(line, end, line, len(lines[line - 1])), f"  # jitscope: ok {id}")
    match = _COMMENT.match(comment.string)
    if match is None:
        return Edit(Span(line, comment.start[1], line, comment.start[1]), f"# jitscope: ok {id}  ")
    end = comment.start[1] + len(match[0].rstrip())
    return Edit(Span(line, end, line, end), f", {id}" if match[1] else f" {id}")


_STRINGS = {
    getattr(tokenize, name) for name in ("STRING", "FSTRING_MIDDLE", "TSTRING_MIDDLE") if hasattr(tokenize, name)
}


def _inside_string(token: tokenize.TokenInfo, line: int) -> bool:
    """Whether a line ends inside a string."""
    return token.type in _STRINGS and token.start[0] <= line < token.end[0]
