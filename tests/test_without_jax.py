"""Nothing imports jax: neither any module, nor a program that is traced, compiled, run and shown."""

import subprocess
import sys
from pathlib import Path


PROGRAM = """
import importlib, pkgutil, sys
import jitscope, jitscope_kernel, jitscope_scope, jitscope_widgets

for package in (jitscope, jitscope_scope, jitscope_kernel, jitscope_widgets):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)

import jitscope as jx, jitscope.numpy as jnp


def step(x):
    x = jx.lax.scan(lambda carry, row: (carry + jnp.sin(row), carry), jnp.zeros(3), x)[0]
    return jnp.sum(jx.vmap(jnp.exp)(x @ jx.random.normal(jx.random.key(0), (3, 3))))


seen = jx.inspect(jx.grad(step))(jnp.ones((4, 3)))
assert "stablehlo" in str(seen.stablehlo) and seen.graph and seen.kernels and jx.jit(jx.grad(step))(jnp.ones((4, 3))).shape == (4, 3)
assert "jax" not in sys.modules
"""


def test_nothing_imports_jax(tmp_path: Path) -> None:
    """The package that is found ends the process, so that no `except ImportError` hides an attempt."""
    package = tmp_path / "jax"
    package.mkdir()
    (package / "__init__.py").write_text("import os\nos._exit(7)\n")
    path = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n"
    for program, status in (("import jax", 7), (PROGRAM, 0)):
        ran = subprocess.run([sys.executable, "-c", path + program], capture_output=True, text=True, check=False)
        assert ran.returncode == status, ran.stderr
