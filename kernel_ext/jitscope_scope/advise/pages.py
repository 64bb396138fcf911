"""The page of each sharp bit: what it is about, an example that steps on it, and what to write instead. docs/sharp-bits.md has them
too; `jitscope explain ID` and `%sharpbits --explain ID` print them."""

from __future__ import annotations

import functools
import re
import textwrap
from importlib import metadata, resources
from typing import NamedTuple

from .catalogue import CATALOGUE
from .why import WHY


class Example(NamedTuple):
    """Two programs, most of them without their imports (jax, jnp, lax, np): one that steps on a sharp bit, and one that does not."""

    wrong: str
    right: str


def title_of(id: str) -> str:
    """What a sharp bit is, as a sentence without its full stop. Raises KeyError for an id that there is not."""
    title = CATALOGUE[id].title
    return f"{title[0].upper()}{title[1:]}"


def page_of(id: str) -> str:
    """The page of a sharp bit, in Markdown, without its heading. Raises KeyError for an id that there is not."""
    said, example = f"{title_of(id)}. {WHY[id]}", examples()[id]
    return "\n\n".join([said, f"```python\n{example.wrong}```", f"Instead:\n\n```python\n{example.right}```"])


def page_text(id: str, width: int = 100) -> str:
    """The same as plain text, with its heading. Raises KeyError for an id that there is not."""
    lines = [f"{id} ({CATALOGUE[id].severity})"]
    code = False
    for line in page_of(id).splitlines():
        if line.startswith("```"):
            code = not code
        else:
            lines += [f"    {line}"] if code and line else textwrap.wrap(line, width) or [""]
    return "\n".join(lines) + "\n"


@functools.cache
def examples() -> dict[str, Example]:
    """The example of each id."""
    text = resources.files("jitscope_scope.advise").joinpath("examples.txt").read_text(encoding="utf-8")
    parts = re.split(r"^# %% ([\w-]+)\n", text, flags=re.MULTILINE)[1:]
    programs = [tuple(part.strip() + "\n" for part in body.split("# instead\n")) for body in parts[1::2]]
    return {id: Example(*both) for id, both in zip(parts[::2], programs, strict=True)}


def address_of(id: str) -> str:
    """Where the page is on the network; "" where the distribution does not say where its documentation is."""
    try:
        links = metadata.metadata("jitscope").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return ""
    documentation = [link.partition(",")[2].strip() for link in links if link.lower().startswith("documentation,")]
    return f"{documentation[0].rstrip('/')}/sharp-bits.html#{id}" if documentation else ""
