"""Contacts by fields: what the user says, checked and made into a force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bellcrank.contact.closest import check_pair
from bellcrank.contact.field_energy import MEMORY
from bellcrank.contact.fields import SOFT, FieldLaw, has_field, surface_missing
from bellcrank.contact.friction import Coulomb, LuGre
from bellcrank.contact.laws import FACTORS, ForceLaw
from bellcrank.contact.shapes import Capsule, Shape
from bellcrank.contact.side_by_side import lie_on_each_other
from bellcrank.contact.skin import RodSkin, Skin, SkinShape, check_resizable
from bellcrank.errors import ModelError
from bellcrank.flexible.member import Member
from bellcrank.flexible.rods import Rod
from bellcrank.model import checks
from bellcrank.model.contacts import Contact, PlacedShape
from bellcrank.model.forces import FieldContact
from bellcrank.model.parameters import Parameter, ParameterTable
from bellcrank.model.pressing import check_curved, friction_law, modulus_of, no_points, notes_of
from bellcrank.program.trace import Scalar

METHODS = ("auto", "points", "field")
OF_POINTS = ("stiffness", "exponent", "damping")
"""What belongs to laws of force at a point."""
LEAST_RESTITUTION = 1e-3
"""Below it the damping that delivers the restitution grows without bound."""


def check_striking(who: str, a: PlacedShape, b: PlacedShape) -> None:
    """Raise for two shapes that cannot strike each other."""
    check_points(who, a, b)
    for side in (a, b):
        if isinstance(side.shape, SkinShape):
            raise ModelError(
                f"{who}: the skin of a flexible member touches by a force; add treatment='continuous'"
            )


def check_points(who: str, a: PlacedShape, b: PlacedShape) -> None:
    """Raise for two shapes that have no closest points."""
    try:
        check_pair(a.shape, b.shape)
    except ModelError as error:
        raise ModelError(f"{who}: {error}") from None


def by_fields(
    who: str, a: PlacedShape, b: PlacedShape, method: Any, law: Any, given: Mapping[str, Any]
) -> bool:
    """Whether a contact acts by fields.

    Asked for by method or law; otherwise closest points are taken where what is given belongs to them alone (a law of
    force at a point, its stiffness, exponent or damping), and for pairs that are round everywhere.
    """
    chosen = checks.choice(f"method of {who}", method, METHODS)
    if any(isinstance(side.shape, SkinShape) for side in (a, b)):
        _check_skin(who, a, b, chosen)
        return True
    asked = law is not None and str(law) in [x.value for x in FieldLaw]
    if asked and chosen == "points":
        raise ModelError(f"{who}: law {law!s} belongs to method='field'; leave one of them out")
    of_points = law is not None or any(given.get(key) is not None for key in OF_POINTS)
    if chosen == "points" or (of_points and not asked and chosen != "field"):
        _check_sides(who, a.shape, b.shape)
    if chosen == "points":
        return False
    if not (asked or chosen == "field"):
        if of_points or a.shape.planar or b.shape.planar or surface_missing(a.shape, b.shape):
            return False
        try:
            check_curved(who, a.shape, b.shape)
        except ModelError:
            return True
        return False
    for side in (a, b):
        if not has_field(side.shape):
            kind = type(side.shape).__name__
            raise ModelError(
                f"{who}: a {kind} has no field; take the solid that it is a section of, or method='points'"
            )
    if surface_missing(a.shape, b.shape):
        raise ModelError(f"{who}: two shapes without end have no patch in common; make one of them finite")
    return True


def _check_sides(who: str, a: Shape, b: Shape) -> None:
    """Raise for two shapes that may lie on each other along more than a point."""
    if touch_along(a, b):
        raise ModelError(
            f"{who}: {type(a).__name__} on {type(b).__name__} may touch along sides, lines and rims, which laws of "
            "force at a point do not follow; the whole patch acts by young= [Pa], or by law='foundation' with "
            "stiffness= [N/m^3]"
        )


def touch_along(a: Shape, b: Shape) -> bool:
    """Whether two shapes may lie on each other along more than the one point of smooth convex bodies."""
    return lie_on_each_other(a, b) and not (isinstance(a, Capsule) and isinstance(b, Capsule))


def _check_skin(who: str, a: PlacedShape, b: PlacedShape, method: str) -> None:
    """Raise for a skin that cannot touch its partner."""
    for side in (a, b):
        body = side.frame.body
        if isinstance(side.shape, Skin):
            known = body.member.modes if isinstance(body.member, Member) else 0
            if side.shape.modes.shape[2] != known:
                raise ModelError(
                    f"{who}: the skin on body {body.name!r} has {side.shape.modes.shape[2]} modes, the body {known}; "
                    f"make it with {body.name}.skin(...)"
                )
        elif isinstance(side.shape, RodSkin):
            if not isinstance(body.member, Rod):
                raise ModelError(f"{who}: body {body.name!r} is no rod, and its skin is that of one")
        elif not has_field(side.shape):
            raise ModelError(
                f"{who}: a {type(side.shape).__name__} has no field of depth, which the skin of a member needs"
            )
    if method == "points":
        raise ModelError(f"{who}: the skin of a member touches by fields; leave method='points' out")


def field_contact(
    parameters: ParameterTable,
    name: str,
    a: PlacedShape,
    b: PlacedShape,
    restitution: float,
    friction: Scalar | Coulomb | LuGre,
    law: str | None,
    *,
    stiffness: Any = None,
    young: Any = None,
    poisson: Any = 0.3,
    approach_speed: float = 1.0,
    points: Any = None,
    exponent: Any = None,
    damping: Any = None,
) -> FieldContact:
    """The force between two bodies that overlap, by the depth of each in the field of the other.

    law: "half-space" (the default) with young: Young's modulus [Pa], one number for both bodies or one each, infinite
    for a rigid one, and poisson: Poisson's ratio likewise; E* is 1e7 Pa where nothing is said. Or "foundation" with
    stiffness: k [N/m^3] of an elastic layer, its modulus over its thickness. restitution: Delivered in a central
    impact, from 0.001 to 1. approach_speed: Of the touch [m/s], used until a run measures it; slower touches than a
    thousandth of it are damped as such.
    """
    who = f"contact {name!r}"
    no_points(who, points)
    for key, given in (("exponent", exponent), ("damping", damping)):
        if given is not None:
            raise ModelError(
                f"{who}: {key}= belongs to contact by closest points (method='points'); leave it out"
            )
    chosen = FieldLaw(
        checks.choice(
            f"law of {who}", FieldLaw.HALF_SPACE if law is None else law, [x.value for x in FieldLaw]
        )
    )
    if restitution < LEAST_RESTITUTION:
        raise ModelError(
            f"{who}: restitution {restitution:g} would need a force without bound; give at least 0.001"
        )
    k: Scalar | None = None
    modulus: Scalar = 0.0
    material = dict[str, Any]()
    if chosen is FieldLaw.FOUNDATION:
        if stiffness is None or young is not None:
            raise ModelError(
                f"{who}: law foundation needs stiffness= [N/m^3], the modulus of the layer over its thickness"
            )
        k = checks.positive(f"stiffness of {who}", stiffness, parameters)
    else:
        if stiffness is not None:
            raise ModelError(
                f"{who}: law half-space takes young= [Pa], not stiffness=, which belongs to law foundation"
            )
        modulus = SOFT
        if young is not None:
            modulus, material = modulus_of(who, young, poisson, parameters)
    speed = checks.plain_number(
        f"approach_speed of {who}", approach_speed, "it is kept in a parameter of its own"
    )
    if speed <= 0.0:
        raise ModelError(f"approach_speed of {who} is {speed:g}; it must be positive")
    factor = FACTORS[ForceLaw.CALIBRATED](restitution)
    v0: Scalar = speed
    if factor:
        v0 = parameters.add(Parameter(f"{name} approach speed", speed, "m/s", True))
    warm = tuple(parameters.add(Parameter(f"{name} deepest {n}", -1.0, "", True)) for n in range(MEMORY))
    rubbing = friction_law(who, friction, parameters)
    bend: tuple[Scalar, Scalar, Scalar] | None = None
    drill: Scalar | None = None
    if isinstance(rubbing, LuGre):
        x, y, z = (parameters.graph.input(f"{name} bend {axis}") for axis in "xyz")
        bend = x, y, z
        drill = parameters.graph.input(f"{name} bend drill")
    for side in (a, b):
        check_resizable(who, side.shape)
    notes = notes_of(name, a, b)
    pair = Contact(name, a, b, restitution, 0.0, chosen.value, name, notes=notes)
    given = {**material, "approach_speed": speed}
    return FieldContact(
        name,
        a.frame,
        b.frame,
        pair,
        ForceLaw.CALIBRATED,
        k,
        modulus,
        1.0,
        factor,
        0.0,
        v0,
        rubbing,
        name,
        1,
        bend,
        given,
        chosen,
        warm,
        drill,
    )
