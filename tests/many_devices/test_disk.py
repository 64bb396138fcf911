"""Programs over several devices on disk: found again by another process, and by no other layout or mesh."""

from __future__ import annotations

from pathlib import Path

from tests.compiler.disk_folders import ON, pinned
from tests.compiler.programs import in_new_process


PROGRAM = """
from jitscope.core import records
answers = []
stop = records.listen(lambda r: answers.append(r.detail["disk"]) if r.step == "compile" and r.function == "program" else None)
import jitscope as jx, jitscope.numpy as jnp, numpy as np
from jitscope import lax
from jitscope.backend.disk.writer import writer
from jitscope.sharding import Mesh, NamedSharding, PartitionSpec as P

n = np.arange(64, dtype=np.float32).reshape(8, 8)
devices = np.array(jx.devices())

def say(program, x, wanted):
    answers.clear()
    jx.clear_caches()
    np.testing.assert_allclose(np.asarray(jx.jit(program)(x)), wanted, rtol=1e-4)
    writer.flush()
    print("found" if answers[0].found else ",".join(name for name, _, _ in answers[0].differs) or "new")
"""
LAID_OUT = """
mesh = Mesh(devices{order}.reshape({sizes}), ("a", "b"))
x = jx.device_put(n, NamedSharding(mesh, P({spec})))
def program(x):
    return (jnp.sin(x) @ x.T).sum(0)
say(program, x, (np.sin(n) @ n.T).sum(0))
"""
BY_DEVICE = """
x = n
mesh = Mesh(devices.reshape({sizes}), ("a", "b"))
def program(x):
    return jx.shard_map(lambda x: lax.psum(x, "a"), mesh=mesh, in_specs=P("a"), out_specs=P())(x)
say(program, x, n.reshape({parts}, -1, 8).sum(0))
"""


def answers(folder: Path, *programs: str) -> list[str]:
    """What the disk says of each of some programs in a new process."""
    variables = {**ON, "JITSCOPE_COMPILATION_CACHE_DIR": str(folder), "JITSCOPE_NUM_CPU_DEVICES": "8"}
    return in_new_process(pinned(PROGRAM + "".join(programs)), **variables).split()


def test_a_spread_program_is_found_by_the_next_process_and_by_no_other_layout(tmp_path: Path) -> None:
    by = lambda sizes, spec, order="": LAID_OUT.format(sizes=sizes, spec=spec, order=order)
    first, others = by((4, 2), "'a'"), [by((4, 2), "None, 'b'"), by((2, 4), "'a'"), by((4, 2), "'a'", "[::-1]")]
    assert answers(tmp_path, first) == ["new"]
    assert answers(tmp_path, first, *others, first) == ["found", "device", "device", "device", "found"]


def test_the_mesh_of_shard_map_belongs_to_the_program(tmp_path: Path) -> None:
    by = lambda sizes: BY_DEVICE.format(sizes=sizes, parts=sizes[0])
    assert answers(tmp_path, by((4, 2)), by((2, 4))) == ["new", "new"]
    assert answers(tmp_path, by((4, 2)), by((2, 4))) == ["found", "found"]
