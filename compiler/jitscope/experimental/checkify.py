"""`jitscope.checkify` under the name it has in JAX."""

from ..checkify import *
