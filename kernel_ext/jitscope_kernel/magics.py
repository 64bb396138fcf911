"""The magics. Each asks for a document or a text and shows it; `jitscope_kernel.inspection` has the same as Python functions."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import (
    Magics,
    cell_magic,
    line_cell_magic,
    line_magic,
    magics_class,
    needs_local_scope,
    no_var_expand,
)
from IPython.core.magic_arguments import MagicArgumentParser, argument, magic_arguments
from traitlets import Bool, Enum, List, Unicode

from jitscope_scope.advise import CATALOGUE
from jitscope_scope.advise.pages import page_text
from jitscope_scope.observe import Unavailable

from . import expressions, inspection, output, request as requests
from .jax_cells import SETTINGS
from .nans import NanHunt
from .output import Document
from .stepping import Stepped


if TYPE_CHECKING:
    from .on_target import Part
    from .session import Session


HELP = argument("-h", "--help", action="store_true", help="Show this help and exit.")
TARGET = argument(
    "--target",
    metavar="TARGET",
    help="For a chip that is not here: h100, v5e:2x2, several with commas; nothing is run.",
)
EXPRESSION = argument("expression", nargs="*", help="A call such as f(x), or an expression of arrays.")


Names = dict[str, Any]


def _inspected(expression: str, names: Names) -> inspection.Inspection:
    call = expressions.read(expression, names)
    return inspection.look_at(call.function, call.args, call.kwargs)


def of_a_call(
    *options: Any, read: Callable[[str, Names], Any] = _inspected, on_target: Part | None = None
) -> Callable[[Any], Any]:
    """A line magic about a call, with options of its own. The method is given those of a line, and what `read` makes of the
    expression, which may use names. Where it shows something `on_target`, `--target` has that shown in its place."""
    options = options if on_target is None else (*options, TARGET)

    def decorate(method: Any) -> Any:
        @_said_briefly
        @functools.wraps(method)
        def magic(self: Any, line: str, local_ns: Names | None = None) -> None:
            parser = parser_of(getattr(self, method.__name__))
            chosen, expression = _split(parser, line)
            if chosen & {"-h", "--help"}:
                return print(_help_text(parser))
            if not expression:
                raise UsageError(f"%{method.__name__} needs an expression, such as %{method.__name__} f(x)")
            found = read(expression, self.shell.user_ns | (local_ns or {}))
            if on_target is not None and (asked := _target(chosen)):
                return found.show_on(asked, on_target)
            return method(self, chosen, found)

        for decorator in (line_magic, needs_local_scope, no_var_expand, HELP, EXPRESSION, *reversed(options)):
            magic = decorator(magic)
        return magic_arguments()(magic)

    return decorate


def _said_briefly(method: Any) -> Any:
    """What cannot be shown is said in a sentence, without a traceback through our code."""

    @functools.wraps(method)
    def magic(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except Unavailable as missing:
            raise UsageError(str(missing)) from None

    return magic


@magics_class
class JitscopeMagics(Magics):
    """The magics of one session."""

    watch = Enum(
        SETTINGS,
        "marked",
        help="The cells that show what jax compiled: 'all', those 'marked' with %%jit (others have one line), or 'none'.",
    ).tag(config=True)
    regions = Bool(
        False,
        help="Whether a line stands below cells with loops that took a second or more: %regions says what could be compiled.",
    ).tag(config=True)
    ignore = List(Unicode(), help="Ids of sharp bits that are left out, such as 'key-reuse'.").tag(config=True)

    def __init__(self, shell: InteractiveShell, session: Session) -> None:
        super().__init__(shell)
        self._session = session

    @magic_arguments()
    @argument("names", nargs="*", metavar="NAME", help="Compile only these functions of the cell.")
    @argument("--skip", action="append", default=[], metavar="NAME", help="Leave this function as it is.")
    @argument(
        "--static",
        action="append",
        default=[],
        metavar="FUNCTION:PARAMETER[,PARAMETER]",
        help="Make parameters part of the program: each of their values gets its own.",
    )
    @argument(
        "--donate",
        action="append",
        default=[],
        metavar="FUNCTION:PARAMETER[,PARAMETER]",
        help="Let results take the memory of these arguments, which are gone after the call.",
    )
    @argument(
        "--max-compiles",
        type=int,
        metavar="N",
        help="Fail when a function is compiled more than N times while the cell runs, and say why. Of jax's functions it is said below the cell.",
    )
    @argument("--quiet", action="store_true", help="Show nothing below the cell.")
    @argument(
        "--with",
        action="append",
        default=[],
        dest="instruments",
        metavar="INSTRUMENT[,INSTRUMENT]",
        help="Also show what these instruments find in each program, such as passes. Each takes time of its own.",
    )
    @argument(
        "--profile",
        action="append_const",
        const="profile",
        dest="instruments",
        help="The same as --with profile: run each program again for about two seconds, and show what its kernels and lines take.",
    )
    @argument(
        "--vs",
        metavar="NAME",
        help="Compare the functions of this cell with the function NAME as it was before: which is faster, what differs.",
    )
    @argument(
        "--target",
        metavar="TARGET",
        help="Also show what XLA's compiler for other chips makes of it, without having them: h100, v5e:2x2, cpu,h100; jitscope.targets() lists "
        "them. Nothing is run for that. cuda and cuda:sm_90 show the StableHLO alone.",
    )
    @argument(
        "--tune",
        action="append_const",
        const="tune",
        default=[],
        dest="tuning",
        help="Also tune each program of this cell, as %%tune does (about 20 seconds each): later runs and sessions take what was faster.",
    )
    @argument(
        "--untune",
        action="append_const",
        const="untune",
        dest="tuning",
        help="Forget what the programs of this cell were tuned to.",
    )
    @argument("--nans", action="store_true", help="If a result has a NaN, show where the first one comes from.")
    @HELP
    @no_var_expand
    @cell_magic
    def jit(self, line: str, cell: str) -> Any:
        """Compile the functions this cell defines, and show what became of them.

        Plain functions at the cell's top level with at least one parameter are compiled: decorated and nested ones,
        methods, lambdas, generators and async functions stay as they are. Otherwise the cell runs as without %%jit.
        f.__wrapped__ is the Python function.
        """
        if requests.read(parser_of(self.jit), line).help:
            return _help(self.jit)
        return self._session.run(line, cell)

    @of_a_call(argument("--graph", action="store_true", help="Show it as a graph."), read=expressions.read)
    def jaxpr(self, options: set[str], call: expressions.Call) -> None:
        """Show the traced program of a call; the function is traced, not run.

        %jaxpr f(x)             the program of f
        %jaxpr jx.grad(f)(x)    the program of its gradient
        %jaxpr x @ w + b        an expression, as a function of the arrays it names
        """
        closed, graph = inspection.trace(call.function, call.args, call.kwargs)
        if "--graph" in options:
            output.show(graph)
        else:
            output.show_text(inspection.text_of(closed))

    @of_a_call(read=expressions.read)
    def step(self, options: set[str], call: expressions.Call) -> None:
        """Show the trace of a call line by line: what each name of Python's frame stands for, and the tape that grows. The function's Python
        code runs once more, on tracers; nothing is compiled. An error ends the steps at its line."""
        output.show(Stepped(call.function, call.args, call.kwargs, call.name).document)

    @of_a_call(
        argument("--before", action="store_true", help="The HLO before XLA's passes."),
        argument("--stablehlo", action="store_true", help="The StableHLO that the compiler is given."),
        on_target="hlo",
    )
    def hlo(self, options: set[str], seen: inspection.Inspection) -> None:
        """Show the compiled program of a call as text: the HLO after XLA's passes. The function is traced, not run."""
        if "--stablehlo" in options:
            output.show_text(seen.stablehlo)
        else:
            output.show_text(seen.hlo_before if "--before" in options else seen.hlo)

    @of_a_call(
        argument(
            "--again",
            action="store_true",
            help="Compile a program of jax's once more if its persistent cache had it from another process, to know its lines.",
        ),
        on_target="",
    )
    def fusion(self, options: set[str], seen: inspection.Inspection) -> None:
        """Show what XLA fused in the program of a call, before and after. The function is traced, not run.

        %fusion f(x)                  for the CPU
        %fusion --target=h100 f(x)    for a chip that is not here, with XLA's reasons
        """
        output.show((seen.again() if "--again" in options else seen).fusion.document)

    @of_a_call()
    def transformations(self, options: set[str], seen: inspection.Inspection) -> None:
        """Show the jaxpr before and after each transformation (jvp, linearize, transpose, vmap) that a call goes through. The function's
        Python code runs once more for that, on tracers."""
        output.show(seen.transformations.document)

    @of_a_call(on_target="passes")
    def passes(self, options: set[str], seen: inspection.Inspection) -> None:
        """Show what each of XLA's passes did to the program of a call. It is compiled twice more for that; the function is traced,
        not run."""
        output.show(seen.passes.document)

    @of_a_call(
        argument("--text", action="store_true", help="All of LLVM's IR after its passes as plain text."),
        on_target="code",
    )
    def llvm(self, options: set[str], seen: inspection.Inspection) -> None:
        """Show LLVM's IR of the kernels of a call's program, before and after LLVM's passes. The program is compiled once more for
        that; the function is traced, not run."""
        if "--text" in options:
            output.show_text(seen.llvm)
        elif seen.chip:
            seen.show_on(seen.chip, "code")
        else:
            output.show(seen.machine.document | {"opens": "llvm"})

    @of_a_call(argument("--text", action="store_true", help="All of the machine code as plain text."), on_target="code")
    def asm(self, options: set[str], seen: inspection.Inspection) -> None:
        """Show the machine code of the kernels of a call's program, with its loops. The program is compiled once more for LLVM's IR;
        the function is traced, not run. With --target: PTX and LLVM's IR."""
        if "--text" in options:
            output.show_text(seen.asm)
        elif seen.chip:
            seen.show_on(seen.chip, "code")
        else:
            output.show(seen.machine.document)

    @of_a_call(on_target="memory")
    def memory(self, options: set[str], seen: inspection.Inspection) -> None:
        """Show the memory of the program of a call over its schedule: every buffer with its line, the peak and what is alive then. It
        is compiled once more for that; the function is traced, not run."""
        output.show(seen.memory.document)

    @of_a_call(
        argument(
            "--measure", action="store_true", help="Run the program for about a second: the time of each collective."
        ),
        on_target="collectives",
    )
    def communication(self, options: set[str], seen: inspection.Inspection) -> None:
        """Show what the devices of a call's program exchange: its collectives with their bytes, axes and lines, and how arguments and
        results lie beside what was asked for. The function is traced and compiled, not run."""
        output.show((seen.communication_times if "--measure" in options else seen.communication).document)

    @of_a_call(read=inspection.shardings)
    def sharding(self, options: set[str], documents: Iterable[Document]) -> None:
        """Show which device has which part of an array: %sharding x, or of each array of a tree. The expression is evaluated."""
        for document in documents:
            output.show(document)

    @of_a_call()
    def profile(self, options: set[str], seen: inspection.Inspection) -> None:
        """Show what each kernel and each line of a call's program takes, and whether memory, arithmetic or overhead bounds it.

        The program runs again for about two seconds on these arguments, half of the time under XLA's profiler; the first time, a
        second more to measure this machine. The function's Python code is only traced.
        """
        output.show(seen.profile.document)

    @of_a_call()
    def values(self, options: set[str], seen: inspection.Inspection) -> None:
        """Show the values that the program of a call computes: statistics of each, the first NaN, histograms, pictures. The function
        is traced; its program is run equation by equation on these arguments, and once as it is compiled."""
        output.show(seen.values.document)

    @of_a_call()
    def timejit(self, options: set[str], seen: inspection.Inspection) -> None:
        """Show how long a call takes to trace, lower and compile, and how long its program runs.

        The program is run many times, on these arguments; the function's Python code is only traced.
        """
        output.show(seen.measure().timing.document)

    @of_a_call(
        argument("--seconds", metavar="S", help="About how long it may take, 20 if nothing is said."),
        argument(
            "--tolerance",
            metavar="R",
            help="The relative difference of results that is allowed (half of their digits if nothing is said; 0: all bits equal).",
        ),
        argument("--untune", action="store_true", help="Forget what the program of this call was tuned to."),
        read=expressions.read,
    )
    def tune(self, options: set[str], call: expressions.Call) -> None:
        """Race other ways to compile a call against the program as it is, and keep the fastest if it is faster beyond doubt.

        %tune f(x)               for about 20 seconds; from then on f is compiled so, in later sessions, too
        %tune --seconds 60 f(x)  for a larger program
        %tune --untune f(x)      as before

        The function is traced; its program runs many times on these arguments, first in a process of its own. Ctrl-C leaves everything as
        it was. For a function of jax's the card has the call with compiler_options.
        """
        from . import tuning

        if "--untune" in options:
            return output.say(tuning.forgotten(call.name, tuning.untune(call.function)(*call.args, **call.kwargs)))
        seconds, tolerance = (_number(options, name) for name in ("--seconds", "--tolerance"))
        seconds = tuning.SECONDS if seconds is None else seconds
        tuning.show_call(call.function, call.args, call.kwargs, seconds, tolerance)

    @of_a_call(
        argument(
            "--callbacks",
            action="store_true",
            help="Hunt even if the function calls Python: that code runs again, several times.",
        ),
        read=expressions.read,
    )
    def nans(self, options: set[str], call: expressions.Call) -> None:
        """Show where the first NaN of a call comes from: operation, line, iteration, numbers, cause, and a fix that was checked.

        %nans loss(params, x)             of the result
        %nans jx.grad(loss)(params, x)    of the gradient: the backward pass is searched, too

        The call runs again, compiled with flags; without a NaN, the first infinity is looked for.
        """
        output.show(NanHunt(call.function, call.args, call.kwargs, "--callbacks" in options, call.name).document)

    @magic_arguments()
    @argument("function", nargs="?", help="Only this function.")
    @HELP
    @line_magic
    @_said_briefly
    def recompiles(self, line: str) -> None:
        """Show what was compiled or traced more than once, and what to do: a card for each function and cause, those that cost
        most time first."""
        options: Any = parser_of(self.recompiles).parse_argstring(line)
        if options.help:
            return _help(self.recompiles)
        name = options.function
        output.show(inspection.recompiles(self._session.shell.user_ns.get(name), name).document)
        self._session.recompiles_shown(name)

    @magic_arguments()
    @argument(
        "listen", nargs="?", choices=("on", "off"), help="Look at the values of runs from now on (slow), or stop that."
    )
    @argument("--ignore", action="append", default=[], metavar="ID", help="Ignore this sharp bit from now on.")
    @argument("--hear", action="append", default=[], metavar="ID", help="Report an ignored sharp bit again.")
    @argument("--explain", metavar="ID", help="Say what this sharp bit is about, with an example.")
    @HELP
    @line_magic
    def sharpbits(self, line: str) -> None:
        """Show the sharp bits that this session's cells step on: code that means something else to a tracing compiler than to
        Python.

        %sharpbits        those that the code and its compilations show
        %sharpbits on     look at the values of the cells to come as well: NaNs, integers that wrap, indices out of bounds

        A comment `# jitscope: ok ID` leaves one out in its line, --ignore ID in this session, and c.JitscopeMagics.ignore =
        ["ID"] in IPython's configuration in all sessions.
        """
        options: Any = parser_of(self.sharpbits).parse_argstring(line)
        if options.help:
            return _help(self.sharpbits)
        if options.explain:
            return _explain(options.explain)
        for id in options.ignore:
            self._session.ignore(id)
        self.ignore = [id for id in self.ignore if id not in options.hear]
        if options.listen:
            self._session.sharp_bits.listen(options.listen == "on")
        elif options.ignore or options.hear:
            print(f"Ignored in this session: {', '.join(self.ignore) or 'nothing'}.")
        else:
            output.show(self._session.sharp_bits.document())

    @magic_arguments("%regions")
    @argument("--session", action="store_true", help="All cells so far, run again in a process of their own.")
    @argument("--runs", type=int, metavar="N", help="How often the cell will run; without it, as often as it has run.")
    @argument("--apply", action="store_true", help="Put the cell with the edits into the next cell.")
    @HELP
    @line_cell_magic("regions")
    def say_regions(self, line: str, cell: str | None = None) -> None:
        """Say which loops and stretches of array operations could be compiled, what that would cost, and how.

        %%regions              run the cell below it, watched
        %regions               the last cell, run once more on copies of today's values
        %regions --session     all cells so far

        Nothing is compiled for the cell itself, and nothing is changed without --apply.
        """
        options: Any = parser_of(self.say_regions).parse_argstring(line)
        if options.help:
            return _help(self.say_regions)
        if options.runs is not None and options.runs < 1:
            raise UsageError("%regions: --runs takes how often the cell runs, a number from 1")
        from . import regions_cells

        shell: Any = self.shell
        if options.session:
            return output.show(regions_cells.of_session(shell, options.runs))
        found = (
            regions_cells.of_cell(shell, line, cell, options.runs or 1, self._session.cell_id(), self._session.number())
            if cell
            else regions_cells.of_last_cell(shell, options.runs, self._session.name)
        )
        output.show(found[0])
        if options.apply and found[1] is not None:
            shell.set_next_input(found[1])
        elif options.apply:
            print("There is no edit to apply: nothing was found that is worth compiling.")

    @magic_arguments()
    @HELP
    @line_magic
    def ledger(self, line: str) -> None:
        """Show all compilations of this session."""
        options: Any = parser_of(self.ledger).parse_argstring(line)
        if options.help:
            return _help(self.ledger)
        output.show(inspection.ledger().document)


def _number(options: set[str], name: str) -> float | None:
    """The value of an option that takes a number from 0; None where it was not given. Raises UsageError for anything else."""
    text = next((one.partition("=")[2] for one in options if one.startswith(f"{name}=")), None)
    try:
        value = None if text is None else float(text)
    except ValueError:
        value = -1.0
    if value is not None and not 0 <= value < float("inf"):
        raise UsageError(f"{name} takes a number from 0, not {text}")
    return value


def _explain(id: str) -> None:
    if id not in CATALOGUE:
        raise UsageError(f"there is no sharp bit {id!r}; %sharpbits --explain takes one of: {', '.join(CATALOGUE)}")
    print(page_text(id))


def parser_of(magic: Any) -> MagicArgumentParser:
    """What `magic_arguments` made of a magic's arguments."""
    return magic.parser


def _target(options: set[str]) -> str:
    """What `--target` names; "" without it."""
    return next((option.partition("=")[2] for option in options if option.startswith("--target=")), "")


def _split(parser: MagicArgumentParser, line: str) -> tuple[set[str], str]:
    """The options at the line's beginning or end, and the expression: it is Python, not words."""
    options, rest = set(), _in_front(parser, line.strip())
    while match := re.match(r"(--?[a-z][a-z-]*)(?:=(\S+))?(\s+|$)", rest):
        action = parser._option_string_actions.get(match[1])
        if action is None or (match[2] and action.nargs == 0):
            if match[1].startswith("--"):
                raise UsageError(f"there is no option {match[1]}; %{parser.prog} -h lists what there is")
            break  # a minus sign
        rest = rest[match.end() :]
        value = match[2]
        if action.nargs != 0 and value is None:
            value, _, rest = rest.partition(" ")
            if not value:
                raise UsageError(f"{match[1]} needs a value; %{parser.prog} -h lists what there is")
        options.add(f"{match[1]}={value}" if value else match[1])
    return options, rest


_BEHIND = re.compile(r"(.*\S)\s+(--[a-z][a-z-]*)(?:(?:=|\s+)([^\s-]\S*))?", re.DOTALL)
"""An expression and an option behind it, with its value if it has one."""


def _in_front(parser: MagicArgumentParser, line: str) -> str:
    """A line with the options that stand behind its expression in front of it."""
    moved: list[str] = []
    while match := _BEHIND.fullmatch(line):
        action = parser._option_string_actions.get(match[2])
        if action is None or (action.nargs == 0) is not (match[3] is None):
            break
        moved.append(f"{match[2]}={match[3]}" if match[3] else match[2])
        line = match[1]
    return " ".join([*moved, line])


def _help_text(parser: MagicArgumentParser) -> str:
    """What a magic says of itself, without the marks by which a docstring would show its usage as code."""
    return parser.format_help().removeprefix("::").strip("\n")


def _help(magic: Any) -> None:
    print(_help_text(parser_of(magic)))
