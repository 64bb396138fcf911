"""Several processes that compute together: the runtime's coordination service, which one of them runs, and their client of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any

from . import devices, forks
from .errors import XlaError
from .runtime import RuntimeFailure, _jax, xc


class Membership:
    """What this process is among the others. `service`: it runs the coordination service. Seconds: for how long it waits for others to
    come (`patience`), and to leave (`goodbye`)."""

    def __init__(self, number: int, count: int, client: Any, service: Any, patience: float, goodbye: float):
        self.number, self.count, self.client, self.service = number, count, client, service
        self.patience, self.goodbye = patience, goodbye
        self.gone: dict[int, float] = {}
        """Processes that died or left, and when this one heard of it (monotonic seconds)."""
        self.left = threading.Event()
        self.turns: dict[tuple[int, ...], int] = {}
        """How often this one asked which of these processes live."""

    def watch(self) -> None:
        """Hear, from now on, of processes that are gone. (In a thread of its own: a question is answered when all others ask it, too.)"""
        everybody = list(range(self.count))
        while joined is self:
            try:
                alive = self.client.get_live_nodes(everybody)
            except RuntimeFailure:
                return
            for number in everybody:
                if number not in alive:
                    self.gone.setdefault(number, time.monotonic())
            self.left.wait(_EVERY)

    def missing(self) -> XlaError:
        """The error of who waits for processes that are gone."""
        names = ", ".join(map(str, sorted(self.gone)))
        return XlaError(
            f"process{'es' * (len(self.gone) > 1)} {names} of {self.count} died or left, and process {self.number} waits for it. What to do: "
            "start all processes again, from what was saved last; or go on without it, by multihost_utils.live_devices. What is on this "
            "process's own devices alone can still be read and computed with"
        )


_LONG = 24 * 3600
"""Seconds. The runtime ends a process that waits in vain to join; so it waits long, and `join` does not."""
_unfinished: list[Any] = []
"""Services and clients that were not joined or left in time. They are kept: a thread of theirs still waits."""
_EVERY = 1.0
_LEAVING = 5.0
"""Seconds that a process which is about to leave may need for it."""
GRACE = 2.0
"""Seconds in which an exchange with a process that is gone may still fail by itself."""
joined: Membership | None = None


def join(
    address: str, count: int, number: int, bind: str | None, timeout: int, heartbeat: int, shutdown_timeout: int
) -> None:
    """Join the processes that the coordination service at `address` (host:port) brings together; number 0 runs it. Times in
    seconds.

    Raises RuntimeError where this process has computed or joined already, XlaError where not all come in time, or have other
    releases of jaxlib or jitscope.
    """
    global joined
    if joined is not None:
        raise RuntimeError("this process has joined others already: distributed.initialize is called once")
    if devices._client is not None:
        raise RuntimeError(
            "distributed.initialize must come before the first array is made, the first function compiled and the first question "
            "for devices: this process has its own devices already"
        )
    service = client = None
    try:
        if number == 0:
            port = address.rpartition(":")[2]
            service = _jax.get_distributed_runtime_service(
                bind or f"[::]:{port}", count, heartbeat_timeout=heartbeat, cluster_register_timeout=_LONG,
                # Else the runtime ends all processes when one dies; so they live, and `wait_for` tells them.
                shutdown_timeout=shutdown_timeout, recoverable=True,
            )  # fmt: skip
        client = _jax.get_distributed_runtime_client(
            address, number, init_timeout=_LONG, shutdown_timeout=shutdown_timeout, heartbeat_timeout=heartbeat,
            shutdown_on_destruction=False, use_compression=True,
        )  # fmt: skip
        answer_of(client.connect, seconds=timeout)
    except (RuntimeError, TimeoutError) as error:
        _unfinished.append((service, client))
        raise XlaError(f"not all of the {count} processes came to {address} within {timeout} s: {error}") from None
    joined = Membership(number, count, client, service, timeout, shutdown_timeout)
    try:
        _check_releases(releases())
    except XlaError:
        with suppress(XlaError):
            leave()
        raise
    _start(joined.watch)
    _idle.append(_started())  # says goodbye at an exit where no thread can be started
    devices.make_client_by(_client)


def _sleep(since: float) -> None:
    time.sleep(min(0.002, 5e-5 + since / 10))


def wait_for(
    ready: Callable[[], bool],
    others: Sequence[int] | None = None,
    seconds: float | None = None,
    pause: Callable[[float], Any] = _sleep,
) -> None:
    """Wait until what these processes (None: all) do together is done. Raises XlaError where one of them is gone: it would be for ever;
    TimeoutError after `seconds`. `pause` waits a little, given for how long that went on."""
    start, now = time.monotonic(), joined
    while not ready():
        missed = [] if now is None else [t for number, t in now.gone.items() if others is None or number in others]
        if now is not None and missed and time.monotonic() - max(missed) > GRACE:
            stuck.set()
            raise now.missing()
        since = time.monotonic() - start
        if seconds is not None and since > seconds:
            stuck.set()
            raise TimeoutError(f"nothing came for {seconds} s")
        pause(since)


def answer_of(call: Callable[[], Any], others: Sequence[int] | None = None, seconds: float | None = None) -> Any:
    """What `call` gives, which waits for other processes. Raises as `wait_for`, and what it raises."""
    found: list[Any] = []
    failed: list[BaseException] = []

    def ask() -> None:
        try:
            found.append(call())
        except BaseException as error:  # for who waits
            failed.append(error)

    done = _start(ask)
    wait_for(done.is_set, others, seconds, lambda since: done.wait(0.02))
    if failed:
        raise failed[0]
    return found[0]


stuck = threading.Event()
"""Set where a computation of this process will never end, so that its threads cannot be waited for at the exit."""


class _Waiter(threading.Thread):
    """Asks one thing after the other, and says of each when it is answered. (Starting a thread takes longer than most answers.)"""

    def __init__(self) -> None:
        from queue import SimpleQueue  # of several processes

        super().__init__(name="jitscope waits for processes", daemon=True)
        self.asked: SimpleQueue[tuple[Callable[[], None], threading.Event] | None] = SimpleQueue()

    def run(self) -> None:
        for ask, done in iter(self.asked.get, None):
            ask()
            _idle.append(self)
            done.set()


_waiters: list[_Waiter] = []
_idle: list[_Waiter] = []


def _started() -> _Waiter:
    """Raises TimeoutError where no thread can be started any more: Python 3.12.0 to 3.12.2 start none at the exit."""
    waiter = _Waiter()
    try:
        waiter.start()
    except RuntimeError as error:
        raise TimeoutError(f"nobody can be asked: {error}") from None
    _waiters.append(waiter)
    return waiter


def _start(ask: Callable[[], None]) -> threading.Event:
    """Ask in a thread, so that Ctrl-C ends the wait; what is given is set when it is answered."""
    try:
        waiter = _idle.pop()
    except IndexError:
        waiter = _started()
    done = threading.Event()
    waiter.asked.put((ask, done))
    return done


def _settle() -> None:
    """Let threads that wait for others end: one that comes back from the runtime while Python is being torn down aborts the process."""
    until = time.monotonic() + GRACE
    while _waiters:
        waiter = _waiters.pop()
        waiter.asked.put(None)
        waiter.join(max(0.0, until - time.monotonic()))
        if waiter.is_alive():
            stuck.set()
    _idle.clear()


def releases() -> str:
    """What must be the same in all processes."""
    versions = [f"{name} {import_module(name).__version__}" for name in ("jaxlib", __name__.partition(".")[0])]
    return ", ".join(versions)


def _check_releases(own: str) -> None:
    assert joined is not None
    said = hear("release", own, range(joined.count))
    if len(set(said.values())) > 1:
        by_release: dict[str, list[str]] = {}
        for number, release in sorted(said.items()):
            by_release.setdefault(release, []).append(str(number))
        parts = [
            f"{release} in {'processes' if len(who) > 1 else 'process'} {', '.join(who)}"
            for release, who in by_release.items()
        ]
        raise XlaError(
            f"the processes have different releases: {'; '.join(parts)}. What to do: install the same in all of them"
        )


def hear(what: str, said: str, others: Sequence[int]) -> dict[int, str]:
    """What each of these processes says of `what`, this one `said`; all of them have heard it when this returns, so that none leaves
    before. Raises XlaError where one says nothing within the time that processes wait for each other."""
    assert joined is not None
    joined.client.key_value_set(f"jitscope/{what}/{joined.number}", said, True)
    start, found = time.monotonic(), {joined.number: said}
    for other in others:
        left = max(1, int(1000 * (start + joined.patience - time.monotonic())))
        try:
            if other != joined.number:
                found[other] = answer_of(
                    partial(joined.client.blocking_key_value_get, f"jitscope/{what}/{other}", left), [other]
                )
        except RuntimeFailure as error:
            raise XlaError(
                f"process {joined.number} of {joined.count} waited {time.monotonic() - start:.1f} s for process {other} to say its {what}: it "
                f"is gone, late, or runs something else ({error})"
            ) from None
    meet(f"jitscope/heard/{what}", joined.patience, others)
    return found


def _client() -> Any:
    """The client of the devices of all processes; their traffic goes over TCP (Gloo)."""
    assert joined is not None
    traffic = _jax.make_gloo_tcp_collectives(distributed_client=joined.client)
    return xc.make_cpu_client(
        distributed_client=joined.client, node_id=joined.number, num_nodes=joined.count, collectives=traffic,
        num_devices=devices.device_count(),
    )  # fmt: skip


def meet(name: str, seconds: float, others: Sequence[int] | None = None) -> None:
    """Wait until these processes (None: all) are at the place of that name. Raises XlaError where one does not come in time."""
    if joined is None:
        return
    start = time.monotonic()
    try:
        barrier = joined.client.wait_at_barrier
        answer_of(lambda: barrier(name, int(seconds * 1000), None if others is None else list(others)), others)
    except RuntimeFailure as error:
        waited = time.monotonic() - start
        raise XlaError(
            f"process {joined.number} of {joined.count} waited {waited:.1f} s at {name!r}, and another process is gone or did not come: "
            f"{error}"
        ) from None


def agree(numbers: Sequence[int], seconds: float | None = None) -> list[int]:
    """Those of these processes that live, the same answer in each of them: it comes when all that live have asked. Raises XlaError where
    this process hears nothing any more, or for so long."""
    assert joined is not None
    now, group = joined, sorted(set(numbers))
    turn = now.turns[tuple(group)] = now.turns.get(tuple(group), 0) + 1

    def living() -> list[int]:
        return sorted(answer_of(partial(now.client.get_live_nodes, group), [], seconds))

    # `watch` asks this, too, so an answer does not say that the others are here: they meet at a place named by what they heard. Who
    # heard of one death more is at another place, and nobody passes this one: it waits for who is gone.
    try:
        alive = living()
        while True:
            place = f"jitscope/agree/{turn}/{group}/{alive}"
            try:
                answer_of(partial(now.client.wait_at_barrier, place, _LONG * 1000, alive), [], seconds)
                return alive
            except RuntimeFailure:
                before, alive = alive, living()
                if alive == before:
                    raise
    except (RuntimeFailure, TimeoutError) as error:
        raise XlaError(f"process {now.number} of {now.count} cannot hear which processes live: {error}") from None


def _last(now: Membership) -> None:
    """Wait a few seconds for the others, who are about to leave: the service ends with this process, and the runtime would end who still hears from it."""
    everybody, alone, start = list(range(now.count)), threading.Event(), time.monotonic()

    def ask() -> None:
        with suppress(RuntimeFailure):
            if len(now.client.get_live_nodes(everybody)) == 1:
                alone.set()

    # Who leaves while a question waits does not answer it, so it is asked again. The runtime may never say that one has left.
    while not alone.is_set() and time.monotonic() - start < min(_LEAVING, now.goodbye):
        _start(ask)
        alone.wait(0.02 + (time.monotonic() - start) / 4)


def leave() -> None:
    """Leave the others, when all of them are about to. Raises XlaError where one does not come in time."""
    global joined
    if joined is None:
        return
    now = joined
    try:
        try:
            agree(range(now.count), now.goodbye)
        finally:
            joined = None
            now.left.set()
        if now.service is not None:
            _last(now)
        now.client.shutdown()
        if now.service is not None:
            now.service.shutdown()
    except (RuntimeFailure, XlaError, TimeoutError) as error:
        # A service that goes before its client has left ends the process: both are kept, and the exit does not wait for them.
        _unfinished.append((now.service, now.client))
        stuck.set()
        raise XlaError(f"process {now.number} could not say goodbye to the others: {error}") from None
    finally:
        _settle()


forks.guard(meet)
