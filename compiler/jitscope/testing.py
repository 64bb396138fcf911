"""`jitscope.testing`: assertions on tracing and compiling, for tests. They fail with the explanation that `%recompiles` gives."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from .core.late import late as _late


if _TYPE_CHECKING:  # the explanation is the scope's
    from jitscope_scope.testing import (
        TooManyCompilations as TooManyCompilations,
        TracedAgain as TracedAgain,
        assert_compiles as assert_compiles,
        limit_compilations as limit_compilations,
        no_tracing as no_tracing,
    )
else:
    _late(
        globals(),
        {"jitscope_scope.testing": "TooManyCompilations TracedAgain assert_compiles limit_compilations no_tracing"},
    )
