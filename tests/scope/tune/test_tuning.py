"""Tuning real programs from end to end: what is taken gives the same numbers, what is slow or wrong is not, and nothing else changes."""

import os
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, observe
from jitscope.core.errors import Unavailable
from jitscope.xla import cpu_tuning
from tests.compiler.disk_folders import pinned
from tests.compiler.programs import in_new_process
from tests.extent import full


RULE, NAME = cpu_tuning.CONVOLUTIONS_BY_ELEMENTS, "convolutions by elements"
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(os.name != "posix", reason="the process that compiles is asked over a pipe"),
]
SECONDS = 40
RNG = np.random.default_rng(0)
X = RNG.normal(size=(4, 24, 24, 32)).astype(np.float32), RNG.normal(size=(3, 3, 1, 32)).astype(np.float32)


def depthwise(x, w):
    """A convolution with a window for each feature: by elements it takes a few hundredths of the time."""
    names = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=names, feature_group_count=32)


def reference(x, w):
    wide = np.pad(x.astype(np.float64), ((0, 0), (1, 1), (1, 1), (0, 0)))
    return sum(wide[:, i : i + 24, j : j + 24] * w[i, j, 0] for i in range(3) for j in range(3))


@pytest.fixture
def without_rule():
    """The rule that would write the axis out is off, so that tuning finds it."""
    RULE.off = True
    try:
        yield
    finally:
        RULE.off = False
        jx.clear_caches()


def test_what_is_faster_is_found_taken_and_gives_the_same(without_rule) -> None:
    function = jx.jit(depthwise)
    plain = np.asarray(function(*X))
    found = jx.tune(function, seconds=SECONDS)(*X)
    assert found.taken is not None
    assert NAME in found.taken.name
    assert found.ratio < 0.95
    assert found.ratio.interval == found.interval
    low, high = found.interval
    assert low <= found.ratio <= high < 0.98
    assert found.document["compilations"] <= 20
    assert found.call is function
    outcomes = {one.name: one for one in found.tried}
    assert outcomes[found.taken.name].outcome == "taken"
    tuned = np.asarray(found.call(*X))
    np.testing.assert_allclose(tuned, plain, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(tuned, reference(*X), rtol=1e-4, atol=1e-5)
    assert found.same.max_abs == pytest.approx(np.abs(tuned.astype(np.float64) - plain).max(), rel=1e-3, abs=1e-9)
    row = next(row for row in reversed(list(observe.ledger())) if row.function == "depthwise")
    assert "with tuned options" in row.because
    assert "with tuned options" in row.tuned
    assert dict(row.entry.overrides) is not None
    # the text of the card has all of it
    said = " ".join(repr(found).split())
    assert "of the time it took" in said
    assert NAME in said
    assert "This session compiles it so from now on; later ones do not" in said  # the cache on disk is off in tests
    # another function with the same program is compiled so, too
    again = jx.jit(lambda x, w: depthwise(x, w))
    np.testing.assert_array_equal(np.asarray(again(*X)), tuned)
    assert jx.untune(function)(*X) is True
    assert jx.untune(function)(*X) is False
    np.testing.assert_array_equal(np.asarray(function(*X)), plain)
    row = next(row for row in reversed(list(observe.ledger())) if row.function == "depthwise")
    assert row.tuned == ""


@full
@pytest.mark.skipif(not RULE.holds(), reason="the rule holds with releases it was measured with")
def test_a_rule_that_helps_is_not_turned_round() -> None:
    found = jx.tune(depthwise, seconds=SECONDS)(*X)
    planted = next(one for one in found.tried if one.name == f"without the rule: {NAME}")
    assert planted.outcome in ("slower", "not tried")
    assert found.taken is None or found.ratio < 0.98
    np.testing.assert_allclose(np.asarray(found.call(*X)), reference(*X), rtol=1e-4, atol=1e-5)
    jx.untune(depthwise)(*X)


def test_nothing_helps_a_program_with_nothing_to_choose() -> None:
    found = jx.tune(lambda x: x + 1, seconds=5)(jnp.ones(4))
    assert found.taken is None or found.ratio < 0.98
    assert (found.ratio, found.interval) == (1.0, (1.0, 1.0)) or found.taken
    if found.taken is None:
        assert "Nothing helped" in repr(found) or "Nothing was tried" in repr(found)
        assert found.same.bits
    np.testing.assert_array_equal(np.asarray(found.call(jnp.ones(4))), np.full(4, 2.0))


def test_the_time_is_limited() -> None:
    found = jx.tune(lambda x: (x @ x).sum(), seconds=0)(jnp.ones((8, 8)))
    assert found.taken is None
    assert found.document["compilations"] == 1
    assert all(one.outcome == "not tried" for one in found.tried)
    assert "the time for compiling" in found.document["stopped"] or "a run takes" in found.document["stopped"]
    assert "Nothing was tried" in repr(found)


def test_donated_captured_and_unread_arguments_keys_and_trees() -> None:
    captured = jnp.asarray(RNG.normal(size=(64, 64)))

    def step(params, unread, key, flag=True):
        noise = jx.random.normal(key, (64,))
        new = {"w": params["w"] @ captured, "b": params["b"] + noise}
        return new, jnp.isnan(new["b"]).any(), jx.random.split(key)[0]

    function = jx.jit(step, donate_argnums=0, static_argnames="flag")
    make = lambda: {"w": jnp.asarray(RNG.normal(size=(64, 64))), "b": jnp.zeros(64, jnp.float32).at[3].set(jnp.nan)}
    params, key = make(), jx.random.key(3)
    found = jx.tune(function, seconds=8)(params, jnp.ones(5), key, flag=True)
    assert not params["w"].is_deleted()  # tuning takes copies of what the program would take over
    assert all(one.outcome != "failed" for one in found.tried), [one.why for one in found.tried]
    out, has_nan, _ = found.call(params, jnp.ones(5), key, flag=True)
    assert bool(has_nan)
    assert out["w"].shape == (64, 64)
    assert params["w"].is_deleted()


def test_bfloat16_whole_numbers_lapack_and_sorts_run_in_the_other_process() -> None:
    a = RNG.normal(size=(32, 32)).astype(np.float32)

    def program(x):
        low = (x.astype(jnp.bfloat16) @ x.astype(jnp.bfloat16)).astype(jnp.bfloat16)
        return low, jnp.argsort(x, -1), jnp.linalg.cholesky(x @ x.T + 32 * jnp.eye(32))

    found = jx.tune(program, seconds=10)(a)
    raced = [one for one in found.tried if one.outcome != "not tried"]
    assert all(one.outcome != "failed" for one in raced), [one.why for one in raced]
    np.testing.assert_array_equal(np.asarray(found.call(a)[1]), np.argsort(a, -1, kind="stable"))
    np.testing.assert_allclose(
        np.asarray(found.call(a)[2]), np.linalg.cholesky(a @ a.T + 32 * np.eye(32)), rtol=1e-3, atol=1e-3
    )


def test_what_may_not_be_run_again_is_refused() -> None:
    def prints(x):
        jx.debug.print("{}", x)
        return x

    with pytest.raises(Unavailable, match="prints calls Python functions or prints"):
        jx.tune(prints)(jnp.ones(3))
    with pytest.raises(Unavailable, match="shapes and dtypes"):
        jx.tune(lambda x: x + 1)(jx.ShapeDtypeStruct((3,), np.float32))

    def adds(ref):
        ref[...] += 1.0

    with pytest.raises(Unavailable, match="references"):
        jx.tune(adds)(jx.new_ref(jnp.ones(3)))


@pytest.mark.parametrize(
    ("wrong", "error"),
    (
        (lambda: jx.tune(3), TypeError),
        (lambda: jx.tune(abs, seconds="5"), TypeError),
        (lambda: jx.tune(abs, seconds=-1), ValueError),
        (lambda: jx.tune(abs, tolerance=float("nan")), ValueError),
        (lambda: jx.untune(None), TypeError),
    ),
)
def test_arguments_that_make_no_sense(wrong, error) -> None:
    with pytest.raises(error):
        wrong()


def children() -> list[int]:
    """The processes that this one started to compile."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            parent = next(line for line in status.read_text().splitlines() if line.startswith("PPid:"))
            if int(parent.split()[1]) == os.getpid() and b"tune.worker" in (status.parent / "cmdline").read_bytes():
                found.append(int(status.parent.name))
        except (OSError, StopIteration):
            continue
    return found


needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="processes are listed in /proc")


@needs_proc
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_leaves_everything_as_it_was() -> None:
    from jitscope_kernel.tuning import tuning_of

    function = jx.jit(depthwise)
    before = np.asarray(function(*X))
    row = next(row for row in reversed(list(observe.ledger())) if row.function == "depthwise")
    entry = row.entry

    asked: list[str] = []

    def told(doing: str) -> None:
        if doing.startswith("1 of ") and not asked:  # a form is about to be compiled
            asked.append(doing)
            threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT)).start()

    with pytest.raises(KeyboardInterrupt):
        tuning_of(function, X, {}, 60.0, None, told)
        threading.Event().wait(5)
    assert not children()
    np.testing.assert_array_equal(np.asarray(function(*X)), before)
    assert row.entry is entry
    assert row.tuned == ""


@needs_proc
def test_a_form_that_ends_the_process_is_told_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from jitscope_kernel.tuning import tuning_of
    from jitscope_scope.targets import helper

    monkeypatch.setattr(helper, "SAID_AFTER", 0.1)
    stopped: list[int] = []
    killed: list[str] = []

    def told(doing: str) -> None:
        if not doing.startswith("2 of "):
            return
        if not stopped:  # a process that ended before it is asked would be begun anew, without a word
            stopped.extend(children())
            for child in stopped:
                os.kill(child, signal.SIGSTOP)
        elif not killed:  # it was asked, and does not answer
            for child in stopped:
                os.kill(child, signal.SIGKILL)
                killed.append(doing)

    found = tuning_of(depthwise, X, {}, 180.0, None, told)
    assert killed
    second = killed[0].partition(": ")[2]
    outcomes = {one.name: one for one in found.tried}
    assert outcomes[second].outcome == "failed"
    assert "ended by signal 9" in outcomes[second].why
    assert any(one.outcome not in ("failed", "not tried") for one in found.tried)
    jx.untune(depthwise)(*X)


def test_a_later_session_takes_what_was_found(tmp_path) -> None:
    environment = {"JITSCOPE_COMPILATION_CACHE": "1", "JITSCOPE_COMPILATION_CACHE_DIR": str(tmp_path)}
    program = pinned("""
        import jitscope as jx, numpy as np
        from jitscope import lax
        from jitscope.xla.cpu_tuning import CONVOLUTIONS_BY_ELEMENTS
        from jitscope_scope.tune import choosing
        CONVOLUTIONS_BY_ELEMENTS.off = True
        space = choosing.space
        choosing.space = lambda *known: [one for one in space(*known) if one.knob == "convolutions by elements"]
        rng = np.random.default_rng(0)
        x = rng.normal(size=(4, 24, 24, 32)).astype(np.float32), rng.normal(size=(3, 3, 1, 32)).astype(np.float32)
        def f(x, w):
            names = ("NHWC", "HWIO", "NHWC")
            return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=names, feature_group_count=32)
        def said():
            row = next(row for row in reversed(list(jx.observe.ledger())) if row.function == "f")
            return f"{row.because} | {float(f(*x).sum()):.6g}"
        f = jx.jit(f)
    """)
    first = in_new_process(
        program + f"\nf(*x); r = jx.tune(f, seconds={SECONDS})(*x); print(r.taken); print(said())", **environment
    )
    assert first.startswith("convolutions by elements")
    assert list(tmp_path.rglob("*.tuned"))
    plain = in_new_process(program + "\nf(*x); print(said())", **environment)
    assert "loaded with tuned options (convolutions by elements" in plain
    assert plain.partition("|")[2] == first.splitlines()[-1].partition("|")[2]
    forgotten = in_new_process(
        program + "\nprint(jx.untune(f)(*x), jx.untune(f)(*x)); f(*x); print(said())", **environment
    )
    assert forgotten.startswith("True False")
    assert "tuned" not in forgotten.splitlines()[-1]
    assert not list(tmp_path.rglob("*.tuned"))
    assert "tuned" not in in_new_process(program + "\nf(*x); print(said())", **environment)


def test_a_scan_is_the_same_however_many_iterations_stand_in_the_loop() -> None:
    from jitscope.backend.compile import compilation_input
    from jitscope.xla.choice import Choice
    from jitscope.xla.program import Executable, compile_options

    def sums(x):
        def step(carry, row):
            return carry * 0.5 + row, carry.sum()

        return lax.scan(step, jnp.zeros(4), x)

    x = jnp.asarray(RNG.normal(size=(13, 4)))
    made = compilation_input(jx.make_jaxpr(sums)(x))
    expected = [np.asarray(out) for out in sums(x)]
    for unroll in (0, 2, 4, 8, 13):
        module = made.lowered(Choice(unroll=unroll))
        program = Executable.compile(module, made.outputs, made.device, compile_options(made.flags()))
        for out, wanted in zip(program.run([x.buf]), expected):
            np.testing.assert_allclose(np.asarray(out), wanted, rtol=1e-6)
    assert made.lowered(Choice(unroll=4)) != made.lowered(Choice())
