"""Several processes that compute together: the runtime's coordination service, which one of them runs, and their client of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from . import devices, forks
from .errors import XlaError
from .runtime import RuntimeFailure, _jax, xc


class Joined:
    """What this process is among the others. `service`: it runs the coordination service. Seconds: for how long it waits for others to
    come (`patience`), and to leave (`goodbye`)."""

    def __init__(self, number: int, count: int, client: Any, service: Any, patience: float, goodbye: float):
        self.number, self.count, self.client, self.service = number, count, client, service
        self.patience, self.goodbye = patience, goodbye


joined: Joined | None = None


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
    service = None
    try:
        if number == 0:
            port = address.rpartition(":")[2]
            service = _jax.get_distributed_runtime_service(
                bind or f"[::]:{port}", count, heartbeat_timeout=heartbeat, cluster_register_timeout=timeout,
                # Not `recoverable`: where a process dies, the devices of another would wait for each other for ever.
                shutdown_timeout=shutdown_timeout,
            )  # fmt: skip
        client = _jax.get_distributed_runtime_client(
            address, number, init_timeout=timeout, shutdown_timeout=shutdown_timeout, heartbeat_timeout=heartbeat,
            shutdown_on_destruction=False, use_compression=True,
        )  # fmt: skip
        client.connect()
    except RuntimeError as error:
        raise XlaError(f"not all of the {count} processes came to {address} within {timeout} s: {error}") from None
    joined = Joined(number, count, client, service, timeout, shutdown_timeout)
    try:
        _check_releases(releases())
    except XlaError:
        leave()
        raise
    devices.make_client_by(_client)


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
                found[other] = joined.client.blocking_key_value_get(f"jitscope/{what}/{other}", left)
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
        joined.client.wait_at_barrier(name, int(seconds * 1000), None if others is None else list(others))
    except RuntimeFailure as error:
        waited = time.monotonic() - start
        raise XlaError(
            f"process {joined.number} of {joined.count} waited {waited:.1f} s at {name!r}, and another process is gone or did not come: "
            f"{error}"
        ) from None


def leave() -> None:
    """Say goodbye to the others, and wait for none. Raises XlaError where they do not answer."""
    global joined
    if joined is None:
        return
    now, joined = joined, None
    try:
        now.client.shutdown()
        if now.service is not None:
            now.service.shutdown()
    except RuntimeFailure as error:
        raise XlaError(f"process {now.number} could not say goodbye to the others: {error}") from None


forks.guard(meet)
