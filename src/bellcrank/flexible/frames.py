"""The frame in which a member's deformation is measured: which six conditions fix it to the deformed body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import scipy.sparse as sp

from bellcrank.base.keys import TEXT, Keys, must
from bellcrank.errors import ModelError
from bellcrank.flexible.model import Array, ElasticModel, Sparse


class MemberFrame(Protocol):
    """Conditions B u = 0 on the freedoms, and the place that stays at its position to second order (None: the
    mean)."""

    def conditions(self, model: ElasticModel) -> Sparse:
        """B, (m, N)."""
        ...

    def reference(self, model: ElasticModel) -> str | None:
        """The name of the place without second-order displacement."""
        ...


@dataclass(frozen=True)
class MeanAxes:
    """The frame in which the deformation carries no momentum: free-free modes without the rigid ones."""

    kind: ClassVar[str] = "mean_axes"
    keys: ClassVar[Keys] = Keys("No momentum in the deformation.")

    def conditions(self, model: ElasticModel) -> Sparse:
        """(M R)^T u = 0."""
        return sp.csr_array((model.mass_matrix @ movable(model)).T)

    def reference(self, model: ElasticModel) -> str | None:
        """None: the mean."""
        return None


@dataclass(frozen=True)
class Clamped:
    """The frame sits on one node and turns with it: modes of a cantilever."""

    kind: ClassVar[str] = "clamped"
    keys: ClassVar[Keys] = Keys("On one node, turning with it.", must("node", TEXT, "Node."))

    node: str

    def conditions(self, model: ElasticModel) -> Sparse:
        """Translation and rotation of the node."""
        place = model.place(self.node)
        return sp.vstack([sp.csr_array(place.translation), sp.csr_array(place.rotation)], format="csr")

    def reference(self, model: ElasticModel) -> str | None:
        """The node."""
        return self.node


@dataclass(frozen=True)
class Chord:
    """The frame's origin moves with `first`, its chord runs through `last`: pinned-pinned modes.

    Across the chord both nodes stay; along it `last` is free. Spatial bodies do not turn about the chord at
    `first`.
    """

    kind: ClassVar[str] = "chord"
    keys: ClassVar[Keys] = Keys(
        "From one node through another.", must("first", TEXT, "Node."), must("last", TEXT, "Node.")
    )

    first: str
    last: str

    def conditions(self, model: ElasticModel) -> Sparse:
        """Translation of the first node, the last across the chord, rotation about the chord."""
        a, b = model.place(self.first), model.place(self.last)
        chord = b.position - a.position
        length = float(np.linalg.norm(chord))
        if length == 0.0:
            raise ModelError(
                f"nodes {self.first!r} and {self.last!r} of {model.name!r} are at one place: no chord"
            )
        t = chord / length
        across = np.linalg.svd(t[None, :])[2][1:]
        return sp.vstack(
            [
                sp.csr_array(a.translation),
                sp.csr_array(across @ sp.csr_array(b.translation)),
                sp.csr_array(t[None, :] @ sp.csr_array(a.rotation)),
            ],
            format="csr",
        )

    def reference(self, model: ElasticModel) -> str | None:
        """The first node."""
        return self.first


def movable(model: ElasticModel) -> Array:
    """Those of the six rigid motions that the model can make, (N, 3..6)."""
    sizes = np.abs(model.rigid).max(axis=0)
    return np.asarray(model.rigid[:, sizes > 0])
