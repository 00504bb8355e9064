"""Frequencies of a cantilever held by a fixed joint: beams and a solid against closed forms.

The frequencies are those of the linearised mechanism. The deep beam is once reduced to its clamped modes, once
described in mean axes (free; Craig-Bampton), where the joint itself has to clamp it. The deep beam and the solid, of
quadratic hexahedra, are compared with Timoshenko's theory.

Source: Euler-Bernoulli: cos k cosh k = -1; bars and shafts: quarter waves; Timoshenko cantilever: Huang, J. Appl.
Mech. 28 (1961) 579, as the zero of the determinant of the four end conditions.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

from bellcrank.flexible import (
    Clamped,
    CraigBampton,
    ElasticModel,
    Material,
    MeanAxes,
    Member,
    NormalModes,
    beam,
    rectangle,
    solid,
)
from bellcrank.model import System
from bellcrank.verify.cases import Quantity, Within

LENGTH, HEIGHT, WIDTH = 0.5, 0.02, 0.015
MATERIAL = Material(young=200e9, density=7830.0, poisson=0.0)
SECTION = rectangle(HEIGHT, WIDTH, 0.0)


def clamped_frequencies(member: Member) -> list[float]:
    """Of the body on a fixed joint at its start [Hz]."""
    system = System("cantilever", gravity=(0.0, 0.0, 0.0))
    body = system.flexible_body("beam", member)
    system.fixed("wall", system.ground.point(0.0, 0.0, 0.0), body.node("start"))
    return [float(mode.frequency) for mode in system.linearize().modes]


def euler(number: int, second_moment: float) -> float:
    """Frequency of bending mode `number` of a slender cantilever [Hz]."""

    def equation(k: float) -> float:
        return math.cos(k) + 1.0 / math.cosh(k)

    k = brentq(equation, (number - 1) * math.pi, number * math.pi, xtol=1e-14)
    stiffness = MATERIAL.young * second_moment / (MATERIAL.density * SECTION.area)
    return float(k**2 * math.sqrt(stiffness) / LENGTH**2 / (2.0 * math.pi))


def timoshenko(number: int, second_moment: float, shear_factor: float) -> float:
    """Frequency of bending mode `number` of a deep cantilever [Hz].

    Deflection v and the section's rotation t are sums of exponentials with four conditions at the ends.
    """
    A, E, G, rho = SECTION.area, MATERIAL.young, MATERIAL.shear, MATERIAL.density
    shear = shear_factor * G * A

    def determinant(omega: float) -> float:
        # E I t'' + k G A (v' - t) + rho I w^2 t = 0 and k G A (v'' - t') + rho A w^2 v = 0 with exp(s x)
        EI, m, j = E * second_moment, rho * A * omega**2, rho * second_moment * omega**2
        roots = np.roots([shear * EI, 0.0, m * EI + shear * j, 0.0, m * (j - shear)])
        ratio = (shear * roots**2 + m) / (shear * roots)
        end = np.exp(roots * LENGTH)
        rows = [np.ones(4), ratio, ratio * roots * end, (roots - ratio) * end]
        scaled = np.array([row / np.abs(row).max() for row in rows])
        value = np.linalg.det(scaled) * 1j
        # Two roots are real, two imaginary: exchanging the latter changes the sign, so their order is fixed.
        order = np.argsort(roots.imag)
        sign = np.linalg.det(np.eye(4)[order])
        return float((value * sign).real)

    first = euler(number, second_moment) * 2.0 * math.pi
    low, high = 0.9 * first, 1.0005 * first
    return float(brentq(determinant, low, high, xtol=1e-10)) / (2.0 * math.pi)


def block() -> ElasticModel:
    """The cantilever as a solid."""
    from skfem import MeshHex

    grid = (
        np.linspace(0, LENGTH, 21),
        np.linspace(-HEIGHT, HEIGHT, 2) / 2,
        np.linspace(-WIDTH, WIDTH, 2) / 2,
    )
    ends = {"start": lambda x: x[0] < 1e-9, "end": lambda x: x[0] > LENGTH - 1e-9}
    return solid("block", MeshHex.init_tensor(*grid), MATERIAL, ends, order=2, rigid=("start",))


def quantities() -> list[Quantity]:
    """Two bending frequencies in each direction, stretching and twisting."""
    relative = Within.RELATIVE
    rows = []
    slender = beam("beam", LENGTH, SECTION, MATERIAL, 24)
    Iz, Iy = SECTION.bending_z, SECTION.bending_y
    found = clamped_frequencies(slender.reduce(NormalModes(8), Clamped("start")))
    for n, reference in enumerate(sorted(euler(n, about) for n in (1, 2) for about in (Iy, Iz))):
        rows.append(Quantity(f"euler_{n + 1}", found[n], reference, 1e-5, "Hz", relative))
    deep = beam("beam", LENGTH, SECTION, MATERIAL, 40, theory="timoshenko")
    kinds = NormalModes(along={"y": 2, "z": 2, "x": 1, "turn": 1})
    bar = MATERIAL.bar_wave_speed / (4.0 * LENGTH)
    polar = (Iy + Iz) / MATERIAL.shear * MATERIAL.density
    shaft = math.sqrt(SECTION.torsion_constant / polar) / (4.0 * LENGTH)
    exact = sorted(
        [
            timoshenko(n, about, k)
            for n in (1, 2)
            for about, k in ((Iz, SECTION.shear_y), (Iy, SECTION.shear_z))
        ]
        + [bar, shaft]
    )
    for label, reduced in (
        ("clamped", deep.reduce(kinds, Clamped("start"))),
        ("free", deep.reduce(CraigBampton(["start"], 12), MeanAxes())),
    ):
        found = clamped_frequencies(reduced)
        for n, reference in enumerate(exact if label == "clamped" else exact[:4]):
            name = f"timoshenko_{label}_{n + 1}"
            rows.append(Quantity(name, found[n], reference, 1e-4, "Hz", relative))
    member = block().reduce(NormalModes(along={"y": 2, "z": 2, "x": 1}), Clamped("start"))
    found = clamped_frequencies(member)
    for n, reference in enumerate(sorted(set(exact) - {shaft})):
        rows.append(Quantity(f"solid_{n + 1}", found[n], reference, 3e-3, "Hz", relative))
    return rows
