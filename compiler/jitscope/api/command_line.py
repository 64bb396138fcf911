"""The debugger of breakpoints on the command line: it reads commands, and prints."""

from __future__ import annotations

import cmd
import pprint
import sys
import traceback
from collections.abc import Sequence
from typing import IO, Any


class CommandLine(cmd.Cmd):
    """Shows frames, innermost first, and evaluates expressions in them. Reads from `stdin` (None: as `input` does) and writes
    to `stdout`."""

    prompt = "(jdb) "

    def __init__(self, frames: Sequence[Any], stdin: IO[str] | None = None, stdout: IO[str] | None = None):
        super().__init__(stdin=stdin, stdout=stdout)
        self.use_rawinput = stdin is None
        self.frames, self.at = frames, 0

    def preloop(self) -> None:
        self.say("Entering jdb: values are those of the running program. Type an expression, or help")
        self.show(2)

    def say(self, text: str) -> None:
        print(text, file=self.stdout)

    def emptyline(self) -> bool:
        return False

    # Values

    def value(self, expression: str) -> Any:
        return eval(expression, self.frames[self.at].globals, self.frames[self.at].locals)

    def default(self, line: str) -> None:
        """Evaluate an expression and print it."""
        self._print(line, repr)

    def _print(self, expression: str, form: Any) -> None:
        try:
            self.say(form(self.value(expression)))
        except Exception as error:
            self.say(f"*** {traceback.format_exception_only(error)[-1].strip()}")

    def do_p(self, arg: str) -> None:
        """p EXPRESSION: evaluate and print it."""
        self._print(arg, repr)

    def do_pp(self, arg: str) -> None:
        """pp EXPRESSION: evaluate and print it, trees over several lines."""
        self._print(arg, pprint.pformat)

    def do_vars(self, arg: str) -> None:
        """vars: the variables of the frame."""
        for name, value in self.frames[self.at].locals.items():
            self.say(f"{name} = {value!r}")

    # Places

    def show(self, around: int) -> None:
        """The lines around the one where the frame is."""
        if not self.frames:
            self.say("(no frames)")
            return
        frame = self.frames[self.at]
        self.say(f"> {frame.filename}({frame.lineno}) {frame.function}")
        for number, line in enumerate(frame.source, frame.first):
            if abs(number - frame.lineno) <= around:
                self.say(f"{'->' if number == frame.lineno else '  '}  {line}")

    def do_list(self, arg: str) -> None:
        """l(ist): the lines around this one."""
        self.show(5)

    def do_up(self, arg: str) -> None:
        """u(p): go to the frame that called this one."""
        self._go(self.at + 1, "This is the outermost frame.")

    def do_down(self, arg: str) -> None:
        """d(own): go to the frame that this one called."""
        self._go(self.at - 1, "This is the innermost frame.")

    def _go(self, to: int, end: str) -> None:
        if 0 <= to < len(self.frames):
            self.at = to
        else:
            self.say(end)
        self.show(2)

    def do_where(self, arg: str) -> None:
        """w(here), bt: all frames, the innermost last."""
        self.say("Traceback:")
        for frame in reversed(self.frames):
            self.say(f'  File "{frame.filename}", line {frame.lineno}, in {frame.function}')
            line = frame.lineno - frame.first
            if 0 <= line < len(frame.source):
                self.say(f"    {frame.source[line].strip()}")

    # Going on

    def do_continue(self, arg: str) -> bool:
        """c(ontinue): go on with the program."""
        return True

    def do_quit(self, arg: str) -> None:
        """q(uit), exit: end the program (SystemExit)."""
        sys.exit(0)

    do_l, do_u, do_d = do_list, do_up, do_down
    do_w = do_bt = do_where
    do_c = do_cont = do_continue
    do_q = do_exit = do_EOF = do_quit


def run_debugger(
    frames: Sequence[Any], thread: int | None, stdin: IO[str] | None = None, stdout: IO[str] | None = None
) -> None:
    """Read commands until the program is to go on. Ctrl-C begins a new line."""
    debugger = CommandLine(frames, stdin, stdout)
    while True:
        try:
            debugger.cmdloop()
            return
        except KeyboardInterrupt:
            debugger.say("--KeyboardInterrupt--")
