"""The equations of optimised operations whose names XLA lost.

A pass that rewrites an operation (a reduction in two steps, a product of matrices of another rank, a transposed layout) often
makes instructions without a name. Such an operation stems from an equation if it reads nothing but what that equation read
before optimisation, and nothing but that equation's operations reads it: it is a step on the way from the equation's operands to
its value. Where that does not hold, nothing is claimed.
"""

import re
from collections import defaultdict
from collections.abc import Iterable

from .hlo_flow import Flow, Op


_SAME_VALUES = ("reshape", "broadcast", "transpose")
Token = str
"""What is read: the path of an equation, or an input's number."""


def with_origins(before: Flow, after: Flow) -> Flow:
    """The optimised flow with the paths of operations that lost theirs, as far as they are certain."""
    found = _Origins(before, after).found()
    for op in after.ops:
        if op.id in found:
            op.paths, op.is_nameless = tuple(sorted(found[op.id])), True
    _kernels_hold_what_their_members_do(after)
    return after


class _Origins:
    def __init__(self, before: Flow, after: Flow):
        self.reads = _reads(before)
        self.ops = {op.id: op for op in after.ops}
        self.users: dict[str, set[str]] = defaultdict(set)
        for op in after.ops:
            for source, _ in op.sources:
                self.users[source].add(op.id)
        for result in after.results:
            for source, _ in result:
                self.users[source].add("")  # the program's caller reads it, no equation
        self.lost = [op for op in after.ops if op.is_operation and not op.paths]
        self.claims: dict[str, set[str]] = {}

    def found(self) -> dict[str, set[str]]:
        """By operation, the equations it stems from: first whoever reads it, then, until nothing changes, without those that
        read something else."""
        for op in reversed(self.lost):
            self.claims[op.id] = self._readers(op)
        changed = True
        while changed:
            changed = False
            for op in self.lost:
                kept = self._certain(op, self.claims[op.id] & self._readers(op))
                changed |= kept != self.claims[op.id]
                self.claims[op.id] = kept
        return {name: _innermost(claim) for name, claim in self.claims.items()}

    def _certain(self, op: Op, claim: set[str]) -> set[str]:
        """Where an operation reads more than the equations in a loop read, it may stem from the loop."""
        while claim and not self._reads_only_for(op, _innermost(claim)):
            claim = claim - _innermost(claim)
        return claim

    def _readers(self, op: Op) -> set[str]:
        """The equations that all users have in common, those round them included."""
        users = [self._equations(name) for name in self.users[op.id]]
        return set.intersection(*users) if users else set()

    def _equations(self, name: str) -> set[str]:
        op = self.ops.get(name)
        if op is None:
            return set()
        return _with_outer(op.paths) if op.paths else self.claims.get(name, set())

    def _reads_only_for(self, op: Op, equations: set[str]) -> bool:
        allowed = equations.union(*(self.reads.get(path, ()) for path in equations))
        return all(self._is_read(self.ops[name], equations, allowed) for name, _ in op.sources)

    def _is_read(self, source: Op, equations: set[str], allowed: set[Token]) -> bool:
        if source.opcode == "constant":
            return True
        if source.id in self.claims:
            return bool(self.claims[source.id] & equations)
        tokens = set(_tokens(source))
        return bool(allowed & tokens) or any(token.startswith(f"{path}/") for token in tokens for path in equations)


def _reads(before: Flow) -> dict[str, set[Token]]:
    """What the operations of each equation read; where that is only another shape of something, what it is a shape of, too."""
    ops = {op.id: op for op in before.ops}
    found: dict[str, set[Token]] = defaultdict(set)
    for op in before.ops:
        read: set[Token] = set()
        for source, _ in op.sources:
            read.update(_tokens(ops[source]))
            if ops[source].opcode in _SAME_VALUES:
                read.update(*(found[path] for path in ops[source].paths))
        for path in _with_outer(op.paths):
            found[path] |= read
    return found


def _with_outer(paths: Iterable[str]) -> set[str]:
    """The equations and those that they are in."""
    parts = (path.split("/") for path in paths)
    return {"/".join(part[: i + 1]) for part in parts for i, name in enumerate(part) if re.fullmatch(r"e\d+", name)}


def _innermost(paths: set[str]) -> set[str]:
    return {path for path in paths if not any(other.startswith(f"{path}/") for other in paths)}


def _tokens(op: Op) -> Iterable[Token]:
    return (f"input {op.does.literal}",) if op.is_input else op.paths


def _kernels_hold_what_their_members_do(flow: Flow) -> None:
    """A fusion stems from the equations of its members."""
    members: dict[str, list[str]] = defaultdict(list)
    for op in flow.ops:
        if op.scope is not None:
            members[op.scope] += op.paths
    for op in flow.ops:
        if op.is_group:
            op.paths = tuple(dict.fromkeys(members[op.id])) or op.paths
