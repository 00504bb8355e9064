"""What a constraint is: functions of bodies and joint coordinates that are zero, of positions or of velocities.

A kind says in its file which functions, and how they are called; rows, right-hand sides and reactions are derived from
them (:mod:`bellcrank.mechanics.derived`), so that a kind holds in every formulation once its functions are written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from bellcrank.base.keys import Keys
from bellcrank.errors import ModelError
from bellcrank.model.bodies import Body
from bellcrank.model.frames import Frame
from bellcrank.model.joints import Joint, Side
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.forces import Acting
    from bellcrank.model.parameters import ParameterTable


@dataclass(frozen=True)
class Effort:
    """The multiplier of one equation: its name among the quantities of the constraint, and its unit."""

    name: str
    unit: str


@dataclass(frozen=True)
class Unknown:
    """A coordinate that a constraint brings along, such as a place on a curve: its name and where it starts.

    It moves nothing by itself and has no mass; the equations of the constraint determine it.
    """

    name: str
    start: float


@dataclass(frozen=True, eq=False)
class Constraint:
    """A constraint between bodies or joint coordinates.

    Each kind is a class of its own. kind: Its name. keys: Its keys in model files.
    """

    kind: ClassVar[str]
    keys: ClassVar[Keys]

    name: str

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The frames it holds, the one that is pushed last."""
        return ()

    def uses(self, joints: Mapping[str, Joint]) -> Sequence[tuple[Joint, str]]:
        """The joint coordinates it uses; joints: all of the system, by name."""
        return ()

    def unknowns(self) -> Sequence[Unknown]:
        """Coordinates that only the constraint knows."""
        return ()

    def unknown(self, act: Acting, name: str) -> Scalar:
        """The value of one of them."""
        return act.kin.q[act.linkage.coordinate(self.name, name)[1]]

    def position_efforts(self) -> Sequence[Effort]:
        """One for each equation of positions."""
        return ()

    def velocity_efforts(self) -> Sequence[Effort]:
        """One for each equation of velocities alone."""
        return ()

    def positions(self, act: Acting) -> Sequence[Scalar]:
        """What is zero of positions and time [m or rad]."""
        return ()

    def velocities(self, act: Acting) -> Sequence[Scalar]:
        """What is zero of velocities, linear in them [m/s or rad/s]."""
        return ()


@dataclass(frozen=True, eq=False)
class BetweenFrames(Constraint):
    """A constraint between frames of two bodies; b is the one that is pushed."""

    a: Frame
    b: Frame

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (self.a, self.b)


_Kind = TypeVar("_Kind", bound=Constraint)


class ConstraintMethod:
    """What the methods of a system that make constraints stand on."""

    parameters: ParameterTable
    constraints: dict[str, Constraint]

    if TYPE_CHECKING:

        def _new_name(self, kind: str, name: Any) -> str: ...

        def _frame(self, who: str, given: Any) -> Frame: ...

        def _body_or_frame(self, who: str, given: Any) -> Body | Frame: ...

        def _joint(self, who: str, given: Any) -> Joint: ...

    def _constraint_name(self, name: Any) -> tuple[str, str]:
        """The checked name, and how errors call the constraint."""
        checked = self._new_name("constraint", name)
        return checked, f"constraint {checked!r}"

    def _two_frames(self, who: str, a: Side, b: Side) -> tuple[Frame, Frame]:
        first, second = self._frame(who, a), self._frame(who, b)
        if first.body is second.body:
            raise ModelError(f"{who} joins body {first.body.name!r} to itself; give it two different bodies")
        return first, second

    def _add_constraint(self, constraint: _Kind) -> _Kind:
        self.constraints[constraint.name] = constraint
        return constraint
