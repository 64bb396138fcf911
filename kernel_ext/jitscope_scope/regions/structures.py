"""What the objects and containers of a region hold, part by part, each under a name of its own: `w_of_self` for `self.w`, `W1_of_params` for
`params['W1']`. Where a part is used in another way than Python's own classes and containers are, none is."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import FunctionType, MethodType, ModuleType

import numpy as np

from . import paths, words
from .homes import attributes_of, is_users_object
from .watching import Visit


SHORT, MOST_PARTS, DEEPEST = 8, 64, 6
"""Lists of more numbers, in containers, and containers of more parts, or deeper ones, are not taken apart."""
_READING, _STORING = ("__getattr__", "__getattribute__"), ("__setattr__", "__delattr__")


class InWholes(Exception):
    """Raised where an object or a container is used as a whole, or in a way that is not followed."""


class PickedByValue(InWholes):
    """Raised where a number that is not known picks a part; a list or a dict that the region begins with, or makes, stays one then."""

    def __init__(self, box: Box | None = None) -> None:
        super().__init__("a part is picked by a value")
        self.text = (box.text or box.site or None) if box is not None and box.of in (list, dict) else None


class Grows(InWholes):
    """Raised where a list takes elements in a loop: it stays a list."""

    def __init__(self, text: str) -> None:
        super().__init__(f"`{text}` grows")
        self.text = text


@dataclass(frozen=True)
class Leaf:
    """A number, an array, or whatever is not taken apart: the name that stands for it."""

    name: str


@dataclass(frozen=True)
class Known:
    """A text, None, or a number that the text of the region shows."""

    value: object


@dataclass(eq=False)
class Box:
    """An object or a container: its parts by attribute, key or number."""

    of: type
    parts: dict[object, Part]
    text: str | None = None
    """Where the cell has it when the region begins."""
    name: str | None = None
    """What the names of its parts end with; None for one that nothing stands for yet."""
    fixed: bool = False
    """Whether there is a second one of the same content: then it must not change."""
    source: Box | None = None
    """The one that it was copied from, when that got a second name."""
    touched: bool = False
    site: str = ""
    """Where in the text a list is made, and how many loops it stands in."""
    loops: int = 0

    @property
    def is_object(self) -> bool:
        return self.of not in (dict, list) and not issubclass(self.of, tuple)

    @property
    def changes(self) -> bool:
        """Whether it is of a kind that can be changed."""
        return not issubclass(self.of, tuple)


class Function:
    """A function of the cells: its definition or its value, the names around it, the object that it is a method of, and how the region calls
    it by one name."""

    def __init__(
        self,
        node: ast.FunctionDef | ast.Lambda | None,
        value: FunctionType | None = None,
        around: Scope | None = None,
        owner: Box | None = None,
        text: str | None = None,
    ) -> None:
        self.node, self.value, self.around, self.owner, self.text = node, value, around, owner, text


@dataclass(eq=False)
class Scope:
    """The names of the region, or of a function whose statements stand in it."""

    names: dict[str, Part] = field(default_factory=dict)
    """Those that stand for parts."""
    own: dict[str, str] = field(default_factory=dict)
    """What a function's other names are called in the region."""
    function: Function | None = None
    around: Scope | None = None
    once: frozenset[str] = frozenset()
    """The names that a function binds in one place."""


Part = Leaf | Known | Box | Function | ast.expr


def key_text(owner: str, key: object, is_object: bool) -> str:
    """How a part is reached."""
    return f"{owner}.{key}" if is_object else f"{owner}[{key!r}]"


def word_of(key: object) -> str:
    """A part's key as a name may begin with it."""
    text = str(key)
    return text if text.isidentifier() else "part_" + "".join(c if c.isalnum() else "_" for c in text)


class Roots:
    """The values that the region begins with, taken apart as far as they are objects and containers."""

    def __init__(self, visit: Visit, plain: set[str]) -> None:
        self.visit, self.plain = visit, plain
        self.boxes: dict[int, Box] = {}
        self.found: dict[str, Part] = {}
        self.texts: dict[str, str] = {}
        """Where the cell has what names stand for."""
        self.values: dict[str, object] = {}
        self.tests: dict[str, str] = {}
        """What has to be true when the region begins."""
        self.first: dict[int, dict[object, Part]] = {}
        """The parts that boxes begin with."""
        self.taken = {*visit.values, *visit.after, *visit.around, *visit.live}
        self.named: dict[str, str] = {}

    def at(self, name: str) -> Part | None:
        """The parts of what a name stands for; None for what is a number, an array or a module, and stays under its name."""
        if name not in self.found:
            value = self.visit.values.get(name)
            if not is_structure(value) or name in self.plain:
                return None
            self.found[name] = self.built(value, name, 0)
        return self.reached(self.found[name])

    def reached(self, part: Part) -> Part:
        """A part that the region uses: what it is, if it is a container or an object, has to be so when the region begins."""
        if isinstance(part, Box):
            part.touched = True
        return part

    def built(self, value: object, text: str, depth: int, of: type = list) -> Part:
        """The parts of a value that is reached by a text, in a container or object of a type."""
        short = type(value) is list and of is not list and 0 < len(value) <= SHORT
        if text not in self.plain and (short or is_structure(value)):
            if id(value) in self.boxes:
                return self.boxes[id(value)]
            inside = _inside(value)
            if depth >= DEEPEST or len(inside) > MOST_PARTS:
                raise InWholes(f"`{text}` holds too much to be taken apart")
            box = self.boxes[id(value)] = Box(type(value), {}, text, name_of(text))
            box.parts |= {
                k: self.built(v, key_text(text, k, is_users_object(value)), depth + 1, type(value))
                for k, v in inside.items()
            }
            self.first[id(box)] = dict(box.parts)
            return box
        if value is None or type(value) is str:
            return Known(value)
        if isinstance(value, (FunctionType, MethodType)) or (callable(value) and not hasattr(value, "dtype")):
            return self.callable(value, text)
        return self.leaf(value, text)

    def leaf(self, value: object, text: str) -> Leaf:
        """The name that stands for what is reached by a text."""
        name = self.name(text)
        self.texts[name], self.values[name] = text, value
        return Leaf(name)

    def callable(self, value: object, text: str) -> Part:
        """What is called by way of an object or a container."""
        if isinstance(value, FunctionType) and words.of_users(value):
            return Function(None, value, text=text)
        if isinstance(value, MethodType) and is_structure(value.__self__):
            owner = self.boxes.get(id(value.__self__))
            return Function(None, value.__func__, owner=owner, text=text)  # type: ignore[arg-type]
        for name, module in {**self.visit.around, **self.visit.live}.items():
            attribute = getattr(value, "__name__", "")
            if isinstance(module, ModuleType) and getattr(module, attribute, None) is value:
                self.tests[text] = f"{text} is {name}.{attribute}"
                return ast.parse(f"{name}.{attribute}", mode="eval").body
        return self.leaf(value, text)

    def name(self, path: str) -> str:
        """A free name for a part; the same for the same path."""
        if path not in self.named:
            wish = name_of(path)
            while wish in self.taken:
                wish += "_"
            self.taken.add(wish)
            self.named[path] = wish
        return self.named[path]

    def named_class(self, kind: type) -> str:
        """The name of a class of the user's; raises InWholes where another thing has it."""
        if self.visit.around.get(kind.__name__) is not kind:
            raise InWholes("a class has no name here")
        return kind.__name__

    def tests_of_boxes(self) -> Iterator[str]:
        """What has to be true of the objects and containers whose parts are used."""
        used = [b for b in self.boxes.values() if b.touched and b.text is not None]
        for b in used:
            if b.of not in (dict, list, tuple):
                self.named_class(b.of)
            if b.is_object:
                yield f"type({b.text}) is {b.of.__name__}"
            keys = list(self.first[id(b)])
            if b.of is dict:
                yield f"type({b.text}) is dict and [*{b.text}] == {keys!r}"
            elif not b.is_object:
                yield f"type({b.text}) is {b.of.__name__} and len({b.text}) == {len(keys)}"
            yield from (
                f"{t} == {p.value!r}" if p.value is not None else f"{t} is None"
                for k, p in self.first[id(b)].items()
                if isinstance(p, Known) and (t := key_text(b.text or "", k, b.is_object))
            )
        changing = [b.text for b in used if b.changes]
        if len(changing) > 1:
            yield f"len({{{', '.join(f'id({t})' for t in changing)}}}) == {len(changing)}"


def name_of(path: str) -> str:
    """`net.layers[0].W` is `W_of_net_layers_0`."""
    tree = ast.parse(path, mode="eval").body
    words_: list[str] = []
    while isinstance(tree, (ast.Attribute, ast.Subscript)):
        words_.insert(0, tree.attr if isinstance(tree, ast.Attribute) else word_of(ast.literal_eval(tree.slice)))
        tree = tree.value
    root = tree.id if isinstance(tree, ast.Name) else "it"
    return f"{words_[-1]}_of_{'_'.join([root, *words_[:-1]])}" if words_ else root


def _is_written(key: object) -> bool:
    """Whether a key can stand in a text."""
    parts = key if type(key) is tuple else (key,)
    return all(type(p) in (int, bool, str) or (p is not key and type(p) in (float, type(None))) for p in parts)


def is_structure(value: object) -> bool:
    """Whether a value is an object of the user's, or a container with something else than numbers in it."""
    if is_users_object(value):
        return not _has_its_own(type(value), _READING)
    if type(value) is dict:
        return len(value) <= MOST_PARTS and all(map(_is_written, value))
    if fields_of(type(value)):
        return len(value) <= MOST_PARTS  # type: ignore[arg-type]
    if type(value) in (list, tuple) and value and len(value) <= MOST_PARTS:  # type: ignore[arg-type]
        if type(value) is tuple:
            return not words.is_static(value)
        return not all(isinstance(v, (int, float, complex, str, type)) for v in value)  # type: ignore[attr-defined]
    return False


def fields_of(kind: type) -> tuple[str, ...]:
    """The names of a named tuple's parts; none for other classes."""
    return kind._fields if issubclass(kind, tuple) and hasattr(kind, "_fields") else ()  # type: ignore[attr-defined]


def may_store(box: Box) -> bool:
    """Whether attributes of an object are simply bound when they are stored."""
    return not box.is_object or not _has_its_own(box.of, _STORING)


def of_class(box: Box, name: str) -> object:
    """What the class of an object answers for an attribute; None where it does not."""
    found = next((vars(k)[name] for k in box.of.__mro__ if name in vars(k)), None)
    return None if type(found).__name__ == "member_descriptor" else found


def _inside(value: object) -> Mapping[object, object]:
    if isinstance(value, dict):
        return dict(value)
    if isinstance(value, (list, tuple)):
        return dict(enumerate(value))
    return {k: v for k, v in attributes_of(value).items() if k.isidentifier()}


def _has_its_own(kind: type, names: tuple[str, ...]) -> bool:
    """Whether a class says itself what happens when attributes are read, or set."""
    return any(hasattr(kind, n) and getattr(kind, n) is not getattr(object, n, None) for n in names)


def seen_after(text: str, visit: Visit) -> tuple[object, object] | None:
    """What was reached by a text when the region ended, and that itself; None where it is not known."""
    leaf = visit.places_after.get(text)
    if leaf is not None:
        value = list(leaf.value[: leaf.size]) if type(leaf.value) is list else leaf.value
        return value, leaf.value
    for after, ends in ((visit.after, visit.ends), (visit.live, visit.live)):
        try:
            return paths.at(text, after), paths.at(text, ends)
        except Exception:
            continue
    return None


def is_plain_number(value: object) -> bool:
    return isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic)
