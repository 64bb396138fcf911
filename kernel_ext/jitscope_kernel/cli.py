"""The command `jitscope`: run a notebook into a page, show a saved document or notebook, look after the cache on disk, tell what works here, say the version."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import jitscope_widgets
from jitscope_scope.advise import CATALOGUE
from jitscope_scope.advise.pages import page_text

from . import check, viewing


def command_line() -> argparse.ArgumentParser:
    """The commands with their options."""
    parser = argparse.ArgumentParser(prog="jitscope", description="A tracing compiler that shows every step it takes.")
    parser.add_argument("--version", action="version", version=f"jitscope {version()}, {_jaxlib()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    demo = commands.add_parser("demo", help="run a notebook and write it as a page of HTML")
    demo.add_argument("notebook")
    demo.add_argument("page")
    show = commands.add_parser("show", help="show a document that .save() wrote as JSON")
    show.add_argument("document", help="a file, or - for standard input")
    show.add_argument("--html", metavar="PAGE", help="write it as a page of HTML instead of text")
    view = commands.add_parser("view", help="open a saved notebook or document in the browser")
    view.add_argument("file", help="a notebook (.ipynb), or a document that .save() wrote as JSON")
    view.add_argument("--no-browser", action="store_true", help="only write the page, and print where it is")
    cache = commands.add_parser("cache", help="the compiled programs that are kept on disk")
    cache.add_argument(
        "what", choices=("show", "clear", "explain"), help="list them, remove them, or say what each depends on"
    )
    cache.add_argument(
        "function", nargs="?", help="only programs of the function with this name (for show and explain)"
    )
    cache.add_argument("--dir", help="a folder other than the one in use")
    commands.add_parser(
        "targets", help="list the chips that a program can be compiled for without having them, and what is ready here"
    )
    commands.add_parser("doctor", help="say what works with what is installed, and what to do")
    checked = commands.add_parser("check", help="look for sharp bits in programs and notebooks")
    check.add_arguments(checked)
    regions = commands.add_parser("regions", help="run a program or notebook and say which parts could be compiled")
    regions.add_argument(
        "file",
        help="a program, whose cells begin with `# %%%%`, or a notebook; `# runs: N` says how often a cell will run",
    )
    regions.add_argument("--json", action="store_true", help="as JSON, with the edits")
    explain = commands.add_parser("explain", help="say what sharp bits are about, with examples")
    explain.add_argument("ids", nargs="*", metavar="ID", help="such as key-reuse; without one, all are listed")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """The command `jitscope`; the exit status. `arguments` are those of the process if they are not given."""
    parser = command_line()
    arguments, passed = list(sys.argv[1:] if arguments is None else arguments), []
    if arguments[:1] == ["check"]:
        arguments, passed = check.split_arguments(arguments)
    given = parser.parse_args(arguments)
    try:
        return _run(given, passed, parser)
    except ModuleNotFoundError as error:
        if error.name != "jaxlib":
            raise
        print(f"jitscope {given.command}: this needs jaxlib, which is not installed", file=sys.stderr)
        return 1


def _run(given: argparse.Namespace, passed: Sequence[str], parser: argparse.ArgumentParser) -> int:
    if given.command == "check":
        return check.main(given, passed)
    if given.command == "regions":
        from . import regions_command

        return regions_command.main(given.file, given.json)
    if given.command == "explain":
        return _explain(given.ids)
    if given.command == "demo":
        from . import demo as running

        return running.main([given.notebook, given.page])
    if given.command == "targets":
        from . import on_target

        print(on_target.targets())
        return 0
    if given.command == "doctor":
        from . import doctor

        return doctor.main()
    if given.command == "view":
        return viewing.main(given.file, not given.no_browser)
    if given.command == "cache":
        from . import disk_cache

        if given.what == "clear" and given.function:
            parser.error("clear removes all programs; it takes no function")
        return disk_cache.main(given.what, given.function, given.dir)
    return _show(given.document, given.html)


def version() -> str:
    """The version of the installed distribution."""
    try:
        return metadata.version("jitscope")
    except metadata.PackageNotFoundError:
        return "(not installed)"


def _jaxlib() -> str:
    try:
        return f"jaxlib {metadata.version('jaxlib')}"
    except metadata.PackageNotFoundError:
        return "no jaxlib"


def _explain(ids: Sequence[str]) -> int:
    unknown = [id for id in ids if id not in CATALOGUE]
    if unknown:
        print(f"jitscope explain: there is no sharp bit {unknown[0]!r}; `jitscope explain` lists them", file=sys.stderr)
        return 2
    width = max(map(len, CATALOGUE))
    lines = [page_text(id) for id in ids] or [f"{id:<{width}}  {bit.title}" for id, bit in CATALOGUE.items()]
    print("\n".join(lines))
    return 0


def _show(file: str, page: str | None) -> int:
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
        document = json.loads(text)
        jitscope_widgets.validate(document)
    except (OSError, ValueError, jitscope_widgets.DocumentError) as error:
        print(f"jitscope: {file} cannot be shown: {viewing.reason(error)}", file=sys.stderr)
        return 1
    if page is None:
        print(jitscope_widgets.text(document))
    else:
        Path(page).write_text(jitscope_widgets.page(document), encoding="utf-8")
        print(f"{page} is written.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
