"""Contacts: pairs of shapes on two bodies that may touch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bellcrank.base.keys import NUMBER, may
from bellcrank.contact.shapes.base import with_values
from bellcrank.errors import ModelError, unknown_name
from bellcrank.model import checks
from bellcrank.model.frames import Frame
from bellcrank.model.parameters import ParameterTable
from bellcrank.model.registry import Registry
from bellcrank.model.states import StateMethods
from bellcrank.program.trace import Expr, Scalar

if TYPE_CHECKING:
    from bellcrank.contact.friction import Coulomb, LuGre
    from bellcrank.contact.shapes import Shape
    from bellcrank.model.collisions import Collisions
    from bellcrank.model.forces import ContactForce, JointLimits

LAWS = ("newton", "poisson", "stronge")
RESISTANCES = (
    may(
        "rolling_resistance",
        NUMBER,
        "Largest moment against rolling over the normal force [m], in runs by steps; 0 where missing.",
    ),
    may(
        "spinning_resistance",
        NUMBER,
        "Largest moment against spinning about the normal over the normal force [m], likewise.",
    ),
)
"""Keys of resistance to rolling and spinning."""
RESISTANCE = tuple(key.name for key in RESISTANCES)


class Treatment(StrEnum):
    """How a contact acts."""

    IMPULSIVE = "impulsive"
    """Impacts change the speeds at once, lasting contact is a constraint."""
    CONTINUOUS = "continuous"
    """A force where the shapes overlap, followed through the time of contact."""


@dataclass(frozen=True, eq=False)
class PlacedShape:
    """A shape on a body; `frame` is the shape's own frame."""

    frame: Frame
    shape: Shape

    @cached_property
    def present(self) -> Shape:
        """The shape with the present values of its parameters."""
        return with_values(self.shape, self.frame.body.parameters.value)

    @property
    def place(self) -> str:
        """What it stands on: its body, or the node of a flexible one."""
        body = self.frame.body
        if body.member is None:
            return body.name
        return f"{body.name}.{body.member.node(self.frame.name or self.frame.position).name}"


@dataclass(frozen=True, eq=False)
class Contact:
    """Two shapes that may touch.

    restitution: e in [0, 1]. friction: Coulomb's coefficient. Either may be an expression of parameters. law: Of
    restitution, one of newton, poisson, stronge, or that of the force in the continuous treatment. group: What the user
    called the contact, of which this is one of so many `points`. heading: Where it rubs in space, the direction it
    slides in, parameters in world axes; see :func:`bellcrank.mechanics.contacts.rubbing_direction`. notes: What is not
    exactly as it was given. warm: What the search for closest points keeps, parameters. limits: Those of a joint
    coordinate, of which this is one stop.
    """

    name: str
    a: PlacedShape
    b: PlacedShape
    restitution: Scalar
    friction: Scalar
    law: str
    group: str = ""
    points: int = 1
    heading: tuple[Scalar, Scalar, Scalar] | None = None
    notes: tuple[str, ...] = ()
    warm: tuple[Scalar, ...] = ()
    limits: JointLimits | None = None

    @property
    def rubs(self) -> bool:
        """Whether it may have friction: a coefficient of parameters may be zero, and not stay so."""
        return isinstance(self.friction, Expr) or self.friction > 0.0


class ContactMethods(StateMethods, Registry):
    """Contacts between shapes on bodies."""

    contacts: dict[str, Contact]

    def contact(
        self,
        name: str,
        a: PlacedShape,
        b: PlacedShape,
        restitution: Scalar = 1.0,
        friction: Scalar | Coulomb | LuGre = 0.0,
        law: str | None = None,
        *,
        treatment: str | Treatment = Treatment.IMPULSIVE,
        **pressing: Any,
    ) -> Contact | ContactForce | Collisions:
        """Let two shapes strike and touch each other.

        a, b: From ``body.sphere(...)``, ``body.circle(...)``, ``ground.plane(...)`` and their kin. restitution:
        Speed of parting over speed of approach, 0 to 1. friction: Coulomb's coefficient, also during impacts. Both may
        be expressions of parameters; of contacts that press, friction alone. treatment: "impulsive", with law one of
        newton (the default), poisson, stronge; or "continuous", with law a
        :class:`~bellcrank.contact.laws.ForceLaw` (default calibrated), friction a coefficient or a
        :class:`~bellcrank.contact.friction.Coulomb` or :class:`~bellcrank.contact.friction.LuGre`, and what
        :func:`~bellcrank.model.pressing.contact_force` takes: stiffness, or young and poisson; exponent; damping;
        approach_speed. method, continuous alone: "points", "field" or "auto" (the default), which takes closest points
        for smooth shapes that are round everywhere and for laws that act at points, and fields of depth for all others;
        by fields law is "half-space" (the default) or "foundation", and
        :func:`~bellcrank.model.field_contacts.field_contact` takes young and poisson, or stiffness [N/m^3], and
        approach_speed. Of several points of a pair, as the corners of a box on a plane, the contacts are called
        "<name> 1", "<name> 2" and so on, and the first is given back. Meshes and other shapes known by a field
        touch in a patch: rigid, they are a group of two (:meth:`contacts_between`), for runs with
        ``impacts="stepping"``. So are contacts with rolling_resistance or spinning_resistance: the largest moment
        against rolling, or against spinning about the normal, over the normal force [m].
        """
        name = self._new_name("contact", name)
        who = f"contact {name!r}"
        for side in (a, b):
            if not isinstance(side, PlacedShape):
                raise ModelError(f"{who} needs two shapes on bodies, such as body.sphere(0.1), not {side!r}")
            if side.frame.body.parameters is not self.parameters:
                raise ModelError(f"{who}: body {side.frame.body.name!r} belongs to another system")
        if a.frame.body is b.frame.body:
            raise ModelError(f"{who} joins body {a.frame.body.name!r} to itself; choose shapes on two bodies")
        _check_options(who, pressing)
        e = between_zero_and_one(who, restitution, self.parameters)
        chosen = Treatment(checks.choice(f"treatment of {who}", treatment, [t.value for t in Treatment]))
        if chosen is Treatment.CONTINUOUS:
            from bellcrank.model.field_contacts import by_fields, check_points, field_contact
            from bellcrank.model.pressing import bristles, contact_force

            for key in RESISTANCE:
                if not none(pressing.pop(key, 0.0)):
                    raise ModelError(
                        f"{who}: {key} belongs to rigid contacts in runs by steps (impacts='stepping'); leave "
                        "treatment='continuous' out, or the resistance"
                    )
            if isinstance(e, Expr):
                raise ModelError(
                    f"restitution of {who} is a plain number: the damping of its force is found for it beforehand; "
                    "leave treatment='continuous' out, or give a number"
                )
            method = pressing.pop("method", "auto")
            made: list[ContactForce]
            if by_fields(who, a, b, method, law, pressing):
                made = [field_contact(self.parameters, name, a, b, e, friction, law, **pressing)]
            else:
                check_points(who, a, b)
                made = contact_force(self.parameters, name, a, b, e, friction, law, **pressing)
            for force in made:
                self.forces[force.name if len(made) == 1 else self._new_name("contact", force.name)] = force
                for state in bristles(force):
                    self._add_state(state)
            return made[0]
        from bellcrank.model.field_contacts import check_striking
        from bellcrank.model.striking import in_patch, striking_contacts

        check_striking(who, a, b)
        pressing = {key: given for key, given in pressing.items() if key not in RESISTANCE or not none(given)}
        if in_patch(a.shape, b.shape) or any(key in pressing for key in RESISTANCE):
            return self._contact_in_patch(name, a, b, e, friction, law, **pressing)
        struck = striking_contacts(self.parameters, name, a, b, e, friction, law, **pressing)
        for contact in struck:
            self.contacts[name if len(struck) == 1 else self._new_name("contact", contact.name)] = contact
        return struck[0]

    if TYPE_CHECKING:

        def _contact_in_patch(self, name: str, *given: Any, **options: Any) -> Collisions: ...


def _check_options(who: str, given: Mapping[str, Any]) -> None:
    """Refuse what neither treatment knows, before one of them is said to lack it."""
    from bellcrank.model.contact_keys import CONTACT

    known = CONTACT[2:]
    for key in given:
        if key not in known:
            raise unknown_name(f"option of {who}", key, known)


def none(given: Any) -> bool:
    """Whether a resistance is said to be none, which one of parameters is not."""
    return given is None or (isinstance(given, int | float) and given == 0.0)


def between_zero_and_one(who: str, given: Any, parameters: ParameterTable) -> Scalar:
    """A coefficient of restitution, checked (with the present parameter values)."""
    e = checks.number(f"restitution of {who}", given, parameters)
    now = parameters.value(e)
    if not 0.0 <= now <= 1.0:
        raise ModelError(f"restitution of {who} is {now:g}; it must lie between 0 (plastic) and 1 (elastic)")
    return e
