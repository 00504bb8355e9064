"""The spin-up manoeuvre against a fully nonlinear beam of its own: a chain of links with the exact angles."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from bellcrank.verify.spin_up import KANE, SPIN_UP, WU_HAUG, Blade, tip


def chain(blade: Blade, links: int, end: float, times: np.ndarray) -> np.ndarray:
    """Deflection of the tip: rigid links with springs EI / h between them, 2 EI / h at the root; error of order h^2.

    Absolute angles; T = 1/2 sum M_ij cos(a_i - a_j) a_i' a_j'.
    """
    n, h = links, blade.length / links
    mass = blade.density * blade.area * h
    i = np.arange(n)
    M = mass * h * h * (n - np.maximum.outer(i, i) - 0.5)
    M[i, i] = mass * h * h * (n - i - 2.0 / 3.0)
    k = np.full(n, blade.young * blade.second_moment / h)
    k[0] *= 2.0
    K = np.diag(k) + np.diag(np.append(k[1:], 0.0)) - np.diag(k[1:], 1) - np.diag(k[1:], -1)

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        p, v = y[:n], y[n:]
        turn = 2.0 * math.pi * t / SPIN_UP
        speed = blade.speed / SPIN_UP * (t - SPIN_UP / (2.0 * math.pi) * math.sin(turn))
        pull = blade.speed / SPIN_UP * (1.0 - math.cos(turn))
        d = np.subtract.outer(p, p)
        A = M * np.cos(d)
        force = -K @ p - (M * np.sin(d)) @ (v + speed) ** 2 - A.sum(axis=1) * pull
        return np.concatenate([v, np.linalg.solve(A, force)])

    run = solve_ivp(rates, (0.0, end), np.zeros(2 * n), method="LSODA", rtol=1e-7, atol=1e-9, t_eval=times)
    return np.asarray(h * np.sin(run.y[:n]).sum(axis=0))


@pytest.mark.parametrize("blade", [KANE, WU_HAUG], ids=["kane", "wu-haug"])
def test_stiffened_beam_follows_the_nonlinear_one(blade: Blade) -> None:
    times = np.linspace(0.0, 8.0, 81)
    coarse, fine = (chain(blade, n, 8.0, times) for n in (6, 12))
    exact = fine + (fine - coarse) / 3.0
    assert exact.min() == pytest.approx(blade.largest, rel=2e-3)
    ours = tip(blade, 4, duration=8.0, outputs=times)
    assert np.abs(ours - exact).max() < 4e-3 * abs(blade.largest)
