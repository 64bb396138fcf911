"""What the compiler does, as lines of Python's logging (`log_compiles`, `explain_cache_misses`)."""

from __future__ import annotations

import logging

from jitscope.core.config import value_of
from jitscope.core.records import Record

from .ledger import Row


_logger = logging.getLogger("jitscope.compiler")


def log(row: Row, record: Record) -> None:
    """Log a record that was filed in a row, as the options in force say."""
    if value_of("explain_cache_misses") and record.step == "trace":
        _logger.warning("%s", _miss(row))
    if value_of("log_compiles"):
        if record.step == "trace":
            _logger.warning("Finished tracing + transforming %s for jit in %.9f sec", row.function, record.seconds)
        elif record.step == "lower":
            _logger.warning("Compiling jit(%s) with global shapes and types %s", row.function, _arguments(row))
            _logger.warning("Finished MLIR module conversion jit(%s) in %.9f sec", row.function, record.seconds)
        elif record.step == "compile":
            how = "loading" if row.disk is not None and row.disk.found else "XLA compilation"
            _logger.warning("Finished %s of jit(%s) in %.9f sec", how, row.function, record.seconds)


def _miss(row: Row) -> str:
    where = row.call_site
    place = f" at {where.file}:{where.line} ({where.function})" if where else ""
    defined = f" defined at {row.position.file}:{row.position.line}" if row.position else ""
    if row.against is None:
        reason = f"  never seen function: {row.function}{defined}"
    else:
        seen = f"  for {row.function}{defined}\n"
        reason = seen + "\n".join(f"  {difference.sentence()}" for difference in row.differences)
    return f"TRACING CACHE MISS{place} because:\n{reason}"


def _arguments(row: Row) -> str:
    if row.signature is None:
        return "[]"
    return f"[{', '.join(f'{leaf.path}: {leaf}' for leaf in row.signature.leaves)}]"
