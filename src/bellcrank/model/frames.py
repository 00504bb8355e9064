"""A frame: a point and three axes fixed in a body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from bellcrank.base.keys import MATRIX, TEXT, VECTOR3, Key, Keys, may, must
from bellcrank.errors import ModelError
from bellcrank.math.arrays import Array
from bellcrank.math.tuples import UNIT, Mat, Vec
from bellcrank.model import checks
from bellcrank.program.trace import Expr

if TYPE_CHECKING:
    from bellcrank.model.bodies import Body


def on_body(origin: Key) -> tuple[Key, ...]:
    """Keys of model files that say where something is fixed in a body, its origin by the key `origin`."""
    return (
        must("body", TEXT, "Name of the body; ground is one."),
        origin,
        may("rotation", MATRIX, "Rows of the matrix whose columns are the frame's axes in body axes."),
        may("node", TEXT, f"Node of a flexible body, instead of {origin.name}."),
    )


@dataclass(frozen=True, eq=False)
class Frame:
    """A point and axes fixed in `body`, both local to it.

    position: The origin in body axes [m]. rotation: Rows of the matrix whose columns are the frame's
    axes in body axes.
    """

    keys: ClassVar[Keys] = Keys(
        "A point, or a frame, fixed in a body.",
        *on_body(may("position", VECTOR3, "Origin in body axes [m].")),
        may("at", VECTOR3, "World point in the start pose [m], instead of position; plain numbers."),
        may("name", TEXT, "Name of the frame."),
    )

    body: Body
    position: Vec
    rotation: Mat = UNIT
    name: str = ""

    @property
    def has_own_axes(self) -> bool:
        """Whether the axes differ from the body's."""
        entries = [x for row in self.rotation for x in row]
        return any(isinstance(x, Expr) for x in entries) or bool((self._local() != np.eye(3)).any())

    @property
    def is_node(self) -> bool:
        """Whether it is a node of a flexible body, with the axes that the body gives it."""
        if self.body.member is None or not self.name:
            return False
        try:
            node = self.body.node(self.name)
        except ModelError:
            return False
        return node.position == self.position and node.rotation == self.rotation

    def _local(self) -> Array:
        return checks.numeric(self.rotation, self.body.parameters)

    def start_position(self) -> Array:
        """The origin in world axes in the start pose [m]."""
        local = checks.numeric(self.position, self.body.parameters)
        return np.asarray(self.body.start_rotation() @ local + np.array(self.body.position))

    def start_rotation(self) -> Array:
        """The rotation from the frame to world axes in the start pose."""
        return np.asarray(self.body.start_rotation() @ self._local())
