"""Kernels in the blocks of the program: functions, modules, loops, what repeats as one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from .escapes import clean
from .words import Document


WITHIN = " › "


class Block:
    """A block with the kernels that stem from it alone, in the order of their time, and the blocks in it."""

    def __init__(self, label: str, positions: list[Document], own: list[Document], inner: list[Block]):
        self.label, self.positions, self.own, self.inner = label, positions, own, inner

    @property
    def kernels(self) -> list[Document]:
        """All in it."""
        return [*self.own, *(kernel for block in self.inner for kernel in block.kernels)]


class Blocks:
    """The blocks of a document, and the kernels that are counted in them."""

    def __init__(self, documents: Sequence[Document], kernels: Iterable[Document]):
        self.documents, self.kernels = documents, kernels

    def around(self, kernel: Document) -> list[str]:
        """The names of the blocks that a kernel is in, the outermost first."""
        at, names = kernel.get("block"), list[str]()
        while at is not None:
            names.insert(0, clean(self.documents[at]["label"]))
            at = self.documents[at]["outer"]
        return names

    def places(self, kernel: Document) -> list[Document]:
        """Where the innermost block was called that a kernel is in and of which that is known."""
        at = kernel.get("block")
        while at is not None and not self.documents[at]["positions"]:
            at = self.documents[at]["outer"]
        return [] if at is None else self.documents[at]["positions"]

    def tree(self) -> Block:
        """The whole program. A block that holds nothing but another one is one with it."""
        own: defaultdict[int | None, list[Document]] = defaultdict(list)
        inner: defaultdict[int | None, list[int]] = defaultdict(list)
        for kernel in self.kernels:
            own[kernel.get("block")].append(kernel)
        for at, document in enumerate(self.documents):
            inner[document["outer"]].append(at)

        def made(at: int) -> Block | None:
            document = self.documents[at]
            label, blocks = clean(document["label"]), [block for one in inner[at] if (block := made(one))]
            if not own[at] and len(blocks) == 1:
                (only,) = blocks
                return Block(f"{label}{WITHIN}{only.label}", document["positions"], only.own, only.inner)
            return Block(label, document["positions"], own[at], blocks) if own[at] or blocks else None

        return Block("", [], own[None], [block for one in inner[None] if (block := made(one))])


def share_of(kernels: Iterable[Document]) -> float:
    """Of the time of all kernels."""
    return sum(kernel["share"] or 0.0 for kernel in kernels)
