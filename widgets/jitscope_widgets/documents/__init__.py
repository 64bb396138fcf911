"""The documents: plain, versioned, JSON-able data from which every view (widget, static HTML, SVG, text, graphviz, the side panel) is made, so
that any producer can fill them. One file a kind.

Rules that hold for all of them:

* only `dict`, `list`, `str`, `int`, `float`, `bool`, `None`; no NaN, no tuples;
* text that came from user code is text, never markup: renderers escape;
* every document has `"kind"` and `"version": 1`; a renderer that meets an unknown kind or version says so in its place;
* times are in seconds, sizes in bytes; only the view rounds.

These types are the only description: the types of the front end, the JSON schema (`python -m jitscope_widgets.documents`), the reference
in the documentation and `validate` are made from them.
"""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, TypeAlias


_TOOLS = frozenset(("__main__", "annotations", "checking", "fields", "parts", "rules", "schema", "typescript"))
"""The files that are no kind of document."""


@cache
def kinds() -> tuple[str, ...]:
    """The kinds of documents: each has a file of its name here, with the type `<Kind>Document`."""
    names = sorted(module.name for module in iter_modules(__path__) if module.name not in _TOOLS)
    return tuple(name.replace("_", "-") for name in names)


def file_name(kind: str) -> str:
    """The name of the file that has the type of a kind."""
    return kind.replace("-", "_")


def type_name(kind: str) -> str:
    """The name of the type of a kind: "NanHuntDocument" of "nan-hunt"."""
    return f"{kind.title().replace('-', '')}Document"


def types() -> dict[str, type]:
    """The types of all kinds of documents, by kind."""
    return {kind: getattr(import_module(f".{file_name(kind)}", __name__), type_name(kind)) for kind in kinds()}


if TYPE_CHECKING:
    from .cell import CellDocument as CellDocument
    from .communication import CommunicationDocument as CommunicationDocument
    from .comparison import ComparisonDocument as ComparisonDocument
    from .compilation import CompilationDocument as CompilationDocument
    from .diagnostics import DiagnosticsDocument as DiagnosticsDocument
    from .fusion import FusionDocument as FusionDocument
    from .graph import GraphDocument as GraphDocument
    from .ledger import LedgerDocument as LedgerDocument
    from .machine import MachineDocument as MachineDocument
    from .memory import MemoryDocument as MemoryDocument
    from .nan_hunt import NanHuntDocument as NanHuntDocument
    from .parts import Edit as Edit, Fix as Fix, Position as Position, Quantity as Quantity
    from .passes import PassesDocument as PassesDocument
    from .profile import ProfileDocument as ProfileDocument
    from .reasons import ReasonsDocument as ReasonsDocument
    from .recompilations import RecompilationsDocument as RecompilationsDocument
    from .sharding import ShardingDocument as ShardingDocument
    from .source import SourceDocument as SourceDocument
    from .stopped import StoppedDocument as StoppedDocument
    from .target import TargetDocument as TargetDocument
    from .targets import TargetsDocument as TargetsDocument
    from .timing import TimingDocument as TimingDocument
    from .trace import TraceDocument as TraceDocument
    from .transformations import TransformationsDocument as TransformationsDocument
    from .values import ValuesDocument as ValuesDocument

    AnyDocument: TypeAlias = (
        SourceDocument
        | GraphDocument
        | FusionDocument
        | TimingDocument
        | RecompilationsDocument
        | DiagnosticsDocument
        | StoppedDocument
        | NanHuntDocument
        | CompilationDocument
        | CellDocument
        | TraceDocument
        | TransformationsDocument
        | PassesDocument
        | MemoryDocument
        | ProfileDocument
        | ComparisonDocument
        | ValuesDocument
        | ShardingDocument
        | CommunicationDocument
        | ReasonsDocument
        | MachineDocument
        | TargetDocument
        | TargetsDocument
        | LedgerDocument
    )
else:  # views need no types, so these are loaded when somebody asks

    def __getattr__(name: str) -> type:
        places = {type_name(kind): file_name(kind) for kind in kinds()}
        places |= dict.fromkeys(("Edit", "Fix", "Position", "Quantity"), "parts")
        if name not in places:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f".{places[name]}", __name__), name)
