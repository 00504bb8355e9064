"""Elastic sphere on a rigid wall, without friction: force, rebound, energy and smoothness of the contact force.

Radius 8, E = 500, nu = 0.3, density 1, speed 1; forces over the full turn. The figures of the impact come from 384
nine-node elements, those of energy and roughness from 96, as many as in the paper.

Source: Lee (1995), section 4; reference values from two independent schemes on fine meshes (massless contact nodes;
explicit with lumped mass), which agree within 0.3 % of the peak.
"""

from __future__ import annotations

import numpy as np

from bellcrank import elastic
from bellcrank.verify.cases import Quantity, Within


def ball(divisions: int = 8, grading: float = 10.0) -> elastic.ElasticBody:
    """The sphere, just above the wall."""
    rubber = elastic.Material(young=500.0, poisson=0.3, density=1.0)
    return elastic.sphere(
        8.0, rubber, divisions=divisions, grading=grading, centre=(0.0, 8.0), velocity=(0.0, -1.0)
    )


def impact(
    step: float, body: elastic.ElasticBody | None = None, *, compatible: bool = True, friction: float = 0.0
) -> elastic.ElasticResult:
    """The whole impact, and a little of the flight after it."""
    body = body or ball()
    contact = elastic.Contact(body, elastic.RigidPlane(), friction=friction)
    both = elastic.Compatibility(velocity=compatible, acceleration=compatible)
    return elastic.simulate(body, contact, 3.6, step, compatibility=both)


def smooth_peak(run: elastic.ElasticResult) -> tuple[float, float]:
    """Top of the parabola through the contact force around its largest value: force and time."""
    force = np.asarray(run["contact.force"])
    near = np.abs(run.time - run.time[force.argmax()]) < 0.12
    c = np.polyfit(run.time[near], force[near], 2)
    time = -c[1] / (2.0 * c[0])
    return float(np.polyval(c, time)), float(time)


def energy_error(run: elastic.ElasticResult) -> float:
    """Largest error of the total energy, relative to the initial one."""
    return float(np.abs(run["energy.error"]).max())


def quantities() -> list[Quantity]:
    """One run on the fine mesh, four on that of the paper."""
    fine = impact(0.01, ball(16, 6.0))
    runs = {step: impact(step) for step in (0.01, 0.02, 0.05)}
    without = impact(0.02, compatible=False)
    peak, time = smooth_peak(fine)
    speed = float(fine.rebound_velocity()[1])
    relative, at_most = Within.RELATIVE, Within.AT_MOST
    return [
        Quantity("peak_force", peak, 2799.0, 0.015, "N", relative),
        Quantity("peak_time", time, 1.473, 0.01, "s"),
        Quantity("last_contact", fine.contact_duration()[1], 2.944, 0.01, "s"),
        Quantity("rebound_speed", speed, 0.9908, 0.003, "m/s"),
        Quantity("vibration_energy", fine.vibration_energy(), 0.0183, 1e-3, "of the initial"),
        Quantity("energy_error_dt001", energy_error(runs[0.01]), 1e-3, 0.0, "relative", at_most),
        Quantity("energy_error_dt002", energy_error(runs[0.02]), 1e-3, 0.0, "relative", at_most),
        Quantity("energy_error_dt005", energy_error(runs[0.05]), 5e-3, 0.0, "relative", at_most),
        Quantity("roughness_with_dt002", runs[0.02].roughness(), 1.1, 0.0, "", at_most),
        Quantity("roughness_without_dt002", without.roughness(), 3.0, 0.0, "", Within.AT_LEAST),
    ]
