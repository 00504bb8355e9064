"""Kernels with known solutions, compiled as plain C functions."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from scipy.special import ellipj

from bellcrank.integrate import Problem
from bellcrank.program.loops import Address, BoundKernel, Entry
from bellcrank.program.loops.layout import declared

EXPLICIT = ("dormand_prince5", "runge_kutta5", "dop853", "runge_kutta4", "milne_hamming")
IMPLICIT = ("radau", "generalised_alpha")
ADAPTIVE = ("dormand_prince5", "runge_kutta5", "dop853", "milne_hamming", "radau", "generalised_alpha")
ALL = EXPLICIT + IMPLICIT

_kept: list[Any] = []


def kernel(function: Any) -> int:
    """Address of a function (x, y) of two addresses."""
    compiled = BoundKernel(Entry(function, [declared(Address)] * 2))
    _kept.append(compiled)
    return compiled.address


@cache
def spiral() -> Problem:
    """y' = y t / 10 + rotation, not autonomous, not linear in t: exact solution in `spiral_exact`."""

    def rhs(x, y):
        t, a, b = x[0], x[1], x[2]
        y[0] = 0.1 * t * a - (1.0 + t) * b
        y[1] = 0.1 * t * b + (1.0 + t) * a

    return Problem(kernel(rhs), np.array([1.0, 0.0]))


def spiral_exact(t):
    t = np.asarray(t)
    size, angle = np.exp(0.05 * t**2), t + 0.5 * t**2
    return np.stack([size * np.cos(angle), size * np.sin(angle)], axis=-1)


@cache
def top(modulus: float = 0.8) -> Problem:
    """Euler's equations of a free body, y' = (b c, -c a, -m a b): exact solution in `top_exact`."""

    def rhs(x, y):
        y[0] = x[2] * x[3]
        y[1] = -x[3] * x[1]
        y[2] = -modulus * x[1] * x[2]

    return Problem(kernel(rhs), np.array([0.0, 1.0, 1.0]))


def top_exact(t, modulus: float = 0.8):
    """Jacobi's sn, cn, dn."""
    return np.stack(ellipj(t, modulus)[:3], axis=-1)


@cache
def oscillator() -> Problem:
    """Unit mass on a unit spring: y = (cos t, -sin t)."""

    def rhs(x, y):
        y[0] = x[2]
        y[1] = -x[1]

    return Problem(kernel(rhs), np.array([1.0, 0.0]))


@cache
def van_der_pol(epsilon: float) -> Problem:
    """y'' = ((1 - y^2) y' - y) / epsilon, parameter p = epsilon."""

    def rhs(x, y):
        y[0] = x[2]
        y[1] = ((1.0 - x[1] * x[1]) * x[2] - x[1]) / x[3]

    def jacobian(x, y):
        y[0] = 0.0
        y[1] = 1.0
        y[2] = (-2.0 * x[1] * x[2] - 1.0) / x[3]
        y[3] = (1.0 - x[1] * x[1]) / x[3]

    def tangent(x, y):
        rhs_0, rhs_1 = x[2], ((1.0 - x[1] * x[1]) * x[2] - x[1]) / x[3]
        y[0] = rhs_0
        y[1] = rhs_1
        y[2] = x[6]
        y[3] = ((-2.0 * x[1] * x[2] - 1.0) * x[5] + (1.0 - x[1] * x[1]) * x[6]) / x[3] - rhs_1 / x[3] * x[7]

    return Problem(
        kernel(rhs),
        np.array([2.0, -0.66]),
        p=np.array([epsilon]),
        jacobian=kernel(jacobian),
        tangent=kernel(tangent),
    )


@cache
def falling_ball() -> Problem:
    """Height and speed under gravity p[0]; the event is the ground."""

    def rhs(x, y):
        y[0] = x[2]
        y[1] = -x[3]

    def ground(x, y):
        y[0] = x[1]

    return Problem(
        kernel(rhs), np.array([1.0, 0.0]), p=np.array([9.81]), events=kernel(ground), directions=(-1,)
    )


@cache
def pendulum_in_the_plane() -> Problem:
    """A pendulum of unit length as (x, y, vx, vy): position and speed are projected onto the circle.

    Margin: |y|, as if y were the coordinate eliminated.
    """

    def rhs(x, y):
        px, py, vx, vy = x[1], x[2], x[3], x[4]
        tension = (vx * vx + vy * vy - 9.81 * py) / (px * px + py * py)
        y[0] = vx
        y[1] = vy
        y[2] = -tension * px
        y[3] = -tension * py - 9.81

    def project(x, y):
        px, py, vx, vy = x[1], x[2], x[3], x[4]
        square = px * px + py * py
        # One Newton correction along the radius, as a real projection kernel makes it.
        shift = 0.5 * (1.0 - square) / square
        px *= 1.0 + shift
        py *= 1.0 + shift
        out = (px * vx + py * vy) / (px * px + py * py)
        y[0], y[1] = px, py
        y[2], y[3] = vx - out * px, vy - out * py
        y[4] = abs(square - 1.0)
        y[5] = abs(py)

    return Problem(kernel(rhs), np.array([1.0, 0.0, 0.0, 0.0]), project=kernel(project))


ARENSTORF_PERIOD = 17.0652165601579625588917206249


@cache
def arenstorf() -> Problem:
    """The restricted three-body orbit of Hairer, Norsett, Wanner, II.0; it closes after ARENSTORF_PERIOD."""
    mu = 0.012277471

    def rhs(x, y):
        a, b, va, vb = x[1], x[2], x[3], x[4]
        d1 = math.pow((a + mu) * (a + mu) + b * b, 1.5)
        d2 = math.pow((a - (1.0 - mu)) * (a - (1.0 - mu)) + b * b, 1.5)
        y[0] = va
        y[1] = vb
        y[2] = a + 2.0 * vb - (1.0 - mu) * (a + mu) / d1 - mu * (a - (1.0 - mu)) / d2
        y[3] = b - 2.0 * va - (1.0 - mu) * b / d1 - mu * b / d2

    return Problem(kernel(rhs), np.array([0.994, 0.0, 0.0, -2.00158510637908252240537862224]))
