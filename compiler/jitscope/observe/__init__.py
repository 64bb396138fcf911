"""What the compiler did: the ledger, and documents made from it (plain data; docs/documents.md describes them).

The ledger listens from the first import on; what makes documents is loaded when it is first used.
"""

from ..core.late import late as _late
from .differences import *
from .fixes import *
from .ledger import *
from .positions import *
from .small import *


__getattr__, __dir__ = _late(
    globals(),
    {
        "..core.errors": "Unavailable",
        "..core.records": "listen",
        ".documents": "cell_document compilation_document compiled_again ledger_document measured signature_text",
        ".fusion": "fusion_document",
        ".graph": "jaxpr_graph",
        ".instruments": "INSTRUMENTS look",
        ".kernel_timing": "KernelTime kernel_times",
        ".recompiling.cards": "explanation loud recompilations_document",
        ".sharding": "sharding_document",
        ".stopped": "stopped_document",
        ".targets": "target_text",
        ".timing": "measure_steady",
    },
)
