"""The proof of an edit: the plain statements and the edited ones are run on the same copies, as recorded and perturbed, and compared."""

from __future__ import annotations

import ast
import builtins
import contextlib
import io
import math
import pickle
import sys
import traceback
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from types import CellType, FunctionType, MappingProxyType
from typing import Any

import numpy as np

from jitscope.backend.compiling_anew import compiling_anew

from . import ties, words
from .alarms import no_longer_than
from .answers import CannotCompile
from .clock import Seconds, Stopwatch, of_one
from .differences import Differences, arrays_in, joined, rounding_of, sensitivity
from .draws import states, states_kept
from .homes import attributes_of, data_of, has_value, is_array, is_users_object, variables_of
from .nearby_values import MOVED, perturbed
from .parts import ALLOWED, ALLOWED_32, EditText
from .sources import functions_of
from .watching import GENERATORS, Visit, equal_bits, snapshot


TINY = 1e-12
"""The share by which inputs are moved to see whether differences grow."""
DEEPEST = 6
"""Containers in containers are looked into so deep."""
GROWN = 0.1
"""They do, if this share of the difference comes of that."""
TIES, LOOKED = 9, 2.0
"""How many sets of inputs are looked through for comparisons that rounding decides, and after how many seconds no more."""
SETS = 3
"""How many perturbed sets of inputs are tried beside the recorded one."""
NEAREST = 1e-9
"""The share of a floating number by which it is moved at most where `MOVED` makes other work of it."""
TIMES_MORE = 4
"""Lists that get so many times longer on nearby values are of other work than was seen."""
UNWRITTEN = 1e100
"""Larger elements of arrays that stay as they are will be memory that nothing was written to (`np.empty`), and no measure of anything."""
LONGEST = 20
"""Seconds that the plain statements may take on nearby values."""
ENOUGH = 0.03
"""Seconds after which a compiled form was run often enough to say how long it takes."""
SINGLE = 2.0**-23
"""One rounding of 32 bits."""
ROUNDING = 64
"""A difference of so many units of rounding of the largest value is blamed on rounding, whatever is left of that value."""
_UNDER_A_BRANCH = (
    "a branch that values decide stores into an array of NumPy's, in a loop whose statements stay as they are"
)
_KEPT_ELSEWHERE = "a value that it computes stays in an object or container that is not followed"
ELSEWHERE = "a generator of random numbers would be left elsewhere"
_READ = frozenset(
    "ReadByPython ConcretizationTypeError TracerBoolConversionError TracerIntegerConversionError TracerArrayConversionError".split()
)
"""Errors that say that Python asks for a value."""
_OF_OBJECTS = frozenset(("ReadWhileItGrows", "FrozenInstanceError"))
"""Errors that say what objects do not let happen."""


@dataclass(frozen=True)
class Proof:
    """What was measured while proving: seconds of the plain statements, of the first and of a later run of the edited ones."""

    same: Differences
    eager_s: float
    first_s: float
    again_s: float
    noise: Mapping[str, float] = field(default_factory=dict)
    """How far names are apart in plain runs whose inputs differ by a rounding of 32 bits, where that was asked."""


class CompilesTooLong(Exception):
    """Compiling takes longer than the plain statements take in all their runs."""


@compiling_anew()  # what this session has compiled before, too: the price is that of the next one
def proof(
    body: tuple[ast.stmt, ...], edit: EditText, visit: Visit, live: set[str], line: int, most: float = math.inf
) -> Proof:
    """Runs both forms. Raises CannotCompile where they differ by more than rounding, in types, or in what they raise or warn of, and CompilesTooLong
    where the first run takes more than `most` seconds."""
    try:
        try:
            return _proof(body, edit, visit, live, line, most)
        except _Differs as reason:
            if edit.allowed <= ALLOWED or reason.hopeless or not (noise := _noise(body, visit)):
                raise
            return _proof(body, edit, visit, live, line, most, noise)
    except _Differs as reason:
        raise _explained(reason, body, visit) from None


def _proof(
    body: tuple[ast.stmt, ...],
    edit: EditText,
    visit: Visit,
    live: set[str],
    line: int,
    most: float,
    noise: Mapping[str, float] = MappingProxyType({}),
) -> Proof:
    plain = compile(ast.fix_missing_locations(ast.Module(list(body), [])), "<region>", "exec")
    define, call = edit.codes()
    around = frozenset(visit.values.keys() & visit.around.keys() - visit.own), visit.around
    found = [
        _one(
            plain,
            define,
            call,
            visit.values,
            live,
            line,
            allowed=edit.allowed,
            told_of=visit.told,
            dropped=visit.dropped,
            enclosed=visit.enclosed,
            shared=visit.shared,
            tests=edit.tests,
            around=around,
            most=most,
            noise=noise,
        )
    ]
    names: dict[str, object] = dict(found[0].edited)
    forms: list[Any] = [v for n, v in names.items() if n.startswith("region_") and n.endswith("_compiled")]
    ran = any(getattr(f, "traces", 0) or f._cache_size() for f in forms)
    if not ran and not all(eval(t, {**names, **visit.values}) for t in edit.kinds):
        raise CannotCompile(line, "object", "the compiled form is not the one that runs")
    passed: list[Seconds] = []
    while len(passed) < 3 or (len(passed) < 25 and sum(p.wall for p in passed) < ENOUGH):
        again = snapshot(visit.values)
        names = {**names, **again}
        with contextlib.redirect_stdout(io.StringIO()), states_kept(), _in_session(names, *around):
            watch = Stopwatch()
            exec(define, names)
            exec(call, names)
            _wait(names)
            passed.append(watch.passed())
    later = of_one(passed)
    moved = 0.0
    for k in range(SETS):
        near = lambda values: _one(
            plain,
            define,
            call,
            values,
            live,
            line,
            _kept(found[0].edited),
            edit.allowed,
            visit.told,
            visit.dropped,
            visit.enclosed,
            visit.shared,
            edit.tests,
            around,
            like=found[0].plain,
            noise=noise,
        )
        run, by = _first_that_runs(near, visit.values, k)
        moved = max(moved, sensitivity(found[0].plain, [run.plain], by, edit.allowed))
        found.append(run)
    otherwise = _decided_otherwise(body, visit, found, line, edit.allowed)
    same = joined([*(f.same for f in found), *otherwise])
    same = replace(same, rounding=max(same.rounding, moved))
    return Proof(same, min(f.plain_s for f in found[:1]), found[0].first_s, later, noise)


def _noise(body: tuple[ast.stmt, ...], visit: Visit) -> dict[str, float]:
    """How far results of the plain statements are apart whose inputs differ by some roundings of 32 bits; nothing where they raise."""
    plain = compile(ast.fix_missing_locations(ast.Module(list(body), [])), "<region>", "exec")
    first, found = dict[str, np.ndarray](), dict[str, float]()
    try:
        for k in range(SETS + 1):
            names = perturbed(visit.values, k, by=2 * SINGLE if k else 0.0)
            inside = at_home(names, visit.enclosed, visit.shared)
            quiet = contextlib.redirect_stdout(io.StringIO())
            with quiet, no_longer_than(LONGEST, _endless(0), computing=True), states_kept(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(plain, names, inside)
            for name in visit.after.keys() & names.keys():
                for text, x in arrays_in({name: names[name]}):
                    y = first.setdefault(text, x)
                    gaps = np.abs(x - y) if x.shape == y.shape else np.zeros(1)
                    moved = float(np.max(gaps, where=np.isfinite(gaps), initial=0.0))
                    found[name] = max(found.get(name, 0.0), moved)
    except Exception:
        return {}
    return found


def floor_of(name: str, floor: float, noise: Mapping[str, float]) -> float:
    """The largest value that a name's differences are measured by: more than `floor`, the largest that there is, where the plain statements make as
    much of a rounding of their inputs, but never so much that differences would be allowed beyond the share of `floor` that names have of their own."""
    return max(floor, min(noise.get(name, 0.0) / SINGLE / 8, floor * ALLOWED_32 / SINGLE / ROUNDING))


def _decided_otherwise(
    body: tuple[ast.stmt, ...], visit: Visit, runs: list[_Run], line: int, allowed: float
) -> list[Differences]:
    """What it makes of a difference if comparisons of numbers of 32 bits that are equal but for rounding are decided otherwise. Raises CannotCompile
    with the line of one, here or in a function, where that is more than is allowed, or is not known, on the recorded values or on others like
    these, which begin with the same ties."""
    others = ties.other_digits((f.plain, f.edited) for f in runs)
    watch, found = Stopwatch(), list[Differences]()
    said = ties.Comparisons(allowed > ALLOWED)
    functions, same = functions_of(body, visit.values), runs[0].plain.keys() - others
    with ties.noted(body, functions, others, same, said, {**visit.values, **visit.after}) as tree:
        if tree is None:
            return []
        code = compile(tree, "<region>", "exec")

        def run(k: int) -> tuple[dict[str, object], str]:
            values, text = perturbed(visit.values, k, by=MOVED if k else 0.0, alike=True), io.StringIO()
            with contextlib.suppress(Exception), warnings.catch_warnings(), states_kept():
                warnings.simplefilter("ignore")
                inside = at_home(values, visit.enclosed, visit.shared)
                values[ties.NAME] = said
                with contextlib.redirect_stdout(text), no_longer_than(LONGEST, _endless(0), computing=True):
                    exec(code, values, inside)
                return values, text.getvalue()
            return {}, "it raises"

        for k in range(TIES):
            if k and watch.seconds() > LOOKED:
                break
            plain, printed = run(k)
            if said.near is None and said.order is not None:
                said.otherwise = True
                other, printed_then = run(k)
                said.otherwise = False
                try:
                    if printed != printed_then:
                        raise CannotCompile(line, "differences", "")
                    names, floor = runs[0].plain.keys() & plain.keys(), largest(visit.values)
                    found += [compared(plain[n], other.get(n), n, line, allowed, floor) for n in sorted(names)]
                except CannotCompile:
                    said.near = said.order
            if said.near is not None:
                raise CannotCompile(said.near[0], "differences", said.near[1])
    return found


class _Differs(CannotCompile):
    """The values of a name would differ by more than is allowed."""

    def __init__(self, line: int, note: str, name: str, gap: float, hopeless: bool) -> None:
        """`hopeless` says that no noise of the plain statements would allow as much, see `floor_of`."""
        super().__init__(line, "differences", note)
        self.name, self.gap, self.hopeless = name, gap, hopeless


def _explained(reason: _Differs, body: tuple[ast.stmt, ...], visit: Visit) -> CannotCompile:
    """The reason, with what the plain statements make of a much smaller change of their inputs, where that grows likewise."""
    plain = compile(ast.fix_missing_locations(ast.Module(list(body), [])), "<region>", "exec")
    runs = [snapshot(visit.values), perturbed(visit.values, 0, by=TINY)]
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            for names in runs:
                inside = at_home(names, visit.enclosed, visit.shared)
                with no_longer_than(LONGEST, _endless(reason.cut.line), computing=True), states_kept():
                    exec(plain, names, inside)
        a, b = (np.asarray(data_of(names[reason.name])) for names in runs)
        moved = float(np.max(np.abs(a - b), where=np.isfinite(a) & np.isfinite(b), initial=0.0))
    except Exception:
        return reason
    if moved < reason.gap * GROWN:
        return reason
    note = f"differences grow: inputs moved by {TINY:.0e} of their size change `{reason.name}` by {moved:.1e}; {reason.cut.note}"
    return CannotCompile(reason.cut.line, "differences", note)


class _RaisedNearby(CannotCompile):
    """The plain statements raised."""


def _first_that_runs(
    near: Callable[[Mapping[str, object]], _Run], values: Mapping[str, object], seed: int
) -> tuple[_Run, float]:
    """The run on nearby values, and the share by which they were moved. What is computed with may have to stay in its range, as where it decides
    an index, and nearer than that where it is the end of a range, as the last of summed probabilities, or where far more is done than was seen."""
    for in_range, by in ((False, MOVED), (True, MOVED)):
        with contextlib.suppress(_RaisedNearby):
            return near(perturbed(values, seed, in_range, by)), by
    return near(perturbed(values, seed, in_range=True, by=NEAREST)), NEAREST


def _many(values: Mapping[str, object]) -> int:
    """How many elements the lists among values have."""
    return sum(len(v) for v in values.values() if type(v) is list)


@dataclass(frozen=True)
class _Run:
    same: Differences
    plain_s: float
    first_s: float
    plain: dict[str, object]
    """What the plain statements left behind, of what is compared."""
    edited: dict[str, object]


def _one(
    plain: object,
    define: object,
    call: object,
    values: Mapping[str, object],
    live: set[str],
    line: int,
    kept: Mapping[str, object] = MappingProxyType({}),
    allowed: float = ALLOWED,
    told_of: Mapping[str, str] = MappingProxyType({}),
    dropped: frozenset[str] = frozenset(),
    enclosed: frozenset[str] = frozenset(),
    shared: frozenset[str] = frozenset(),
    tests: tuple[str, ...] = (),
    around: tuple[Collection[str], Mapping[str, object]] = ((), MappingProxyType({})),
    most: float = math.inf,
    like: Mapping[str, object] = MappingProxyType({}),
    noise: Mapping[str, float] = MappingProxyType({}),
) -> _Run:
    a, b = snapshot(values), {**snapshot(values), **kept}
    inside = at_home(a, enclosed, shared)
    at_home(b, enclosed, shared)
    inputs = {n: (a[n], b[n]) for n in values if isinstance(values[n], np.ndarray) and n not in dropped}
    with warnings.catch_warnings(record=True) as told, states_kept():
        warnings.simplefilter("always")
        watch = Stopwatch()
        try:
            quiet = contextlib.redirect_stdout(said := io.StringIO())
            with (
                no_longer_than(LONGEST, _endless(line), computing=True),
                np.errstate(**told_of),  # type: ignore[arg-type]
                quiet,
                _in_session(a, *around),
            ):
                exec(plain, a, inside)  # type: ignore[arg-type]
        except CannotCompile:
            raise
        except Exception as error:
            raise _RaisedNearby(
                line, "exception", f"on nearby values the plain statements raise {type(error).__name__}"
            ) from None
        plain_s, ended = watch.seconds(), states()
    if like and _many({n: a[n] for n in like if n in a}) > TIMES_MORE * max(16, _many(like)):
        raise _RaisedNearby(line, "value read by Python", f"on nearby values lists get over {TIMES_MORE} times longer")
    if told and like:
        raise _RaisedNearby(
            line, "effect", f"NumPy warns on nearby values ({str(told[0].message)[:60]}), compiled code would not"
        )
    if told:
        raise CannotCompile(line, "effect", f"NumPy warns here ({str(told[0].message)[:60]}), compiled code would not")
    with warnings.catch_warnings(record=True) as told, states_kept():
        warnings.simplefilter("always")
        watch = Stopwatch()
        try:
            quiet = contextlib.redirect_stdout(also := io.StringIO())
            with no_longer_than(most, CompilesTooLong(), computing=True), quiet, _in_session(b, *around):
                exec(define, b)  # type: ignore[arg-type]
                if not all(eval(t, b) for t in tests):
                    raise CannotCompile(line, "object", "the compiled form is not the one that runs")
                exec(call, b)  # type: ignore[arg-type]
            _wait(b)
        except (CannotCompile, CompilesTooLong):
            raise
        except Exception as error:
            raise _refused(error, line) from None
        first_s, ended_too = watch.seconds(), states()
    if told:
        raise CannotCompile(line, "object", f"the compiled form warns ({str(told[0].message)[:60]})")
    if ended != ended_too:
        raise CannotCompile(line, "random", ELSEWHERE)
    if said.getvalue() != also.getvalue():
        raise CannotCompile(line, "input or output", "other digits would be printed")
    held = {
        n for n, v in values.items() if is_users_object(v) or isinstance(v, (list, dict, FunctionType, *GENERATORS))
    }
    pairs = {n: (a[n], b.get(n)) for n in a if n in live | held and not n.startswith("__")}
    left_alone = {n for n, pair in inputs.items() if all(equal_bits(values[n], v) for v in pair)}
    pairs.update({f"what was `{n}`": pair for n, pair in inputs.items() if n not in left_alone})
    unwritten = {n for n in left_alone if a[n] is inputs[n][0] and _magnitude(a[n], 0) > UNWRITTEN}
    floor = largest({n: v for n, v in a.items() if n not in unwritten})
    same = joined([compared(x, y, n, line, allowed, floor_of(n, floor, noise)) for n, (x, y) in pairs.items()])
    return _Run(same, plain_s, first_s, {n: x for n, (x, _) in pairs.items()}, b)


def _refused(error: Exception, line: int) -> CannotCompile:
    """Why the compiled form cannot be had, and the function of the cells in which that is seen, if it is in one."""
    kind, said = type(error).__name__, str(error)
    if kind == "UnexpectedTracerError":
        return CannotCompile(line, "object", _KEPT_ELSEWHERE)
    if kind == "StoredUnderABranch":
        return CannotCompile(line, "effect", _UNDER_A_BRANCH)
    passed = traceback.extract_tb(error.__traceback__)
    frames, own = ([f for f in passed if f.filename.startswith(of)] for of in ("<cell", "<edit"))
    where = f": `{frames[-1].line}` (in `{frames[-1].name}`)" if frames else ""
    called = f"{frames[-1].name}()" if frames else (own[-1].line or "" if own else "")
    if kind == "TypeError" and "unhashable" in said and "Trace" in said:
        return CannotCompile(
            line, "object", f"a dict or a set is asked with a value that is not known while tracing{where}", called
        )
    if kind == "TypeError" and said.startswith("or "):
        return CannotCompile(line, "value read by Python", f"`int` cuts a floating number of an array{where}", called)
    word = "value read by Python" if kind in _READ else "object" if kind in _OF_OBJECTS else "shape"
    return CannotCompile(line, word, f"the compiled form is refused: {_first_line(error)}{where}", called)


class _Variables(MutableMapping[str, object]):
    """The names of the statements; functions that keep some of them see what the statements bind."""

    def __init__(self, names: dict[str, object], cells: Mapping[str, CellType]) -> None:
        self.names, self.cells = names, cells

    def __getitem__(self, name: str) -> object:
        return self.names[name]

    def __setitem__(self, name: str, value: object) -> None:
        self.names[name] = value
        if name in self.cells:
            self.cells[name].cell_contents = value

    def __delitem__(self, name: str) -> None:
        del self.names[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


def at_home(names: dict[str, object], enclosed: frozenset[str], shared: frozenset[str]) -> MutableMapping[str, object]:
    """Lets the functions of the cell see these names, and not the session's; what they keep of `enclosed` names as well. The variables of
    statements that are run beside them: of `shared` ones the functions see what is bound."""
    names |= {"__builtins__": builtins, "__name__": "__main__"}
    cells = {n: CellType() for n in enclosed}
    for n, f in names.items():
        if isinstance(f, FunctionType) and words.of_users(f):
            kept = f.__closure__ and tuple(
                cells.get(v, c) for v, c in zip(f.__code__.co_freevars, f.__closure__, strict=True)
            )
            names[n] = new = FunctionType(f.__code__, names, f.__name__, f.__defaults__, kept)
            new.__kwdefaults__ = f.__kwdefaults__
    for n, cell in cells.items():
        cell.cell_contents = names[n]
    return _Variables(names, {n: cells[n] for n in shared}) if shared else names


@contextlib.contextmanager
def _in_session(names: Mapping[str, object], which: Collection[str], session: Mapping[str, object]) -> Iterator[None]:
    """Lets methods, and functions that objects keep, see these values where they read names of the session."""
    before = {n: session[n] for n in which if not isinstance(names[n], (FunctionType, type))}
    assert isinstance(session, MutableMapping) or not before
    session.update({n: names[n] for n in before})  # type: ignore[attr-defined]
    try:
        yield
    finally:
        session.update(before)  # type: ignore[attr-defined]


def _kept(names: Mapping[str, object]) -> dict[str, object]:
    """What an edit keeps for the cell's next run: its compiled function, and of which text it is."""
    return {n: v for n, v in names.items() if n.startswith("region_") and n.endswith(("_code", "_compiled"))}


def _endless(line: int) -> CannotCompile:
    return CannotCompile(
        line, "value read by Python", f"on nearby values the loop does not stop within {LONGEST} s of computing"
    )


def _wait(names: Mapping[str, object]) -> None:
    for v in names.values():
        if is_array(v):
            v.block_until_ready()  # type: ignore[attr-defined]


def _first_line(error: Exception) -> str:
    return (
        f"{type(error).__name__}: {str(error).strip().splitlines()[0][:160]}"
        if str(error).strip()
        else type(error).__name__
    )


def largest(values: Mapping[str, object]) -> float:
    """The largest finite magnitude among floating values, those in containers and objects among them: what is left of their differences is exact
    to their rounding alone."""
    return max((_magnitude(v, DEEPEST) for v in values.values()), default=0.0)


def _magnitude(value: object, depth: int) -> float:
    """The largest finite magnitude of a value, or of what is in it down to a depth."""
    if (
        isinstance(value, (float, np.floating))
        or (isinstance(value, np.ndarray) and value.dtype.kind in "fc")
        or is_array(value)
    ):
        x = np.abs(np.asarray(data_of(value)))
        return float(np.max(x, where=np.isfinite(x), initial=0.0)) if x.dtype.kind == "f" and x.size else 0.0
    inside: Collection[object] = ()
    if isinstance(value, (list, tuple)):
        inside = value
    elif isinstance(value, dict):
        inside = value.values()
    elif is_users_object(value):
        inside = attributes_of(value).values()
    return max((_magnitude(v, depth - 1) for v in inside), default=0.0) if depth else 0.0


def compared(a: object, b: object, name: str, line: int, allowed: float = ALLOWED, floor: float = 0.0) -> Differences:
    """How far `b` is from `a`. Raises CannotCompile for other types, shapes and dtypes, and for differences that rounding does not explain."""
    if type(a) is not type(b):
        raise CannotCompile(
            line, "object", f"`{name}` would become a {type(b).__name__} ({type(a).__name__} in the plain cell)"
        )
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        if len(a) != len(b):
            raise CannotCompile(line, "differences", f"`{name}` would have {len(b)} elements, not {len(a)}")
        if len(kinds := {type(x) for x in [*a, *b]}) == 1 and issubclass(
            next(iter(kinds)), (float, complex, np.inexact)
        ):
            a, b = np.array(a), np.array(b)  # a history of numbers has a size as a whole, as an array has
            return compared(a, b, name, line, allowed, floor)
        return joined([compared(x, y, name, line, allowed, floor) for x, y in zip(a, b, strict=True)])
    if isinstance(a, dict) and isinstance(b, dict):
        if a.keys() != b.keys():
            raise CannotCompile(line, "object", f"`{name}` would have other keys")
        return joined([compared(a[k], b[k], name, line, allowed, floor) for k in a])
    if is_users_object(a) and is_users_object(b):
        return compared(attributes_of(a), attributes_of(b), name, line, allowed, floor)
    if isinstance(a, FunctionType) and isinstance(b, FunctionType):
        own, others = ({k: c.cell_contents for k, c in variables_of(f).items() if has_value(c)} for f in (a, b))
        return compared(own, others, name, line, allowed, floor)
    if isinstance(a, GENERATORS) and pickle.dumps(a) != pickle.dumps(b):
        raise CannotCompile(line, "random", ELSEWHERE)
    if isinstance(a, (str, bytes)) and a != b:
        raise CannotCompile(line, "differences", f"`{name}` would be another text")
    if not (isinstance(a, (np.ndarray, np.generic, int, float, complex)) or is_array(a)):
        return Differences()
    if str(getattr(a, "dtype", "")) != str(getattr(b, "dtype", "")):
        raise CannotCompile(line, "object", f"`{name}` would be {b.dtype}, it is {a.dtype}")  # type: ignore[attr-defined]
    x, y = np.asarray(data_of(a)), np.asarray(data_of(b))
    if x.dtype != y.dtype or x.shape != y.shape:
        raise CannotCompile(
            line, "object", f"`{name}` would be {y.dtype}{list(y.shape)}, it is {x.dtype}{list(x.shape)}"
        )
    if x.dtype.kind in "fc" and not x.dtype.hasobject:
        return _floats(x, y, name, line, allowed, floor)
    if not np.array_equal(x, y):
        raise CannotCompile(line, "differences", f"`{name}` would have other values")
    return Differences()


def _floats(x: np.ndarray, y: np.ndarray, name: str, line: int, allowed: float, floor: float) -> Differences:
    one = rounding_of(x, floor, allowed)
    if x.tobytes() == y.tobytes():
        return Differences(bits=True, rounding=one)
    good = np.isfinite(x)
    if not np.array_equal(good, np.isfinite(y)) or not np.array_equal(x[~good], y[~good], equal_nan=True):
        raise CannotCompile(line, "differences", f"`{name}` would be infinite or NaN elsewhere")
    p, q = x[good].astype(np.result_type(x, np.float64)), y[good].astype(np.result_type(y, np.float64))
    gaps, sizes = np.abs(p - q), np.abs(p)
    if not gaps.size:
        return Differences(rounding=one)
    gap, scale = float(gaps.max()), float(sizes.max())
    with np.errstate(all="ignore"):
        rel = np.where(gaps > 0, gaps / np.maximum(sizes, np.finfo(np.float64).tiny), 0.0)
        ulps = gaps / np.spacing(np.maximum(sizes, np.finfo(x.dtype).tiny).astype(np.finfo(x.dtype).dtype))
    ulp = min(float(ulps.max()), sys.float_info.max)
    allowed = allowed if x.dtype in (np.float64, np.complex128) else ALLOWED_32
    rounding = ROUNDING * rounding_of(np.zeros(1, x.dtype), floor, allowed)
    if gap > max(allowed * max(scale, 1e-300), rounding):
        said = f"`{name}` would differ by {gap:.1e} (values up to {scale:.1e}), more than is allowed"
        raise _Differs(line, said, name, gap, hopeless=gap > ALLOWED_32 * max(scale, floor))
    smallest = float(np.min(sizes, where=sizes > 0, initial=math.inf))
    return Differences(gap, float(rel.max()), False, ulp, one, smallest)
