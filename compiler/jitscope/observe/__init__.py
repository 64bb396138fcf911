"""What the compiler did: the ledger, and documents made from it (plain data; docs/documents.md describes them)."""

from ..core.records import listen as listen
from .differences import Difference as Difference, differences as differences
from .documents import (
    cell_document as cell_document,
    compilation_document as compilation_document,
    ledger_document as ledger_document,
    measured as measured,
    recompilations_document as recompilations_document,
    signature_text as signature_text,
)
from .fusion import fusion_document as fusion_document
from .graph import jaxpr_graph as jaxpr_graph
from .ledger import Ledger as Ledger, Mark as Mark, Row as Row, ledger as ledger
from .positions import position_document as position_document, positions_of as positions_of
from .timing import measure_steady as measure_steady
