"""States of a mechanism in plain numbers, and how they look as poses and motions of bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bellcrank.mechanics.accelerations import Accelerations
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.links import GROUND
from bellcrank.mechanics.numbers import Known
from bellcrank.mechanics.start import numbers
from bellcrank.mechanism import Mechanism, State, analyse
from bellcrank.mechanism.traced import Traced
from bellcrank.model import System
from bellcrank.program.evaluate import evaluate
from reference.engine import ByBody

Array = NDArray[np.float64]
AGREEMENT = 1e-9
"""Relative difference allowed between two ways to the same accelerations."""


@dataclass(frozen=True)
class Solved:
    """What one formulation gives in one state."""

    u: Array
    du: Array
    residuals: Array


def solved(traced: Traced, state: State, parameters: Sequence[float]) -> Solved:
    """The full program in a state; of the speeds only the independent ones are looked at."""
    x = np.concatenate([[state.t], state.q, state.u[list(traced.partition.independent)], parameters])
    y = evaluate(traced.full, x)
    n = len(state.u)
    return Solved(y[:n], y[n : 2 * n], y[2 * n :])


def closed(mechanism: Mechanism, q: Array, t: float, parameters: Sequence[float] | None = None) -> Array:
    """Positions near q on the constraints: Newton with the independent equations alone.

    The equations dropped as redundant must then hold by themselves.
    """
    loops, kept = mechanism.loop_state(parameters), list(mechanism.kept)
    for _ in range(30):
        rows = loops.rows(q, t)
        if np.abs(rows.residual[kept]).max(initial=0.0) < 2e-14:
            break
        q = loops.moved(q, -np.linalg.pinv(rows.J[kept]) @ rows.residual[kept])
    assert np.abs(loops.rows(q, t).residual).max(initial=0.0) < 1e-12
    return q


def random_state(
    mechanism: Mechanism,
    rng: np.random.Generator,
    spread: float = 0.0,
    t: float = 0.0,
    parameters: Sequence[float] | None = None,
) -> State:
    """A state about `spread` [m, rad] along the motion from the start, with random consistent speeds."""
    loops, kept, n = mechanism.loop_state(parameters), list(mechanism.kept), mechanism.coordinates
    q = closed(mechanism, mechanism.start.q, t, parameters)
    wander = rng.uniform(-1.0, 1.0, n)
    for _ in range(3 if spread else 0):
        J = loops.rows(q, t).J[kept]
        step = wander - np.linalg.pinv(J) @ (J @ wander)
        q = closed(mechanism, loops.moved(q, spread / 3.0 * step), t, parameters)
    rows = loops.rows(q, t)
    u = rng.standard_normal(n)
    u += np.linalg.pinv(rows.J[kept]) @ (rows.nu - rows.J @ u)[kept]
    return State(t, q, u)


def body_motion(
    mechanism: Mechanism, state: State, du: Array | None = None, parameters: Sequence[float] | None = None
) -> tuple[ByBody, ByBody, ByBody]:
    """Poses, velocities and accelerations of the body origins in world axes, as the reference has them."""
    linkage = mechanism.linkage
    given = mechanism.parameter_values if parameters is None else parameters
    values = dict(zip(mechanism.mechanics.parameters, given, strict=True))
    kin = Kinematics(linkage, state.q.tolist(), Known(values))
    kin.set_speeds(state.u.tolist())
    rates = Accelerations(kin, [0.0] * len(state.u) if du is None else du.tolist())
    gravity = numbers(linkage.gravity, values)
    poses, velocities, accelerations = {}, {}, {}
    for name in mechanism.system.bodies:
        seat = linkage.placements[name]
        p, r = numbers(seat.p, values), numbers(seat.r, values)
        if seat.link == GROUND:
            poses[name] = (p, r)
            velocities[name] = accelerations[name] = (np.zeros(3), np.zeros(3))
            continue
        pose, motion = kin.pose(seat.link), kin.motion(seat.link)
        R, w = np.array(pose.R, dtype=float), np.array(motion.w, dtype=float)
        poses[name] = (np.array(pose.p, dtype=float) + R @ p, R @ r)
        velocities[name] = (np.array(motion.v, dtype=float) + np.cross(w, R @ p), w)
        a, K = np.array(rates.a[seat.link], dtype=float), np.array(rates.K[seat.link], dtype=float)
        alpha = np.array(rates.alpha[seat.link], dtype=float)
        accelerations[name] = (R @ (a + K @ p) + gravity, R @ alpha)
    return poses, velocities, accelerations


def redrawn(system: System, poses: ByBody, velocities: ByBody, **options: object) -> tuple[Mechanism, State]:
    """The system analysed with its bodies drawn at these poses, and the state with these velocities.

    Joints keep their places on the bodies; the start pose is the only thing that changes.
    """
    for name, (position, rotation) in poses.items():
        body = system.bodies[name]
        object.__setattr__(body, "position", tuple(map(float, position)))
        object.__setattr__(body, "rotation", tuple(tuple(map(float, row)) for row in rotation))
    mechanism = analyse(system, **options)  # type: ignore[arg-type]
    n = mechanism.coordinates
    columns = []
    for i in range(n):
        _, moved, _ = body_motion(mechanism, State(0.0, mechanism.start.q, np.eye(n)[i]))
        columns.append(flat(moved))
    A = np.array(columns).T.reshape(-1, n)
    u = np.linalg.lstsq(A, flat(velocities, list(system.bodies)), rcond=None)[0]
    return mechanism, State(mechanism.start.t, mechanism.start.q, u)


def flat(motions: ByBody, names: Sequence[str] | None = None) -> Array:
    """All vectors in one array."""
    return np.concatenate([np.concatenate(motions[name]) for name in names or motions])


def difference(a: Array, b: Array) -> float:
    """The largest difference against the largest entry (at least 1)."""
    scale = max(1.0, np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0))
    return float(np.abs(a - b).max(initial=0.0) / scale)


def body_difference(a: ByBody, b: ByBody) -> float:
    """The same for motions of bodies."""
    names = list(a)
    return difference(flat(a, names), flat(b, names))
