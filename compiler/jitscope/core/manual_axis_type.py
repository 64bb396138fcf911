"""What the type of a value says of the mesh axes over which a function sees one device."""

from __future__ import annotations

import dataclasses

from .annotations import AbstractMesh, Mesh


@dataclasses.dataclass(frozen=True, kw_only=True)
class ManualAxisType:
    """Mesh axes along which a value differs between devices (`varying`), is still to be summed (`unreduced`), or was (`reduced`).

    Raises ValueError for axes that are among `varying` and among another one.
    """

    varying: frozenset = frozenset()
    unreduced: frozenset = frozenset()
    reduced: frozenset = frozenset()

    def __post_init__(self) -> None:
        for word in ("unreduced", "reduced"):
            if both := self.varying & getattr(self, word):
                raise ValueError(f"along {set(both)} a value cannot be both varying and {word}")

    def update(self, **changes: object) -> ManualAxisType:
        """The same with some parts changed."""
        return dataclasses.replace(self, **changes)

    def to_ct_mat(self) -> ManualAxisType:
        """Of cotangents of such a value."""
        return ManualAxisType(varying=self.varying, unreduced=self.reduced, reduced=self.unreduced)

    @property
    def vur(self) -> frozenset:
        """All axes that it names."""
        return self.varying | self.unreduced | self.reduced

    @property
    def empty(self) -> bool:
        """Whether the value is the same on all devices, and nothing is to be summed."""
        return not self.vur

    def invarying(self, mesh: Mesh | AbstractMesh) -> frozenset:
        """The Manual axes of a mesh along which nothing is said."""
        return frozenset(mesh.manual_axes) - self.vur
