"""`jitscope.optimizers`: gradient transformations in the form, and with the names and defaults, of optax.

One step:

    updates, state = optimizer.update(grads, state, params)
    params = optimizers.apply_updates(params, updates)

with `optimizer = optimizers.adam(1e-3)` and, at the start, `state = optimizer.init(params)`. Trees of gradients, updates, state and
parameters have one structure, their leaves the shapes and dtypes of the parameters; where they differ, `update` and
`apply_updates` raise ValueError.
"""

from .algorithms import *
from .base import *
from .clipping import *
from .masking import *
from .schedules import *
from .transforms import *
