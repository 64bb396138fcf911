"""The smoke tests of every room once more, beside a `jax` package that raises when imported."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.long
def test_smoke_tests_pass_where_jax_cannot_be_imported(root: Path, without_jax: dict[str, str]) -> None:
    poisoned = subprocess.run([sys.executable, "-c", "import jax"], env=without_jax, capture_output=True, text=True)
    assert "must not import jax" in poisoned.stderr

    files = [path for path in sorted(root.glob("tests/**/test_*.py")) if "pytest.mark.smoke" in path.read_text("utf-8")]
    command = [sys.executable, "-m", "pytest", "-m", "smoke", "-q", "-p", "no:cacheprovider", *map(str, files)]
    result = subprocess.run(command, cwd=root, env=without_jax, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-2000:]
