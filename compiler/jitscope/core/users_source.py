"""What errors say of the user's source. The scope reads it: this door up is opened when the first error asks."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from .late import late as _late


if _TYPE_CHECKING:
    from jitscope_scope.source_code.names import in_own_names as in_own_names
    from jitscope_scope.source_code.places import path_at as path_at, position_of_result as position_of_result
    from jitscope_scope.source_code.rewrites import rewrite as rewrite
    from jitscope_scope.source_code.unpacking import unpacked as unpacked
else:
    _late(
        globals(),
        {
            "jitscope_scope.source_code.names": "in_own_names",
            "jitscope_scope.source_code.places": "path_at position_of_result",
            "jitscope_scope.source_code.rewrites": "rewrite",
            "jitscope_scope.source_code.unpacking": "unpacked",
        },
    )
