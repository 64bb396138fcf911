"""Watching jax: what it traces, lowers and compiles is written into the ledger, so that the documents of the compiler's own
programs are made of jax's, too.

jax is never imported here. Of jax is changed, until `detach`: what it lowers bears marks (`marks`), which `reading` leaves out of what users and
tools read (it stands before jaxlib's readers, also after `detach`, since programs with marks live on), and arrays that are made a text are
looked at (`printed`).
`private` alone has names that jax does not document; `capabilities` says what they are needed for. A program's way: `watching`
hears of it, `signatures` keeps the key of the call, `translating` gives the jaxpr our form, `lineage` leads from names of operations
to equations, `programs` is what views take for a compiled program.
"""

from .asking import ProgramOfCall, ask, may_change_objects, run_again, trace_anew, trace_call, with_options
from .calls import Calls
from .errors import document_of_stop, frames_made_at, is_array, is_flag, is_tracer, is_tree, keep, made_at
from .layouts import arrays_of, layout_document
from .lineage import readable
from .mistakes import Mistake, mistake, remember_mistake, warned
from .options import options, set_back
from .private import (
    MissingName,
    buffer_of,
    capabilities,
    is_tree_class,
    rebuilds,
    room_of,
    staging,
    there,
    unread,
)
from .recorded_calls import results_of
from .retracing import raised_by_jax, remember_direct_call
from .runs import Looker, Run, Runs
from .stale_operands import stale_operand
from .watching import Watcher, attach, current, definition, detach, unwatched, users_position


__all__ = [
    "Calls", "Looker", "MissingName", "Mistake", "ProgramOfCall", "Run", "Runs", "Watcher", "arrays_of", "ask", "attach",
    "buffer_of", "capabilities", "current", "definition", "detach", "document_of_stop", "frames_made_at", "is_array", "is_flag",
    "is_tracer", "is_tree", "is_tree_class", "keep", "layout_document", "made_at", "may_change_objects", "mistake",
    "options", "raised_by_jax", "readable", "rebuilds", "remember_direct_call", "remember_mistake", "results_of",
    "room_of", "run_again", "set_back", "staging", "stale_operand", "there", "trace_anew", "trace_call", "unread",
    "unwatched", "users_position", "warned", "with_options",
]  # fmt: skip
