"""One compiled program with everything known about it."""

from typing import Literal, NotRequired, TypeAlias, TypedDict

from .communication import CommunicationDocument
from .fusion import FusionDocument
from .graph import GraphDocument
from .machine import MachineDocument
from .memory import MemoryDocument
from .parts import Cost
from .passes import PassesDocument
from .profile import ProfileDocument
from .reasons import ReasonsDocument
from .recompilations import RecompilationsDocument
from .source import SourceDocument
from .timing import SteadyRun, TimingDocument
from .transformations import TransformationsDocument
from .values import ValuesDocument


class Instruments(TypedDict, total=False):
    """Documents that cost more than looking at records (they compile again, or run the program): made when somebody asks by a button of
    the view, `%%jit --with passes`, `inspect(f)(x).passes`. An instrument's name is the kind of its document; instruments that were added
    (`jitscope_kernel.add_instruments`) stand here, too."""

    transformations: TransformationsDocument
    passes: PassesDocument
    memory: MemoryDocument
    values: ValuesDocument
    profile: ProfileDocument
    machine: MachineDocument
    communication: CommunicationDocument
    reasons: ReasonsDocument


InstrumentDocument: TypeAlias = (
    TransformationsDocument
    | PassesDocument
    | MemoryDocument
    | ValuesDocument
    | ProfileDocument
    | MachineDocument
    | CommunicationDocument
    | ReasonsDocument
)


class ProgramPart(TypedDict):
    """What stands beside others in the outermost level of a program's graph."""

    label: str
    equations: int
    backward: bool


class BusyCall(TypedDict):
    """A recorded call in a few figures."""

    seconds: float
    """What it took."""
    busy: list[float]
    """The part of each of so many equal stretches of it in which a kernel ran."""


class CompilationDocument(TypedDict):
    """A program of one function for one kind of arguments."""

    kind: Literal["compilation"]
    version: Literal[1]
    id: int
    function: str
    signature: str
    """Such as "layer(x: f32[64,20], w: f32[20,7]) -> f32[64,7]"."""
    equations: int
    cache: Literal["compiled", "reused", "loaded"]
    headline: str
    """Such as "14 equations → 2 kernels (1 fusion of 13)"."""
    parts: NotRequired[list[ProgramPart]]
    """The program in a few parts, in its order; their equations add up to `equations`. Drawn in the line that is seen first."""
    unusual: NotRequired[str]
    """What stands out, in words, beside recompilations; added where the document is packed."""
    busy: NotRequired[BusyCall]
    """How busy a recorded call was, where there is a profile: drawn in place of `parts`; added where the document is packed."""
    profiled: NotRequired[SteadyRun]
    """What a run takes by the profile, where no other calls were timed; added where the document is packed."""
    because: NotRequired[str]
    """Why it was traced or compiled."""
    source: SourceDocument | None
    jaxpr: str
    graph: GraphDocument
    fusion: FusionDocument | None
    timing: TimingDocument
    recompilations: RecompilationsDocument
    cost: Cost
    instruments: NotRequired[Instruments]
    """What was looked at on demand."""
    silent: NotRequired[list[str]]
    """Instruments that have nothing to say of such a program, by name: no view offers them."""
