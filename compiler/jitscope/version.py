"""`jitscope.version`: the version of JAX whose names and semantics jitscope has. (Its own is in the package's metadata.)"""

__version_info__ = (0, 12, 0, 1)
__version__ = ".".join(map(str, __version_info__))
