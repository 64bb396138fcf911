"""Data-parallel training in two processes: each has its own devices and its own rows of every batch.

python examples/programs/two_processes.py

starts both. On a cluster a scheduler starts the processes, on as many machines as there are, and `jitscope.distributed.initialize()`
without arguments finds them.
"""

import socket
import subprocess
import sys

import numpy as np


PROCESSES, DEVICES, ROWS, STEPS = 2, 2, 64, 100  # DEVICES of each process; ROWS of a batch, of all processes


def batches(rows=ROWS, steps=STEPS, seed=0):
    """Points of the plane, and whether each is inside of a circle."""
    random = np.random.default_rng(seed)
    for _ in range(steps):
        x = random.uniform(-1, 1, (rows, 2)).astype(np.float32)
        yield x, (np.hypot(*x.T) < 0.7).astype(np.float32)


def parameters(width=32, seed=0):
    random = np.random.default_rng(seed)
    normal = lambda *shape: (random.standard_normal(shape) / shape[0] ** 0.5).astype(np.float32)
    return {"in": normal(2, width), "bias": np.zeros(width, np.float32), "out": normal(width, 1)}


def make(jax, jnp):
    """`step(params, x, y)`: the loss, and the parameters after a step down its gradient. It knows nothing of processes."""

    def loss(params, x, y):
        hidden = jnp.tanh(x @ params["in"] + params["bias"])
        z = (hidden @ params["out"])[:, 0]
        return jnp.mean(jnp.logaddexp(0.0, z) - y * z)

    def step(params, x, y):
        value, gradient = jax.value_and_grad(loss)(params, x, y)
        return value, jax.tree.map(lambda p, g: p - 2.0 * g, params, gradient)

    return step


def train(number, port):
    """What one of the processes does."""
    import jitscope as jax
    import jitscope.numpy as jnp
    from jitscope.sharding import AxisType, NamedSharding, PartitionSpec as P

    jax.config.update("jax_num_cpu_devices", DEVICES)
    jax.distributed.initialize(f"127.0.0.1:{port}", PROCESSES, number, initialization_timeout=60)
    mesh = jax.make_mesh((PROCESSES * DEVICES,), ("data",), axis_types=(AxisType.Auto,))
    rows, whole = NamedSharding(mesh, P("data")), NamedSharding(mesh, P())
    params = jax.device_put(parameters(), whole)
    step = jax.jit(make(jax, jnp), out_shardings=whole)
    for i, batch in enumerate(batches()):
        # A process loads its own rows alone; here it makes all and takes its part.
        own = [part[number * ROWS // PROCESSES : (number + 1) * ROWS // PROCESSES] for part in batch]
        x, y = (jax.make_array_from_process_local_data(rows, part) for part in own)
        loss, params = step(params, x, y)
        if number == 0 and i % 20 == 19:
            print(f"step {i + 1}: loss {float(loss):.4f}", flush=True)
    print(f"process {number} of {jax.process_count()}: {jax.local_device_count()} of {jax.device_count()} devices, "
          f"sum of the weights {sum(float(jnp.sum(p)) for p in jax.tree.leaves(params)):.4f}", flush=True)  # fmt: skip
    jax.distributed.shutdown()


def main():
    """Start the processes, and wait for them."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    started = [subprocess.Popen([sys.executable, __file__, str(n), str(port)]) for n in range(PROCESSES)]
    try:
        codes = [process.wait(300) for process in started]
    finally:
        for process in started:
            process.kill()
    return max(map(abs, codes))


if __name__ == "__main__":
    sys.exit(train(*map(int, sys.argv[1:])) if len(sys.argv) > 1 else main())
