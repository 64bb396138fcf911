"""What each of several processes runs: `python -m tests.many_devices.process_programs NAME NUMBER COUNT PORT`."""

from __future__ import annotations

import os
import re
import signal
import sys
import time

import numpy as np

import jitscope as jx
from jitscope import lax
from jitscope.experimental import multihost_utils as multihost
from jitscope.sharding import AxisType, NamedSharding, PartitionSpec as P
from jitscope.xla import processes


def join(number: int, count: int, port: int, timeout: int = 60) -> None:
    jx.config.update("jax_num_cpu_devices", 2)
    jx.distributed.initialize(
        f"127.0.0.1:{port}",
        count,
        number,
        initialization_timeout=timeout,
        heartbeat_timeout_seconds=10,
        shutdown_timeout_seconds=10,
    )


def together(number: int, count: int, port: int) -> None:
    join(number, count, port)
    assert (jx.process_index(), jx.process_count(), jx.device_count(), jx.local_device_count()) == (
        number,
        count,
        2 * count,
        2,
    )
    assert [d.process_index for d in jx.devices()] == [i for i in range(count) for _ in range(2)]
    mesh = jx.make_mesh((2 * count,), ("x",), axis_types=(AxisType.Auto,))
    whole = np.arange(8 * count, dtype=np.float32).reshape(-1, 2)
    mine = whole[4 * number : 4 * number + 4]
    x = jx.make_array_from_process_local_data(NamedSharding(mesh, P("x")), mine)
    assert (
        x.shape == whole.shape
        and not x.is_fully_addressable
        and len(x.addressable_shards) == 2
        and len(x.global_shards) == 2 * count
    )
    try:
        np.asarray(x)
    except RuntimeError as error:
        assert "other processes" in str(error), error
    else:
        raise AssertionError
    total = jx.jit(lambda a: a.sum(0))(x)
    np.testing.assert_allclose(np.asarray(total), whole.sum(0))
    part = jx.shard_map(lambda a: lax.psum(a, "x"), mesh=mesh, in_specs=P("x"), out_specs=P())
    np.testing.assert_allclose(np.asarray(jx.jit(part)(x)), whole.reshape(2 * count, 2, 2).sum(0))
    grad = jx.jit(jx.grad(lambda w, a: ((a * w) ** 2).mean()))(2.0, x)
    np.testing.assert_allclose(np.asarray(grad), (4 * whole**2).mean(), rtol=1e-5)
    np.testing.assert_array_equal(multihost.process_allgather(np.array([number, 7])), [[i, 7] for i in range(count)])
    np.testing.assert_array_equal(multihost.process_allgather(x), whole)
    given = multihost.broadcast_one_to_all(
        {"a": np.full(3, number + 5.0, np.float32), "b": np.array([True, number == 0])}
    )
    np.testing.assert_array_equal(given["a"], [5, 5, 5])
    np.testing.assert_array_equal(given["b"], [True, True])
    multihost.sync_global_devices("here")
    multihost.assert_equal(np.arange(3))
    try:
        multihost.assert_equal(np.arange(3) + number, "not the same")
    except AssertionError as error:
        assert "not the same" in str(error)
    else:
        raise SystemExit("assert_equal said nothing")
    try:
        jx.device_put(np.arange(3) + number, NamedSharding(x.sharding.mesh, P()))
    except AssertionError as error:
        assert "different values for one array" in str(error)
    else:
        raise SystemExit("device_put said nothing of other values")
    one = jx.jit(lambda a: a * 2)(np.ones(3))  # on this process's own device
    assert float(one.sum()) == 6
    multihost.sync_global_devices("end")
    jx.distributed.shutdown()
    assert not jx.distributed.is_initialized()


def last_dies(number: int, count: int, port: int) -> None:
    """The others raise an error in time, compute on, each by itself, and end as usual."""
    start = one_dies(number, count, port, count - 1)
    assert start < 30, start
    slow = jx.jit(lambda a: lax.fori_loop(0, 200, lambda i, a: jx.numpy.tanh(a @ a), a).sum())
    assert float(slow(np.zeros((500, 500), np.float32))) == 0  # on this process's own device, which waits for nobody
    try:
        summed(jx.local_devices())
    except RuntimeError as error:
        assert "over several of its devices" in str(error), error
    else:
        raise SystemExit("jaxlib goes on: the error can go")
    try:
        multihost.sync_global_devices("after")
    except RuntimeError as error:
        assert "died or left" in str(error), error
    else:
        raise SystemExit("nobody was missed")


def live(number: int, count: int, port: int) -> None:
    """The last process dies in a block; the others hear of it together, and compute on over their devices."""
    join(number, count, port)
    total = 0.0
    with multihost.live_devices(jx.devices()) as found:
        assert found == jx.devices(), found
        total += summed(found)
    if number == 0:
        time.sleep(1)  # the others wait for it
    failed = None
    try:
        with multihost.live_devices(jx.devices()) as found:
            assert found == jx.devices(), found
            if number == count - 1:
                os.kill(os.getpid(), signal.SIGKILL)
            if number == 0:  # the others between have nothing to do
                print(summed([d for d in found if d.process_index in (0, count - 1)]), "was heard from one that died")
    except multihost.ProcessFailureError as error:
        assert {d.process_index for d in error.failed_devices} == {count - 1} and len(error.failed_devices) == 2
        assert isinstance(error.__cause__, RuntimeError) == (number == 0), error.__cause__
        failed = error
    assert failed is not None and f"process {count - 1} died" in str(failed), failed
    for _ in range(2):
        with multihost.live_devices(jx.devices()) as found:
            assert {d.process_index for d in found} == set(range(count - 1)), found
            total += summed(found)
    assert total == 2 * count + 2 * 2 * (count - 1), total
    try:
        with multihost.live_devices(jx.local_devices()):
            raise KeyError("own")
    except KeyError as error:
        assert error.args == ("own",)
    else:
        raise SystemExit("the error of the body was lost")
    others = [d for d in jx.devices() if d.process_index != number]
    for devices in ([], others):
        try:
            with multihost.live_devices(devices):
                raise SystemExit("no device of this process was missed")
        except ValueError as error:
            assert "devices" in str(error)


def ones(devices: list) -> jx.Array:
    """One for each of these devices."""
    sharding = NamedSharding(jx.sharding.Mesh(np.array(devices), ("x",)), P("x"))
    return jx.make_array_from_callback((len(devices),), sharding, lambda _: np.ones(1, np.float32))


def summed(devices: list) -> float:
    """The sum of them, over the processes."""
    return float(jx.jit(lambda a: a.sum())(ones(devices)))


def first_dies(number: int, count: int, port: int) -> None:
    one_dies(number, count, port, 0)


def one_dies(number: int, count: int, port: int, which: int) -> float:
    """After how many seconds the others heard of it."""
    join(number, count, port)
    mesh = jx.make_mesh((2 * count,), ("x",), axis_types=(AxisType.Auto,))
    x = jx.make_array_from_callback((2 * count, 2), NamedSharding(mesh, P("x")), lambda i: np.ones((1, 2), np.float32))
    f = jx.jit(lambda a: a.sum(0))
    f(x).block_until_ready()
    multihost.sync_global_devices("all run")
    if number == which:
        os.kill(os.getpid(), signal.SIGKILL)
    start = time.monotonic()
    try:
        for _ in range(1000):
            f(x).block_until_ready()
            time.sleep(0.02)
    except RuntimeError as error:
        print(f"process {number} heard after {time.monotonic() - start:.1f} s: {str(error)[:200]}", flush=True)
        return time.monotonic() - start
    raise SystemExit("nobody was missed")


def one_runs_ahead(number: int, count: int, port: int) -> None:
    join(number, count, port)
    mesh = jx.make_mesh((2 * count,), ("x",), axis_types=(AxisType.Auto,))
    x = jx.make_array_from_callback((2 * count, 2), NamedSharding(mesh, P("x")), lambda i: np.ones((1, 2), np.float32))
    step = jx.jit(lambda a: a * 0.5 + a.mean())
    for i in range(200):
        if number == 0 and i % 20 == 1:
            time.sleep(0.1)
        x = step(x)
    np.testing.assert_allclose(np.asarray(jx.jit(lambda a: a.max())(x)), 1.5**200, rtol=1e-3)


def other_program(number: int, count: int, port: int) -> None:
    join(number, count, port, timeout=20)
    mesh = jx.make_mesh((2 * count,), ("x",), axis_types=(AxisType.Auto,))
    x = jx.make_array_from_callback((2 * count, 2), NamedSharding(mesh, P("x")), lambda i: np.ones((1, 2), np.float32))

    def mean(a):
        return a.mean(0)

    def largest(a):
        return a.max(0)

    jx.jit(mean)(x).block_until_ready()
    try:
        jx.jit(largest if number else lambda a: a.sum(0))(x)
    except RuntimeError as error:
        assert "different programs" in str(error) and "process 1 runs largest(" in str(error), error
    else:
        raise SystemExit("the other program was not seen")
    jx.jit(lambda a: a.min(0))(x).block_until_ready()  # the processes go on


def one_stays_away(number: int, count: int, port: int) -> None:
    join(number, count, port)
    assert processes.joined is not None
    processes.joined.patience = 4
    mesh = jx.make_mesh((2 * count,), ("x",), axis_types=(AxisType.Auto,))
    x = jx.make_array_from_callback((2 * count, 2), NamedSharding(mesh, P("x")), lambda i: np.ones((1, 2), np.float32))
    if number == 0:
        start = time.monotonic()
        try:
            jx.jit(lambda a: a.sum(0))(x)
        except RuntimeError as error:
            assert re.search(r"waited \d+\.\d s for process 1", str(error)), error
        else:
            raise SystemExit("nobody was waited for")
        assert time.monotonic() - start < 20


def one_is_done_first(number: int, count: int, port: int) -> None:
    join(number, count, port)
    multihost.sync_global_devices("both there")
    client = processes.joined.client
    if number == 0:  # it runs the service, which lives until all leave
        client.key_value_set("said", "something", True)
    else:
        time.sleep(1)
        assert client.blocking_key_value_get("said", 5000) == "something"
    jx.distributed.shutdown()


def other_release(number: int, count: int, port: int) -> None:
    own = processes.releases()
    if number == 1:  # the same jaxlib, which says that it is another
        processes.releases = lambda: own.replace("jaxlib 0", "jaxlib 7")
    try:
        join(number, count, port)
    except RuntimeError as error:
        assert "different releases" in str(error) and "jaxlib 7" in str(error) and "process 1" in str(error), error
    else:
        raise SystemExit("the other release was not seen")


def one_is_late(number: int, count: int, port: int) -> None:
    if number == count - 1:
        return
    start = time.monotonic()
    try:
        join(number, count, port, timeout=4)
    except RuntimeError as error:
        assert f"not all of the {count} processes" in str(error), error
        assert time.monotonic() - start < 20
    else:
        raise SystemExit("nobody was waited for")
    assert float(jx.jit(lambda a: a.sum())(np.ones(3))) == 3


if __name__ == "__main__":
    name, *numbers = sys.argv[1:]
    globals()[name](*map(int, numbers))
    print("done", flush=True)
