"""The names of a system and the things they stand for."""

from __future__ import annotations

from typing import Any, TypeAlias

from bellcrank.errors import ModelError, unknown_name
from bellcrank.model import checks
from bellcrank.model.bodies import GROUND, Body
from bellcrank.model.constraints.constraint import Constraint
from bellcrank.model.drivers import Coupling, Driver
from bellcrank.model.forces import Force
from bellcrank.model.frames import Frame
from bellcrank.model.initials import Start
from bellcrank.model.joints import Joint
from bellcrank.model.parameters import Parameter, ParameterTable
from bellcrank.model.states import StateVariable

RESERVED = {
    "energy": "energy.total",
    "power": "power.drivers",
    "momentum": "momentum",
    "angular_momentum": "angular_momentum",
    "center_of_mass": "center_of_mass",
    "constraints": "constraints.position",
}
"""First words of the quantities of a whole mechanism, each with one of them; no object with quantities of its own may
be called so. Parameters and couplings have none."""

Named: TypeAlias = Body | Joint | Driver | Coupling | Constraint | Force | Parameter | StateVariable


class Registry:
    """What a system holds, in the order it was said; a name stands for one thing only."""

    def __init__(self, name: str) -> None:
        self.name = checks.name("system", name)
        self.parameters = ParameterTable()
        self.ground = Body(GROUND, parameters=self.parameters)
        self.bodies: dict[str, Body] = {}
        self.joints: dict[str, Joint] = {}
        self.drivers: dict[str, Driver] = {}
        self.couplings: dict[str, Coupling] = {}
        self.constraints: dict[str, Constraint] = {}
        self.forces: dict[str, Force] = {}
        self.contacts: dict[str, Any] = {}
        self.collisions: dict[str, Any] = {}
        self.states: dict[str, StateVariable] = {}
        self.initials: dict[str, Start] = {}

    @property
    def strikes(self) -> bool:
        """Whether shapes strike each other, in contacts or in colliding groups."""
        return bool(self.contacts or self.collisions)

    @property
    def colliding(self) -> dict[str, Frame]:
        """Where shapes of colliding groups stand on what moves: bodies, nodes of flexible ones, each with a frame."""
        found: dict[str, Frame] = {}
        for group in self.collisions.values():
            for side in group.shapes:
                if not side.frame.body.is_ground:
                    found.setdefault(side.place, side.frame)
        return found

    def _kinds(self) -> tuple[tuple[str, dict[str, Any]], ...]:
        return (
            ("body", self.bodies),
            ("joint", self.joints),
            ("driver", self.drivers),
            ("coupling", self.couplings),
            ("constraint", self.constraints),
            ("force", self.forces),
            ("contact", self.contacts),
            ("contact", self.collisions),
            ("parameter", self.parameters),
            ("state", self.states),
        )

    def _new_name(self, kind: str, name: Any) -> str:
        checked = checks.name(kind, name)
        if checked == GROUND:
            raise ModelError(f"'ground' is the body that never moves; give the {kind} another name")
        if checked in RESERVED and kind not in ("parameter", "coupling"):
            raise ModelError(
                f"{checked!r} is reserved: results of the whole mechanism go by this name "
                f"({RESERVED[checked]!r}); give the {kind} another one"
            )
        for other, things in self._kinds():
            if checked in things:
                raise ModelError(
                    f"there is already a {other} named {checked!r} in {self.name!r}; "
                    f"names are unique over the whole system, so give the {kind} another one"
                )
        return checked

    def __getitem__(self, name: str) -> Named:
        """Whatever carries this name: body, joint, driver, coupling, constraint, force or parameter."""
        if name == GROUND:
            return self.ground
        for _, things in self._kinds():
            if name in things:
                found: Named = things[name]
                return found
        raise unknown_name("object", str(name), [GROUND, *(n for _, things in self._kinds() for n in things)])

    def __contains__(self, name: object) -> bool:
        return name == GROUND or any(name in things for _, things in self._kinds())

    def body_named(self, name: str) -> Body:
        """The body of this name; "ground" is one."""
        if name == GROUND:
            return self.ground
        if name not in self.bodies:
            raise unknown_name("body", str(name), [GROUND, *self.bodies])
        return self.bodies[name]

    def joint_named(self, name: str) -> Joint:
        """The joint of this name."""
        if name not in self.joints:
            raise unknown_name("joint", str(name), self.joints)
        return self.joints[name]

    def force_named(self, name: str) -> Force:
        """The force of this name."""
        if name not in self.forces:
            raise unknown_name("force", str(name), self.forces)
        return self.forces[name]

    def _body(self, who: str, given: Any) -> Body:
        if isinstance(given, str):
            return self.body_named(given)
        if not isinstance(given, Body):
            raise ModelError(f"{who} needs a body, or a point or frame of one, not {given!r}")
        if given.parameters is not self.parameters:
            raise ModelError(
                f"{who} is given body {given.name!r} of another system; use the bodies of {self.name!r}"
            )
        return given

    def _body_or_frame(self, who: str, given: Any) -> Body | Frame:
        if isinstance(given, Frame):
            self._body(who, given.body)
            return given
        return self._body(who, given)

    def _frame(self, who: str, given: Any) -> Frame:
        """A frame; a body stands for its own."""
        found = self._body_or_frame(who, given)
        return found.origin if isinstance(found, Body) else found

    def _joint(self, who: str, given: Any) -> Joint:
        if isinstance(given, str):
            return self.joint_named(given)
        if not isinstance(given, Joint):
            raise ModelError(f"{who} needs a joint, not {given!r}")
        if self.joints.get(given.name) is not given:
            raise ModelError(
                f"{who} is given joint {given.name!r} of another system; use the joints of {self.name!r}"
            )
        return given
