"""`jitscope.debug`: printing values of running programs, handing them to Python functions, and stopping there."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from .api.debugging import *
from .core.late import late as _late


if _TYPE_CHECKING:  # what is loaded late, for editors and type checkers
    from jitscope_scope.observe.layout_pictures import *

    from .api.breakpoint import *
    from .api.layouts import *
else:
    _late(
        globals(),
        {
            ".api.breakpoint": "breakpoint register_debugger",
            ".api.layouts": "inspect_array_sharding",
            "jitscope_scope.observe.layout_pictures": "visualize_array_sharding visualize_sharding",
        },
    )
