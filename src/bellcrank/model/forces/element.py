"""What a force is: a kind of force answers for itself all that the package asks of it.

A kind says in its file: what it does to a mechanism, the energy it stores, its power and other quantities, its keys in
model files, its picture, and the method of a system that makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from bellcrank.base.keys import JOINT, SIDE, TEXT, Keys, may, must
from bellcrank.errors import ModelError
from bellcrank.math.tuples import Vec
from bellcrank.model import checks
from bellcrank.model.frames import Frame
from bellcrank.model.joints import Joint
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.forces import Acting
    from bellcrank.mechanics.loads import Loads
    from bellcrank.model.parameters import ParameterTable
    from bellcrank.quantities.snapshot import Snapshot

POINTS = (must("a", SIDE, "First point."), must("b", SIDE, "Second point."))
"""Keys of a force between two points."""
COORDINATE = (
    must("joint", JOINT, "Name of the joint."),
    may(
        "coordinate",
        TEXT,
        "Coordinate of the joint: angle, displacement, x, y, ...; may be left out where there is one.",
    ),
)
"""Keys of a force on a joint coordinate."""
ANGLES = frozenset({"angle", "angle_a", "angle_b", "turn", "tilt"})
XYZ = ("x", "y", "z")


class Line(StrEnum):
    """How a force between points is drawn; a cable has pulleys besides."""

    COIL = "coil"
    PLAIN = "plain"
    CABLE = "cable"


@dataclass(frozen=True)
class ForceQuantity:
    """A quantity of a force besides power and energy: how to trace it, its unit and the names of its components."""

    trace: Callable[[], Sequence[Scalar]]
    unit: str
    components: tuple[str, ...] = ()


class ActingForce:
    """Where a force acts. drawn: How it is drawn between its frames, None for no line."""

    drawn: ClassVar[Line | None] = None

    name: str

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The frames it acts at, that of the first body first; none for a force on a joint coordinate."""
        return ()

    @property
    def in_joint(self) -> Joint | None:
        """The joint on whose coordinate it acts."""
        return None

    @property
    def held_at(self) -> tuple[Frame, ...]:
        """The points at which it holds bodies, for their pictures."""
        return self.frames

    @property
    def spin_axis(self) -> Vec | None:
        """An axis of the body at its frame; how far the body has turned about it does not matter to the force."""
        return None


class ForceElement(ActingForce):
    """A force of a kind of its own in model files. kind: Its name. keys: Its keys there."""

    kind: ClassVar[str]
    keys: ClassVar[Keys]

    def load(self, act: Acting, loads: Loads) -> None:
        """Add what it does to a mechanism in one state."""
        raise NotImplementedError

    def stored(self, s: Snapshot) -> Scalar | None:
        """Energy stored in it [J], None where it stores none."""
        return None

    def power(self, s: Snapshot) -> Scalar:
        """Power it gives to the mechanism [W], all of it: stored and dissipated."""
        raise NotImplementedError

    def quantities(self, s: Snapshot) -> dict[str, ForceQuantity]:
        """Its quantities besides power and energy."""
        return {}


_Kind = TypeVar("_Kind", bound=ForceElement)


class ForceMethod:
    """What the methods of a system that make forces stand on; see :class:`bellcrank.model.forces.ForceMethods`."""

    parameters: ParameterTable
    forces: dict[str, Any]

    if TYPE_CHECKING:

        def _new_name(self, kind: str, name: Any) -> str: ...

        def _frame(self, who: str, given: Any) -> Frame: ...

        def _joint(self, who: str, given: Any) -> Joint: ...

    def _force_name(self, name: Any) -> tuple[str, str]:
        checked = self._new_name("force", name)
        return checked, f"force {checked!r}"

    def _add_force(self, force: _Kind) -> _Kind:
        self.forces[force.name] = force
        return force

    def _numbers(self, who: str) -> Callable[[str, Any], Scalar]:
        return lambda what, given: checks.number(f"{what} of {who}", given, self.parameters)

    def _two_points(self, who: str, a: Any, b: Any) -> tuple[Frame, Frame]:
        frame_a, frame_b = self._frame(who, a), self._frame(who, b)
        if frame_a.body is frame_b.body:
            raise ModelError(
                f"{who} acts from body {frame_a.body.name!r} on itself; give it two different bodies"
            )
        return frame_a, frame_b


__all__ = [
    *(
        "ANGLES",
        "COORDINATE",
        "ForceElement",
        "ForceMethod",
        "ForceQuantity",
        "Line",
        "POINTS",
        "Side",
        "XYZ",
    ),
]
