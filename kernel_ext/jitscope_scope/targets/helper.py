"""The helper process of each platform's compiler, from the side of the process that asks. The plugin is never loaded here.

A compilation that takes longer than its limit, and one that is interrupted (Ctrl-C), ends the helper; the next one starts another.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import select
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from jitscope.xla import errors

from .chips import Platform


LIMIT = 600.0
"""Seconds that a compilation may take (JITSCOPE_TARGET_LIMIT)."""
SAID_AFTER = 5.0
"""Seconds after which somebody who waits is told, and every so often again."""
_NOISE = re.compile(r"^[IW]\d{4} |^WARNING: All log messages|^[IW]0000 ")


class CompilerLost(RuntimeError):
    """The helper process crashed, did not answer in time (`late`), or could not be started."""

    late = False


class _Late(CompilerLost):
    late = True


class Helper:
    """A process with one plugin, or one that a `command` starts, in an `environment` of its own."""

    def __init__(self, command: Sequence[str] | None = None, environment: Mapping[str, str] | None = None):
        self._command = list(
            command or (sys.executable, "-P", str(Path(errors.__file__).with_name("plugin_worker.py")))
        )
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None
        self._answers, self._left = -1, b""
        self._log: IO[bytes] | None = None
        self._lock = threading.Lock()

    @property
    def running(self) -> bool:
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    def ask(
        self, request: Mapping[str, Any], limit: float = LIMIT, waiting: Callable[[float], None] | None = None
    ) -> dict[str, Any]:
        """The answer to a request. `waiting` is called every few seconds with those that have passed. Raises CompilerLost where there is
        none, ValueError with the compiler's words for a program that it refuses."""
        with self._lock:
            try:
                self._start()
                answer = self._answer(request, limit, waiting)
            except BaseException:
                self.stop()
                raise
        if "error" in answer:
            raise ValueError(str(answer["error"]))
        return answer

    def stop(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            if process.stdin is not None:
                process.stdin.close()
        if self._answers >= 0:
            os.close(self._answers)
        if self._log is not None:
            self._log.close()
        self._answers, self._left, self._log = -1, b"", None

    def _start(self) -> None:
        if self.running:
            return
        self.stop()
        reading, writing = os.pipe()
        self._answers, self._log = reading, tempfile.TemporaryFile()
        try:
            # A group of its own: a Ctrl-C is for the process that asks.
            self._process = subprocess.Popen(
                [*self._command, str(writing)],
                stdin=subprocess.PIPE,
                stdout=self._log,
                stderr=self._log,
                pass_fds=(writing,),
                start_new_session=True,
                env=_environment() if self._environment is None else self._environment,
            )
        except OSError as problem:
            raise CompilerLost(f"the process that compiles could not be started: {problem.strerror}") from None
        finally:
            os.close(writing)

    def _answer(
        self, request: Mapping[str, Any], limit: float, waiting: Callable[[float], None] | None
    ) -> dict[str, Any]:
        process = self._process
        assert process is not None and process.stdin is not None
        try:
            process.stdin.write(json.dumps(dict(request)).encode() + b"\n")
            process.stdin.flush()
        except OSError:
            raise CompilerLost(self._ended()) from None
        start = said = time.monotonic()
        while b"\n" not in self._left:
            now = time.monotonic()
            if now - start > limit:
                raise _Late(
                    f"the compiler did not answer in {limit:g} s and was ended (JITSCOPE_TARGET_LIMIT sets the limit)"
                )
            if waiting is not None and now - said >= SAID_AFTER:
                said = now
                waiting(now - start)
            if select.select([self._answers], [], [], min(0.5, max(0.01, limit - (now - start))))[0]:
                piece = os.read(self._answers, 1 << 16)
                if not piece:
                    raise CompilerLost(self._ended())
                self._left += piece
        line, _, self._left = self._left.partition(b"\n")
        return json.loads(line)

    def _ended(self) -> str:
        """What is known of a process that ended by itself: its status, and the last that it printed."""
        assert self._process is not None
        try:
            status = self._process.wait(10)
        except subprocess.TimeoutExpired:
            status = None
        how = f"by signal {-status}" if status is not None and status < 0 else f"with status {status}"
        lines: list[str] = []
        if self._log is not None:
            self._log.seek(0)
            said = self._log.read().decode("utf-8", "replace").splitlines()
            lines = [line.strip() for line in said if line.strip() and not _NOISE.match(line)][-3:]
        return f"the process that compiles ended {how}" + (
            f"; it said last: {' | '.join(lines)[-500:]}" if lines else ""
        )


def _environment() -> dict[str, str]:
    """The helper sees no GPU, asks no server which TPU this is, may be one of several that load libtpu, which
    computes nothing here, and gets no options that were meant for the CPU's compiler."""
    kept = {name: value for name, value in os.environ.items() if name not in ("XLA_FLAGS", "LIBTPU_INIT_ARGS")}
    return {
        **kept,
        "CUDA_VISIBLE_DEVICES": "",
        "TPU_SKIP_MDS_QUERY": "1",
        "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
        "JAX_PLATFORMS": "cpu",
        "TF_CPP_MIN_LOG_LEVEL": "2",
    }


_helpers: dict[Platform, Helper] = {}


def helper_for(platform: Platform) -> Helper:
    """The helper of a platform; started when it is first asked."""
    if platform not in _helpers:
        if not _helpers:
            atexit.register(stop_all)
            os.register_at_fork(after_in_child=_helpers.clear)
        _helpers[platform] = Helper()
    return _helpers[platform]


def stop_all() -> None:
    """End all helpers."""
    for helper in _helpers.values():
        helper.stop()


def limit() -> float:
    """The seconds that a compilation may take."""
    try:
        return float(os.environ.get("JITSCOPE_TARGET_LIMIT", "")) or LIMIT
    except ValueError:
        return LIMIT
