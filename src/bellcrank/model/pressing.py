"""Contacts in the continuous treatment: what the user says, checked and made into a force."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from bellcrank.contact.friction import Coulomb, LuGre
from bellcrank.contact.gather import input_names, numbers
from bellcrank.contact.hertz import effective_modulus
from bellcrank.contact.laws import FACTORS, ForceLaw
from bellcrank.contact.local import Local
from bellcrank.contact.revolution import Revolution
from bellcrank.contact.sampled import Sampled
from bellcrank.contact.shapes import Plane, Shape
from bellcrank.errors import ModelError
from bellcrank.model import checks
from bellcrank.model.contacts import Contact, PlacedShape
from bellcrank.model.forces import ContactForce
from bellcrank.model.parameters import Parameter, ParameterTable
from bellcrank.model.states import StateVariable
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.kinematics import Kinematics
    from bellcrank.mechanics.links import Linkage


def contact_force(
    parameters: ParameterTable,
    name: str,
    a: PlacedShape,
    b: PlacedShape,
    restitution: float,
    friction: float | Coulomb | LuGre,
    law: str | None,
    *,
    stiffness: Any = None,
    exponent: float | None = None,
    damping: Any = None,
    young: Any = None,
    poisson: Any = 0.3,
    approach_speed: float = 1.0,
) -> ContactForce:
    """The force between two shapes that overlap.

    stiffness: K of F = K d^exponent [N/m^exponent]; or young: Young's modulus [Pa], one number for both bodies or
    one each, infinite for a rigid one, with poisson: Poisson's ratio likewise; then K follows the local curvatures
    (Hertz, elliptic contact). exponent: 1.5 where missing, 1 for Kelvin and Voigt. damping: Of Kelvin and Voigt's
    law [N s/m], which knows no restitution. approach_speed: Of the touch [m/s], used until a run meets the first; it
    is kept in the parameter "<name> approach speed".
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
    if (stiffness is None) == (young is None):
        raise ModelError(f"{who} needs one of stiffness= and young=, not both or neither")
    k: Scalar | None = None
    modulus = 0.0
    if young is None:
        k = checks.positive(f"stiffness of {who}", stiffness, parameters)
    else:
        modulus = _modulus(who, young, poisson)
        _check_curved(who, a.shape, b.shape)
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
    if factor:
        parameter = Parameter(f"{name} approach speed", speed, "m/s")
        parameters[parameter.name] = parameter
        v0 = parameters.graph.input(parameter.name)
    a, b = (_local(parameters, f"{name} {letter}", side) for letter, side in (("a", a), ("b", b)))
    pair = Contact(name, a, b, restitution, 0.0, chosen.value)
    rubbing = _friction(who, friction)
    bend: tuple[Scalar, Scalar, Scalar] | None = None
    if isinstance(rubbing, LuGre):
        x, y, z = (parameters.graph.input(f"{name} bend {axis}") for axis in "xyz")
        bend = x, y, z
    return ContactForce(name, a.frame, b.frame, pair, chosen, k, modulus, n, factor, d, v0, rubbing, bend)


def bristles(force: ContactForce) -> list[StateVariable]:
    """The states of a contact whose friction has a memory."""
    if force.bend is None:
        return []

    def trace(axis: int, linkage: Linkage, kin: Kinematics, t: Scalar) -> Scalar:
        from bellcrank.mechanics.pressing import Pressing

        return Pressing.of(force, linkage, kin).bending[axis]

    names = [f"{force.name} bend {axis}" for axis in "xyz"]
    return [StateVariable(name, None, 0.0, "m", partial(trace, k)) for k, name in enumerate(names)]


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


def _modulus(who: str, young: Any, poisson: Any) -> float:
    def both(what: str, given: Any) -> tuple[float, float]:
        items = tuple(given) if isinstance(given, tuple | list) else (given, given)
        if len(items) != 2 or any(isinstance(x, bool) or not isinstance(x, int | float) for x in items):
            raise ModelError(f"{what} of {who} must be one number or two, one for each body, not {given!r}")
        return float(items[0]), float(items[1])

    e, nu = both("young", young), both("poisson", poisson)
    if not all(x > 0.0 for x in e) or all(math.isinf(x) for x in e):
        raise ModelError(
            f"young of {who} is {young!r}; it must be positive [Pa], and finite for one body at least"
        )
    if not all(-1.0 < x <= 0.5 for x in nu):
        raise ModelError(f"poisson of {who} is {poisson!r}; it must lie between -1 and 0.5")
    return effective_modulus(e, nu)


def _local(parameters: ParameterTable, prefix: str, side: PlacedShape) -> PlacedShape:
    """A sampled surface as a program sees it: the samples around the contact are parameters, set during a run."""
    if not isinstance(side.shape, Sampled):
        return side
    source = side.shape
    values = numbers(source, source.points[0])
    inputs: list[Scalar] = []
    for key, value in zip(input_names(source, prefix), values.tolist(), strict=True):
        parameters[key] = Parameter(key, value)
        inputs.append(parameters.graph.input(key))
    turn = Parameter(f"{prefix} turn", 1.0)
    parameters[turn.name] = turn
    return PlacedShape(side.frame, Local.of(source, inputs, parameters.graph.input(turn.name)))


def _check_curved(who: str, a: Shape, b: Shape) -> None:
    names = f"{type(a).__name__} on {type(b).__name__}"
    edged = any(shape.faces or isinstance(shape, Revolution | Sampled) for shape in (a, b))
    straight = any(s.straight for s in (a, b)) and any(isinstance(s, Plane) for s in (a, b))
    if a.planar or edged or straight:
        raise ModelError(
            f"{who}: {names} may touch along a line or an edge, or tells no curvature, so that Hertz's theory gives "
            "no stiffness; give stiffness="
        )


def _friction(who: str, given: float | Coulomb | LuGre) -> Coulomb | LuGre | None:
    if isinstance(given, Coulomb | LuGre):
        return given
    mu = checks.plain_number(
        f"friction of {who}", given, "friction is a plain number, contact.Coulomb(...) or contact.LuGre(...)"
    )
    if mu < 0.0:
        raise ModelError(f"friction of {who} is {mu:g}; it must not be negative")
    return Coulomb(mu) if mu else None


__all__ = ["contact_force"]
