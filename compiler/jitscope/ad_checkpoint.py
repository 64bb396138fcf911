"""`jitscope.ad_checkpoint`: what derivatives keep and what they compute anew, under JAX's module name."""

from .api.checkpoint import *
from .control.policies import *
from .ops.marks import name_p as name_p
