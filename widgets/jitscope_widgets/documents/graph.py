"""A program as a graph: equations of a jaxpr, or HLO instructions and kernels.

A **group** only holds other nodes and is no equation: no count of equations or kernels includes it. Its nodes follow each other in
the order of the program (after optimisation: of the schedule), so that the graph of groups has no cycle. What it is:

* *tree*: the arguments, constants or results of one tree, or of a part of one: `params['layers']` holds `in7`, …; `label` is the name
  of the part, `count` the number of arrays, `bytes` their sum. Ids `in:params['layers']`, `out:result[1]`, `const:`. A part with one
  array has no group, nor has one with a single part.
* *function*: equations of one call of a user's function, from the call stacks; `positions` has the call's. What the backward pass does
  for it is a group of its own, "block (backward)". Calls are told apart where an instruction of the function ran again outside of its
  loops; else equations of several calls are in one group. Many calls from one place, one after the other, are in one group round
  theirs: "update, 40 calls". The `__call__` of a class is called by the class, a lambda by its line. `count`: equations at all levels.
* *named scope*: equations of one `jax.named_scope`; `count` as above.
* *line*: equations that one line wrote, where they would be too many beside each other: the 6 or more that it had a library compute,
  called by what it calls (`opt.update`); in a level of more than 30 boxes those of one line that follow each other, called by its text. Inside of
  a library's, its functions are groups of kind *function*. `count` as above.
* *repeat*: `count` ≥ 3 equal blocks (of a single operation: 8) one after the other, "block × 12". It holds as many groups of kind
  *instance*, "block 3 of 12": equal equation by equation in primitive, parameters, literals, types and operands from inside the block.
  `params` of an instance says what differs: the name of a value that the first instance has from outside → of the value in its place
  (results of the instance before are left out); likewise of named scopes, which may differ in a number at the end (`Block_0` → `Block_3`).

On graphs of HLO, operations that follow each other are in the groups that all equations they stem from are in, as *function* or *named
scope* with the same label; `count` is then the number of operations or kernels in it. Ids of the last four are `g0`, `g1`, …; a group
stands in `nodes` before what it holds. What holds fewer than two nodes, or all that its scope holds, is no group (a repeat excepted).
"""

from typing import Literal, NotRequired, TypedDict

from .parts import Position, Transform


class NodeNumber(TypedDict):
    """A number of the user's own, laid over the graph."""

    name: str
    value: float
    unit: str


NodeKind = Literal["input", "constant", "equation", "output", "instruction", "fusion", "library", "scope", "group"]


GroupKind = Literal["tree", "function", "named scope", "line", "repeat", "instance"]


NodeMark = Literal["path", "stop", "removed", "added", "changed", "rewired", "fused", "moved"]


class NodeOrigin(TypedDict):
    """Where what a node stands for was written."""

    positions: list[Position]
    transforms: NotRequired[list[Transform]]
    """Of equations: what made it from the one that was written there, always in this order."""
    call: NotRequired[int | None]
    """Of equations: the call in the source document that wrote it, in line `positions[0].line`; None outside of the traced function."""


class GraphNode(NodeOrigin):
    """A node. One that other nodes name as `scope` can be opened and closed: an equation that holds a jaxpr (kind "scope"), a fusion
    with its members, an HLO computation. A kernel that XLA wrapped round one operation, a library call too, has no members. Bitcasts
    are nodes but no kernels; loops are listed as kernels but not counted as such."""

    id: str
    """Unique in the graph: the equation's path (`e2/e0`), `in0`, `const0`, `out0`; an HLO instruction's name."""
    kind: NodeKind
    what: NotRequired[GroupKind]
    """What a group is."""
    count: NotRequired[int]
    """How much a group holds."""
    calls: NotRequired[int]
    """Of kind *function*, where several groups are calls from one place: how many calls these are; 0: a group may go on with the call of
    the one before it."""
    label: str
    """A short name: the primitive, the opcode, the argument's path."""
    scope: str | None
    """The id of the node that contains this one."""
    types: list[str]
    """What it gives, such as "f32[64,7]"."""
    bytes: int
    """The size of what it gives."""
    text: str
    """Its line of the program."""
    params: dict[str, str]
    paths: list[str]
    """Paths of the equations it stems from ("e2/e0"); empty where no origin is known."""
    others: NotRequired[list[str]]
    """Of groups of kernels: paths of the equations that these compute, too, and that are not of the group."""
    left_out: NotRequired[int]
    """Of scopes and groups in the graph of two compared programs: so many equations in them are not drawn."""
    mark: NotRequired[NodeMark]
    """In a `stopped` document: on the way to the error ("path"), or where it is ("stop"); in a `nan-hunt` on the way from the first bad
    operation, or that one; in a `passes` document what a pass did; in a comparison what differs."""
    number: NotRequired[NodeNumber]
    fused_into: str | None
    """On graphs of HLO before fusion: the kernel that took it in."""


_Ends = TypedDict("_Ends", {"from": str, "to": str})


class GraphEdge(_Ends):
    """A value on its way: `from` the node that makes it `to` one that uses it, at whatever depth. A view that shows a closed scope draws
    an edge to or from the scope instead."""

    type: str
    bytes: int
    gone: NotRequired[bool]
    """In `passes` documents: it flowed so before the pass; in comparisons: in program A alone."""
    note: NotRequired[str]
    """What is said of it where it is picked: why the kernels at its ends are not one."""


class GraphDocument(TypedDict):
    """Leaf and scope nodes of kinds "equation" and "scope" together are the equations of the jaxpr at all levels; "instruction",
    "fusion" and "library" are the HLO instructions of kernels and their members."""

    kind: Literal["graph"]
    version: Literal[1]
    level: Literal["jaxpr", "hlo"]
    title: str
    nodes: list[GraphNode]
    edges: list[GraphEdge]
