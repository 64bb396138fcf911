"""What the compiler did, as data: records become documents, and advice on sharp bits; programs of jax's are watched, too.

`page_faults` ← `source_code` ← `observe` ← `jaxwatch` ← `advise` ← `testing`: each imports only from those before it. Nothing here draws.
"""

from pathlib import Path as _Path

from jitscope.core import source as _source


_source.add_internal(str(_Path(__file__).parent))
