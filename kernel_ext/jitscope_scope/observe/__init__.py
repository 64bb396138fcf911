"""What the compiler did: the ledger, and documents made from it (plain data; docs/documents.md describes them).

The ledger listens from the first import on; what makes documents is loaded when it is first used.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from jitscope.core.late import late as _late

from .differences import *
from .fixes import *
from .ledger import *
from .positions import *
from .small import *


if _TYPE_CHECKING:  # what is loaded late, for editors and type checkers
    from jitscope.core.errors import Unavailable as Unavailable
    from jitscope.core.records import listen as listen

    from .documents import (
        cell_document as cell_document,
        compilation_document as compilation_document,
        compiled_again as compiled_again,
        ledger_document as ledger_document,
        measure_row as measure_row,
        signature_text as signature_text,
    )
    from .fusion import fusion_document as fusion_document
    from .graph import jaxpr_graph as jaxpr_graph
    from .instruments import instrument_names as instrument_names, look as look, offers as offers
    from .kernel_timing import KernelTime as KernelTime, kernel_times as kernel_times
    from .recompiling.cards import (
        explanation as explanation,
        loud as loud,
        recompilations_document as recompilations_document,
    )
    from .sharding import sharding_document as sharding_document
    from .stopped import stopped_document as stopped_document
    from .timing import measure_steady as measure_steady
else:
    _late(
        globals(),
        {
            "jitscope.core.errors": "Unavailable",
            "jitscope.core.records": "listen",
            ".documents": "cell_document compilation_document compiled_again ledger_document measure_row signature_text",
            ".fusion": "fusion_document",
            ".graph": "jaxpr_graph",
            ".instruments": "instrument_names look offers",
            ".kernel_timing": "KernelTime kernel_times",
            ".recompiling.cards": "explanation loud recompilations_document",
            ".sharding": "sharding_document",
            ".stopped": "stopped_document",
            ".timing": "measure_steady",
        },
    )
