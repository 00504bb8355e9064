"""Contacts in the continuous treatment: what the user says, checked and made into a force."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from bellcrank.base.provided import provided
from bellcrank.contact.closest import by_search
from bellcrank.contact.fields import SOFT
from bellcrank.contact.friction import Coulomb, LuGre, with_numbers
from bellcrank.contact.hertz import effective_modulus
from bellcrank.contact.laws import FACTORS, ForceLaw
from bellcrank.contact.nearest import MEMORY
from bellcrank.contact.sampled import Sampled
from bellcrank.contact.shapes import Plane, Shape, Sphere
from bellcrank.contact.shapes.base import FieldShape
from bellcrank.contact.shapes.revolution import Revolution
from bellcrank.contact.spots import touching
from bellcrank.errors import ModelError
from bellcrank.model import checks
from bellcrank.model.contacts import Contact, PlacedShape
from bellcrank.model.forces import ContactForce, FieldContact
from bellcrank.model.parameters import Parameter, ParameterTable
from bellcrank.model.states import StateVariable
from bellcrank.program.trace import Expr, Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.kinematics import Kinematics
    from bellcrank.mechanics.links import Linkage


def contact_force(
    parameters: ParameterTable,
    name: str,
    a: PlacedShape,
    b: PlacedShape,
    restitution: float,
    friction: Scalar | Coulomb | LuGre,
    law: str | None,
    *,
    stiffness: Any = None,
    exponent: float | None = None,
    damping: Any = None,
    young: Any = None,
    poisson: Any = 0.3,
    approach_speed: float = 1.0,
    points: Any = None,
) -> list[ContactForce]:
    """The forces between two shapes that overlap, one for each point at which they may touch.

    stiffness: K of F = K d^exponent [N/m^exponent]; or young: Young's modulus [Pa], one number for both bodies or
    one each, infinite for a rigid one, with poisson: Poisson's ratio likewise; then K follows the local curvatures
    (Hertz, elliptic contact); E* is 1e7 Pa where neither is given. A capsule, a cylinder or a box touches a plane with
    its ends, rims or corners. Each point presses with the whole stiffness; of several points the forces are called
    "<name> 1", "<name> 2" and so on. exponent: 1.5 where missing, 1 for Kelvin and Voigt. damping: Of Kelvin and
    Voigt's law [N s/m], which knows no restitution.
    approach_speed: Of the touch [m/s], used until a run measures it, where bodies touch; it is kept in the parameter
    "<name> approach speed". Slower touches than a thousandth of it are damped as such.
    """
    who = f"contact {name!r}"
    chosen = ForceLaw(
        checks.choice(
            f"law of {who}", ForceLaw.CALIBRATED if law is None else law, [x.value for x in ForceLaw]
        )
    )
    _check_law(who, chosen, restitution, damping, exponent)
    voigt = chosen is ForceLaw.KELVIN_VOIGT
    n = checks.plain_number(f"exponent of {who}", 1.0 if voigt else 1.5 if exponent is None else exponent,
                            "exponents are plain numbers")  # fmt: skip
    if n < 1.0:
        raise ModelError(f"exponent of {who} is {n:g}; it must be at least 1")
    no_points(who, points)
    if stiffness is not None and young is not None:
        raise ModelError(f"{who} takes one of stiffness= and young=, not both")
    k_given: Scalar | None = None
    modulus: Scalar = SOFT
    material = dict[str, Any]()
    if stiffness is not None:
        k_given = checks.positive(f"stiffness of {who}", stiffness, parameters)
    else:
        if young is not None:
            modulus, material = modulus_of(who, young, poisson, parameters)
        check_curved(who, a.shape, b.shape)
        if n != 1.5:
            raise ModelError(
                f"{who}: Hertz's theory has exponent 1.5, not {n:g}; give stiffness= instead of young="
            )
    speed = checks.plain_number(
        f"approach_speed of {who}", approach_speed, "it is kept in a parameter of its own"
    )
    if speed <= 0.0:
        raise ModelError(f"approach_speed of {who} is {speed:g}; it must be positive")
    factor = 0.0 if voigt else FACTORS[chosen](restitution)
    d = checks.at_least_zero(f"damping of {who}", damping, parameters) if voigt else 0.0
    v0: Scalar = speed
    places = at_spots(a, b) if stiffness is not None else []
    count = len(places) or 1
    rubbing = friction_law(who, friction, parameters)
    notes = notes_of(name, a, b)
    found = []
    for k in range(count):
        own = name if count == 1 else f"{name} {k + 1}"
        if factor:
            v0 = parameters.add(Parameter(f"{own} approach speed", speed, "m/s", True))
        sides = places[k] if places else (a, b)
        bend: tuple[Scalar, Scalar, Scalar] | None = None
        if isinstance(rubbing, LuGre):
            x, y, z = (parameters.graph.input(f"{own} bend {axis}") for axis in "xyz")
            bend = x, y, z
        warm = kept_by_search(parameters, own, a.shape, b.shape)
        pair = Contact(own, *sides, restitution, 0.0, chosen.value, name, count, notes=notes, warm=warm)
        found.append(
            ContactForce(
                own,
                a.frame,
                b.frame,
                pair,
                chosen,
                k_given,
                modulus,
                n,
                factor,
                d,
                v0,
                rubbing,
                name,
                count,
                bend,
                {**material, "approach_speed": speed},
            )
        )
    return found


def no_points(who: str, points: Any) -> None:
    """Refuse the number of points, which contacts took once."""
    if points is not None:
        raise ModelError(
            f"{who}: points= is not taken any more; leave it out. The closest point of a pair is found by itself, and "
            "bodies that touch at several places take treatment='continuous', method='field': the whole patch acts"
        )


def notes_of(name: str, a: PlacedShape, b: PlacedShape) -> tuple[str, ...]:
    """What the shapes say about how exact they are."""
    return tuple(f"contact {name!r}: {note}" for side in (a, b) for note in getattr(side.shape, "notes", ()))


def kept_by_search(parameters: ParameterTable, name: str, a: Shape, b: Shape) -> tuple[Scalar, ...]:
    """What the search for closest points keeps, as parameters; none where there is no search."""
    if not by_search(a, b):
        return ()
    return tuple(parameters.add(Parameter(f"{name} nearest {n}", -1.0, "", True)) for n in range(MEMORY))


def at_spots(a: PlacedShape, b: PlacedShape, rigid: bool = False) -> list[tuple[PlacedShape, PlacedShape]]:
    """Both sides for each spot with which one of them touches the other; none where one point is enough."""
    found = touching(a.shape, b.shape, rigid)
    return [(PlacedShape(a.frame, on_a), PlacedShape(b.frame, on_b)) for on_a, on_b in found]


def bristles(force: ContactForce) -> list[StateVariable]:
    """The states of a contact whose friction has a memory."""
    if force.bend is None:
        return []

    def trace(axis: int, linkage: Linkage, kin: Kinematics, t: Scalar) -> Scalar:
        rate: Scalar = provided("a pressing contact")(force, linkage, kin).bending[axis]
        return rate

    drills = isinstance(force, FieldContact)
    names = [f"{force.name} bend {axis}" for axis in ("x", "y", "z", *(["drill"] if drills else []))]
    return [
        StateVariable(name, None, 0.0, "m", partial(trace, k), owner=force) for k, name in enumerate(names)
    ]


def _check_law(who: str, law: ForceLaw, e: float, damping: Any, exponent: float | None) -> None:
    if law is ForceLaw.KELVIN_VOIGT:
        if damping is None:
            raise ModelError(
                f"{who}: law kelvin-voigt needs damping= [N s/m]; "
                "bellcrank.contact.kelvin_voigt_damping gives it for a restitution"
            )
        if e != 1.0:
            raise ModelError(
                f"{who}: law kelvin-voigt takes damping=, not restitution=; choose law='calibrated'"
            )
        if exponent not in (None, 1, 1.0):
            raise ModelError(f"{who}: law kelvin-voigt is linear; exponent= belongs to the other laws")
        return
    if damping is not None:
        raise ModelError(f"{who}: damping= belongs to law kelvin-voigt; {law.value} takes restitution=")
    if law is ForceLaw.HERTZ and e != 1.0:
        raise ModelError(
            f"{who}: law hertz keeps the energy, so restitution is 1, not {e:g}; choose calibrated"
        )
    if e < 1e-3 and law in (ForceLaw.FLORES, ForceLaw.CALIBRATED):
        raise ModelError(
            f"{who}: restitution {e:g} would need a force without bound; give at least 0.001, or treatment='impulsive'"
        )


def modulus_of(
    who: str, young: Any, poisson: Any, parameters: ParameterTable
) -> tuple[Scalar, dict[str, Any]]:
    """E* of two bodies, and what it was made of."""

    def both(what: str, given: Any) -> tuple[Scalar, Scalar]:
        items = tuple(given) if isinstance(given, tuple | list) else (given, given)
        plain = [x for x in items if not isinstance(x, Expr)]
        if len(items) != 2 or any(isinstance(x, bool) or not isinstance(x, int | float) for x in plain):
            raise ModelError(f"{what} of {who} must be one number or two, one for each body, not {given!r}")
        a, b = (
            checks.number(f"{what} of {who}", x, parameters) if isinstance(x, Expr) else float(x)
            for x in items
        )
        return a, b

    e, nu = both("young", young), both("poisson", poisson)
    now = [parameters.value(x) for x in e]
    if not all(x > 0.0 for x in now) or all(math.isinf(x) for x in now):
        raise ModelError(
            f"young of {who} is {young!r}; it must be positive [Pa], and finite for one body at least"
        )
    if not all(-1.0 < parameters.value(x) <= 0.5 for x in nu):
        raise ModelError(f"poisson of {who} is {poisson!r}; it must lie between -1 and 0.5")
    return effective_modulus(e, nu), {"young": e, "poisson": nu}


def check_curved(who: str, a: Shape, b: Shape) -> None:
    """Raise where Hertz's theory gives no stiffness."""
    names = f"{type(a).__name__} on {type(b).__name__}"
    edged = any(
        shape.faces is True
        or isinstance(shape, Revolution)
        or (isinstance(shape, FieldShape) and not isinstance(shape, Sampled))
        for shape in (a, b)
    )
    straight = any(s.straight for s in (a, b)) and any(isinstance(s, Plane) for s in (a, b))
    if a.planar or edged or straight:
        raise ModelError(
            f"{who}: {names} may touch along a line or an edge, or has no known curvature, so Hertz's theory gives "
            "no stiffness; give stiffness="
        )
    if any(isinstance(s, Sampled) for s in (a, b)):
        _check_sampled_curved(who, a, b)


def _check_sampled_curved(who: str, a: Shape, b: Shape) -> None:
    """Raise where sampled surfaces may lie flat on the other one, or in a dent of it."""
    total, places = 0.0, list[str]()
    for shape in (a, b):
        if isinstance(shape, Sampled):
            least, k = shape.least_curvature
            total += least
            places.append(f"{least:.3g} 1/m at ({', '.join(f'{x:.4g}' for x in shape.points[k])})")
        elif type(shape) is Sphere and isinstance(shape.radius, int | float):
            total += 1.0 / shape.radius
    size = min(s.size for s in (a, b) if isinstance(s, Sampled))
    if total * size < FLATTEST:
        raise ModelError(
            f"{who}: Hertz's theory needs surfaces that curve away from each other everywhere; the least curvature "
            f"of the sampled one is {' and '.join(places)}; give stiffness="
        )


FLATTEST = 1e-3
"""Least curvature of a gap, over one by the size of the body, that still counts as a point contact."""


def friction_law(
    who: str, given: Scalar | Coulomb | LuGre, parameters: ParameterTable
) -> Coulomb | LuGre | None:
    """The law of friction, as the user says it."""
    if isinstance(given, Coulomb | LuGre):
        for name, number in vars(given).items():
            if number is not None:
                checks.number(f"{name} of the friction of {who}", number, parameters)
        # With the present values of its parameters it must be a law as well.
        with_numbers(given, parameters.value)
        return given
    mu = checks.at_least_zero(f"friction of {who}", given, parameters)
    return Coulomb(mu) if isinstance(mu, Expr) or mu else None


__all__ = ["contact_force"]
