"""Rattleback: spun in the wrong direction, the stone begins to rattle, stops and turns back.

An ellipsoid whose principal axes of inertia are turned by five degrees against its axes of curvature, given as a full
inertia matrix, spins on a plane that holds it without slip. About the spin to one side the quick oscillation grows,
about the spin to the other side the slow one; what they take they take from the spin.

Source: Bondi, Proc. R. Soc. Lond. A 405 (1986) 265; Garcia, Hubbard, Proc. R. Soc. Lond. A 418 (1988) 165: the
equations of rolling without slip in the axes of the stone, as :func:`rolling` has them, integrated by SciPy; rates of
growth are the eigenvalues of these equations about a steady spin.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.friction import Coulomb
from bellcrank.model import System
from bellcrank.verify.cases import Quantity, Within

SIZES = np.array([0.2, 0.03, 0.02])
MASS, GRAVITY, SPIN = 1.0, 9.81, 5.0
STIFFNESS = 1e11

Array = NDArray[np.float64]


def inertia(skew: float = np.radians(5.0)) -> Array:
    """Of the ellipsoid filled evenly, turned by `skew` [rad] about the upright axis [kg m^2]."""
    squares = SIZES**2
    c, s = np.cos(skew), np.sin(skew)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return np.asarray(turn @ np.diag(MASS / 5.0 * (squares.sum() - squares)) @ turn.T)


def rolling(t: float, y: Array, J: Array) -> Array:
    """The rate of y = (angular velocity w, upright direction n), all in the axes of the stone.

    The place of contact is p = -D n / sqrt(n D n) with D the squares of the semi-axes. Rolling, the centre moves with
    v = p x w, and with the force F = m (dv/dt + w x v + g n) at p the moments are J dw/dt + w x J w = p x F.
    """
    w, n = y[:3], y[3:]
    D = SIZES**2
    root = np.sqrt(n @ (D * n))
    p, n_rate = -(D * n) / root, np.cross(n, w)
    p_rate = -(D * n_rate) / root + D * n * (n @ (D * n_rate)) / root**3
    P = np.cross(np.eye(3), p)
    known = np.cross(p_rate, w) + np.cross(w, P @ w) + GRAVITY * n
    w_rate = np.linalg.solve(J - MASS * P @ P, MASS * P @ known - np.cross(w, J @ w))
    return np.concatenate([w_rate, n_rate])


def steady_modes(spin: float, J: Array) -> tuple[NDArray[Any], NDArray[Any]]:
    """Eigenvalues and eigenvectors of small motions about a steady spin [rad/s]."""
    about, h = np.array([0.0, 0.0, spin, 0.0, 0.0, 1.0]), 1e-6
    columns = [(rolling(0.0, about + e, J) - rolling(0.0, about - e, J)) / (2.0 * h) for e in h * np.eye(6)]
    values, vectors = np.linalg.eig(np.stack(columns, axis=1))
    return values, vectors


def stone(impulsive: bool) -> System:
    """The ellipsoid on a plane, lying on it, or as deep in it as its weight presses it."""
    system = System("rattleback", gravity=(0.0, 0.0, -GRAVITY))
    depth = 0.0 if impulsive else (MASS * GRAVITY / STIFFNESS) ** (2.0 / 3.0)
    body = system.body("stone", mass=MASS, inertia=inertia(), at=(0.0, 0.0, SIZES[2] - depth))
    system.free("flight", system.ground, body)
    floor, shape = system.ground.plane(), body.ellipsoid(*SIZES)
    if impulsive:
        system.contact("floor", floor, shape, restitution=0.0, friction=1.0)
    else:
        rubbing = Coulomb(1.0, slip_speed=1e-5)
        system.contact("floor", floor, shape, restitution=0.5, friction=rubbing, stiffness=STIFFNESS,
                       treatment="continuous")  # fmt: skip
    return system


def run(impulsive: bool, start: Array, times: Array, tolerance: float = 1e-9) -> Array:
    """What :func:`rolling` integrates, (times, 6), as the stone does it that starts upright, turning with `start`."""
    velocity = np.cross((0.0, 0.0, -SIZES[2]), start)
    result = stone(impulsive).simulate(
        float(times[-1]),
        initial={"flight": {"velocity": tuple(velocity), "angular_velocity": tuple(start)}},
        tolerance=tolerance,
        output=times,
    )
    R = result["stone.rotation"].to_numpy().reshape(-1, 3, 3)
    w = result["stone.angular_velocity"].to_numpy()
    return np.concatenate([np.einsum("kij,ki->kj", R, w), R[:, 2]], axis=1)


def reference(start: Array, times: Array) -> Array:
    """The same by SciPy."""
    from scipy.integrate import solve_ivp

    y = np.concatenate([start, (0.0, 0.0, 1.0)])
    span = (0.0, float(times[-1]))
    solved = solve_ivp(
        rolling, span, y, t_eval=times, args=(inertia(),), method="DOP853", rtol=1e-12, atol=1e-14
    )
    return np.asarray(solved.y.T)


def growth(impulsive: bool, spin: float) -> tuple[complex, complex]:
    """The fastest growing oscillation about a spin, growth and frequency [1/s]: of a run, and the eigenvalue."""
    values, vectors = steady_modes(spin, inertia())
    # A steady spin may as well be faster or slower: two eigenvalues vanish, the other four come in pairs.
    moving = np.flatnonzero(np.abs(values.imag) > 1.0)
    k = int(np.argmax(np.where(values[moving].imag > 0.0, values[moving].real, -np.inf)))
    exact = complex(values[moving[k]])
    times = np.linspace(0.0, 8.0 / exact.imag, 81)
    small = run(impulsive, np.array([1e-4, 0.0, spin]), times, 1e-11)[:, [0, 1, 3, 4]]
    part = np.linalg.solve(vectors[[0, 1, 3, 4]][:, moving], small.T.astype(complex))[k]
    grown, turned = np.log(np.abs(part)), np.unwrap(np.angle(part))
    return complex(grown[-1] - grown[0], turned[-1] - turned[0]) / float(times[-1]), exact


def quantities() -> list[Quantity]:
    """Growth about both spins, and the spin as it falls, vanishes and comes back."""
    rows = []
    for name, spin in (("against", -SPIN), ("along", SPIN)):
        for treatment in ("impulsive", "continuous"):
            measured, exact = growth(treatment == "impulsive", spin)
            one, two, relative = (
                f"growth_{name}_{treatment}",
                f"frequency_{name}_{treatment}",
                Within.RELATIVE,
            )
            rows.append(Quantity(one, measured.real, exact.real, 1e-4, "1/s", relative))
            rows.append(Quantity(two, measured.imag, exact.imag, 1e-5, "rad/s", relative))
    start, times = np.array([0.1, 0.0, -SPIN]), np.linspace(0.0, 1.5, 6)
    expected = reference(start, times)
    for treatment, allowed in (("impulsive", 1e-6), ("continuous", 5e-3)):
        found = run(treatment == "impulsive", start, times)
        for t, a, b in zip(times[1:], found[1:], expected[1:], strict=True):
            rows.append(Quantity(f"spin_{treatment}_{t:.1f}_s", a[2], b[2], allowed, "rad/s"))
    rows.append(Quantity("spin_comes_back", found[-1][2], 1.0, 0.0, "rad/s", Within.AT_LEAST))
    return rows
