"""Watching jax: what it traces, lowers and compiles is written into the ledger, so that the documents of the compiler's own
programs are made of jax's, too.

jax is never imported here, nothing of it is changed but for marks while it lowers (`marks`), and `detach` leaves nothing behind.
`private` alone has names that jax does not document; `capabilities` says what they are needed for. A program's way: `watching`
hears of it, `signatures` keeps the key of the call, `translating` gives the jaxpr our form, `lineage` leads from names of operations
to equations, `programs` is what views take for a compiled program.
"""

from .asking import Asked as Asked, ask as ask, run_again as run_again, traced as traced
from .calls import Calls as Calls
from .errors import is_flag as is_flag, is_tracer as is_tracer, keep as keep, stopped as stopped
from .private import (
    Missing as Missing,
    capabilities as capabilities,
    jit_takes_options_alone as jit_takes_options_alone,
    there as there,
)
from .watching import Small as Small, Watcher as Watcher, attach as attach, current as current, detach as detach
