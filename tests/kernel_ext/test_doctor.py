"""`jitscope doctor`: what is installed, programs that are run, and what is said where they fail."""

from __future__ import annotations

import pytest

from jitscope.xla import versions
from jitscope_kernel import cli, doctor
from jitscope_scope import page_faults


def test_all_that_is_needed_works_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor"]) == 0
    told = capsys.readouterr().out
    assert f"✓ jaxlib: {versions.JAXLIB}" in told and "✓ programs on the CPU" in told and "✗" not in told
    assert "IPython" in told and "Graphviz" in told


@pytest.mark.parametrize(
    ("program", "found"),
    [
        ("import os; os.abort()", "ended the process (signal 6)"),
        ("raise ImportError('jax needs another jaxlib')", "ImportError: jax needs another jaxlib"),
        ("print('[\"grad gives wrong numbers\"]')", "grad gives wrong numbers"),
    ],
)
def test_what_fails_is_told(program: str, found: str) -> None:
    one = doctor._run("it", program, "works")
    assert (one.state, one.found) == ("broken", found)
    assert str(one) == f"✗ it: {found}"


def test_releases_that_do_not_fit_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "is_older", lambda: True)
    assert doctor._jaxlib().state == "broken" and "too old" in doctor._jaxlib().found
    monkeypatch.undo()
    monkeypatch.setattr(versions, "_USED", {"_jax": "no_such_function"})
    assert "lacks _jax.no_such_function" in doctor._jaxlib().found


def test_numbers_that_are_wrong_are_found() -> None:
    wrong = doctor._PROGRAMS.replace("20_000 * np.log(4.5)", "1.0").replace("x.sum(0)", "x.sum(0) + 1")
    found = doctor._run("programs", wrong, "right").found
    assert found == "scan gives wrong numbers; a large sum of logarithms gives wrong numbers"


def test_what_large_pages_would_give_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    large = "glibc.malloc.hugetlb=1"
    times, mode = {"": 4.0, large: 1.0}, ["madvise"]
    measured = lambda program, environment: times[environment.get("GLIBC_TUNABLES", "")]
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    monkeypatch.setattr(page_faults.platform, "libc_ver", lambda: ("glibc", "2.36"))
    monkeypatch.setattr(page_faults, "_page_mode", lambda: mode[0])
    monkeypatch.setattr(doctor, "_seconds", measured)
    (told,) = doctor._large_arrays()
    assert "4.0 times" in told.found and f"GLIBC_TUNABLES={large} " in told.advice
    times[large] = 3.9
    assert not list(doctor._large_arrays())
    times[large], mode[0] = 1.0, "always"
    assert not list(doctor._large_arrays())
    mode[0] = "madvise"
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=0")
    assert not list(doctor._large_arrays())


def test_a_program_that_prints_no_number_has_no_seconds() -> None:
    assert doctor._seconds("print(0.5)", {}) == 0.5
    assert doctor._seconds("raise ValueError", {}) == 0.0
