"""Why something was traced again: the parts in which its key differs from an earlier one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..backend.signature import ANY_DEVICE, Leaf, Signature


class Difference(NamedTuple):
    """One part of the key that changed. `path` is the argument or option, `detail` a remark in words."""

    part: str
    path: str
    before: str
    after: str
    detail: str = ""

    def document(self) -> dict[str, str]:
        return self._asdict()

    def sentence(self) -> str:
        """`x changed shape: f32[64,20] → f32[40,20] (axis 0)`."""
        remark = f" ({self.detail})" if self.detail else ""
        subject = {"function": "the function", "x64": "enable_x64", "device": "the device"}.get(self.part, self.path)
        verb = {
            "shape": "changed shape",
            "dtype": "changed dtype",
            "weak type": "changed weak type",
            "static value": "(static) changed",
            "tree structure": "changed structure",
            "function": "is a new object",
            "arguments": "changed",
        }.get(self.part, "changed")
        return f"{subject} {verb}: {self.before} → {self.after}{remark}"


def differences(old: Signature, new: Signature) -> list[Difference]:
    """All parts in which two keys differ; empty only if they are equal."""
    found = _function(old, new) + _leaves(old, new) + _statics(old, new)
    found += _named("option", dict(old.options), dict(new.options))
    if old.x64 != new.x64:
        found.append(Difference("x64", "enable_x64", str(old.x64), str(new.x64)))
    if old.device != new.device and ANY_DEVICE not in (old.device, new.device):
        found.append(Difference("device", "device", old.device, new.device))
    return found


def closest(earlier: Sequence[Any], new: Signature) -> tuple[Any, list[Difference]] | None:
    """The earlier key (an object with `signature`) nearest to `new`, latest first among equals, and the differences."""
    best = None
    for candidate in reversed(earlier):
        if candidate.signature.same(new):
            return candidate, []
    for candidate in reversed(earlier):
        found = differences(candidate.signature, new)
        if best is None or len(found) < len(best[1]):
            best = (candidate, found)
        if len(found) <= 1:
            break
    return best


def _function(old: Signature, new: Signature) -> list[Difference]:
    if old.function == new.function:
        return []
    return [
        Difference(
            "function",
            "function",
            f"function object {old.function}",
            f"function object {new.function}",
            "it was defined or wrapped again; each object is traced by itself",
        )
    ]


def _leaves(old: Signature, new: Signature) -> list[Difference]:
    if old.leaves == new.leaves and old.tree == new.tree:
        return []
    before, after = ({leaf.path: leaf for leaf in s.leaves} for s in (old, new))
    found = []
    if old.tree != new.tree or before.keys() != after.keys():
        gone, come = sorted(before.keys() - after.keys()), sorted(after.keys() - before.keys())
        detail = "; ".join(
            ([f"new: {', '.join(come)}"] if come else []) + ([f"gone: {', '.join(gone)}"] if gone else [])
        )
        root = _common_root([*gone, *come]) or "arguments"
        found.append(Difference("tree structure", root, _structure(old), _structure(new), detail))
    for path in after:
        if path in before:
            found += _leaf(before[path], after[path])
    return found


def _structure(signature: Signature) -> str:
    text = signature.tree.removeprefix("PyTreeDef(").removesuffix(")")
    return text if len(text) <= 200 else f"{text[:200]}…"


def _common_root(paths: list[str]) -> str:
    roots = {path.split("[")[0].split(".")[0] for path in paths}
    return roots.pop() if len(roots) == 1 else ""


def _leaf(old: Leaf, new: Leaf) -> list[Difference]:
    found = []
    if old.shape != new.shape:
        found.append(Difference("shape", new.path, str(old), str(new), _axes(old.shape, new.shape)))
    if old.dtype != new.dtype:
        found.append(Difference("dtype", new.path, old.dtype, new.dtype))
    if old.weak_type != new.weak_type:
        found.append(
            Difference(
                "weak type",
                new.path,
                _weakness(old),
                _weakness(new),
                "a Python number is weakly typed, an array is not",
            )
        )
    return found


def _weakness(leaf: Leaf) -> str:
    return f"{leaf.dtype}, {'weak' if leaf.weak_type else 'not weak'}"


def _axes(old: tuple[int, ...], new: tuple[int, ...]) -> str:
    if len(old) != len(new):
        return f"{len(new)} {'axis' if len(new) == 1 else 'axes'} instead of {len(old)}"
    changed = [str(i) for i, (a, b) in enumerate(zip(old, new)) if a != b]
    return f"{'axis' if len(changed) == 1 else 'axes'} {', '.join(changed)}"


def _statics(old: Signature, new: Signature) -> list[Difference]:
    before, after = ({static.name: static for static in s.statics} for s in (old, new))
    found = _named("static value", {n: str(s) for n, s in before.items()}, {n: str(s) for n, s in after.items()})
    alike = [s for name, s in after.items() if name in before and str(s) == str(before[name]) and s != before[name]]
    return found + [
        Difference("static value", s.name, str(s), str(s), "the two are not equal, though they print alike")
        for s in alike
    ]


def _named(part: str, old: dict[str, str], new: dict[str, str]) -> list[Difference]:
    return [
        Difference(part, name, old.get(name, "not given"), new.get(name, "not given"))
        for name in [*old, *(n for n in new if n not in old)]
        if old.get(name) != new.get(name)
    ]
