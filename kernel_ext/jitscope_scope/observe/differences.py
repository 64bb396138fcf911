"""Why something was traced again: the parts in which its key differs from an earlier one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from jitscope.backend.contents import UNTOLD
from jitscope.backend.function_objects import Capture
from jitscope.backend.signature import ANY_DEVICE, BY_NAME, Leaf, Signature, Static
from jitscope.core.words import listed, root_of
from jitscope.named_tuple import NamedTuple

from .structures import apart, call_of, changed, classes, in_place_of_containers, structure_text


__all__ = ["Difference", "bits_as_key", "differences", "is_key", "strong_number"]


class Difference(NamedTuple):
    """One part of the key that changed. `path` is the argument or option, `detail` a remark in words."""

    part: str
    path: str
    before: str
    after: str
    detail: str = ""

    def document(self) -> dict[str, str]:
        """As plain data; see docs/documents.md."""
        return self._asdict()

    def sentence(self) -> str:
        """`x changed shape: f32[64,20] → f32[40,20] (axis 0)`."""
        return _sentence(self, self.path, several=False)

    @property
    def change(self) -> str:
        """What became of a value: `changed: 0 → 1`, or `is another f32[4]` where both print alike."""
        return f"is another {self.after}" if self.before == self.after else f"changed: {self.before} → {self.after}"


def together(found: Iterable[Difference]) -> str:
    """What changed, in one sentence; arguments that changed alike are told together."""
    alike: dict[Difference, list[str]] = {}
    for one in found:
        paths = alike.setdefault(one._replace(path=""), [])
        if one.path not in paths:
            paths.append(one.path)
    return " and ".join(_sentence(one, listed(paths), len(paths) > 1) for one, paths in alike.items())


def _sentence(one: Difference, path: str, several: bool) -> str:
    remark = f" ({one.detail})" if one.detail else ""
    subject, verb = _SUBJECTS.get(one.part, path), _VERBS.get(one.part, "changed")
    if one.part == "redefined" and path == "function":
        subject = "the function"
    if subject == _ALL:
        subject, several = "the arguments", True
    verb = verb.replace("is ", "are ", 1) if several else verb
    if one.part == "static object":  # its text would be an address
        return f"{subject} (static) {'are each' if several else 'is'} {one.detail}"
    if one.part in ("function", "cache"):  # a number, or "kept", says nothing
        return one.detail
    if one.part == "closure":
        return f"{subject} (captured) {one.change}{remark}"
    return f"{subject} {verb}: {one.before} → {one.after}{remark}"


_ALL = "arguments"
"""The path of all arguments together."""


_SUBJECTS = {"function": "the function", "x64": "enable_x64", "device": "the device"}
_VERBS = {
    "class": "is another",
    "shape": "changed shape",
    "dtype": "changed dtype",
    "weak type": "changed weak type",
    "static value": "(static) changed",
    "tree structure": "changed structure",
    "none": "is None in one call and an array in the other",
    "call form": "is given in another way",
    "function": "is a new object",
    "redefined": "was defined again",
    "sharding": "changed sharding",
}
PARTS = (
    "first", "shape", "dtype", "weak type", "static value", "static object", "tree structure", "none", "call form", "kind",
    "function", "closure", "class", "redefined", "device", "sharding", "donation", "option", "x64", "cache",
)  # fmt: skip
"""What a difference can be of; each is a cause of recompilations (docs/recompilations.md)."""


def differences(old: Signature, new: Signature) -> list[Difference]:
    """All parts in which two keys differ; empty only if they are equal. Of calls that run other code of the user's, an argument of
    another class or another function, these alone."""
    if another := _another(old, new):
        return another
    found = _function(old, new) + _arguments(old, new)
    found += [each for one in _changed(dict(old.options), dict(new.options)) for each in _option(old, new, *one)]
    if old.x64 != new.x64:
        by_option = [one for one in found if one.part == "dtype" and _is_width(one)]
        found = [one for one in found if one not in by_option]
        found.append(Difference("x64", "enable_x64", str(old.x64), str(new.x64), _widths(by_option)))
    found = _without_consequences(found, old, new)
    if (
        old.device != new.device
        and not any(one.part == "sharding" or one.path in DEFAULT_DEVICE for one in found)
        and ANY_DEVICE not in (old.device, new.device)
    ):
        found.append(Difference("device", "device", old.device, new.device))
    return found


DEFAULT_DEVICE = ("default_device", "jax_default_device")
"""The option by which what is put nowhere goes to another device: a change of the device is its consequence."""


def _is_width(one: Difference) -> bool:
    """Whether a dtype changed its width alone, as the option enable_x64 has it: f32 and f64, i32 and i64, c64 and c128."""
    kinds = {text.rstrip("0123456789") for text in (one.before, one.after)}
    widths = {text.lstrip("abcdefghijklmnopqrstuvwxyz") for text in (one.before, one.after)}
    return len(kinds) == 1 and widths in ({"32", "64"}, {"64", "128"})


def _widths(found: Sequence[Difference]) -> str:
    """`x: f32 → f64`, of arguments whose dtype follows the option."""
    alike: dict[tuple[str, str], list[str]] = {}
    for one in found:
        alike.setdefault((one.before, one.after), []).append(one.path)
    return ", ".join(f"{listed(paths)}: {before} → {after}" for (before, after), paths in alike.items())


def _without_consequences(found: list[Difference], old: Signature, new: Signature) -> list[Difference]:
    """Without the arguments that lie whole on all devices, or on one, because another one was cut: nobody laid them out anew."""
    whole = {leaf.path for side in (old, new) for leaf in side.leaves if leaf.spec in ("P()", "")}
    whole -= {leaf.path for side in (old, new) for leaf in side.leaves if leaf.spec not in ("P()", "")}
    follow = [one for one in found if one.part == "sharding" and one.path in whole]
    cut = any(one.part == "sharding" and one.path not in whole for one in found)
    return [one for one in found if one not in follow] if cut else found


def _option(old: Signature, new: Signature, name: str, before: str, after: str) -> list[Difference]:
    if name == BY_NAME:
        both = {static.name for static in old.statics} & {static.name for static in new.statics}
        sides = [("by name" if one in before.split(", ") else "by position", one) for one in sorted(both)]
        after_of = {one: "by name" if one in after.split(", ") else "by position" for one in both}
        return [Difference("call form", one, side, after_of[one]) for side, one in sides if side != after_of[one]]
    return [Difference(_OPTIONS.get(name, "option"), name, before, after)]


UNKNOWN = "not found"
"""What became of a program whose key is equal in all that is known, where nothing tells why it was not found."""


_OPTIONS = {"donated arguments": "donation", "out_shardings": "sharding"}
"""Options that are causes of their own."""


def _another(old: Signature, new: Signature) -> list[Difference]:
    """The functions and the objects of a class that stand in place of others with other code: the call is of another program."""
    sides = [
        {
            **{c.name: c.code for c in one.made.captures if c.how in _BOUND and c.code},
            **{static.name: static.code for static in (*one.statics, *one.attributes) if static.code},
            **classes(one),
        }
        for one in (old, new)
        if one.made is not None
    ]
    if len(sides) < 2:
        return []
    before, after = sides
    found = [Difference("class", n, before[n], c) for n, c in after.items() if n in before and before[n] != c]
    return found + [Difference("class", path, *kinds) for path, kinds in in_place_of_containers(old, new).items()]


_BOUND = ("closure", "argument", "self")
"""How a function object came to its values, that decide what it does: not what it reads from around, or where it is given none."""


def closest(earlier: Sequence[Any], new: Signature) -> tuple[Any, list[Difference]] | None:
    """The earlier key (an object with `signature`) nearest to `new`, latest first among equals, and the differences."""
    best = None
    for candidate in reversed(earlier):
        if candidate.signature.same(new):
            return candidate, []
    for candidate in reversed(earlier):
        if _may_be_spelled_otherwise(candidate.signature, new):
            found = differences(candidate.signature, new)
            if all(one.part == "call form" and not one.detail for one in found):
                return candidate, found
    for candidate in reversed(earlier):
        found = differences(candidate.signature, new)
        if best is None or _distance(found) < _distance(best[1]):
            best = (candidate, found)
        if _distance(found) <= (False, False, False, 1, 0, 1):
            break
    return best


def _may_be_spelled_otherwise(old: Signature, new: Signature) -> bool:
    """Whether two calls of one function give other static arguments, and the same arrays: one may leave a default where the other gives it."""
    names = [{static.name for static in side.statics} for side in (old, new)]
    return old.function == new.function and names[0] != names[1] and old.leaves == new.leaves


def _distance(found: Sequence[Difference]) -> tuple[bool, bool, bool, int, int, int]:
    """A call of the same function object is nearer than one of another that differs in more than that; then one of the same structure;
    of as many differences those of sizes are nearer than those of the number of axes, and those of fewer axes nearer than others."""
    parts = [one.part for one in found]
    another = bool({"function", "closure"} & {*parts}) and not {"function", "closure"} >= {*parts}
    ranks = sum(one.part == "shape" and _is_of_rank(one) for one in found)
    axes = sum(one.detail.count(",") + 1 for one in found if one.part == "shape")
    return "class" in parts, another, "tree structure" in parts, len(found), ranks, axes


def _function(old: Signature, new: Signature) -> list[Difference]:
    if old.function == new.function:
        return []
    before, after = ({capture.name: capture for capture in s.made.captures} for s in (old, new))
    changed = [(before[n], c) for n, c in after.items() if n in before and before[n].token != c.token]
    what = _WHAT[new.made.kind]
    if changed:
        return [Difference("closure", b.name, b.text, a.text, _captured(a, what)) for b, a in changed]
    same = "; it captured the same values" if after else ""
    return [
        Difference(
            "function",
            "function",
            f"function object {old.function}",
            f"function object {new.function}",
            f"{what} is made anew, and each object is traced by itself{same}",
        )
    ]


_WHAT = {
    "function": "the function",
    "lambda": "the lambda",
    "nested function": "the nested function",
    "partial": "the partial",
    "method": "the bound method",
    "object": "the callable object",
}


def _captured(new: Any, what: str) -> str:
    how = {
        "closure": "captured",
        "global": "a global read",
        "default": "a default",
        "argument": "bound",
        "self": "bound",
    }
    return f"{how[new.how]} by {what}, which is made anew"


def _arguments(old: Signature, new: Signature) -> list[Difference]:
    """What changed among arrays and static arguments; one that is None, or static, in one of the calls alone counts once."""
    if (
        old.leaves == new.leaves
        and old.tree == new.tree
        and old.structure == new.structure
        and old.statics == new.statics
        and old.attributes == new.attributes
    ):
        return []
    moved = _moved(old, new)
    names = {difference.path for difference in moved}
    inside = _attributes(old, new)
    found = _leaves(old, new, names)
    if inside:  # they say what the structure, and what a library made of the arguments, do not
        found = [one for one in found if one.part != "tree structure" or one.before != one.after]
        return moved + found + inside
    if moved:  # what a library bundled has no text of its own, and changed with these
        names |= {static.name for side in (old, new) for static in side.statics if not static.text}
    return moved + found + _statics(old, new, names)


def _attributes(old: Signature, new: Signature) -> list[Difference]:
    """What changed of the plain values in what a library took apart; parameters that one call left out count as their defaults."""
    before, after = ({one.name: one for one in s.attributes} for s in (old, new))
    arrays = {root_of(leaf.path) for s in (old, new) for leaf in s.leaves}
    found = [_static(name, before[name], one) for name, one in after.items() if not before.get(name, one).is_same(one)]
    for name in {**before, **after}:
        if (name in before) != (name in after) and name == root_of(name) and name not in arrays:
            found += _left_out(name, old, new, before.get(name), after.get(name))
    return found


def _left_out(name: str, old: Signature, new: Signature, one: Static | None, other: Static | None) -> list[Difference]:
    """A static value that one of two calls gives, and the other leaves to the default; nothing where that is not known."""
    given, default = one or other, _default(old if one is None else new, name)
    if given is None or default is None:
        return []
    sides = [str(side) if side else f"{default.text}, its default" for side in (one, other)]
    return [Difference("call form" if default.text == given.text else "static value", name, *sides)]


def _moved(old: Signature, new: Signature) -> list[Difference]:
    found = []
    for one, other, turned in ((old, new, False), (new, old, True)):
        roots = {root_of(leaf.path): str(leaf) for leaf in other.leaves}
        exactly = {leaf.path: str(leaf) for leaf in other.leaves}
        own = {static.name for static in (*other.statics, *other.attributes)}
        plain = [(static, exactly) for static in one.attributes]  # a number in what a library took apart
        for static, arrays in [*((static, roots) for static in one.statics), *plain]:
            if static.name in arrays and static.name not in own:
                part = "none" if static.text == "None" else "kind"
                sides = (static.text, arrays[static.name])
                before, after = reversed(sides) if turned else sides
                found.append(Difference(part, static.name, before, after))
    return found


def _leaves(old: Signature, new: Signature, known: set[str]) -> list[Difference]:
    """What changed of arrays and of the structure. Where the arrays are the same ones, what became of them comes first."""
    before, after = ({leaf.path: leaf for leaf in s.leaves} for s in (old, new))
    of_structure = []
    if old.tree != new.tree or before.keys() != after.keys():
        of_structure = _structures(old, new, before, after, known)
    elif old.structure != new.structure:
        numbers = changed_numbers(old.held, new.held)
        detail = f"{STATIC_DATA} of its nodes{numbers or ' is not equal, though it prints alike'}"
        root = _common_root(list(after)) or _ALL
        of_structure = [
            Difference("tree structure", root, structure_text(old, root), structure_text(new, root), detail)
        ]
    of_arrays = [one for path in after if path in before for one in _leaf(before[path], after[path])]
    return of_arrays + of_structure if before.keys() == after.keys() else of_structure + of_arrays


def _structures(
    old: Signature, new: Signature, before: dict[str, Leaf], after: dict[str, Leaf], known: set[str]
) -> list[Difference]:
    gone, come = sorted(before.keys() - after.keys()), sorted(after.keys() - before.keys())
    left = [path for path in (*gone, *come) if not known & {path, root_of(path)}]
    if known and not left:
        return []
    detail = " and ".join(f"{verb} {listed(paths)}" for verb, paths in (("gained", come), ("lost", gone)) if paths)
    if old.tree.replace("None", "*") == new.tree.replace("None", "*") and left:
        sides = [(str(before.get(path, "None")), str(after.get(path, "None"))) for path in left]
        return [Difference("none", path, *side) for path, side in zip(left, sides)]
    if (
        left
        and {*map(root_of, left)} == {*left}
        and all(_is_left_out_as_none(old if path in after else new, path) for path in left)
    ):
        sides = [(str(before.get(path, _NONE)), str(after.get(path, _NONE))) for path in left]
        return [Difference("none", path, *side) for path, side in zip(left, sides)]
    root = _common_root(left) or changed(old, new) or _ALL
    if not left and (sides := apart(old, new, root)) is not None:
        alike = ", not equal though it prints alike" if sides[0] == sides[1] else ""
        alike = changed_numbers(old.held, new.held) or alike
        return [Difference("tree structure", root, *sides, f"{STATIC_DATA}{alike}")]
    if gone and come and root in (*gone, *come):  # an array was there, or is: its parts are new as well
        detail = ""
    part = "call form" if _form(old) != _form(new) else "tree structure"
    argument = root if part == "tree structure" else ""
    return [Difference(part, root, structure_text(old, argument), structure_text(new, argument), detail)]


_NONE = "None, its default"


def _is_left_out_as_none(signature: Signature, path: str) -> bool:
    default = _default(signature, path)
    return default is not None and default.text == "None"


STATIC_DATA = "static data"
"""How the remark begins where the arrays of a structure are the same, and what its nodes hold beside them is not."""


def _form(signature: Signature) -> Any:
    call = call_of(signature)
    return call and call.form


def _common_root(paths: list[str]) -> str:
    roots = {root_of(path) for path in paths}
    return roots.pop() if len(roots) == 1 else ""


def _leaf(old: Leaf, new: Leaf) -> list[Difference]:
    if is_key(old.dtype) != is_key(new.dtype) and bits_as_key(old).shape == bits_as_key(new).shape:
        return [Difference("dtype", new.path, str(old), str(new), "one is a typed key, the other the bits of one")]
    found = []
    if old.shape != new.shape:
        found.append(Difference("shape", new.path, str(old), str(new), _axes(old.shape, new.shape)))
    if old.dtype != new.dtype:
        found.append(Difference("dtype", new.path, old.dtype, new.dtype))
    if old.sharding != new.sharding:
        found.append(Difference("sharding", new.path, old.sharding or "one device", new.sharding or "one device"))
    if old.weak_type != new.weak_type:
        found.append(
            Difference(
                "weak type",
                new.path,
                _weakness(old),
                _weakness(new),
                "Python numbers, and what is computed of them alone, are weakly typed",
            )
        )
    return found


def is_key(dtype: str) -> bool:
    """Whether a dtype (in its short form) is that of typed random keys."""
    return dtype.startswith("key<")


def bits_as_key(leaf: Leaf) -> Leaf:
    """A typed key as it is; what may be the bits of keys with the shape that the keys have."""
    return leaf._replace(shape=leaf.shape[:-1]) if leaf.shape and leaf.dtype == "u32" else leaf


def strong_number(dtype: str) -> str:
    """How a Python number is written as an array of a dtype (in its short form): `jnp.int32(1) for 1`."""
    kind, bits = dtype.rstrip("0123456789"), dtype.lstrip("abcdefghijklmnopqrstuvwxyz")
    if kind not in _NUMBERS:
        return "jnp.asarray(1, dtype) for 1"
    name, one = _NUMBERS[kind]
    return f"jnp.{name}{bits}({one}) for {one}"


_NUMBERS = {
    "bool": ("bool_", "True"), "i": ("int", "1"), "u": ("uint", "1"), "f": ("float", "1.0"), "bf": ("bfloat", "1.0"), "c": ("complex", "1j"),
}  # fmt: skip


def _weakness(leaf: Leaf) -> str:
    return f"{leaf.dtype}, {'weak' if leaf.weak_type else 'not weak'}"


_OTHER_RANK = " instead of "


def _is_of_rank(one: Difference) -> bool:
    """Whether a change of shape is one of the number of axes."""
    return _OTHER_RANK in one.detail


def _axes(old: tuple[int, ...], new: tuple[int, ...]) -> str:
    if len(old) != len(new):
        return f"{len(new)} {'axis' if len(new) == 1 else 'axes'}{_OTHER_RANK}{len(old)}"
    changed = [str(i) for i, (a, b) in enumerate(zip(old, new)) if a != b]
    return f"{'axis' if len(changed) == 1 else 'axes'} {', '.join(changed)}"


def _statics(old: Signature, new: Signature, known: set[str]) -> list[Difference]:
    before, after = ({static.name: static for static in s.statics if static.name not in known} for s in (old, new))
    found = []
    for name in [*before, *(n for n in after if n not in before)]:
        one, other = before.get(name), after.get(name)
        if (one is None) != (other is None) and (told := _left_out(name, old, new, one, other)):
            found += told
        elif one is None or other is None:
            given = [str(side) if side else "not given" for side in (one, other)]
            found.append(Difference("call form", name, *given))
        elif not one.is_same(other):
            found.append(_static(name, one, other))
    return found


def _default(signature: Signature, name: str) -> Capture | None:
    """The default of a parameter that a call left out; None where it is not known."""
    return next((one for one in signature.made.captures if one.how == "default" and one.name == name), None)


def _static(name: str, old: Static, new: Static) -> Difference:
    if new.content and old.content == new.content:
        same = "" if UNTOLD in new.content else " that holds the same"
        detail = f"another object ({new.type}){same}: objects of its class are equal by identity alone"
        return Difference("static object", name, str(old), str(new), detail)
    alike = "the two are not equal, though they print alike" if str(old) == str(new) else ""
    numbers = changed_numbers(old.held, new.held).removeprefix(": ")
    return Difference("static value", name, str(old), str(new), numbers or alike)


def changed_numbers(before: Sequence[tuple[str, str]], after: Sequence[tuple[str, str]]) -> str:
    """`: lr is 0.1, then 0.2`, of the numbers that two values hold by name; "" where none changed, or they hold others."""
    if [name for name, _ in before] != [name for name, _ in after]:
        return ""
    pairs = zip(before, after)
    said = dict.fromkeys(f"{name} is {one}, then {two}" for (name, one), (_, two) in pairs if name and one != two)
    return f": {listed(list(said)[:_MOST_NUMBERS])}" if said else ""


_MOST_NUMBERS = 2


def _changed(old: dict[str, str], new: dict[str, str]) -> list[tuple[str, str, str]]:
    return [
        (name, old.get(name, "not given"), new.get(name, "not given"))
        for name in [*old, *(n for n in new if n not in old)]
        if old.get(name) != new.get(name)
    ]
