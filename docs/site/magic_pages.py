"""The page of magics, `inspect` and the command line, made from the code: `python docs/site/magic_pages.py --write`, or `--check`."""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jitscope_kernel.inspection as inspection
from jitscope_kernel.cli import command_line
from jitscope_kernel.magics import JitscopeMagics, parser_of


PAGE = Path(__file__).parents[1] / "magics.md"
HEAD = """# Magics, `inspect` and the command line

<!-- Made from the code: python docs/site/magic_pages.py --write -->

`%load_ext jitscope` brings the magics below; each answers `-h`. `jitscope.inspect(f)(x)` has the same as a Python object, and the command
`jitscope` works on files.
"""


def page() -> str:
    """The text of the page."""
    lines = [HEAD, "## Magics", ""]
    for kind, prefix in (("cell", "%%"), ("line", "%")):
        for name in JitscopeMagics.magics[kind]:
            lines += _magic(f"{prefix}{name}", parser_of(getattr(JitscopeMagics, JitscopeMagics.magics[kind][name])))
    lines += ["## `jitscope.inspect(f)(x)`", "", inspect.getdoc(inspection.Inspection) or "", ""]
    lines += [f"* `{name}`: {said}" for name, said in _members(inspection.Inspection)]
    lines += ["", "## The command line", ""]
    for name, parser in _commands(command_line()):
        lines += _magic(f"jitscope {name}", parser, parser.description or "")
    return "\n".join(lines).rstrip() + "\n"


def _magic(name: str, parser: argparse.ArgumentParser, said: str = "") -> list[str]:
    actions = [
        one
        for one in parser._actions
        if not isinstance(one, argparse._HelpAction) and "--help" not in one.option_strings
    ]
    rows = [f"| {_signature(one)} | {_text(one)} |" for one in actions]
    table = ["| | |", "| --- | --- |", *rows, ""] if rows else []
    return [f"### `{name}`", "", *_paragraphs(said or parser.description or ""), "", *table]


def _signature(action: argparse.Action) -> str:
    value = action.metavar or (f"{{{','.join(map(str, action.choices))}}}" if action.choices else action.dest.upper())
    if not action.option_strings:
        return f"`{value if action.metavar or action.choices else action.dest}`"
    with_value = "" if action.nargs == 0 else f" {value}"
    return ", ".join(f"`{option}{with_value}`" for option in action.option_strings)


def _text(action: argparse.Action) -> str:
    return " ".join((action.help or "").replace("%%", "%").split()).replace("|", "\\|")


def _paragraphs(text: str) -> Iterator[str]:
    """A docstring as Markdown: lines that begin with a magic are code."""
    in_code = False
    for line in inspect.cleandoc(text).split("\n"):
        if in_code != line.startswith("%"):
            yield "```"
            in_code = not in_code
        yield line if in_code else re.sub(r"[\w.]*__\w+__", r"`\g<0>`", line)
    if in_code:
        yield "```"


def _members(kind: type) -> Iterator[tuple[str, str]]:
    """The public properties and methods of a class in the order in which they are written, with the first sentence about each."""
    for node in ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0].body:  # pyright: ignore[reportAttributeAccessIssue]
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            called = any(isinstance(one, ast.Name) and one.id == "property" for one in node.decorator_list)
            said = " ".join((ast.get_docstring(node) or "").split("\n\n")[0].split())
            yield node.name if called else f"{node.name}({_parameters(node)})", said


def _parameters(node: ast.FunctionDef) -> str:
    names = [one.arg for one in [*node.args.posonlyargs, *node.args.args][1:]]
    return ", ".join([*names, *(f"{one.arg}=" for one in node.args.kwonlyargs)])


def _commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    (commands,) = (one for one in parser._actions if isinstance(one, argparse._SubParsersAction))
    helps = {one.dest: one.help or "" for one in commands._choices_actions}
    for name, command in commands.choices.items():
        command.description = command.description or f"{helps[name][:1].upper()}{helps[name][1:]}."
        yield name, command


def main(arguments: list[Any]) -> int:
    if "--write" in arguments:
        PAGE.write_text(page(), encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page():
        print("docs/magics.md is not as the code says: make format", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
