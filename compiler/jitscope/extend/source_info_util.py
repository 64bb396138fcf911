"""`jitscope.extend.source_info_util`: where programs were written."""

from ..core.source import add_internal as register_exclusion


__all__ = ["register_exclusion"]
