"""`jitscope.experimental.sparse`: sparse matrices. They are not there; code that only asks whether something is one runs."""

from typing import Any


class JAXSparse:
    """A sparse matrix. Making one raises NotImplementedError."""

    def __init__(self, *_: Any, **__: Any):
        raise NotImplementedError(_MISSING)


class BCOO(JAXSparse):
    """A sparse matrix as places and values. Making one raises NotImplementedError."""

    @classmethod
    def fromdense(cls, *_: Any, **__: Any) -> Any:
        """Raises NotImplementedError: see `experimental.sparse`."""
        raise NotImplementedError(_MISSING)

    from_scipy_sparse = fromdense


class BCSR(BCOO):
    """A sparse matrix by rows. Making one raises NotImplementedError."""


_MISSING = "sparse matrices are not there: use a dense array, or places and values with at[...].add and segment_sum"

__all__ = ["BCOO", "BCSR", "JAXSparse"]
