"""Random numbers: pure functions of a key. Bits equal JAX's (partitionable threefry)."""

from .keys import (
    PRNGKey as PRNGKey,
    clone as clone,
    fold_in as fold_in,
    key as key,
    key_data as key_data,
    key_dtype as key_dtype,
    key_impl as key_impl,
    split as split,
    wrap_key_data as wrap_key_data,
)
from .samplers import (
    bernoulli as bernoulli,
    bits as bits,
    normal as normal,
    randint as randint,
    uniform as uniform,
)
