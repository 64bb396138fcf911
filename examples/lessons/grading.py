"""Tasks that are graded by running what the reader wrote.

    verdict = grade(mine, same_as(original, draw), programs(1, calls), equations(at_most=20))

`mine` is the reader's function. Each requirement runs it and says what is wrong, in words; the first complaint is the verdict. A `draw`
gives the arguments of one call: `lambda rng: (rng.normal(size=5),)`, with NumPy's random generator. What is expected comes from the original
function, from NumPy, or from finite differences, never from a stored answer.
"""

import contextlib
import inspect
import io
import re
import textwrap

import numpy as np
import real_jax
from predict import Verdict, cards

import jitscope
from jitscope.core.words import counted
from jitscope_scope.advise import look, program
from jitscope_scope.observe import ledger
from jitscope_scope.regions import Cell
from jitscope_scope.regions.finding import Watch


jx = real_jax.library()


class Complaint(Exception):
    """A requirement that is not met, in words for the reader."""


def grade(function, *requirements, seed=0, name=None):
    """The verdict on a function: "Right", with what was found out, or "Not yet" with the first thing that is wrong. Nothing that the
    function does can raise here."""
    name = name or getattr(function, "__name__", "your function")
    if function is ... or not callable(function):
        return Verdict(
            "Not yet", f"Nothing to run yet: in place of the dots belongs a function, not {_shortly(function)}."
        )
    said = []
    cards(False)  # what is compiled again only to be looked at
    try:
        for requirement in requirements:
            said.append(requirement(function, np.random.default_rng(seed)))
    except Complaint as complaint:
        return Verdict("Not yet", f"{name}: {complaint}")
    return Verdict("Right", f"{name}: {'; '.join(said)}.")


def called(function, *args):
    """The result of a call; what it raises is a complaint."""
    try:
        result = jx.block_until_ready(function(*args))
    except NotImplementedError:
        raise Complaint("it is not written yet. Write it in the cell above, and run both cells again.") from None
    except Exception as error:
        first = str(error).strip().partition("\n")[0]
        dots = " Are the dots still there?" if "ellipsis" in first.lower() else ""
        raise Complaint(f"a call {_call(args)} raises {type(error).__name__}: {first.rstrip('.')}.{dots}") from None
    if result is ... or (result is None):
        raise Complaint(f"a call {_call(args)} gives {result!r}. Does it return what it computed?")
    return result


# --- requirements -----------------------------------------------------------------------------------------------------


def same_as(reference, draw, draws=5, tolerance=1e-4):
    """The results of both functions agree on `draws` random inputs: how many arrays there are, their shapes and numbers (relative to the
    largest one)."""

    def requirement(function, rng):
        for _ in range(draws):
            args = draw(rng)
            agree(called(function, *args), reference(*args), args, tolerance)
        return f"the same as it should be on {draws} inputs that it had not seen"

    return requirement


def agree(found, wanted, args, tolerance=1e-4):
    """Raises Complaint where a result differs from what it should be: in how many arrays it has, in their shapes, or in their numbers."""
    mine, theirs = _by_path(found), _by_path(wanted)
    if len(mine) != len(theirs):
        lacks, more = [path for path in theirs if path not in mine], [path for path in mine if path not in theirs]
        apart = [
            f"{', '.join(paths)} {what}"
            for paths, what in ((lacks, "missing"), (more, "too many"))
            if all(paths) and paths
        ]
        raise Complaint(
            f"a call {_call(args)} gives {counted(len(mine), 'array')}, and should give {len(theirs)}{': ' if apart else ''}{'; '.join(apart)}."
        )
    pairs = [(path, _values(one), _values(other)) for (path, one), other in zip(mine.items(), theirs.values())]
    if apart := [(path, one.shape, other.shape) for path, one, other in pairs if one.shape != other.shape]:
        said = "; ".join(
            f"the shape {one}{' at ' if path else ''}{path}, and should give {other}" for path, one, other in apart
        )
        raise Complaint(f"a call {_call(args)} gives {said}.")
    for _, one, other in pairs:
        scale = np.abs(other[np.isfinite(other)]).max(initial=0.0)
        if not np.allclose(one, other, rtol=tolerance, atol=tolerance * scale, equal_nan=True):
            raise Complaint(f"a call {_call(args)} gives {_shortly(one)}, and should give {_shortly(other)}.")


def _by_path(result):
    """The arrays of a result by where they stand in it: `['w'][0]`."""
    return {jx.tree_util.keystr(path): leaf for path, leaf in jx.tree_util.tree_leaves_with_path(result)}


def programs(at_most, calls):
    """`calls(function)` makes some calls; all that is traced and compiled in it, with one name, is at most so many programs."""

    def requirement(function, rng):
        with counting() as counted:
            called(calls, function)
        if not counted.of_functions:
            raise Complaint("no call of it was compiled. Is there a jit?")
        name, count = max(counted.of_functions.items(), key=lambda item: item[1])
        if count > at_most:
            raise Complaint(
                f"the calls compiled {count} programs for {name}, and {at_most} will do. `%recompiles` says why."
            )
        return f"{count} {'program' if count == 1 else 'programs'} for all calls"

    return requirement


class counting:
    """Context manager: counts the programs that jit makes inside, by the name of the function."""

    def __enter__(self):
        jx.clear_caches()
        self._since, self.of_functions = ledger().mark(), {}
        return self

    def __exit__(self, *_):
        for row in ledger().since(self._since):
            if row.number and not row.looked and row.what in ("compiled", "recompiled", "loaded"):
                self.of_functions[row.function] = self.of_functions.get(row.function, 0) + 1


def equations(draw, at_most):
    """The jaxpr of a call has at most so many equations, those inside of loops and calls counted once."""

    def requirement(function, rng):
        args = draw(rng)
        count = count_equations(called(jx.make_jaxpr(function), *args).jaxpr)
        if count > at_most:
            raise Complaint(
                f"its jaxpr of a call {_call(args)} has {count} equations. Is a Python loop unrolled? {at_most} will do."
            )
        return f"{count} equations"

    return requirement


def count_equations(jaxpr):
    """Equations at all levels."""
    inner = [
        x
        for eqn in jaxpr.eqns
        for value in eqn.params.values()
        for x in (value if isinstance(value, tuple) else (value,))
    ]
    return len(jaxpr.eqns) + sum(
        count_equations(getattr(x, "jaxpr", x)) for x in inner if hasattr(getattr(x, "jaxpr", x), "eqns")
    )


def kernels(draw, at_most):
    """XLA makes at most so many kernels of a call."""

    def requirement(function, rng):
        args = draw(rng)
        count = called(jitscope.inspect(function), *args).fusion.document["summary"]["kernels"]
        if count > at_most:
            raise Complaint(f"XLA makes {count} kernels of it, and {at_most} will do. `%fusion` shows them.")
        return f"{count} {'kernel' if count == 1 else 'kernels'}"

    return requirement


def derivative_of(reference, draw, draws=5, tolerance=1e-3):
    """The derivative of the function (of one number, forwards and backwards) agrees with central differences of `reference`, which
    NumPy computes in 64 bits."""

    def requirement(function, rng):
        for _ in range(draws):
            (x,) = draw(rng)
            step = 1e-5 * max(1.0, abs(float(x)))
            wanted = (reference(np.float64(x) + step) - reference(np.float64(x) - step)) / (2 * step)
            for how, found in (
                ("grad", called(jx.grad(function), jx.numpy.float32(x))),
                ("jvp with the tangent 2, halved,", _halved(function, x)),
            ):
                if not np.isclose(float(found), wanted, rtol=tolerance, atol=tolerance):
                    raise Complaint(
                        f"at x = {float(x):.4g} {how} gives {float(found):.4g}; differences of the value give {wanted:.4g}."
                    )
        return f"its derivative agrees with finite differences at {draws} points"

    return requirement


def _halved(function, x):
    x = jx.numpy.float32(x)
    return called(lambda x: jx.jvp(function, (x,), (2 * jx.numpy.ones_like(x),))[1], x) / 2


def finite(*calls):
    """Value and gradient with respect to the first argument have no NaN and no infinity, for the arguments of each call."""

    def requirement(function, rng):
        for args in calls:
            for what, compute in (("value", function), ("gradient", jx.grad(lambda *a: jx.numpy.sum(function(*a))))):
                for leaf in jx.tree.leaves(called(compute, *args)):
                    if not np.isfinite(_values(leaf)).all():
                        raise Complaint(
                            f"its {what} for {_call(args)} is {_shortly(_values(leaf))}. `%nans` finds the line."
                        )
        return "no NaN in value and gradient"

    return requirement


def no_sharp_bits(*but):
    """The code of the function steps on no sharp bit, but for those named."""

    def requirement(function, rng):
        try:
            source = textwrap.dedent(inspect.getsource(inspect.unwrap(function)))
        except (OSError, TypeError):
            return "its code could not be read"
        checked = program.of_cells([source], "the task")
        found = [one for one in look(checked.text, checked.file, checked.cells) if one.id not in but]
        if found:
            raise Complaint(f"its code steps on a sharp bit ({found[0].id}): {found[0].message.partition(chr(10))[0]}")
        return "no sharp bit in its code"

    return requirement


def draws_first(call, few=200, many=2000):
    """`call(function, steps)` asks NumPy's generators as often for many steps as for few: all numbers are drawn before the loop."""

    def requirement(function, rng):
        counts = {}
        for steps in (few, many):
            with counting_draws() as made:
                called(call, function, steps)
            counts[steps] = made.count
        if counts[few] != counts[many]:
            raise Complaint(
                f"it draws {counts[few]:,} times for {few:,} steps and {counts[many]:,} times for {many:,}. Draw before the loop, "
                "all at once."
            )
        return "its random numbers are drawn before its loop"

    return requirement


class counting_draws:
    """Context manager: counts the calls of methods of the generators that NumPy's `default_rng` makes inside."""

    count = 0

    def __enter__(self):
        self._before = np.random.default_rng
        np.random.default_rng = lambda *args: _Counted(self._before(*args), self)
        return self

    def __exit__(self, *_):
        np.random.default_rng = self._before


class _Counted:
    def __init__(self, generator, made):
        self._generator, self._made = generator, made

    def __getattr__(self, name):
        self._made.count += 1
        return getattr(self._generator, name)


def compilable(call, runs):
    """`%regions` finds a loop in the function that is worth compiling, if the call is made so often, and none that cannot be compiled for
    what it does. What its results are kept in (arrays without axes in a list, say) is no reason, nor is a loop that is compiled already."""

    def requirement(function, rng):
        code = f"{textwrap.dedent(inspect.getsource(inspect.unwrap(function)))}\nresult = {call}\n"
        found = regions_of(code, runs)
        for one in found:
            if one["verdict"] == "cannot" and any(cut["why"] != "object" for cut in one["cuts"]):
                raise Complaint(
                    f"a loop of it cannot be compiled: {one['reason']} (counted from its def, which is line 1)."
                )
        worth = [one for one in found if one["verdict"] == "compile"]
        if worth:
            return f"a loop of it can be compiled, and that is paid back after {worth[0]['break_even_runs']} runs"
        if kept := [one for one in found if one["verdict"] == "cannot"]:
            return f"its loop does nothing that could not be compiled, but `%regions` does not write it ({kept[0]['reason']})"
        if not found and is_compiled(code):
            return "its loop is compiled already"
        raise Complaint(f"no loop of it is worth compiling: {found[0]['reason'] if found else 'no loop was seen'}.")

    return requirement


def is_compiled(code):
    """Whether running it compiles a program with a loop of its own."""
    jx.clear_caches()
    since = ledger().mark()
    exec(code, {"np": np, "__name__": "__main__"})
    return any(row.jaxpr is not None and _has_loop(row.jaxpr) for row in ledger().since(since))


def _has_loop(jaxpr):
    return "scan[" in str(jaxpr) or "while[" in str(jaxpr)


def regions_of(code, runs):
    """What `%%regions --runs` says of the loops and stretches of a cell, as a list of dicts; what it prints is left out."""
    watch, cell = Watch({"np": np, "__name__": "__main__"}, whole=False), Cell(1, code, 1, runs)
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            watch.run(cell)
        finally:
            watch.let_go()
        return [one.as_json() for one in watch.regions()]


def holds(what, test):
    """`test(function, rng)` gives "" where something holds, and else what is wrong."""

    def requirement(function, rng):
        try:
            complaint = test(function, rng)
        except Complaint:
            raise
        except Exception as error:  # what it gave cannot be looked at as such a thing is
            raise Complaint(f"what it gives cannot be checked: {type(error).__name__}: {error}") from None
        if complaint:
            raise Complaint(complaint)
        return what

    return requirement


# --- words ------------------------------------------------------------------------------------------------------------


def _values(x):
    """An array or a number as NumPy's, in 64 bits; a key as its numbers."""
    if hasattr(x, "dtype") and jx.dtypes.issubdtype(x.dtype, jx.dtypes.prng_key):
        x = jx.random.key_data(x)
    found = np.asarray(x)
    return found if found.dtype == bool else found.astype(np.complex128 if np.iscomplexobj(found) else np.float64)


def _call(args):
    return f"with {', '.join(map(_shortly, args))}" if args else "of it"


def _shortly(value):
    """A value in a line: arrays with their first numbers."""
    if value is ...:
        return "..."
    try:
        array = _values(value) if hasattr(value, "shape") else None
    except Exception:
        array = None
    if array is not None:
        if array.size <= 6:
            return np.array2string(array, precision=4, separator=", ").replace("\n", "")
        first = ", ".join(f"{x:.4g}" for x in np.ravel(array)[:3])
        return f"an array {'×'.join(map(str, array.shape))} [{first}, …]"
    if type(value) is dict and len(value) <= 6:
        return f"{{{', '.join(f'{name!r}: {_shortly(one)}' for name, one in value.items())}}}"
    try:
        text = " ".join(re.sub(r"\x1b\[[\d;]*m", "", repr(value)).split())  # jax colours its jaxprs
    except Exception:
        text = f"something of the type {type(value).__name__}"
    return text if len(text) <= 70 else f"{text[:69]}…"
