"""Orders of convergence: time integration, elements, and the contact force under both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from bellcrank import elastic
from bellcrank.elastic import Element
from bellcrank.elastic.assembled import Assembled
from bellcrank.elastic.interface import Contact, ObstacleInterface
from bellcrank.elastic.stepping import Compatibility, Stepper
from bellcrank.verify.bar_on_wall import STEEL
from bellcrank.verify.sphere_on_wall import ball

FAR = elastic.RigidPlane(point=(0.0, -1e3))


def order(errors: list[float]) -> float:
    """Observed order of the last halving."""
    return float(np.log2(errors[-2] / errors[-1]))


@pytest.mark.parametrize(
    "scheme", [elastic.newmark(), elastic.generalised_alpha(0.8), elastic.generalised_alpha(0.0)]
)
def test_time_integration_is_of_second_order(scheme: elastic.Scheme) -> None:
    """A free bar in its first stretching mode; the far wall is never met."""
    length, count = 1.0, 8
    body = elastic.block(
        (0.1, length), elastic.Material(100.0, poisson=0.0, density=1.0), divisions=(1, count), velocity=_first_mode,
        supports=(elastic.Support(lambda x: np.ones(len(x), bool), "x"),),
    )  # fmt: skip
    ends = []
    for steps in (40, 80, 160, 1280):
        run = elastic.simulate(body, FAR, 0.3, 0.3 / steps, scheme=scheme)
        ends.append(run.displacement())
    errors = [float(np.abs(end - ends[-1]).max()) for end in ends[:-1]]
    assert order(errors) == pytest.approx(2.0, abs=0.15)


def _first_mode(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.column_stack([np.zeros(len(x)), np.cos(np.pi * x[:, 1])])


@pytest.mark.parametrize("element", list(Element))
def test_elements_have_their_order(element: Element) -> None:
    """Lowest frequency of stretching between held sides: error h^2 for first order, h^4 for second."""
    from scipy.sparse.linalg import eigsh

    d = element.dimension
    exact = (np.pi * np.sqrt(1.0 / 1.0)) ** 2
    errors = []
    for count in (8, 16) if element.order == 2 else (16, 32):
        sides = elastic.Support(lambda x: np.ones(len(x), bool), "xy" if d == 3 else "x")
        ends = elastic.Support(lambda x: x[:, -1] < 1e-9, "xyz"[d - 1])
        top = elastic.Support(lambda x: x[:, -1] > 1.0 - 1e-9, "xyz"[d - 1])
        across = (1,) * (d - 1)
        body = elastic.block(
            (0.25,) * (d - 1) + (1.0,), elastic.Material(1.0, poisson=0.0, density=1.0), element=element,
            divisions=(*across, count), supports=(sides, ends, top),
        )  # fmt: skip
        free = Assembled([body]).free
        k, m = (a[free][:, free].tocsc() for a in (body.stiffness_matrix, body.mass_matrix))
        lowest = float(eigsh(k, k=1, M=m, sigma=0.0, return_eigenvectors=False)[0])
        errors.append(lowest / exact - 1.0)
    assert min(errors) > 0.0
    # Tetrahedra come in from above: their sides across stay as long as they are while the elements grow shorter.
    assert order(errors) == pytest.approx(2.0 * element.order, abs=0.2)


def test_contact_force_converges_in_time() -> None:
    """The force curve on one mesh, in the mean over time: between first and second order."""
    body = ball(6, 6.0)
    times = np.arange(0.05, 3.0, 0.05)
    curves = []
    for step in (0.05, 0.025, 0.0125, 0.003125):
        run = elastic.simulate(body, elastic.RigidPlane(), 3.05, step)
        force = np.cumsum(np.asarray(run["contact.force"])) * step
        curves.append(np.interp(times, run.time, force))
    errors = [float(np.abs(curve - curves[-1]).mean() / curves[-1].max()) for curve in curves[:-1]]
    assert errors[-1] < 2e-3
    assert order([errors[0], errors[-1]]) / 2.0 > 0.8


def test_impulse_converges_with_the_mesh() -> None:
    """Rebound speed towards the reference as the mesh is refined."""
    speeds = []
    for divisions in (4, 8, 16):
        run = elastic.simulate(ball(divisions, 6.0), elastic.RigidPlane(), 3.2, 0.01)
        speeds.append(float(run.rebound_velocity()[1]))
    errors = [abs(speed - 0.9908) for speed in speeds]
    assert errors[2] < 2e-4
    assert errors[0] > errors[1] > errors[2] or errors[1] < 2e-4


def test_factorisation_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from bellcrank.elastic import assembled

    calls = []
    real = assembled.factorised
    monkeypatch.setattr(assembled, "factorised", lambda *a, **k: calls.append(1) or real(*a, **k))
    body = ball(4, 4.0)
    system = Assembled([body])
    interface = ObstacleInterface(Contact(body, elastic.RigidPlane()), system)
    stepper = Stepper(
        system, [interface], elastic.newmark(), 0.02, elastic.DirectActiveSet(), Compatibility()
    )
    now = stepper.start()
    for _ in range(20):
        now = stepper.advance(now)
    assert len(calls) == 1


def test_wave_speed_of_steel() -> None:
    assert STEEL.pressure_wave_speed == pytest.approx(5801.193511153, rel=1e-10)
    assert replace(STEEL, poisson=0.0).pressure_wave_speed == pytest.approx(5000.0)
