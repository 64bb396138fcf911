"""Objects and containers of the user's taken apart: in a region a name stands for each part (`w_of_self` for `self.w`, `W1_of_params` for
`params['W1']`), and the statements of methods in the place of their calls. Where a part is used in another way, none is."""

from __future__ import annotations

import ast
import contextlib
import copy
import io
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from . import naming, paths
from .aggregate_state import NeedsCopies
from .aggregate_statements import AggregateReplacement
from .answers import CannotCompile
from .draws import drawn_before, states_kept
from .effects import Effects
from .functions import Definitions
from .homes import is_number
from .in_place import put_into
from .parts import EditText
from .stand_ins import StandIns
from .structures import (
    Box,
    Function,
    Grows,
    InWholes,
    Known,
    Leaf,
    Part,
    PickedByValue,
    Roots,
    fields_of,
    key_text,
    seen_after,
)
from .watching import Visit, snapshot


_TRIES = 8


def taken_apart(
    body: naming.Statements, visit: Visit, definitions: Definitions, whole: Collection[str] = ()
) -> Apart | None:
    """The statements with names in place of the parts of objects and containers, but for those that stay `whole`; None where there are none, or
    one of them is used in a way that is not followed."""
    plain, copies = {*whole}, False
    for _ in range(_TRIES):
        writer = AggregateReplacement(Roots(visit, plain), naming.bound(body), definitions, copies)
        try:
            writer.block(copy.deepcopy(list(body)), writer.top)
            return (
                _Ending(writer, body, definitions).apart()
                if any(b.touched for b in writer.roots.boxes.values()) or any(t[0] == "[" for t in plain)
                else None
            )
        except Grows as grows:
            plain.add(grows.text)
        except PickedByValue as picked:
            if picked.text is None:
                return None
            plain.add(picked.text)
        except NeedsCopies:
            if copies:
                return None
            copies = True
        except InWholes:
            return None
        except CannotCompile as reason:
            raise reason.in_words(writer.roots.texts) from None
    return None


@dataclass(frozen=True)
class Apart:
    """A region without its objects."""

    stood: StandIns
    tests: tuple[str, ...]
    """What has to be true when it begins."""
    texts: Mapping[str, str]
    """What its names stand for."""
    inlined: frozenset[str]
    """The functions and methods whose statements it has."""
    values: Mapping[str, object]
    """Classes and others that the tests name."""

    bound: frozenset[str]
    """The names that parts are taken from in the end."""

    def guarded(self, edit: EditText, body: naming.Statements) -> EditText:
        """The edit for objects and containers like those that were seen; for others the statements as they are."""
        return edit.guarded(self.tests, body)


class _Ending:
    """What stands before and after the statements, and what was seen of the names that stand in."""

    def __init__(self, writer: AggregateReplacement, body: naming.Statements, definitions: Definitions) -> None:
        self.definitions = definitions
        self.writer, self.roots, self.visit, self.old = writer, writer.roots, writer.roots.visit, body
        self.body = [ast.fix_missing_locations(s) for s in writer.out]
        self.bound, self.stored = naming.bound(self.body), put_into(self.body)
        self.lines: list[str] = []
        self.places: dict[str, str] = {}
        """Where the cell has what names stand for in the end."""
        self.placed: dict[int, str] = {}

    def apart(self) -> Apart:
        """All of it."""
        if not self.body:
            raise InWholes("nothing is left")
        self._objects()
        self._names()
        roots = [n for n, p in self.roots.found.items() if isinstance(p, Box)]
        needed = naming.read_first(self.body) | self.stored | naming.bound_or_not(self.body)
        needed |= self.places.keys() - self.bound
        first = {n: t for n, t in self.roots.texts.items() if n in needed and n not in self.visit.values}
        gone = sorted(
            n for n in first.keys() | self.places.keys() if n not in self.visit.values and n not in self.visit.after
        )
        known = self.visit.values.keys() | self.visit.after.keys()
        own = sorted(self.bound - known - first.keys() - {*gone})  # the statements bind these where they stay Python's
        after = [*self.lines, *([f"del {', '.join([*gone, *own])}"] if gone or own else [])]
        before = [*(f"{n} = {t}" for n, t in first.items()), *([f"{' = '.join(own)} = None"] if own else [])]
        stood = StandIns(tuple(self.body), self._seen(roots, first), tuple(before), tuple(after))
        tests = [*self.roots.tests_of_boxes(), *self.roots.tests.values(), *self._pinned()]
        values: dict[str, object] = {
            b.of.__name__: b.of for b in self.roots.boxes.values() if b.of not in (dict, list, tuple)
        }
        values |= {n: v for n, v in self.roots.values.items() if n not in self.roots.texts}
        values |= {
            m: self.visit.around[m]
            for t in self.roots.tests.values()
            if (m := t.rpartition(" is ")[2].partition(".")[0]) in self.visit.around
        }
        return Apart(
            stood,
            tuple(dict.fromkeys(tests)),
            dict(self.roots.texts),
            frozenset(self.writer.inlined),
            values,
            frozenset(self.places),
        )

    def _pinned(self) -> list[str]:
        changing = self.bound | naming.stored_into(self.body)
        if changing & self.writer.pinned.keys():
            raise InWholes("a number that picks parts changes")
        return [f"{self.roots.texts.get(n, n)} == {v}" for n, v in self.writer.pinned.items()]

    def _objects(self) -> None:
        """Gives objects and containers the parts that they have in the end."""
        for box in self.roots.boxes.values():
            first, text = self.roots.first[id(box)], box.text or ""
            if [k for k in box.parts if k in first] != list(first):
                raise InWholes("parts are removed")
            for key, part in list(box.parts.items()):
                place = key_text(text, key, box.is_object)
                if isinstance(part, Leaf) and part == first.get(key):
                    if part.name in self.bound:
                        self._put(place, part.name)
                    elif part.name in self.stored or type(self.roots.values.get(part.name)) is list:
                        self.places.setdefault(part.name, place)
                elif part is not first.get(key) and part != first.get(key):
                    if box.of is list and key not in first:
                        raise InWholes("a list grows")
                    self._build(part, place)

    def _put(self, place: str, name: str) -> None:
        self.places.setdefault(name, place)
        self.lines.append(f"{place} = {name}")

    def _names(self) -> None:
        """Gives names what they stand for in the end."""
        bound = naming.bound(self.old) & self.visit.after.keys()
        for n in sorted(bound):
            part = self.writer.top.names.get(n)
            if isinstance(part, ast.Constant):
                raise InWholes(f"`{n}` may stand for several things")
            if part is not None and part != Leaf(n):
                self._build(part, n)
            elif n in self.writer.last:
                self.lines.append(f"{n} = {self.writer.last[n]}")
            elif n not in self.bound:
                raise InWholes(f"`{n}` is not bound any longer")

    def _build(self, part: Part, place: str) -> None:
        if isinstance(part, Box) and part.is_object and part.text is None and id(part) not in self.placed:
            self._may_be_made(part)
            self.placed[id(part)] = place
            name = self.roots.named_class(part.of)
            self.lines.append(f"{place} = {name}.__new__({name})")
            for k, p in part.parts.items():
                self._build(p, f"{place}.{k}")
            return
        self.lines.append(f"{place} = {self._text(part, place)}")

    def _may_be_made(self, box: Box) -> None:
        if box.fixed and box.source is not None and (box.source.text is not None or id(box.source) in self._held()):
            raise InWholes("what has two names is made anew")

    def _held(self) -> set[int]:
        """The boxes that there are in the end."""
        found: set[int] = set()
        more = [p for n, p in self.writer.top.names.items() if n in self.visit.after]
        more += [p for b in self.roots.boxes.values() for p in b.parts.values()]
        while more:
            part = more.pop()
            if isinstance(part, Box) and id(part) not in found:
                found.add(id(part))
                more += part.parts.values()
        return found

    def _text(self, part: Part, place: str) -> str:
        if isinstance(part, Leaf):
            self.places.setdefault(part.name, place)
            return part.name
        if isinstance(part, Known):
            return repr(part.value)
        if isinstance(part, Function) and part.text is not None:
            return part.text
        if isinstance(part, Box) and part.text is not None:
            return part.text
        if isinstance(part, Box) and id(part) in self.placed:
            return self.placed[id(part)]
        if not isinstance(part, Box) or part.is_object:
            raise InWholes("what is left cannot be made again")
        self._may_be_made(part)
        self.placed[id(part)] = place
        inside = {k: self._text(p, f"{place}[{k!r}]") for k, p in part.parts.items()}
        if part.of is dict:
            return f"{{{', '.join(f'{k!r}: {t}' for k, t in inside.items())}}}"
        text = ", ".join(inside.values())
        if fields_of(part.of):
            return f"{self.roots.named_class(part.of)}({text})"
        return f"[{text}]" if part.of is list else f"({text}{',' if len(inside) == 1 else ''})"

    def _seen(self, roots: list[str], first: Mapping[str, str]) -> Visit:
        visit = self.visit
        seen = [dict(v) for v in (visit.values, visit.live, visit.after, visit.ends)]
        values, live, after, ends = seen
        mine = lambda text: any(text == r or text.startswith((f"{r}.", f"{r}[")) for r in roots)
        kept = lambda found: {t: v for t, v in found.items() if not mine(t)}
        values, live, after, ends = map(kept, seen)
        inside = {n for n in visit.changed if not mine(n)}
        for n, v in self.roots.values.items():
            text = self.roots.texts.get(n)
            if text is None:
                values.setdefault(n, v)
                live.setdefault(n, v)
            elif n in first or n in self.bound or n not in visit.values:
                values[n] = v
                live[n] = self._itself(text, v)
                if text in visit.changed_inside:
                    inside.add(n)
        for n, place in self.places.items():
            found = seen_after(place, visit)
            if found is None:
                raise InWholes(f"what `{place}` is in the end was not seen")
            after[n], ends[n] = found
        new = replace(
            visit,
            **dict(zip(("values", "live", "after", "ends"), (values, live, after, ends))),
            changed=frozenset(inside),
            **{
                n: kept(getattr(visit, n))
                for n in ("places", "places_after", "states", "states_after", "lists", "lists_after")
            },
        )
        return with_first_turn(tuple(self.body), new, self.definitions)

    def _itself(self, text: str, copied: object) -> object:
        """The array or list that was there when the region began."""
        if (leaf := self.visit.places.get(text)) is not None:
            return leaf.value
        try:
            found = paths.at(text, self.visit.live)
        except Exception:
            return copied
        return found if type(found) is type(copied) else copied


def with_first_turn(body: tuple[ast.stmt, ...], visit: Visit, definitions: Definitions) -> Visit:
    """What was seen, with what the region's own names stand for after the first turn of its loops: of which kinds they are."""
    drawn = drawn_before(body, visit)
    Effects(definitions, on_copies=True).of_region(drawn.body, drawn.visit.values)
    names = {**visit.around, **snapshot(visit.values)}
    turns = ast.fix_missing_locations(ast.Module([_OneTurn().visit(copy.deepcopy(s)) for s in body], []))
    quiet = contextlib.redirect_stdout(io.StringIO())
    with quiet, warnings.catch_warnings(), np.errstate(all="ignore"), states_kept():
        warnings.simplefilter("ignore")
        with contextlib.suppress(Exception):
            exec(compile(turns, "<one turn>", "exec"), names)
    new = {n: names[n] for n in naming.bound(body) - visit.after.keys() if n in names and _is_kept(names[n])}
    return replace(visit, after={**visit.after, **new}, ends={**visit.ends, **new})


def _is_kept(value: object) -> bool:
    """Whether a name stands for a number, an array, or a list of such."""
    return is_number(value) or (type(value) is list and bool(value) and all(map(is_number, value)))


class _OneTurn(ast.NodeTransformer):
    def visit_For(self, node: ast.For | ast.While) -> ast.AST:
        self.generic_visit(node)
        node.body.append(ast.Break())
        return node

    visit_While = visit_For
