"""Lasting contacts: forces, what lets go, and where sticking turns to sliding and back.

On the level of accelerations: a = W f + a_free, with W = J M^-1 J^T through the constrained mass matrix and a_free the
relative accelerations without contact forces, J-dot terms included. Normal: 0 <= f_n _|_ a_n >= 0.
A contact that slides has f_t = -mu f_n v_t / |v_t|; one that does not has |f_t| <= mu f_n and either a_t = 0 or
f_t against a_t: it sticks, or begins to slide. Pfeiffer and Glocker (1996), Multibody Dynamics with
Unilateral Contacts. In the plane the problem is linear and exact; in space the cones are circular, one contact is
solved in closed form (a quartic), several by turns with Newton's method for the last digits.

Differs in: static and sliding friction are one coefficient each a contact, the first applied where nothing slides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.errors import BellcrankError, ModelError
from bellcrank.impacts.coulomb import CoulombProblem, CoulombSolution

Array = NDArray[np.float64]

RESTING = 1e-10
"""Accelerations below this share of the largest count as none."""


class ContactState(Enum):
    """What a lasting contact does from here on."""

    OPEN = "open"
    STICK = "stick"
    SLIP = "slip"


class JammedContact(BellcrankError, ArithmeticError):
    """Sliding friction to which no finite force belongs (Painleve's paradox): an impact without collision follows.

    Attributes:
        contacts: Those whose normal force, with the friction that goes with it, pulls them closer.
    """

    def __init__(self, message: str, contacts: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.contacts = contacts


@dataclass(frozen=True, eq=False)
class ContactForces:
    """Forces [N] and relative accelerations [m/s^2], rows as in W, and what each contact does next.

    slip: Directions of sliding (contacts, tangents): of the velocity, or of the acceleration where sliding begins.
    released: Contacts that let go.
    margin: mu f_n - |f_t| of each sticking contact [N], zero at the start of sliding.
    residual: How far the conditions are missed, over the largest acceleration.
    """

    forces: Array
    accelerations: Array
    states: tuple[ContactState, ...]
    slip: Array
    released: tuple[int, ...]
    margin: Array
    residual: float


def contact_forces(
    W: ArrayLike,
    free: ArrayLike,
    friction: Sequence[float] | Array | float = 0.0,
    slip: ArrayLike | None = None,
    *,
    tangents: int = 1,
    sticking_friction: Sequence[float] | float | None = None,
) -> ContactForces:
    """The forces of contacts that are closed (distance and normal velocity zero).

    W: [1/kg]. free: Relative accelerations without contact forces [m/s^2].
    slip: Sliding velocities (contacts, tangents) [m/s], rows of zeros where a contact does not slide.
    friction: mu of sliding. sticking_friction: mu of sticking, the same where not given; never smaller.
    """
    W, a = np.asarray(W, dtype=float), np.asarray(free, dtype=float)
    rows = 1 + tangents
    if len(a) % rows or W.shape != (len(a), len(a)):
        raise ModelError(
            f"contacts with {tangents} tangents cannot have W {W.shape} and {len(a)} accelerations"
        )
    m = len(a) // rows
    mu = np.broadcast_to(np.asarray(friction, dtype=float), (m,))
    mu_stick = (
        mu if sticking_friction is None else np.broadcast_to(np.asarray(sticking_friction, float), (m,))
    )
    if np.any(mu_stick < mu):
        raise ModelError("sticking friction must not be smaller than sliding friction")
    velocity = np.zeros((m, tangents)) if slip is None else np.asarray(slip, dtype=float).reshape(m, tangents)
    speed = np.linalg.norm(velocity, axis=1)
    sliding = speed > 0.0
    direction = np.zeros((m, tangents))
    direction[sliding] = velocity[sliding] / speed[sliding, None]
    found = CoulombProblem.of(W, a, np.where(sliding, mu, mu_stick), slip=direction).solve()
    begins = np.zeros(m, dtype=bool)
    if found is not None:
        begins = ~sliding & _moving(found.v, rows, a)
    if found is not None and np.any(begins & (mu_stick > mu)):
        # What breaks loose has the lower friction of sliding, in the direction in which it breaks loose.
        loose = found.v.reshape(m, rows)[:, 1:]
        direction[begins] = loose[begins] / np.linalg.norm(loose[begins], axis=1)[:, None]
        found = CoulombProblem.of(W, a, np.where(sliding | begins, mu, mu_stick), slip=direction).solve()
    if found is None:
        raise JammedContact(
            "sliding friction jams a contact: no finite force fits (Painleve's paradox); "
            "solve it as an impact, or use less friction",
            digging(W, mu, direction),
        )
    return _sorted(found, mu_stick, sliding, direction, rows, a)


def digging(W: Array, friction: ArrayLike, slip: Array) -> tuple[int, ...]:
    """Contacts whose normal force accelerates them inwards: W_nn - mu W_nt . d < 0, d being the direction of slip.

    Painleve (1895); for a uniform rod that slides on one end possible where mu > 4/3, at tan(angle) = 2.
    """
    rows = len(W) // len(slip)
    mu = np.broadcast_to(np.asarray(friction, dtype=float), (len(slip),))
    found = []
    for i, d in enumerate(slip):
        n = i * rows
        if np.any(d) and W[n, n] - mu[i] * float(W[n, n + 1 : n + rows] @ d) < 0.0:
            found.append(i)
    return tuple(found)


def _moving(v: Array, rows: int, a: Array) -> NDArray[np.bool_]:
    """Contacts with a tangential acceleration."""
    parts = v.reshape(-1, rows)[:, 1:]
    size = max(float(np.max(np.abs(a), initial=0.0)), 1e-300)
    return np.asarray(np.linalg.norm(parts, axis=1) > RESTING * size)


def _sorted(
    found: CoulombSolution,
    mu_stick: Array,
    sliding: NDArray[np.bool_],
    direction: Array,
    rows: int,
    a: Array,
) -> ContactForces:
    size = max(float(np.max(np.abs(a), initial=0.0)), 1e-300)
    parts, moves = found.p.reshape(-1, rows), found.v.reshape(-1, rows)
    moving = _moving(found.v, rows, a)
    states: list[ContactState] = []
    margin = np.zeros(len(mu_stick))
    slip = direction.copy()
    for i in range(len(mu_stick)):
        if moves[i, 0] > max(RESTING, 10.0 * found.miss) * size:
            states.append(ContactState.OPEN)
        elif sliding[i] or moving[i]:
            states.append(ContactState.SLIP)
            if not sliding[i]:
                slip[i] = moves[i, 1:] / np.linalg.norm(moves[i, 1:])
        else:
            states.append(ContactState.STICK)
            margin[i] = mu_stick[i] * parts[i, 0] - float(np.linalg.norm(parts[i, 1:]))
    released = tuple(i for i, s in enumerate(states) if s is ContactState.OPEN)
    return ContactForces(found.p, found.v, tuple(states), slip, released, margin, found.miss)


def after_slip_stops(
    W: ArrayLike,
    free: ArrayLike,
    friction: Sequence[float] | float,
    slip: ArrayLike,
    contact: int,
    *,
    tangents: int = 1,
) -> ContactForces:
    """The forces at the instant the slip of one contact has come to rest: it sticks, or slides the other way.

    Arguments as of `contact_forces`; the slip of `contact` is taken as zero.
    """
    velocity = np.array(slip, dtype=float).reshape(-1, tangents)
    velocity[contact] = 0.0
    return contact_forces(W, free, friction, velocity, tangents=tangents)
