"""A jaxpr as a graph document."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from jitscope.core.avals import ShapedArray
from jitscope.core.jaxpr import NO_DEBUG, Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, running, subpath
from jitscope.core.printing import Names, atom_text, binder_text, literal_text, shown_params

from ..annotations import GraphDocument, GraphEdge, GraphNode, NodeKind, NodeOrigin, Position
from .calls import CallTree
from .groups import grouped
from .groups.names import function_name
from .positions import CellOf, no_cell
from .stacks import EquationOrigin, Stacks


def jaxpr_graph(
    jaxpr: Jaxpr,
    title: str,
    positions: Mapping[str, Position],
    cell_of: CellOf = no_cell,
    names: Names | None = None,
    tree: CallTree | None = None,
    groups: bool = True,
) -> GraphDocument:
    """The graph document of a jaxpr, in `groups` or of its equations alone; `positions` are those of its equations by path, `names`,
    if they are known, those of its variables, `tree` the calls of its equations."""
    builder = _Builder(names or Names(jaxpr, brief=True), positions, tree)
    builder.program(jaxpr)
    if groups:
        builder.once()
    nodes = builder.nodes
    if groups:
        nodes = grouped(nodes, builder.levels, builder.name_of, cell_of, builder.stacks)
    return {"kind": "graph", "version": 1, "level": "jaxpr", "title": title, "nodes": nodes, "edges": builder.edges}


def nodes_by_path(graph: GraphDocument) -> dict[str, GraphNode]:
    """The nodes of a jaxpr's graph by id, and by the paths of all equations that they stand for."""
    return {name: node for node in graph["nodes"] for name in (node["id"], *node["paths"])}


def result_names(jaxpr: Jaxpr) -> list[str]:
    """What the results of a program are called: `result['loss']`, or by their number."""
    names, count = jaxpr.debug.result_names, len(jaxpr.outvars)
    return list(names) if len(names) == count else [f"result {i}" for i in range(count)]


def argument_names(jaxpr: Jaxpr | None, takes: Any, count: int) -> list[tuple[int | None, str]]:
    """What a program's own arguments are called, with their numbers in the call: captured arrays first, which have none, then those of the
    call that it reads, of which there are `count` where nothing is known of what it `takes`. A jaxpr of jax's has these alone."""
    debug = jaxpr.debug if jaxpr else NO_DEBUG
    hidden, kept = takes.arguments if takes is not None else (0, list(range(count)))
    places = range(len(kept)) if jaxpr and len(jaxpr.invars) == len(kept) else kept
    return [
        *((None, f"captured array {i}") for i in range(hidden)),
        *((i, debug.argument(place)) for i, place in zip(kept, places)),
    ]


_NONE: list[Any] = []
_NO_PARAMS: dict[str, str] = {}
_NO_ORIGIN: NodeOrigin = {"positions": _NONE}


class _Builder:
    """Walks a program; `sources` says which node gives a variable's value, `levels` the equations of each scope."""

    def __init__(self, names: Names, positions: Mapping[str, Position], tree: CallTree | None):
        self.calls = tree.of if tree else {}
        self.stacks = tree.stacks if tree else Stacks()
        self.names = names
        self.positions = positions
        self.nodes: list[GraphNode] = []
        self.edges: list[GraphEdge] = []
        self.sources: dict[Var, str] = {}
        self.inputs: dict[str, str] = {}
        self.producers: dict[Var, JaxprEqn] = {}
        self.levels: dict[str | None, list[JaxprEqn]] = {}
        self.functions: dict[str, str] = {}  # by path, what the function is called that a scope runs
        self.backward: set[str | None] = set()  # scopes of what is part of a backward pass
        self.told = functools.cache(_told)

    def program(self, jaxpr: Jaxpr) -> None:
        for i, var in enumerate(jaxpr.constvars):
            self._entry(f"const{i}", "constant", f"constant {i}", var)
        for i, var in enumerate(jaxpr.invars):
            self._entry(f"in{i}", "input", jaxpr.debug.argument(i), var)
        self.equations(jaxpr, "", None)
        for i, (atom, label) in enumerate(zip(jaxpr.outvars, result_names(jaxpr))):
            self._output(i, atom, label)

    def name_of(self, var: Var) -> str:
        """What people call a variable: by the argument it is, or by its letters in the printed program."""
        return self.inputs.get(self.sources.get(var, "")) or self.names.of(var)

    def _entry(self, node: str, kind: NodeKind, label: str, var: Var) -> None:
        self.sources[var] = node
        self.inputs[node] = label
        self._node(node, kind, label, None, [var.aval], binder_text(var, self.names))

    def _output(self, i: int, atom: Atom, label: str) -> None:
        text = atom_text(atom, self.names)
        self._node(f"out{i}", "output", label, None, [atom.aval], text)
        self._edge(atom, f"out{i}")

    def equations(self, jaxpr: Jaxpr, prefix: str, scope: str | None) -> None:
        self.levels[scope] = jaxpr.eqns
        origins: dict[int, NodeOrigin] = {}
        for i, (eqn, written) in enumerate(zip(jaxpr.eqns, self.stacks.all(jaxpr.eqns, scope in self.backward))):
            path = f"{prefix}e{i}"
            origin = origins.get(id(written))  # of equations written in one place it is one document
            if origin is None:
                origin = origins[id(written)] = self._origin(written, path)
            self._equation(eqn, path, scope, origin)

    def _origin(self, written: EquationOrigin, path: str) -> NodeOrigin:
        """What a node says of where its equation was written."""
        position, call = self.positions.get(path), self.calls.get(path)
        return {
            "positions": [position] if position else [],
            "call": call and call[0],
            "transforms": [*written.transforms],
        }

    def _equation(self, eqn: JaxprEqn, path: str, scope: str | None, origin: NodeOrigin) -> None:
        inner, params = (running(eqn), shown_params(eqn)) if eqn.params else ((), None)
        label = eqn.primitive.name
        if inner:
            times = f" × {eqn.params['length']}" if label == "scan" else ""
            called = self._function(eqn, inner) or (_called(inner) if label.startswith(_WITH_RULES) else "")
            self.functions |= {path: called} if called and not times else {}
            label = f"{called or label}{times}"
        avals, text = [v.aval for v in eqn.outvars], self.names.line(eqn).rstrip()
        kind = "scope" if inner else "equation"
        self._node(path, kind, label, scope, avals, text, params or _NO_PARAMS, [path], origin)
        for var in eqn.outvars:
            self.sources[var], self.producers[var] = path, eqn
        if inner and "transpose" in origin.get("transforms", ()):
            self.backward.add(path)
        if not inner:
            for atom in eqn.invars:
                self._edge(atom, path)
        elif len(inner) == 1 and not inner[0][0]:
            self._inner(eqn, path, inner[0][1].jaxpr, None if eqn.primitive.name in _COMBINING else eqn.invars)
            self._results(eqn, inner[0][1].jaxpr)
        else:
            self._parts(eqn, path, inner)

    def _function(self, eqn: JaxprEqn, inner: Sequence[tuple[str, ClosedJaxpr]]) -> str:
        """What the function is called that an equation calls; the `__call__` of a class as its class is."""
        name = str(eqn.params.get("name") or "")
        if name != "__call__":
            return name
        jaxpr = inner[0][1].jaxpr
        where = jaxpr.debug.defined and (jaxpr.debug.defined.file, jaxpr.debug.defined.line)
        frames = (frame.code for one in jaxpr.eqns for frame in self.stacks.of(one.traceback))
        return next((function_name(c) for c in frames if (c.co_filename, c.co_firstlineno) == where), name)

    def _parts(self, eqn: JaxprEqn, path: str, inner: Sequence[tuple[str, ClosedJaxpr]]) -> None:
        """Several inner jaxprs, such as the branches of a `cond`: a scope of its own for each."""
        passed = set[Atom]()
        for i, (segment, closed) in enumerate(inner):
            part = subpath(path, segment).rstrip("/")
            self.backward |= {part} if path in self.backward else set()
            self._node(part, "scope", self._part_label(eqn, segment, i), path, [], "")
            operands = _operands(eqn, segment)
            passed.update(a for a in operands or () if isinstance(a, Var))
            self._inner(eqn, part, closed.jaxpr, operands)
        for atom in eqn.invars:
            if isinstance(atom, Var) and atom not in passed:
                self._edge(atom, path)

    def _part_label(self, eqn: JaxprEqn, segment: str, i: int) -> str:
        if eqn.primitive.name == "while":
            return {"cond_jaxpr": "condition", "body_jaxpr": "body"}[segment]
        if eqn.primitive.name == "custom_linear_solve":
            return "solve"
        if eqn.primitive.name != "cond":
            return segment
        index = eqn.invars[0]
        chosen = self.producers.get(index) if isinstance(index, Var) else None
        is_flag = (
            chosen is not None
            and chosen.primitive.name == "convert_element_type"
            and (chosen.invars[0].aval.dtype == bool)
        )
        if len(eqn.params["branches"]) == 2 and is_flag:
            return ("if false", "if true")[i]
        return f"branch {i}"

    def _inner(self, eqn: JaxprEqn, scope: str, inner: Jaxpr, operands: Sequence[Atom] | None) -> None:
        """The equations of an inner jaxpr. Values that go in as they are go straight through to who reads them; others, such
        as the slices of a scan, have a node of their own."""
        if operands is not None and len(operands) != len(inner.invars):
            operands = None
        names = inner.debug.arg_names
        for i, var in enumerate(inner.invars):
            outer = operands[i] if operands is not None else None
            if isinstance(outer, Var) and outer in self.sources and outer.aval.shape == var.aval.shape:
                self.sources[var] = self.sources[outer]
                continue
            name = names[i] if len(names) == len(inner.invars) else ""
            label = self._argument_label(eqn, outer, name, i, _first_carried(eqn, inner))
            self._node(f"{scope}/in{i}", "input", label, scope, [var.aval], binder_text(var, self.names))
            self.sources[var] = f"{scope}/in{i}"
            if outer is not None:
                self._edge(outer, f"{scope}/in{i}")
        self.equations(inner, f"{scope}/", scope)
        if operands is None:
            for atom in eqn.invars:
                self._edge(atom, scope)

    def _argument_label(self, eqn: JaxprEqn, outer: Atom | None, name: str, i: int, carried: int) -> str:
        """What an argument of an inner jaxpr is called there: by its own name, as the number that is given for it (only the first
        iteration has, from the one numbered `carried` on), or as the part of a named input that it is."""
        if name.isidentifier() and name.strip("_"):
            return name
        if eqn.primitive.name in _COMBINING:
            return f"{'left' if 2 * i < len(eqn.invars) else 'right'} value"
        if isinstance(outer, Literal):
            number = literal_text(outer, brief=True).partition(":")[0]
            return f"{number} at first" if i >= carried else number
        whole = self.inputs.get(self.sources.get(outer, "")) if isinstance(outer, Var) else None
        return f"{whole}[i]" if whole else f"argument {i}"

    def _results(self, eqn: JaxprEqn, inner: Jaxpr) -> None:
        """Values that come out as they are come straight from who gives them."""
        if len(inner.outvars) == len(eqn.outvars):
            for outer, atom in zip(eqn.outvars, inner.outvars):
                if isinstance(atom, Var) and atom in self.sources and atom.aval.shape == outer.aval.shape:
                    self.sources[outer] = self.sources[atom]

    def once(self) -> None:
        """Make one scope of those in which a call of the same function is all there is, as in what a custom rule is written for."""
        inside = Counter(node["scope"] for node in self.nodes if node["kind"] in ("equation", "scope"))
        same: dict[str, str] = {}
        by_id = {node["id"]: node for node in self.nodes}
        for path, called in self.functions.items():  # outer scopes come before what they hold
            outer = by_id[path]["scope"]
            if outer is not None and inside[outer] == 1 and self.functions.get(outer) == called:
                same[path] = one = same.get(outer, outer)
                by_id[one]["paths"].append(path)
                self.levels[one] = self.levels.pop(path)
        self.nodes = [node for node in self.nodes if node["id"] not in same]
        for node in self.nodes:
            node["scope"] = same.get(node["scope"] or "", node["scope"])
        for edge in self.edges if same else ():
            edge["from"], edge["to"] = same.get(edge["from"], edge["from"]), same.get(edge["to"], edge["to"])

    def _node(
        self,
        node: str,
        kind: NodeKind,
        label: str,
        scope: str | None,
        avals: list[ShapedArray],
        text: str,
        params: dict[str, str] = _NO_PARAMS,
        paths: list[str] = _NONE,
        origin: NodeOrigin = _NO_ORIGIN,
    ) -> None:
        types, size = self.told(*avals)
        self.nodes.append(
            {
                "id": node,
                "kind": kind,
                "label": label,
                "scope": scope,
                "types": types,
                "bytes": size,
                "text": text,
                "params": params,
                "paths": paths,
                "fused_into": None,
                **origin,
            }
        )

    def _edge(self, atom: Atom, target: str) -> None:
        if type(atom) is Var and (source := self.sources.get(atom)) is not None:
            types, size = self.told(atom.aval)
            self.edges.append({"from": source, "to": target, "type": types[0], "bytes": size})


_COMBINING = ("reduce", "reduce_window")
"""Operations whose inner jaxpr takes any two elements or partial results, and gives one."""
_WITH_RULES = ("custom_jvp", "custom_vjp", "custom_vmap")
"""What calls a function that has a rule of its own begins so."""


def _called(inner: Sequence[tuple[str, ClosedJaxpr]]) -> str:
    """The user's function that an inner jaxpr is of, or the one that it does nothing but call, as a `custom_jvp` of `relu` does; "" of any
    other."""
    if len(inner) != 1:
        return ""
    jaxpr = inner[0][1].jaxpr
    if jaxpr.debug.defined is not None and jaxpr.debug.name.isidentifier():
        return jaxpr.debug.name
    return str(jaxpr.eqns[0].params.get("name") or "") if len(jaxpr.eqns) == 1 and running(jaxpr.eqns[0]) else ""


def _first_carried(eqn: JaxprEqn, inner: Jaxpr) -> int:
    """The number of the first argument of an inner jaxpr that a loop hands on; that of all arguments where there is no loop."""
    if eqn.primitive.name == "scan":
        return eqn.params["num_consts"]
    return len(inner.invars) - (len(eqn.outvars) if eqn.primitive.name == "while" else 0)


def _told(*avals: ShapedArray) -> tuple[list[str], int]:
    """Types as text, and the bytes of all."""
    return [aval.short() for aval in avals], sum([aval.bytes for aval in avals])


def _operands(eqn: JaxprEqn, segment: str) -> Sequence[Atom] | None:
    """The operands that become the arguments of one of several inner jaxprs; None: that is not known."""
    if eqn.primitive.name == "cond":
        return eqn.invars[1:]
    if eqn.primitive.name == "while":
        first, second = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
        carry = eqn.invars[first + second :]
        of_body = segment == "body_jaxpr"
        return [*(eqn.invars[first : first + second] if of_body else eqn.invars[:first]), *carry]
    if eqn.primitive.name == "custom_linear_solve":
        return _solved(eqn)
    return None


def _solved(eqn: JaxprEqn) -> Sequence[Atom] | None:
    """The operands of a linear solve's solver: of what its four programs captured, the third's, then the right-hand side."""
    programs = eqn.params.get("jaxprs") or [eqn.params[k] for k in ("matvec", "vecmat", "solve", "transpose_solve")]
    if len(programs) != 4:
        return None
    vectors = len(programs[0].out_avals)
    counts = [len(p.in_avals) - vectors if p is not None else 0 for p in programs]
    start = counts[0] + counts[1]
    return [*eqn.invars[start : start + counts[2]], *eqn.invars[sum(counts) :]]
