"""What `f_vjp.with_refs(...)` takes beside references, and gives in their places; and what stands in `f_vjp.args_res`."""

from .api.residuals import *
from .api.with_refs import *
