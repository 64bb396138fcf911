"""`jitscope.ad_checkpoint`: what derivatives keep and what they compute anew, under JAX's module name."""

from .api.checkpoint import (
    checkpoint as checkpoint,
    checkpoint_name as checkpoint_name,
    print_saved_residuals as print_saved_residuals,
    remat as remat,
    saved_residuals as saved_residuals,
)
from .control.policies import (
    Offloadable as Offloadable,
    Recompute as Recompute,
    Saveable as Saveable,
    checkpoint_policies as checkpoint_policies,
)
