"""A jaxpr as a graph document."""

from __future__ import annotations

from typing import Any

from ..control.scan import scan_p
from ..core.avals import ShapedArray
from ..core.jaxpr import Atom, Jaxpr, JaxprEqn, Literal, Var, subjaxprs, subpath
from ..core.printing import Names, atom_text, binder_text, param_text


Document = dict[str, Any]


def jaxpr_graph(jaxpr: Jaxpr, title: str, positions: dict[str, Document]) -> Document:
    """The graph document of a jaxpr; `positions` are those of its equations by path."""
    builder = _Builder(jaxpr, positions)
    builder.program(jaxpr)
    return {
        "kind": "graph",
        "version": 1,
        "level": "jaxpr",
        "title": title,
        "nodes": builder.nodes,
        "edges": builder.edges,
    }


class _Builder:
    """Walks a program; `sources` says which node gives a variable's value."""

    def __init__(self, jaxpr: Jaxpr, positions: dict[str, Document]):
        self.names = Names(jaxpr)
        self.positions = positions
        self.nodes: list[Document] = []
        self.edges: list[Document] = []
        self.sources: dict[Var, str] = {}

    def program(self, jaxpr: Jaxpr) -> None:
        labels = jaxpr.debug.arg_names
        for i, var in enumerate(jaxpr.constvars):
            self._entry(f"const{i}", "constant", f"constant {i}", var)
        for i, var in enumerate(jaxpr.invars):
            self._entry(f"in{i}", "input", labels[i] if i < len(labels) else f"argument {i}", var)
        self.equations(jaxpr, "", None)
        for i, atom in enumerate(jaxpr.outvars):
            self._output(i, atom)

    def _entry(self, node: str, kind: str, label: str, var: Var) -> None:
        self.sources[var] = node
        self._node(node, kind, label, None, [var.aval], binder_text(var, self.names), {}, [])

    def _output(self, i: int, atom: Atom) -> None:
        text = atom_text(atom, self.names)
        self._node(f"out{i}", "output", f"result {i}", None, [atom.aval], text, {}, [])
        self._edge(atom, f"out{i}")

    def equations(self, jaxpr: Jaxpr, prefix: str, scope: str | None) -> None:
        for i, eqn in enumerate(jaxpr.eqns):
            self._equation(eqn, f"{prefix}e{i}", scope)

    def _equation(self, eqn: JaxprEqn, path: str, scope: str | None) -> None:
        held = list(subjaxprs(eqn.params))
        params = {
            name: param_text(value)
            for name, value in eqn.primitive.shown_params(eqn.params).items()
            if not _holds(value)
        }
        label = str(eqn.params.get("name") or eqn.primitive.name) if held else eqn.primitive.name
        if eqn.primitive is scan_p:
            label = f"{label} × {eqn.params['length']}"
        self._node(
            path,
            "scope" if held else "equation",
            label,
            scope,
            [v.aval for v in eqn.outvars],
            self._text(eqn, params),
            params,
            [path],
        )
        self.sources.update((v, path) for v in eqn.outvars)
        for segment, sub in held:
            self._scope(eqn, path, subpath(path, segment), sub.jaxpr, alone=len(held) == 1)
        if not held:
            for atom in eqn.invars:
                self._edge(atom, path)

    def _scope(self, eqn: JaxprEqn, path: str, prefix: str, inner: Jaxpr, alone: bool) -> None:
        """The equations of a held program. Where operands and arguments correspond, edges go straight through."""
        through = alone and len(inner.invars) == len(eqn.invars)
        for i, var in enumerate(inner.invars):
            outer = eqn.invars[i] if through else None
            if isinstance(outer, Var) and outer in self.sources:
                self.sources[var] = self.sources[outer]
            else:
                text = binder_text(var, self.names)
                self._node(f"{prefix}in{i}", "input", f"argument {i}", path, [var.aval], text, {}, [])
                self.sources[var] = f"{prefix}in{i}"
        self.equations(inner, prefix, path)
        if alone and len(inner.outvars) == len(eqn.outvars):
            for outer, atom in zip(eqn.outvars, inner.outvars):
                if isinstance(atom, Var) and atom in self.sources:
                    self.sources[outer] = self.sources[atom]
        if not through:
            for atom in eqn.invars:
                self._edge(atom, path)

    def _text(self, eqn: JaxprEqn, params: dict[str, str]) -> str:
        outs = " ".join(binder_text(v, self.names) for v in eqn.outvars)
        ins = "".join(f" {atom_text(a, self.names)}" for a in eqn.invars)
        inside = f"[{' '.join(f'{k}={v}' for k, v in params.items())}]" if params else ""
        return f"{outs} = {eqn.primitive.name}{inside}{ins}"

    def _node(
        self,
        node: str,
        kind: str,
        label: str,
        scope: str | None,
        avals: list[ShapedArray],
        text: str,
        params: dict[str, str],
        paths: list[str],
    ) -> None:
        self.nodes.append(
            {
                "id": node,
                "kind": kind,
                "label": label,
                "scope": scope,
                "types": [a.short() for a in avals],
                "bytes": sum(a.bytes for a in avals),
                "text": text,
                "params": params,
                "paths": paths,
                "positions": [self.positions[p] for p in paths if p in self.positions],
                "fused_into": None,
            }
        )

    def _edge(self, atom: Atom, target: str) -> None:
        if isinstance(atom, Literal) or atom not in self.sources:
            return
        self.edges.append(
            {"from": self.sources[atom], "to": target, "type": atom.aval.short(), "bytes": atom.aval.bytes}
        )


def _holds(value: Any) -> bool:
    return hasattr(value, "jaxpr") or (isinstance(value, tuple) and any(hasattr(v, "jaxpr") for v in value))
