"""`Layout` and `Format`: in which order the axes of an array lie in memory, and where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from .annotations import Sharding


class _Auto:
    """The order that XLA finds best."""

    mode = "auto"

    def __repr__(self) -> str:
        return "AUTO"


AUTO: Final = _Auto()


class Layout:
    """The order of an array's axes in memory, the slowest first: (0, 1) is row by row. `tiling`: shapes of tiles, if it is cut into
    such; `Layout.AUTO` leaves it to XLA. Raises ValueError for numbers that are no order of axes."""

    __slots__ = ("major_to_minor", "sub_byte_element_size_in_bits", "tiling")
    AUTO: Final = AUTO

    def __init__(
        self,
        major_to_minor: Sequence[int],
        tiling: Sequence[Sequence[int]] | None = None,
        sub_byte_element_size_in_bits: int = 0,
    ):
        self.major_to_minor = tuple(map(int, major_to_minor))
        self.tiling = None if tiling is None else tuple(map(tuple, tiling))
        self.sub_byte_element_size_in_bits = sub_byte_element_size_in_bits
        if sorted(self.major_to_minor) != list(range(len(self.major_to_minor))):
            raise ValueError(
                f"Layout: major_to_minor has each axis once, from 0 to {len(self.major_to_minor) - 1}, not {self.major_to_minor}"
            )

    def _key(self) -> tuple[Any, ...]:
        return self.major_to_minor, self.tiling, self.sub_byte_element_size_in_bits

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        order, tiling, bits = self._key()
        return f"Layout(major_to_minor={order}, tiling={tiling}, sub_byte_element_size_in_bits={bits})"

    def update(self, **changes: object) -> Layout:
        """A copy with some of its three parts changed. Raises TypeError for other names."""
        return Layout(**{**{name: getattr(self, name) for name in self.__slots__}, **changes})

    @property
    def mode(self) -> str:
        """What modules call it: `{1,0}`, the fastest axis first."""
        tiles = "".join(f"({','.join(map(str, tile))})" for tile in self.tiling or ())
        return f"{{{','.join(map(str, self.major_to_minor[::-1]))}{f':T{tiles}' if tiles else ''}}}"

    @property
    def is_default(self) -> bool:
        """Whether it is the order that arrays have by themselves."""
        return not self.tiling and self.major_to_minor == tuple(range(len(self.major_to_minor)))

    def check(self, shape: Sequence[int], what: str) -> None:
        """Raises ValueError for an array of another number of axes."""
        if len(self.major_to_minor) != len(shape):
            raise ValueError(f"{what} has the shape {tuple(shape)}, and the order of {len(self.major_to_minor)} axes was asked for: {self}")  # fmt: skip


class Format:
    """Where an array lies (`sharding`), and in which order its axes lie in memory there (`layout`: a Layout, Layout.AUTO, or None:
    row by row). Raises ValueError for a Layout without a sharding, TypeError for what is neither."""

    __slots__ = ("layout", "sharding")

    def __init__(self, layout: Layout | None = None, sharding: Sharding | None = None):
        from .shardings import Sharding  # few programs ask

        if not isinstance(layout, (Layout, _Auto, type(None))):
            raise TypeError(f"the layout of a Format is a Layout, Layout.AUTO or None, not {layout!r}")
        if not isinstance(sharding, (Sharding, type(None))):
            raise TypeError(f"the sharding of a Format is a sharding or None, not {sharding!r}")
        if isinstance(layout, Layout) and sharding is None:
            raise ValueError(
                f"Format({layout}) needs a sharding, too: a NamedSharding, or SingleDeviceSharding(device) (that of an array x is x.sharding)"
            )
        self.layout: Any = layout
        self.sharding: Any = sharding

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Format) and (self.layout, self.sharding) == (other.layout, other.sharding)

    def __hash__(self) -> int:
        return hash((self.layout, self.sharding))

    def __repr__(self) -> str:
        return f"Format(layout={self.layout}, sharding={self.sharding})"
