"""A batch by the text for graphics processors, run on this one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from batch.test_batch import blowing_up, parallelogram, swing
from bellcrank.batch import device as on_device
from bellcrank.batch import simulate_many
from bellcrank.errors import ModelError
from bellcrank.integrate import integrate
from bellcrank.mechanism import analyse
from bellcrank.model import System
from bellcrank.program import cuda
from bellcrank.program.gpu import integrate_adaptive
from bellcrank.run.run import Run
from bellcrank.run.simulation import stepping
from program.c_compiler import needs_gxx
from program.cuda_shim import Processor

NAMES = ["bob.position", "pivot.angle_rate"]


@pytest.fixture
def _processor(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    processor = Processor(tmp_path)
    monkeypatch.setattr(on_device, "device", lambda: processor)
    monkeypatch.setattr(on_device.cuda, "BLOCK", {"double": 4, "single": 4})


@needs_gxx
@pytest.mark.usefixtures("_processor")
@pytest.mark.parametrize(("precision", "bound"), [("double", 1e-7), ("single", 1e-3)])
def test_the_same_as_on_the_processor(precision, bound: float) -> None:
    mechanism = analyse(swing())
    table = {"stiffness": np.linspace(30.0, 60.0, 5)}
    tolerance = 1e-9 if precision == "double" else 1e-5
    expected = mechanism.simulate_many(table, 1.0, quantities=NAMES, tolerance=1e-11, output=10)
    for how in ({"integrator": "dormand_prince5"}, {"integrator": "runge_kutta4", "step": 1e-3}):
        found = mechanism.simulate_many(
            table,
            1.0,
            quantities=NAMES,
            tolerance=tolerance,
            output=10,
            device="gpu",
            precision=precision,
            **how,
        )
        assert found.done.all()
        assert found.run.alone == 0
        for name in NAMES:
            np.testing.assert_allclose(found[name], expected[name], rtol=0.0, atol=bound)


@needs_gxx
@pytest.mark.usefixtures("_processor")
def test_what_fails_there_runs_here() -> None:
    found = simulate_many(
        blowing_up(), {"gain": [0.0, 50.0, 0.1]}, 3.0, quantities=["cart.position.x"], output=30,
        integrator="dormand_prince5", device="gpu",
    )  # fmt: skip
    np.testing.assert_array_equal(found.done, [True, False, True])
    assert found.failures[0].values == {"gain": 50.0}
    assert np.isfinite(found["cart.position.x"][1, 0])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"device": "gpu", "integrator": "dop853"},
            "dormand_prince5, runge_kutta4, runge_kutta5, not 'dop853'",
        ),
        ({"device": "gpu", "integrator": "runge_kutta4"}, "give step="),
        ({"device": "gpu", "integrator": "runge_kutta4", "step": 0.03}, "a whole number of steps"),
        ({"device": "gpu", "integrator": "dormand_prince5", "step": 0.03}, "goes with integrator"),
        ({"precision": "single"}, "device='gpu'"),
        ({"device": "tpu"}, "cpu"),
    ],
)
def test_what_does_not_go_together(options, words: str) -> None:
    with pytest.raises((ModelError, ValueError, KeyError), match=words):
        simulate_many(swing(), {"mass": [2.0]}, 1.0, quantities=NAMES, output=10, **options)


@needs_gxx
@pytest.mark.usefixtures("_processor")
@pytest.mark.parametrize(
    "how", [{"integrator": "dormand_prince5"}, {"integrator": "runge_kutta4", "step": 2e-3}]
)
def test_instances_beside_a_change_point_run_here(how) -> None:
    """Slow passes of a parallelogram: rounding would take energy there, or give it."""
    speeds = -np.geomspace(1e-3, 3.0, 12)
    table = {"main.angle": np.full(len(speeds), 0.05), "main.angle_rate": speeds}
    names = ["energy.total", "energy.kinetic"]
    found = simulate_many(parallelogram(), table, 1.0, quantities=names, output=10, device="gpu", **how)
    assert found.done.all()
    assert found.run.alone == len(speeds)
    energy, kinetic = (np.asarray(found[name]) for name in names)
    assert np.all(np.abs(energy - energy[:, :1]).max(axis=1) < 1e-6 * kinetic.max(axis=1))


def far_pendulum(away: float, size: float) -> System:
    """A body of some size on a spring, free in space, away from the origin."""
    system = System("far", gravity=(0.0, 0.0, -9.81 * size))
    body = system.body("bob", mass=1.0, inertia=(0.4 * size**2,) * 3, at=(away, 0.0, 0.0))
    system.free("flight", system.ground, body)
    hook = system.ground.point(away + size, 0.0, 2.0 * size)
    spring = {"stiffness": 40.0, "damping": 0.3, "free_length": size}
    system.spring("spring", hook, body.point(0.3 * size, 0.1 * size, 0.0), **spring)
    return system


@needs_gxx
@pytest.mark.parametrize("method", ["dormand_prince5", "runge_kutta5"])
@pytest.mark.parametrize(("away", "size"), [(0.0, 1.0), (1000.0, 0.01), (0.0, 300.0)])
def test_steps_are_those_of_the_processor(tmp_path, method: str, away: float, size: float) -> None:
    mechanism = analyse(far_pendulum(away, size))
    options = replace(stepping(mechanism, 1e-6, 0.0, np.inf), first_step=1e-3)
    times = np.array([1.5])
    run = Run(mechanism, method, (), ())
    start = mechanism.start
    expected = integrate(run.problem(start.q, start.u, 0.0, np.zeros(0)), method, times, options=options)
    there = on_device.DeviceRun.of(mechanism, method, times, options, on=Processor(tmp_path))
    y = run.machine.pack(start.q, start.u)[None]
    found, status, counts = integrate_adaptive(
        there.on, there.source, cuda.BLOCK["double"], 0.0, y, np.zeros((1, 0)), times, options.rtol, there.absolute,
        np.float64, 1e-11, options.first_step, lengths=there.lengths,
    )  # fmt: skip
    assert status[0] == 0
    assert counts[0] == expected.steps
    assert counts[0] > 20
    # A place is the sum of three products and a place: three roundings at its size.
    rounding = 1e-11 * max(1.0, size) + 3e-12 * away
    np.testing.assert_allclose(found[0, :, 0], expected.y[0], rtol=0.0, atol=rounding)
