"""The system: what the user describes, checked as it is said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bellcrank.base.provided import provided
from bellcrank.base.words import counted
from bellcrank.errors import ModelError
from bellcrank.math.tuples import Vec
from bellcrank.model import checks
from bellcrank.model.bodies import GROUND, Body, make_body, make_flexible_body
from bellcrank.model.collisions import CollisionMethods
from bellcrank.model.constraints import ConstraintMethods
from bellcrank.model.forces import ForceMethods
from bellcrank.model.initials import InitialMethods
from bellcrank.model.joints import JointMethods, Zero
from bellcrank.model.motion_methods import MotionMethods
from bellcrank.model.parameters import Parameter
from bellcrank.model.study_methods import StudyMethods, provided_by
from bellcrank.program.trace import Expr

if TYPE_CHECKING:
    from bellcrank.flexible.member import FlexibleMember
    from bellcrank.formulations.registry import Formulation
    from bellcrank.mechanism import Mechanism

__all__ = ["GROUND", "System"]


class System(
    JointMethods,
    ConstraintMethods,
    MotionMethods,
    ForceMethods,
    CollisionMethods,
    InitialMethods,
    StudyMethods,
):
    """A mechanism as the user describes it.

    gravity: Acceleration of free fall in world axes [m/s^2]. Every name given to a body, joint, driver,
    coupling, constraint, force or parameter is unique in the system; ``system["crank"]`` finds what carries it.

    Any physical number (mass, inertia, points, stiffness, gravity) may be an expression of
    :meth:`parameter`; such numbers stay inputs of the compiled program.

    zero: With "described" every coordinate of a joint is zero in the pose in which the bodies are described; with
    "axes" where the frames of the joint coincide, so that angles compare the axes of the bodies. Where nothing is
    said it is "axes", and start values that mean different poses by the two are warned of.
    """

    def __init__(self, name: str, gravity: Any = (0.0, 0.0, -9.81), zero: Zero | str | None = None) -> None:
        super().__init__(name)
        if zero is not None:
            self._zero = Zero(checks.choice(f"zero of system {name!r}", zero, [item.value for item in Zero]))
        self._gravity: Vec = checks.vector(f"gravity of system {name!r}", gravity)
        if any(isinstance(g, Expr) for g in self._gravity):
            raise ModelError(
                f"gravity of system {name!r} holds parameters made before the system; "
                "set system.gravity after system.parameter"
            )

    analysed: Any = None
    """What the last analysis left for the next one; see :mod:`bellcrank.mechanism.again`."""

    def __getstate__(self) -> dict[str, Any]:
        """What is described; copies are analysed on their own."""
        return {key: value for key, value in vars(self).items() if key != "analysed"}

    def __repr__(self) -> str:
        bodies, joints = counted(len(self.bodies), "body", "bodies"), counted(len(self.joints), "joint")
        return f"<System {self.name!r}: {bodies}, {joints}>"

    def _repr_html_(self) -> str:
        """In a notebook: the mechanism as it is described."""
        drawing: str = provided("drawing in place")(self)
        return drawing

    @property
    def gravity(self) -> Vec:
        """Acceleration of free fall in world axes [m/s^2]."""
        return self._gravity

    @gravity.setter
    def gravity(self, given: Any) -> None:
        self._gravity = checks.vector(f"gravity of system {self.name!r}", given, self.parameters)

    def parameter(self, name: str, value: Any, unit: str = "") -> Expr:
        """A named number that can change without compiling anew; use the result like a number.

        value: What it is unless a run says otherwise. unit: In words, for reports.
        """
        name = self._new_name("parameter", name)
        number = checks.plain_number(
            f"value of parameter {name!r}", value, "a parameter starts from a plain number"
        )
        return self.parameters.add(Parameter(name, number, unit))

    def body(
        self,
        name: str,
        mass: Any,
        inertia: Any = (0.0, 0.0, 0.0),
        center_of_mass: Any = (0.0, 0.0, 0.0),
        at: Any = (0.0, 0.0, 0.0),
        angle: Any = None,
        rotation: Any = None,
        quaternion: Any = None,
    ) -> Body:
        """A rigid body.

        mass: [kg], zero is allowed. inertia: About the centre of mass in body axes [kg m^2]: 3 numbers
        (diagonal), 6 (xx, yy, zz, xy, xz, yz: matrix elements) or 3x3. center_of_mass: In body axes [m].
        at: World position of the body's origin in the start pose [m]. Its start rotation is one of `angle`
        (about z [rad]), `rotation` (3x3, body to world) and `quaternion` (w, x, y, z).
        """
        name = self._new_name("body", name)
        self.bodies[name] = make_body(
            name, mass, inertia, center_of_mass, at, angle, rotation, quaternion, self.parameters
        )
        return self.bodies[name]

    def flexible_body(
        self,
        name: str,
        member: FlexibleMember,
        at: Any = (0.0, 0.0, 0.0),
        angle: Any = None,
        rotation: Any = None,
        quaternion: Any = None,
    ) -> Body:
        """A flexible body: a member reduced to modal coordinates, or a rod, see :mod:`bellcrank.flexible`.

        Joints, forces and points sit on its nodes (``body.node("tip")``). The pose is that of its floating
        frame, undeformed: at [m], angle [rad], rotation (3, 3) or quaternion (4,) as for :meth:`body`.
        """
        name = self._new_name("body", name)
        self.bodies[name] = make_flexible_body(name, member, at, angle, rotation, quaternion, self.parameters)
        return self.bodies[name]

    def check(self) -> None:
        """Raise on what is wrong with the model as a whole."""
        if not self.bodies:
            raise ModelError(f"system {self.name!r} has no bodies; add one with system.body(...)")
        joined = {frame.body.name for joint in self.joints.values() for frame in (joint.a, joint.b)}
        for name in self.bodies:
            if name not in joined:
                raise ModelError(
                    f"body {name!r} has no joint; give it system.free('...', system.ground, {name}) "
                    "if it should float"
                )

    @provided_by("analyse")
    def mechanism(  # type: ignore[empty-body]
        self,
        *,
        formulation: Formulation | str = "auto",
        initial: Mapping[str, Any] | None = None,
        parameters: Mapping[str, float] | None = None,
        t: float = 0.0,
    ) -> Mechanism:
        """Analyse: tree, cuts, groups, degrees of freedom, redundant constraints; see :func:`analyse`."""

    def count(self) -> Any:
        """Operations of one evaluation by stage, for every formulation."""
        return self.mechanism().count()
