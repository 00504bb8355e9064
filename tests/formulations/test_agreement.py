"""Five formulations against each other and against Newton-Euler with multipliers, on random mechanisms."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from bellcrank.formulations.registry import FORMULATIONS
from bellcrank.mechanism import Formulation, analyse
from bellcrank.model import System
from formulations.comparison import (
    AGREEMENT,
    body_difference,
    body_motion,
    difference,
    random_state,
    redrawn,
    solved,
)
from reference import newton_euler
from reference.mechanisms import FAMILIES, mechanism

SPREADS = (0.0, 0.15)
"""States at the start pose, and this far from it [m, rad]."""


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("family", FAMILIES)
def test_formulations_agree_with_each_other_and_the_reference(family: str, seed: int) -> None:
    system = mechanism(family, seed)
    found = analyse(system)
    traced = {f: found.traced(f) for f in FORMULATIONS}
    values = found.parameter_values
    named = dict(zip(found.mechanics.parameters, values, strict=True))
    rng = np.random.default_rng([seed, zlib.crc32(family.encode())])
    for spread in SPREADS:
        # Away from the start pose the clock runs too: drivers and forces of time take part.
        state = random_state(found, rng, spread, t=2.0 * spread)
        ways = {f: solved(way, state, values) for f, way in traced.items()}
        one = ways[Formulation.INDEPENDENT]
        for formulation, way in ways.items():
            assert difference(way.du, one.du) < AGREEMENT, formulation
            assert difference(way.u, state.u) < AGREEMENT, formulation
            assert np.abs(way.residuals).max(initial=0.0) < 1e-12, formulation
        poses, velocities, accelerations = body_motion(found, state, one.du)
        for name, (position, rate) in newton_euler.residuals(
            system, named, state.t, poses, velocities
        ).items():
            assert np.abs(position).max(initial=0.0) < 1e-11, name
            assert np.abs(rate).max(initial=0.0) < 1e-10, name
        expected = newton_euler.accelerations(system, named, state.t, poses, velocities)
        assert body_difference(accelerations, expected) < AGREEMENT


PARAMETERS = {
    "mass": (1.3, 2.9, "kg"),
    "moment": (0.2, 0.31, "kg m^2"),
    "reach": (0.8, 0.95, "m"),
    "lever": (0.3, 0.22, "m"),
    "stiffness": (40.0, 71.0, "N/m"),
    "damping": (0.7, 0.2, "N s/m"),
    "pull": (9.81, 1.62, "m/s^2"),
    "pitch": (0.05, 0.08, "m/rad"),
    "ratio": (-2.0, -1.5, ""),
    "rate": (3.0, 4.0, "rad/s"),
}


def adjustable(which: int, named: bool) -> System:
    """A driven spatial crank with a screw and a gear on it, its numbers named or plain."""
    system = System("adjustable")
    p = {
        name: system.parameter(name, both[which], both[2]) if named else both[which]
        for name, both in PARAMETERS.items()
    }
    system.gravity = (0.1, 0.2, -p["pull"])
    m, J = p["mass"], p["moment"]
    crank = system.body(
        "crank", m, (J, 1.1 * J, 1.2 * J, 0.05 * J, 0, 0), (0.1, p["lever"], 0), at=(0, 0, 0.1)
    )
    rod = system.body("rod", 2 * m, (J, J, J), (p["lever"] / 2, 0, 0.1), at=(0.8, 0, 0.1))
    rocker = system.body("rocker", m + 0.5, (0.3, 0.3, 0.3), at=(1.4, 0.5, -0.2))
    nut = system.body("nut", 0.4, (J, J, J / 2), at=(0, 0, 0.5))
    wheel = system.body("wheel", m, (0.2, 0.2, 0.2), at=(-1, 0, 0))
    lift = system.body("lift", m, (0.2, 0.2, 0.2), at=(0, -1, 0))
    system.revolute("hinge", system.ground, crank, at=(0, 0, 0), axis="z")
    system.spherical("wrist", crank.point(p["reach"], 0, 0), rod.point(0, 0, 0))
    system.universal("cardan", rod, rocker, at=(1.4, 0.5, 0.1), axis_a="y", axis_b="z")
    system.cylindrical("sleeve", system.ground, rocker, at=(1.4, 0.4, 0), axis=(0.3, 0.1, 1))
    system.screw("thread", crank, nut, at=(0, 0, 0.5), axis="z", pitch=p["pitch"])
    system.revolute("axle", system.ground, wheel, at=(-1, 0, 0), axis="y")
    system.gear("mesh", "axle", "thread", p["ratio"])
    system.prismatic("column", system.ground, lift, axis="z")
    system.driver("column", lambda t: p["lever"] * np.sin(p["rate"] * t), name="hoist")
    system.spring("coil", rod.point(p["lever"], 0, 0), lift, p["stiffness"], p["damping"], free_length=0.4)
    system.bushing("pad", rocker, system.ground, (p["stiffness"],) * 3 + (2.0, 3.0, p["damping"]), (0.1,) * 6)
    system.torsion_spring("clock spring", "hinge", p["stiffness"], p["damping"], 0.1)
    system.applied_force("jet", rod, lambda t: (p["damping"] * t, 0, p["mass"]), axes="body")
    return system


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_parameters_are_inputs(formulation: Formulation) -> None:
    """Programs traced with one set of numbers, run with another: the same as a model built with the other."""
    old, new, plain = (
        analyse(adjustable(0, True)),
        analyse(adjustable(1, True)),
        analyse(adjustable(1, False)),
    )
    assert old.mechanics.parameters == tuple(PARAMETERS)
    changed = tuple(both[1] for both in PARAMETERS.values())
    state = random_state(old, np.random.default_rng(4), 0.1, t=0.2, parameters=changed)
    kept_program = solved(old.traced(formulation), state, changed)
    rebuilt = solved(new.traced(formulation, old.partition), state, new.parameter_values)
    assert difference(kept_program.du, rebuilt.du) < 1e-12
    assert difference(kept_program.u, state.u) < 1e-10
    poses, velocities, accelerations = body_motion(old, state, kept_program.du, changed)
    named = dict(zip(PARAMETERS, changed, strict=True))
    expected = newton_euler.accelerations(old.system, named, state.t, poses, velocities)
    assert body_difference(accelerations, expected) < AGREEMENT
    folded, same_state = redrawn(plain.system, poses, velocities, t=state.t)
    found = solved(folded.traced(formulation), same_state, ())
    assert body_difference(accelerations, body_motion(folded, same_state, found.du)[2]) < AGREEMENT
