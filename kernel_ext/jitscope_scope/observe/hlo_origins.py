"""The equations of optimised operations whose names XLA lost.

A pass that rewrites an operation (a reduction in two steps, a product of matrices of another rank, a transposed layout) often
makes instructions without a name. Such an operation stems from an equation if it reads nothing but what that equation read
before optimisation, and that equation's operations read it: it is a step on the way from the equation's operands to its value.
Where a processor has no arithmetic of a dtype, XLA computes in a wider one: what converts back is of the equation whose value it rounds.
It may also be all that is left of an equation of which nothing bears the name any more: then it does what that one did, and is read by
what read that one.
A copy stems from what reads it: a loop that would overwrite what is still needed, a product that wants another layout.
If several equations read it (XLA merged what it made for each), this must hold for all of them, and it stems from the one round
them, or else from all. Where it does not hold, nothing is claimed.

In loops and branches XLA gives such instructions the name of the loop. These are taken for nameless where the loop itself had no
operation of that kind; they keep its name where nothing else is certain. A call of a function does nothing itself: what bears its name, a
constant that MLIR merged for all that read it, say, is nameless.
"""

import math
import re
import weakref
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jitscope.xla import hlo_module
from jitscope.xla.errors import XlaError
from jitscope.xla.hlo_module import Computation

from .hlo import SUMS
from .hlo_flow import FREE, Flow, Op, flow_of, scopes_around, unique


_SAME_VALUES = ("reshape", "broadcast", "transpose")
Token = str
"""What is read: the path of an equation, or an input's number."""


_before: weakref.WeakKeyDictionary[Any, Sequence[Computation]] = weakref.WeakKeyDictionary()
"""What was read of the last programs: a cell that runs again shows the same one."""
_MOST = 16


def computations_before(entry: Any) -> Sequence[Computation]:
    """The program as XLA was given it; nothing where that cannot be read as HLO (a program of another library for many devices)."""
    found = _before.get(entry)
    if found is None:
        found = _before[entry] = _read_before(entry)
        while len(_before) > _MOST:
            del _before[next(iter(_before))]
    return found


def _read_before(entry: Any) -> Sequence[Computation]:
    try:
        return hlo_module.computations(hlo_module.unoptimized(getattr(entry, "outline", None) or entry.lowered))
    except XlaError:
        return ()


def flow_of_program(entry: Any, after: Sequence[Computation]) -> Flow:
    """The flow of a compiled program, from its computations `after` optimisation, with the equations that operations stem from."""
    return with_origins(flow_of(computations_before(entry), optimized=False), flow_of(after, optimized=True))


def with_origins(before: Flow, after: Flow) -> Flow:
    """The optimised flow with the paths of operations that lost theirs, as far as they are certain."""
    origins = _Origins(before, after)
    for name, paths in origins.found().items():
        op = origins.ops[name]
        own = set(op.paths) - origins.calls
        inner = {
            path for path in paths if not any(one.startswith(f"{path}/") for one in own)
        }  # of loops in loops, its own is known
        op.paths, op.is_nameless = tuple(sorted(inner)) or op.paths, True
    for name, paths in origins.renamed().items():
        origins.ops[name].paths = unique((*origins.ops[name].paths, *paths))
    for op in after.ops:
        op.paths = op.paths if op.is_scope else tuple(path for path in op.paths if path not in origins.calls)
    _kernels_hold_what_their_members_do(after)
    for op in after.ops:
        if not op.paths and op.opcode in SUMS:
            op.paths, op.is_nameless = unique(path for name, _ in op.sources for path in origins.ops[name].paths), True
    return after


class _Origins:
    def __init__(self, before: Flow, after: Flow):
        self.reads = _reads(before)
        self.equal = _equal(before)
        self.ops = after.by_id
        self.users: dict[str, set[str]] = defaultdict(set)
        for op in after.ops:
            for source, _ in op.sources:
                self.users[source].add(op.id)
        self.given: dict[str, set[str]] = {}
        for i, result in enumerate(after.results):
            self.given[f"result {i}"] = _giving(before, i) if len(result) == 1 else set()
            for source, _ in result:
                self.users[source].add(f"result {i}")
        self.claims: dict[str, set[str]] = {}
        self.opcodes: dict[str, set[str]] = defaultdict(set)
        self.kinds: dict[str, set[tuple[str, str]]] = defaultdict(set)
        self.forms: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        self.elements: dict[str, set[str]] = defaultdict(set)
        for op in before.ops:
            for path in op.paths:
                self.opcodes[path].add(op.opcode)
                self.kinds[path].add(_kind(op))
                self.forms[path].add(_form(op))
                self.elements[path].add(_element(op.does.type))
        computed = {path for op in before.ops if op.is_operation and op.opcode not in _SAME_VALUES for path in op.paths}
        self.calls = _calls(before) - computed
        self.combining = {path for op in before.ops if op.applies for path in op.paths}
        self.lost = [op for op in after.ops if op.is_operation and self._is_lost(op)]
        named = {path for op in after.ops for path in _with_outer(op.paths)}
        self.gone = computed - named
        """Equations that compute something of which nothing bears the name any more."""
        self.nameless = set(self.opcodes) - named

    def found(self) -> dict[str, set[str]]:
        """By operation, the equations it stems from: first all that read it, then, until nothing changes, without those that
        read something else. (What is claimed of an equation in a loop is claimed of the loop, too.)"""
        known = {op.id: paths for op in self.lost if (paths := self._applied(op))}
        there = _with_outer(path for paths in known.values() for path in paths)
        self.gone, self.nameless = self.gone - there, self.nameless - there
        for op in self.lost:
            if op.id not in known and (paths := self._reshaped(op) or self._rounded(op, known)):
                known[op.id] = paths
        self.claims = {name: _with_outer(paths) for name, paths in known.items()}
        open_ones = [op for op in self.lost if op.id not in known]
        for op in reversed(open_ones):
            users = self._of_users(op)
            self.claims[op.id] = set().union(*users, self._loop_of(op)) if all(users) else set()
        changed = True
        while changed:
            changed = False
            for op in open_ones:
                kept = self._certain(op)
                changed |= kept != self.claims[op.id]
                self.claims[op.id] = kept
        return known | {op.id: self._narrowest(op) for op in open_ones}

    def _applied(self, op: Op) -> set[str]:
        """The equation whose function an operation applies to pairs of elements: the steps of a reduction keep it, and its name there,
        which is relative to the call that it is in."""
        made = {path for name in op.applies for path in self.combining if f"/{path}".endswith(f"/{name}")}
        if len(made) > 1:
            made &= set[str]().union(*(self.ops[name].paths for name in self.users[op.id] if name in self.ops))
        return made if len(made) == 1 else set()

    def renamed(self) -> dict[str, set[str]]:
        """Whose work else operations do that have a name: of a transposed product XLA makes another product, and gives it the
        transposition's name. Such an operation does what the equation that it is named after never did, but one that this
        reads and that is gone; by operation, that one."""
        found: dict[str, set[str]] = {}
        for op in self.ops.values():
            if op.opcode in _SAME_VALUES or not (op.is_operation and op.paths) or op.is_nameless:
                continue
            if not any(op.opcode in self.opcodes[path] for path in op.paths):
                read = set().union(*(self.reads.get(path, ()) for path in op.paths))
                doing = {path for path in read & self.gone if op.opcode in self.opcodes[path]}
                if len(doing) == 1:
                    found[op.id] = doing
        return found

    def _reshaped(self, op: Op) -> set[str]:
        """The equation whose value an operation gives, if that does such an operation, and all that reads the value gives it another
        shape in the name of that equation."""
        users = [self.ops.get(name) for name in self.users[op.id]]
        if not users or not all(user and user.opcode in ("reshape", "transpose", *FREE) for user in users):
            return set()
        named = set[str]().union(*(user.paths for user in users if user))
        return named if len(named) == 1 and all(op.opcode in self.opcodes[path] for path in named) else set()

    def _rounded(self, op: Op, known: Mapping[str, set[str]]) -> set[str]:
        """The equation whose value an operation rounds: where a processor has no arithmetic of a dtype, XLA computes in a wider one and
        converts each value back."""
        if op.opcode != "convert" or len(op.sources) != 1:
            return set()
        name, kind = op.sources[0]
        stems = known.get(name) or set(self.ops[name].paths)
        wide, narrow = _element(kind), _element(op.does.type)
        back = all(narrow in self.elements[path] and wide not in self.elements[path] for path in stems)
        return stems if back else set()

    def _narrowest(self, op: Op) -> set[str]:
        """What is claimed of all users if there is such an equation (a loop, say, that it is not in), else what is claimed of any."""
        users = [equations & self.claims[op.id] for equations in self._of_users(op)]
        around = {path for scope in scopes_around(op, self.ops) if scope.is_scope for path in scope.paths}
        return _innermost((set.intersection(*users) - around if users else set()) or self.claims[op.id])

    def _certain(self, op: Op) -> set[str]:
        """What is still claimed of an operation: equations of all users, for which it reads nothing else. A constant that several
        equations read may be another one's value, such as what a loop starts with. A copy computes nothing: it is there for what
        reads it, whatever it is of."""
        copied, claims = op.opcode == "copy", self.claims[op.id]
        claim = claims if copied else {path for path in claims if self._reads_only_for(op, path)}
        users = [equations & claim for equations in self._of_users(op)]
        if users and not copied and self._may_be_a_value(op):
            return set.intersection(*users)
        return set().union(*users) if all(users) else set()

    def _may_be_a_value(self, op: Op) -> bool:
        """Whether an operation on constants may be the value of an equation that has no name any more, or a constant in another shape."""
        if not all(self.ops[name].opcode == "constant" for name, _ in op.sources):
            return False
        return op.opcode in _SAME_VALUES or any(self._does_as(op, path) for path in self.nameless)

    def _does_as(self, op: Op, path: str) -> bool:
        """Whether an operation is of a kind that an equation had. (A constant array becomes a broadcast; a transposition keeps the
        number of elements, and nothing makes numbers of Booleans.)"""
        opcodes = self.opcodes[path]
        if _element(op.does.type) == "pred" and "pred" not in self.elements[path]:
            return False
        if op.opcode == "transpose" and "transpose" in opcodes:
            return _count(op.does.type) in {_count(kind) for opcode, kind in self.kinds[path] if opcode == "transpose"}
        return op.opcode in opcodes or (op.opcode == "broadcast" and "constant" in opcodes)

    def _is_lost(self, op: Op) -> bool:
        """Whether an operation has no name, or that of a loop or branch it is in, which had nothing of its kind (the sum that counts
        iterations is of another type than one that stands for a part of the body)."""
        if self.calls.issuperset(op.paths):
            return True
        if any(_kind(op) in self.kinds[path] for path in op.paths):
            return False
        scope = op.scope
        while op.paths and scope is not None:
            if self.ops[scope].is_scope and self.ops[scope].paths == op.paths:
                return True
            scope = self.ops[scope].scope
        return not op.paths

    def _of_users(self, op: Op) -> list[set[str]]:
        """For each user of an operation, the equations that it may be a step of. What an unknown one reads of a copy in a loop (its next
        iteration, say, or a result) is the loop's."""
        users = [known | self._left_of(op, known) for known in map(self._equations, self.users[op.id])]
        loop = self._loop_of(op)
        return ([known or loop for known in users] or [loop]) if loop else users

    def _loop_of(self, copy: Op) -> set[str]:
        """The equations of the loop or branch that a copy is in; nothing of other operations."""
        return self._equations(copy.scope) if copy.opcode == "copy" and copy.scope else set()

    def _left_of(self, op: Op, readers: set[str]) -> set[str]:
        """The equation of which it may be all that is left: the one that is gone, does the same and is read there."""
        if op.opcode != "transpose" and (op.opcode in _SAME_VALUES or not self.gone):
            return set()
        read = set().union(*(self.reads.get(path, ()) for path in _innermost(readers)))
        if op.opcode == "transpose":
            doing = {path for path in read & self.nameless if _form(op) in self.forms[path]}
        else:
            doing = {path for path in read & self.gone if op.opcode in self.opcodes[path]}
        return doing if len(doing) == 1 else set()

    def _equations(self, name: str) -> set[str]:
        if name in self.given:
            return self.given[name]
        if name in self.claims:
            return self.claims[name]
        return _with_outer(self.ops[name].paths)

    def _reads_only_for(self, op: Op, equation: str) -> bool:
        """Whether an operation reads nothing that an equation does not, and cannot be what is left of another one, that the
        equation reads. (What reads more than an equation in a loop does may still stem from the loop.)"""
        reads = self.reads.get(equation, set())
        sources = [self.ops[name] for name, _ in op.sources]
        telling = [source for source in sources if not self._is_constant(source)] or sources
        allowed = {equation, *reads, *(path for token in reads for path in self.equal.get(token, ()))}
        if not all(self._is_read(source, equation, allowed) for source in telling):
            return False
        tokens = {token for source in telling for token in _tokens(source)}
        others = [path for path in reads & self.nameless if not path.startswith(f"{equation}/")]
        return not any(self._may_be(op, path, tokens) for path in others)

    def _may_be(self, op: Op, path: str, tokens: set[Token]) -> bool:
        """Whether an operation that reads these may be what is left of a nameless equation."""
        return self._does_as(op, path) or (path in self.gone and bool(tokens & self.reads[path]))

    def _is_read(self, source: Op, equation: str, allowed: set[Token]) -> bool:
        if source.opcode == "constant":
            return True
        if source.id in self.claims:
            return bool(allowed & self.claims[source.id])
        tokens = self._seen_through(source)
        return bool(allowed & tokens) or any(token.startswith(f"{equation}/") for token in tokens)

    def _is_constant(self, op: Op) -> bool:
        """Whether its value is a constant, or one in another shape that no equation made: others read the same."""
        if op.opcode == "constant":
            return True
        reshaped = op.id in self.claims and op.opcode in (*_SAME_VALUES, *FREE) and bool(op.sources)
        return reshaped and all(self._is_constant(self.ops[name]) for name, _ in op.sources)

    def _seen_through(self, op: Op) -> set[Token]:
        """What an operation's value is; where it is only another shape or a copy of something, what it is of, too."""
        tokens = set(_tokens(op))
        if op.opcode in (*_SAME_VALUES, *FREE, "copy"):
            tokens.update(*(self._seen_through(self.ops[name]) for name, _ in op.sources))
        return tokens


def _calls(before: Flow) -> set[str]:
    """The equations that call a function whose operations have names of their own."""
    calls = {path for op in before.ops if op.opcode == "call" for path in op.paths}
    return calls & {outer for op in before.ops for path in op.paths for outer in _with_outer([path]) - {path}}


def _giving(before: Flow, number: int) -> set[str]:
    """The equation whose value is a result of the program, with those round it; nothing where it is not a single one."""
    names = {name for name, _ in before.results[number]} if number < len(before.results) else set()
    return _with_outer(path for op in before.ops if names == {op.id} for path in op.paths)


def _reads(before: Flow) -> dict[str, set[Token]]:
    """What the operations of each equation read; where that is only another shape of something, what it is a shape of, too."""
    found: dict[str, set[Token]] = defaultdict(set)
    values: dict[str, set[Token]] = {}
    for op in before.ops:
        read = set[Token]().union(*(values[source] for source, _ in op.sources))
        values[op.id] = {*_tokens(op), *(read if op.opcode in _SAME_VALUES else ())}
        for path in _with_outer(op.paths):
            found[path] |= read
    return found


def _equal(before: Flow) -> dict[str, set[str]]:
    """By equation, the others of the same value: XLA computes it once, in the name of one of them."""
    values: dict[str, object] = {}
    alike: dict[object, set[str]] = defaultdict(set)
    for op in before.ops:
        value = (
            op.opcode,
            op.does.type,
            op.does.attributes,
            op.does.literal,
            *(values[name] for name, _ in op.sources),
        )
        values[op.id] = hash(value) if _is_pure(op) else op.id
        alike[values[op.id]].update(op.paths if op.is_operation else ())
    return {path: paths for paths in alike.values() if len(paths) > 1 for path in paths}


def _is_pure(op: Op) -> bool:
    return not (op.is_scope or op.is_library or op.opcode.startswith("rng"))


def _with_outer(paths: Iterable[str]) -> set[str]:
    """The equations and those that they are in."""
    parts = (path.split("/") for path in paths)
    return {"/".join(part[: i + 1]) for part in parts for i, name in enumerate(part) if re.fullmatch(r"e\d+", name)}


def _innermost(paths: set[str]) -> set[str]:
    return {path for path in paths if not any(other.startswith(f"{path}/") for other in paths)}


def _kind(op: Op) -> tuple[str, str]:
    return op.opcode, op.does.type.partition("{")[0]


def _form(op: Op) -> tuple[str, ...]:
    """What an operation does to values of any dtype."""
    return op.opcode, op.does.type.partition("{")[0].partition("[")[2], op.does.attributes


def _element(kind: str) -> str:
    return kind.partition("[")[0]


def _count(kind: str) -> int:
    """The number of elements of a printed type."""
    return math.prod(map(int, filter(None, kind.partition("[")[2].partition("]")[0].split(","))))


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
