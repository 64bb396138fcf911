"""Which plugin compiles for a chip, whether it is here and fits the installed jaxlib, and the one command that makes it ready."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from .chips import CHIPS, EXAMPLES, Platform


LIBTPU = {"0.10.2": "0.0.42", "0.11.2": "0.0.48", "0.12.0": "0.0.50", "0.12.0.1": "0.0.50"}
"""The release of libtpu that goes with a release of jaxlib, by the extra `tpu` of jax's metadata."""
_LIBRARIES = {"cuda13": "jax-cuda13-pjrt", "cuda12": "jax-cuda12-pjrt"}


class Plugin(NamedTuple):
    """A compiler that is installed: its library, the reason why it is not used ("" if it fits)."""

    library: str
    problem: str


class ListedChip(NamedTuple):
    """A chip as the list of targets has it: its name, how several of it are asked for, what it is, whether its compiler is ready here, and
    otherwise what to do."""

    name: str
    several: str
    title: str
    source: str
    ready: bool
    todo: str


def jaxlib_version() -> str:
    """The release of the installed jaxlib."""
    return metadata.version("jaxlib")


def targets() -> list[ListedChip]:
    """Every chip that is known, with whether its compiler is ready here. Nothing is loaded."""
    states = {platform: _state(platform) for platform in ("cuda", "tpu")}
    return [
        ListedChip(
            c.name,
            f"{c.name}:{EXAMPLES.get(c.name, '8')}",
            c.title,
            c.source,
            not states[c.platform],
            states[c.platform],
        )
        for c in CHIPS.values()
    ]


def _state(platform: Platform) -> str:
    found = plugin_for(platform)
    return found if isinstance(found, str) else ""


def plugin_for(platform: Platform) -> Plugin | str:
    """The plugin that compiles for a platform and fits the installed jaxlib, or two lines on what to do."""
    jaxlib = jaxlib_version()
    found = list(_plugins(platform, jaxlib))
    fits = next((one for one in found if not one.problem), None)
    if fits is not None:
        return fits
    what = "XLA's compiler for GPUs" if platform == "cuda" else "XLA's compiler for TPUs"
    head = f"{what} does not fit: {found[0].problem}." if found else f"{what} is not installed here."
    return f"{head}\n{_todo(platform, jaxlib)}"


def _todo(platform: Platform, jaxlib: str) -> str:
    """The command. It names releases, so that nothing that is installed moves."""
    if platform == "cuda":
        line = f"pip install --no-deps jax-cuda12-pjrt=={jaxlib}"
        return f"{line}   (0.2 GB to fetch; no GPU, driver or jax is needed)"
    release = LIBTPU.get(jaxlib)
    if release is None:
        return 'The release of libtpu that goes with a jaxlib is named in the metadata of jax (its extra "tpu"): pip install --no-deps libtpu==…'
    return f'pip install --no-deps "libtpu=={release}.*"   (no TPU or jax is needed)'


def _plugins(platform: Platform, jaxlib: str) -> Iterator[Plugin]:
    if platform == "tpu":
        yield from _libtpu(jaxlib)
        return
    for kind, package in _LIBRARIES.items():
        version = _version(package)
        library = next(iter(_found(f"jax_plugins/xla_{kind}/xla_cuda_plugin.so")), "")
        if version is not None and library:
            problem = (
                ""
                if version == jaxlib
                else f"{package} {version} goes with jaxlib {version}, and jaxlib {jaxlib} is installed"
            )
            yield Plugin(library, problem)


def _libtpu(jaxlib: str) -> Iterator[Plugin]:
    version, spec = _version("libtpu"), find_spec("libtpu")
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    library = next((str(Path(place, "libtpu.so")) for place in places if Path(place, "libtpu.so").is_file()), "")
    if version is None or not library:
        return
    wanted = LIBTPU.get(jaxlib)
    fits = wanted is None or version == wanted or version.startswith(f"{wanted}.")
    yield Plugin(library, "" if fits else f"libtpu {version} is not {wanted}, which goes with jaxlib {jaxlib}")


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _found(name: str) -> Iterator[str]:
    for place in sys.path:
        if (path := Path(place or ".", name)).is_file():
            yield str(path)
