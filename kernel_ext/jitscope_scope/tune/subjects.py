"""What is tuned: a call's program, jitscope's own, with all that it takes to compile it in other ways, to run it, and to keep what was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from jitscope.backend import tuning_records
from jitscope.backend.arguments import Arguments
from jitscope.backend.caches import forget_calls
from jitscope.backend.call_arguments import CallArguments, copy_of
from jitscope.backend.compile import PreparedProgram, compilation_input, forget_program
from jitscope.backend.disk import programs as on_disk
from jitscope.backend.disk.key import DiskQuery
from jitscope.backend.guards import needs
from jitscope.control.callbacks import calls_python
from jitscope.control.discharge import uses_refs
from jitscope.core.errors import Unavailable
from jitscope.core.jaxpr import Jaxpr, equations_in
from jitscope.xla import client
from jitscope.xla.choice import Choice
from jitscope.xla.program import Executable, compile_options

from .. import asked_calls
from ..observe import Row, ledger
from ..observe.rerunning import rerun_of
from .space import ProgramFacts


MOST_BYTES = 4 << 30


class Subject(Protocol):
    """A program that can be compiled in several ways."""

    name: str
    library: str
    """Whose it is, "" for jitscope's own."""
    on: str
    """What it runs on, in words."""
    jaxpr: Jaxpr
    known: ProgramFacts

    @property
    def outputs(self) -> Sequence[tuple[tuple[int, ...], str]]:
        """The shapes and dtypes of what it gives."""
        ...

    @property
    def donated(self) -> Sequence[int]:
        """The program's arguments whose memory its results take."""
        ...

    def arguments(self) -> list[np.ndarray]:
        """What it runs on."""
        ...

    def module(self, choice: Choice) -> bytes:
        """Its MLIR, lowered so."""
        ...

    def options(self, choice: Choice) -> bytes:
        """XLA's options for it, serialized."""
        ...

    def runner(self, choice: Choice, code: bytes) -> tuple[Callable[[], list[Any]], Callable[[list[Any]], list[Any]]]:
        """What makes the buffers of a run, and what runs on them to the end and gives the results, in this process."""
        ...

    def take(self, kept: tuning_records.TuningRecord, code: bytes, module: bytes, seconds: float) -> str:
        """Compile it so from now on; "" where later sessions do, too, else why they do not."""
        ...

    def call(self, choice: Choice | None) -> Callable[..., Any]:
        """The function, compiled so; None: as it was."""
        ...

    def written(self, choice: Choice) -> str:
        """How the user writes that, "" where nothing has to be written."""
        ...


def prepared_call(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Any, PreparedProgram, Any]:
    """The jitted function of a call, its trace, what is compiled of it, and the call's leaves. The function is traced, not run. Raises
    Unavailable for a program that cannot be compiled in other ways."""
    jitted, args, kwargs = asked_calls.jitted(function, args, kwargs)
    with ledger().looking():
        traced = jitted.trace(*args, **kwargs)
    if traced._taken is not None:
        raise Unavailable(_REFERENCES.format(traced.fun_name))
    closed, donated = traced._pure
    options, keep = jitted._options, jitted._keep_unused
    made = compilation_input(closed, options, traced._device, donated, keep, traced._orders, tell=False)
    _check(traced.fun_name, made)
    return jitted, traced, made, Arguments(jitted._spec, args, kwargs, jitted._auto).leaves


_REFERENCES = "{} changes references, so running it again would change them: it is not tuned"


def prepared_row(row: Row) -> PreparedProgram:
    """What is compiled for a row of the ledger. Raises Unavailable where that is not known any more, and as `prepared_call`."""
    if row.library:
        raise Unavailable(f"programs of {row.library} are tuned one by one: %tune {row.function}(…)")
    entry, closed = row.needed("entry"), row.needed("closed")
    if uses_refs(closed.jaxpr):
        raise Unavailable(_REFERENCES.format(row.function))
    if row.takes is None or entry.executable.device is None:
        raise Unavailable(f"{row.function} did not run: call it first")
    keep = len(row.takes.arguments[1]) == len(closed.in_avals)
    made = compilation_input(closed, entry.options, entry.executable.device, row.takes.donated, keep, tell=False)
    _check(row.function, made)
    return made


def _check(name: str, made: PreparedProgram) -> None:
    jaxpr = made.closed.jaxpr
    if jaxpr.effects or calls_python(jaxpr):
        raise Unavailable(f"{name} calls Python functions or prints, so it is not run again and again: it is not tuned")
    if any(eqn.primitive.name == "ffi_call" for eqn in equations_in(jaxpr)):
        raise Unavailable(f"{name} calls foreign code that the process which compiles does not have: it is not tuned")
    if not made.tunable:
        raise Unavailable(
            f"{name} runs on several devices, or asks for an order of axes in memory: only programs of one device are tuned"
        )


def subject_of_row(row: Row) -> OwnSubject:
    """The program of a row, on the arguments of its call or on random numbers in their place (see `rerun_of`). Raises Unavailable as that
    and as `prepared_row`."""
    made = prepared_row(row)
    rerun = rerun_of(row)
    return OwnSubject(row.function, None, made, rerun.make(), rerun.on)


class OwnSubject:
    """A program of jitscope's."""

    library = ""

    def __init__(self, name: str, jitted: Any, made: PreparedProgram, bufs: list[Any], on: str):
        size = sum(map(client.nbytes, bufs))
        if size > MOST_BYTES:
            raise Unavailable(
                f"the arguments of {name} take {size / 1e9:.1f} GB, which are not copied into another process: it is not tuned"
            )
        self.name, self._jitted, self._made, self._bufs, self.on = name, jitted, made, bufs, on
        self.jaxpr = made.lifted.jaxpr
        self._modules: dict[Any, bytes] = {}
        flags = made.flags()
        fixed = {*dict(made.options), *needs(made.lifted.jaxpr)}
        self.known = ProgramFacts(flags, fixed, lowers=True)
        self.outputs: Sequence[tuple[tuple[int, ...], str]] = [(shape, dtype.name) for shape, dtype in made.outputs]
        self.donated: Sequence[int] = made.taken

    @classmethod
    def of_call(cls, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> OwnSubject:
        """The program of a call. Raises Unavailable as `prepared_call`."""
        jitted, traced, made, leaves = prepared_call(function, args, kwargs)
        arrays = CallArguments(leaves, traced._device).arrays()
        if arrays is None:
            raise Unavailable(f"{traced.fun_name} is tuned on arrays: shapes and dtypes are not enough")
        bufs = [*made.hidden, *[arrays[i].buf for i in made.kept]]
        return cls(traced.fun_name, jitted, made, bufs, "the arguments of the call")

    def arguments(self) -> list[np.ndarray]:
        """What it runs on."""
        return [np.asarray(client.to_numpy(buf)) for buf in self._bufs]

    def module(self, choice: Choice) -> bytes:
        """Its MLIR, lowered so."""
        key = choice._replace(flags=())
        if key not in self._modules:
            self._modules[key] = self._made.lowered(key)
        return self._modules[key]

    def options(self, choice: Choice) -> bytes:
        """XLA's options for it, serialized."""
        return compile_options(self._made.flags(choice)).SerializeAsString()

    def runner(self, choice: Choice, code: bytes) -> tuple[Callable[[], list[Any]], Callable[[list[Any]], list[Any]]]:
        """What makes the buffers of a run, and what runs on them."""
        executable = Executable.deserialize(code, self._made.outputs, self._made.device)

        def make() -> list[Any]:
            bufs = [copy_of(buf) if i in self.donated else buf for i, buf in enumerate(self._bufs)]
            client.block_until_ready(bufs)
            return bufs

        def run(bufs: list[Any]) -> list[Any]:
            outs = executable.run(bufs)
            client.block_until_ready(outs)
            return outs

        return make, run

    def take(self, kept: tuning_records.TuningRecord, code: bytes, module: bytes, seconds: float) -> str:
        """Compile it so from now on."""
        made = self._made
        place = made.place_on_disk(kept.choice)
        if isinstance(place, DiskQuery):
            on_disk.keep_code(place, self.name, code, module, seconds)
        why = tuning_records.keep(made.where, made.place_on_disk(), kept)
        _compile_anew(made)
        return why

    def call(self, choice: Choice | None) -> Callable[..., Any]:
        """The function: the program is compiled so whenever it is called."""
        return self._jitted

    def written(self, choice: Choice) -> str:
        """Nothing has to be written."""
        return ""


def _compile_anew(made: PreparedProgram) -> None:
    entry = forget_program(made)
    if entry is not None:
        forget_calls(entry)


def forget(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Compile the program of a call as the rules say again, now and in later sessions; whether it was tuned."""
    return _forget(prepared_call(function, args, kwargs)[2])


def forget_row(row: Row) -> bool:
    """The same of the program of a row."""
    return _forget(prepared_row(row))


def _forget(made: PreparedProgram) -> bool:
    known = tuning_records.forget(made.where, made.place_on_disk())
    if known:
        _compile_anew(made)
    return known
