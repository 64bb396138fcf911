"""`jitscope.lib`: the version of jaxlib, under the name of `jax.lib`."""

from .xla.versions import JAXLIB as __version__


__all__ = ["__version__"]
