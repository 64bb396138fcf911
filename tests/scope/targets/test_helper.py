"""The helper process: it answers, and what becomes of one that crashes, hangs, prints, or cannot be started."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jitscope_scope.targets.helper import CompilerLost, Helper


_HEAD = "import json, os, signal, sys, time\nout = os.fdopen(int(sys.argv[1]), 'w')\nfor line in sys.stdin:\n    asked = json.loads(line)\n"
_ANSWER = "    out.write(json.dumps({'pid': os.getpid(), 'asked': asked}) + chr(10)); out.flush()\n"


@pytest.fixture
def planted(tmp_path: Path) -> Iterator[Callable[[str], Helper]]:
    """A helper whose worker does this with each request."""
    made: list[Helper] = []

    def make(body: str) -> Helper:
        path = tmp_path / f"worker{len(made)}.py"
        path.write_text(_HEAD + body)
        made.append(Helper([sys.executable, "-P", str(path)]))
        return made[-1]

    yield make
    for helper in made:
        helper.stop()


def test_one_process_answers_again_and_again_and_may_print(planted: Callable[[str], Helper]) -> None:
    helper = planted("    print('noise', flush=True); print('more', file=sys.stderr, flush=True)\n" + _ANSWER)
    first, second = helper.ask({"n": 1}), helper.ask({"n": 2})
    assert first["pid"] == second["pid"] != os.getpid()
    assert second["asked"] == {"n": 2}


def test_a_crash_is_told_with_the_last_words_and_the_next_one_starts_anew(planted: Callable[[str], Helper]) -> None:
    crash = "    if asked['n'] == 1:\n        print('what went wrong', file=sys.stderr, flush=True); os.kill(os.getpid(), signal.SIGSEGV)\n"
    helper = planted(crash + _ANSWER)
    with pytest.raises(CompilerLost, match=f"ended by signal {int(signal.SIGSEGV)}.*what went wrong"):
        helper.ask({"n": 1})
    assert not helper.running
    assert helper.ask({"n": 2})["asked"] == {"n": 2}


def test_one_that_hangs_is_ended_at_its_limit(planted: Callable[[str], Helper]) -> None:
    helper = planted("    time.sleep(100)\n")
    start = time.monotonic()
    with pytest.raises(CompilerLost, match=r"did not answer in 0\.3 s"):
        helper.ask({}, limit=0.3)
    assert time.monotonic() - start < 20 and not helper.running


@pytest.mark.usefixtures("ctrl_c")
def test_an_interruption_ends_it(planted: Callable[[str], Helper]) -> None:
    helper = planted("    time.sleep(100)\n")
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        helper.ask({})
    assert not helper.running


def test_what_the_compiler_refuses_is_said_in_its_words(planted: Callable[[str], Helper]) -> None:
    helper = planted("    out.write(json.dumps({'error': 'no such operation'}) + chr(10)); out.flush()\n")
    with pytest.raises(ValueError, match="no such operation"):
        helper.ask({})
    assert helper.running


def test_one_that_cannot_be_started_is_told() -> None:
    with pytest.raises(CompilerLost, match="could not be started: No such file"):
        Helper(["/nowhere/python"]).ask({})


def test_a_library_that_is_missing_is_an_error_and_no_crash() -> None:
    helper = Helper()
    try:
        with pytest.raises(ValueError, match=r"nowhere\.so"):
            helper.ask({"platform": "cuda", "library": "/nowhere.so"})
    finally:
        helper.stop()
