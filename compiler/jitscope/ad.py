"""What `f_vjp.with_refs(...)` takes beside references, and gives in their places."""

from .api.with_refs import *
