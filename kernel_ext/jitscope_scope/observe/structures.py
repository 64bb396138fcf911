"""The structure of a call's arguments in the user's terms: read from the text that a tree's definition prints."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Sequence

from jitscope.backend.signature import Signature
from jitscope.core.words import counted, cut
from jitscope.named_tuple import NamedTuple


_LONGEST = 200


class Node(NamedTuple):
    """A node of a tree, or a leaf: `kind` is `*`, `None`, `dict`, `list`, `tuple` or the name of a class; `keys` are a dict's, as
    they print; `data` is the static data of a class's node, as it prints."""

    kind: str
    children: tuple[Node, ...] = ()
    keys: tuple[str, ...] = ()
    data: str = ""

    @property
    def leaves(self) -> int:
        return 1 if self.kind == "*" else sum(child.leaves for child in self.children)

    def __str__(self) -> str:
        match self.kind:
            case "*":
                return "array"
            case "None":
                return "None"
            case "dict":
                entries = (key if one.kind == "*" else f"{key}: {one}" for key, one in zip(self.keys, self.children))
                return "{" + ", ".join(entries) + "}"
        data = f"[{cut(self.data, 40)}]" if self.data else ""
        return f"{self.kind}{data} of {_counted(self.children)}" if self.children else f"empty {self.kind}"


def _counted(children: Sequence[Node]) -> str:
    """`2 arrays`, `5 × {'w', 'b'}`, `(array, None)`."""
    if all(child.kind == "*" for child in children):
        return counted(len(children), "array")
    if len(set(children)) > 1:
        return f"({', '.join(map(str, children))})"
    return f"{len(children)} × {children[0]}" if len(children) > 1 else str(children[0])


class Call(NamedTuple):
    """The arguments of a call that are not static: those by position, and by name."""

    positional: tuple[Node, ...]
    named: dict[str, Node]

    @property
    def form(self) -> tuple[int, list[str]]:
        """How it is written, whatever the arguments are."""
        return len(self.positional), list(self.named)


def call_of(signature: Signature) -> Call | None:
    """What the text of a structure says; None where it cannot be read."""
    return _read(signature.tree)


def structure_text(signature: Signature, root: str = "") -> str:
    """The structure of all arguments, `w and x by position, scale={'a', 'b'} by name`, or of one, `{'a', 'b'}`."""
    call = call_of(signature)
    if call is None:
        return cut(signature.tree.removeprefix("PyTreeDef(").removesuffix(")"), _LONGEST)
    by_position = list(zip(_roots(signature, call.positional), call.positional))
    by_name = list(call.named.items())
    own = [node for name, node in (*by_position, *by_name) if name == root]
    own = own or [node for name, node in by_position if not name]  # it has no leaves here
    if root and len(own) == 1:
        return cut(str(own[0]), _LONGEST)
    given = (f"{_arguments(own)} by {how}" for own, how in ((by_position, "position"), (by_name, "name")) if own)
    return cut(", ".join(given) or "no array", _LONGEST)


def _roots(signature: Signature, nodes: Sequence[Node]) -> Iterator[str]:
    """The name of each argument by position, `args[0]` of one that `*args` takes; "" of one without leaves."""
    paths = iter(leaf.path for leaf in signature.leaves)
    for node in nodes:
        own = list(itertools.islice(paths, node.leaves))
        yield own[0] if node.kind == "*" and own else own[0].split("[")[0].split(".")[0] if own else ""


def changed(old: Signature, new: Signature) -> str:
    """The name of the one argument whose structure is another one; "" where several have, or how the calls are written differs."""
    sides = [(signature, call_of(signature)) for signature in (old, new)]
    forms = {str(call.form) for _, call in sides if call}
    if len(forms) != 1:
        return ""
    places = [
        [*zip(_roots(signature, call.positional), call.positional), *call.named.items()]
        for signature, call in sides
        if call
    ]
    names = [{one or other, other or one} for (one, before), (other, after) in zip(*places) if before != after]
    return names[0].pop() if len(names) == 1 and len(names[0]) == 1 else ""


_CONTAINERS = frozenset(("dict", "list", "tuple", "None", "*", "OrderedDict", "defaultdict", "FrozenDict"))
"""Kinds of nodes that are no objects of a class."""


def classes(signature: Signature) -> dict[str, str]:
    """The classes of the outermost objects in the arguments, by the way to them."""
    if signature.classes:
        return dict(signature.classes)
    if "CustomNode" not in signature.tree:
        return {}
    return {path: node.kind for path, node in _outer_nodes(signature).items() if node.kind not in _CONTAINERS}


def in_place_of_containers(old: Signature, new: Signature) -> dict[str, tuple[str, str]]:
    """Where one of two calls has an object and the other a tuple, a list or a dict of other arrays: what stands there in each, by the way
    to it."""
    if "CustomNode" not in old.tree + new.tree or old.classes or new.classes:
        return {}
    before, after = _outer_nodes(old), _outer_nodes(new)
    pairs = {path: (before[path], after[path]) for path in before.keys() & after.keys()}
    return {
        path: (one.kind, other.kind)
        for path, (one, other) in pairs.items()
        if (one.kind in _PLAIN) is not (other.kind in _PLAIN)
        and not {one.kind, other.kind} & (_CONTAINERS - _PLAIN)
        and one.leaves != other.leaves
    }


_PLAIN = frozenset(("dict", "list", "tuple"))


def _outer_nodes(signature: Signature) -> dict[str, Node]:
    """The nodes of the arguments down to the outermost objects, by the way to them."""
    call = call_of(signature)
    if call is None:
        return {}
    roots = [*zip(_roots(signature, call.positional), call.positional), *call.named.items()]
    return dict(one for name, node in roots for one in _outermost(name, node))


def _outermost(path: str, node: Node) -> Iterator[tuple[str, Node]]:
    yield path, node
    if node.kind in _CONTAINERS:
        for key, child in zip(node.keys or range(len(node.children)), node.children):
            yield from _outermost(f"{path}[{key}]", child)


def apart(old: Signature, new: Signature, root: str) -> tuple[str, str] | None:
    """The first node of an argument whose calls differ in static data alone, as it prints in each; None where they differ in more."""
    sides = [_argument(signature, root) for signature in (old, new)]
    if any(side is None for side in sides):
        return None
    pairs = [pair for pair in zip(*(list(_nodes(side)) for side in sides if side)) if pair[0] != pair[1]]
    if not pairs or any((a.kind, a.keys, len(a.children)) != (b.kind, b.keys, len(b.children)) for a, b in pairs):
        return None
    old_node, new_node = pairs[-1]
    if old_node._replace(data="") != new_node._replace(data=""):
        return None
    before, after = (f"{old_node.kind}[{cut(text, 60)}]" for text in _differing(old_node.data, new_node.data))
    return before, after


def _differing(one: str, other: str) -> tuple[str, str]:
    """What differs between static data as they print: of two tuples the elements that do. Addresses say nothing."""
    sides = [_elements(text) for text in (one, other)]
    if len(sides[0]) == len(sides[1]):
        pairs = [pair for pair in zip(*sides) if pair[0] != pair[1]]
        one, other = (", ".join(parts) for parts in zip(*pairs)) if pairs else (one, other)
    before, after = (_ADDRESS.sub("", " ".join(text.split())) for text in (one, other))
    return before, after


_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def _elements(text: str) -> list[str]:
    """The elements of a tuple that prints so; the text itself where it is none."""
    if not (text.startswith("(") and text.endswith(")")):
        return [text]
    reader, found = _Reader(f"{text[1:-1].rstrip(',')},"), []
    try:
        while reader.at < len(reader.text):
            found.append(reader._until(",").strip())
            reader.at += 1
    except IndexError:  # brackets or quotes that do not close, in somebody's own text
        return [text]
    return found


def _argument(signature: Signature, root: str) -> Node | None:
    call = call_of(signature)
    if call is None:
        return None
    own = [node for name, node in zip(_roots(signature, call.positional), call.positional) if name == root]
    return own[0] if len(own) == 1 else call.named.get(root)


def changed_data(signatures: Sequence[Signature]) -> list[str]:
    """The classes whose static data differ between calls that are alike in all else of their structure; none where more differs."""
    calls = [call_of(signature) for signature in signatures]
    known = [
        [one for node in (*call.positional, *call.named.values()) for one in _nodes(node)] for call in calls if call
    ]
    bare = {tuple((node.kind, node.keys, len(node.children)) for node in nodes) for nodes in known}
    if len(known) < len(calls) or len(bare) != 1 or len({(s.tree, s.structure) for s in signatures}) == 1:
        return []
    alike = len({signature.tree for signature in signatures}) == 1  # objects that print alike
    columns = [column for column in zip(*known) if column[0].data]
    return list(dict.fromkeys(column[0].kind for column in columns if alike or len({one.data for one in column}) > 1))


def data_beside(one: Signature, other: Signature) -> list[str]:
    """The classes whose static data differ where two structures, which are not alike, have the same node."""
    first, second = call_of(one), call_of(other)
    if first is None or second is None:
        return []
    named = [(node, second.named[name]) for name, node in first.named.items() if name in second.named]
    pairs = [*zip(first.positional, second.positional), *named]
    found: dict[str, None] = {}
    while pairs:
        a, b = pairs.pop(0)
        if a.keys != b.keys or (a.kind != b.kind and not {a.kind, b.kind} <= _PLAIN):
            continue
        if a.data != b.data:
            found[a.kind] = None
        pairs += zip(a.children, b.children)
    return list(found)


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _nodes(child)


def _arguments(given: Sequence[tuple[str, Node]]) -> str:
    said = [name if node.kind == "*" and name else f"{name}={node}" if name else str(node) for name, node in given]
    return " and ".join(filter(None, (", ".join(said[:-1]), said[-1])))


# --- reading ------------------------------------------------------------------------------------------------------------------


@functools.lru_cache(64)
def _read(text: str) -> Call | None:
    reader = _Reader(text.removeprefix("PyTreeDef("))
    try:
        node = reader.node()
    except (ValueError, IndexError, RecursionError):
        return None
    if reader.text[reader.at :] != ")" or [child.kind for child in node.children] != ["tuple", "dict"]:
        return None
    positional, named = node.children
    return Call(positional.children, {name.strip("'"): one for name, one in zip(named.keys, named.children)})


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def node(self) -> Node:
        for sign, kind in (("*", "*"), ("None", "None")):
            if self._skips(sign):
                return Node(kind)
        for opening, closing, kind in (("(", ")", "tuple"), ("[", "]", "list"), ("{", "}", "dict")):
            if self._skips(opening):
                return self._children(closing, kind)
        if not self._skips("CustomNode("):
            raise ValueError
        start = self.at
        self.at = self.text.index("[", start) + 1
        name = self.text[start : self.at - 1]
        data = self._until("]")
        self._skip("], [")
        node = self._children("]", name)
        self._skip(")")
        if name == "namedtuple":
            return node._replace(kind=data)
        return node._replace(data="" if data in ("None", "()") else data)

    def _children(self, closing: str, kind: str) -> Node:
        children, keys = [], []
        while not self._skips(closing):
            if kind == "dict":
                keys.append(self._until(":"))
                self._skip(": ")
            children.append(self.node())
            if not self._skips(", "):
                self._skips(",")  # of a tuple of one
        return Node(kind, tuple(children), tuple(keys))

    def _until(self, end: str) -> str:
        """The text up to a sign that stands outside of brackets and quotes."""
        start, depth, quote = self.at, 0, ""
        while quote or depth or self.text[self.at] != end:
            sign = self.text[self.at]
            if quote:
                self.at += sign == "\\"
                quote = "" if sign == quote else quote
            elif sign in "'\"":
                quote = sign
            else:
                depth += (sign in "([{") - (sign in ")]}")
            self.at += 1
        return self.text[start : self.at]

    def _skips(self, sign: str) -> bool:
        found = self.text.startswith(sign, self.at)
        self.at += len(sign) if found else 0
        return found

    def _skip(self, sign: str) -> None:
        if not self._skips(sign):
            raise ValueError
