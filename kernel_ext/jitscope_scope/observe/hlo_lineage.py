"""Which operation of a module before optimisation became which one after it.

What both sides have in common is the path of the equation; among operations of one equation opcode and type decide,
and where origins were lost, operands and results that are known to correspond. Where these leave a choice nothing is
claimed.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from .hlo_flow import FREE, Flow, Op


RESHAPING = ("reshape", "broadcast", "transpose", "convert", "bitcast-convert", "slice")
"""Opcodes that only present values differently: they go where they are read, if their equation went there, too."""


class Lineage:
    """successor: id before → id after of the same operation; kernel: id before → id of the kernel that took it in;
    spread: id before → number of kernels that XLA made of one operation."""

    def __init__(self, before: Flow, after: Flow):
        self.successor: dict[str, str] = {}
        self.kernel: dict[str, str] = {}
        self.spread: dict[str, int] = {}
        self._before = before
        self._after = after
        self._before_ops = before.by_id
        self._targets = _Targets(after)
        self._users = _users(before)
        self._operations = [op for op in before.ops if op.is_operation]
        for step in (self._inputs, self._same_equation, self._same_operands, self._same_result):
            step()
        for op in reversed(self._operations):
            self._rewritten(op)
        self._among_many()
        self._constants()

    def simplified_away(self) -> list[Op]:
        """The operations of which nothing is left: none of unknown origin could be what they became."""
        known = (self.successor, self.kernel, self.spread)
        unknown = self._targets.of_unknown_origin()
        return [
            op
            for op in self._operations
            if not any(op.id in of for of in known) and (op.opcode, op.does.type) not in unknown
        ]

    def _inputs(self) -> None:
        numbers = {op.does.literal: op.id for op in self._after.ops if op.is_input}
        for op in self._before.ops:
            if op.is_input and op.does.literal in numbers:
                self.successor[op.id] = numbers[op.does.literal]

    def _same_equation(self) -> None:
        for op in self._operations:
            alike = [other for other in self._targets.of_equations(op.paths) if _alike(op, other)]
            if alike:
                self._claim(op, min(alike, key=lambda other: (other.id in self._targets.taken, other.opcode in FREE)))

    def _same_operands(self) -> None:
        """An operation whose origin was lost, but with the type and the operands of this one."""
        for op in self._unclaimed():
            operands = [self.successor.get(source) for source, _ in op.sources]
            if operands and None not in operands:
                self._claim_lost(op, "reads", tuple(operands))

    def _same_result(self) -> None:
        """An operation whose origin was lost, but which gives the same result of the program."""
        unclaimed = {op.id: op for op in self._unclaimed()}
        for mine, theirs in zip(self._before.results, self._after.results):
            if len(mine) == len(theirs) == 1 and mine[0][0] in unclaimed:
                self._claim_lost(unclaimed.pop(mine[0][0]), "is", theirs[0][0])

    def _unclaimed(self) -> list[Op]:
        return [op for op in self._operations if op.id not in self.successor]

    def _claim_lost(self, op: Op, how: str, what: object) -> None:
        found = self._targets.lost(op, how, what)
        if sum(map(len, found)) == 1:
            (other,) = (other for ops in found for other in ops.values())
            self._claim(op, other)

    def _rewritten(self, op: Op) -> None:
        """Users first: what is not there as such went where all that is left of its equation is."""
        if op.id in self.successor:
            return
        reading = {self.kernel[user] for user in self._users[op.id] if user in self.kernel}
        kernels = self._targets.kernels_of(self._targets.of_equations(op.paths))
        if op.opcode in RESHAPING and len(kernels & reading) == 1:
            kernels &= reading
        if len(kernels) == 1:
            self.kernel[op.id] = kernels.pop()
        elif len(kernels) > 1:
            self.spread[op.id] = len(kernels)
        elif not op.paths and len(reading) == 1:
            self._claim_lost(op, "in", reading.pop())

    def _among_many(self) -> None:
        """Of several operations without origin that are alike (broadcasts of constants, mostly), nobody can tell which became which.
        Those kernels took them in that read them and have as many of their kind."""
        alike: dict[tuple[str, str, str, tuple[str, ...]], list[Op]] = defaultdict(list)
        for op in self._unclaimed():
            if not op.paths and op.id not in self.kernel:
                for kernel in {self.kernel[user] for user in self._users[op.id] if user in self.kernel}:
                    alike[kernel, op.opcode, op.does.type, _literals(op, self._before_ops)].append(op)
        taking: dict[str, set[str]] = defaultdict(set)
        for (kernel, _, _, literals), ops in alike.items():
            if self._targets.count_lost(ops[0], kernel, literals) >= len(ops):
                for op in ops:
                    taking[op.id].add(kernel)
        for name, kernels in taking.items():
            if len(kernels) == 1:
                self.kernel[name] = kernels.pop()
            else:
                self.spread[name] = len(kernels)

    def _constants(self) -> None:
        """A constant that a single kernel reads went into it, if that one holds it."""
        for op in self._before.ops:
            reading = {self.kernel.get(user) for user in self._users[op.id]}
            if op.opcode == "constant" and len(reading) == 1:
                kernel = reading.pop()
                if kernel is not None and self._targets.holds(kernel, op):
                    self.kernel[op.id] = kernel

    def _claim(self, op: Op, other: Op) -> None:
        self._targets.take(other)
        self.successor[op.id] = other.id
        kernel = self._targets.kernel.get(other.id)
        if kernel is not None:
            self.kernel[op.id] = kernel


class _Targets:
    """The operations after optimisation, by the equations they stem from and by what they are."""

    def __init__(self, flow: Flow):
        self.ops = flow.by_id
        self.kernel = {op.id: kernel for op in flow.ops if (kernel := op.kernel) is not None}
        self.taken: set[str] = set()
        self._by_path: dict[str, list[Op]] = defaultdict(list)
        self._lost: dict[tuple[object, ...], dict[str, Op]] = {}
        self._counts: dict[tuple[object, ...], Counter[tuple[str, ...]]] = {}
        self._constants: set[tuple[str, str, str]] = set()
        for op in flow.ops:
            if op.is_operation:
                self._enter(op)
            elif op.opcode == "constant" and op.group is not None:
                self._constants.add((op.group, op.does.type, op.does.literal))

    def _enter(self, op: Op) -> None:
        self._constants.update((op.id, kind, literal) for kind, literal in op.holds)
        for path in op.paths:
            self._by_path[path].append(op)
        if not op.paths or op.is_nameless:
            for key in self._keys(op):
                self._lost.setdefault(key, {})[op.id] = op

    def _keys(self, op: Op) -> list[tuple[object, ...]]:
        """What an operation without origin is found by: its opcode and type, and its kernel, what it reads, or its name."""
        known = {"in": self.kernel.get(op.id), "reads": tuple(source for source, _ in op.sources), "is": op.id}
        return [(op.opcode, op.does.type, how, what) for how, what in known.items()]

    def take(self, op: Op) -> None:
        """It is the successor of an operation."""
        self.taken.add(op.id)
        for key in self._keys(op):
            self._lost.get(key, {}).pop(op.id, None)

    def of_unknown_origin(self) -> set[tuple[str, str]]:
        """Opcodes and types of those that stem from no equation and no operation that is known."""
        lost = [op for op in self.ops.values() if op.is_operation and not op.paths and op.id not in self.taken]
        return {(op.opcode, op.does.type) for op in lost}

    def of_equations(self, paths: Iterable[str]) -> list[Op]:
        """Those that stem from one of the equations."""
        return list({op.id: op for path in paths for op in self._by_path.get(path, ())}.values())

    def lost(self, op: Op, how: str, what: object) -> list[dict[str, Op]]:
        """Those without origin that could be `op` and are nothing else yet, by their names: they give the same type by the same
        opcode, or are what XLA makes of a reshape that costs nothing."""
        opcodes = (op.opcode, *FREE) if op.opcode in RESHAPING else (op.opcode,)
        keys = [(opcode, op.does.type, how, what) for opcode in opcodes]
        return [self._lost[key] for key in keys if key in self._lost]

    def count_lost(self, op: Op, kernel: object, literals: tuple[str, ...]) -> int:
        """How many of those in a kernel have these constants."""
        if (op.opcode, op.does.type, kernel) not in self._counts:
            inside = [other for ops in self.lost(op, "in", kernel) for other in ops.values()]
            self._counts[op.opcode, op.does.type, kernel] = Counter(_literals(other, self.ops) for other in inside)
        return self._counts[op.opcode, op.does.type, kernel][literals]

    def kernels_of(self, ops: Iterable[Op]) -> set[str]:
        """The kernels that these are in; where others are, what costs nothing does not count."""
        found = [op for op in ops if op.id in self.kernel]
        computing = [op for op in found if op.opcode not in FREE]
        return {self.kernel[op.id] for op in computing or found}

    def holds(self, kernel: str, constant: Op) -> bool:
        """Whether a kernel has that constant in it."""
        return (kernel, constant.does.type, constant.does.literal) in self._constants


def _alike(op: Op, other: Op) -> bool:
    """Whether both give the same type by the same opcode, or `other` is what XLA makes of a reshape that costs nothing."""
    same = op.opcode == other.opcode or (op.opcode in RESHAPING and other.opcode in FREE)
    return same and op.does.type == other.does.type


def _literals(op: Op, ops: Mapping[str, Op]) -> tuple[str, ...]:
    """The constants that an operation reads or holds."""
    read = [ops[name].does.literal for name, _ in op.sources if ops[name].opcode == "constant"]
    return (*read, *(literal for _, literal in op.holds))


def _users(flow: Flow) -> dict[str, list[str]]:
    users: dict[str, list[str]] = defaultdict(list)
    for op in flow.ops:
        for source, _ in op.sources:
            users[source].append(op.id)
    return users
