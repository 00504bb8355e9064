"""Contacts in an exported C file: rebounds and depths by closed forms, samples, and what cannot be exported."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from bellcrank.contact import LuGre
from bellcrank.errors import ModelError
from bellcrank.mechanism.export import export_of
from bellcrank.model import System
from contact.test_sampled import sampled_ellipsoid
from program.c_compiler import library, needs_gcc, pointer, relative


def ball(shape: str = "sphere", **contact: object) -> System:
    """Without gravity, 1 mm above the floor."""
    system = System("ball", gravity=(0.0, 0.0, 0.0))
    body = system.body("body", mass=0.5, inertia=(1e-3,) * 3, at=(0.0, 0.0, 0.051))
    system.free("flight", system.ground, body)
    shapes = {
        "sphere": lambda: body.sphere(0.05),
        "capsule": lambda: body.capsule(0.02, 0.03),
        "ellipsoid": lambda: body.ellipsoid(0.03, 0.04, 0.05),
    }
    given = {"treatment": "continuous", "stiffness": 1e9, **contact}
    system.contact("floor", system.ground.plane(), shapes[shape](), **given)  # type: ignore[arg-type]
    return system


class Machine:
    """An exported mechanism, stepped as hardware in the loop would, with one speed given."""

    def __init__(self, system: System, folder: Path, name: str = "", speed: float = 0.0) -> None:
        mechanism = system.mechanism()
        self.export = export_of(mechanism)
        mechanism.export_c(folder / "machine.c", "machine")
        self.code = library(folder / "machine.c")
        self.t = ctypes.c_double()
        self.y, self.p = np.zeros(len(self.export.states)), np.zeros(len(self.export.parameters))
        self.gap = np.zeros(len(self.export.touches))
        self.code.machine_initialise(ctypes.byref(self.t), pointer(self.y), pointer(self.p))
        if name:
            self.y[self.speed(name)] = speed
        self.touch()

    def touch(self) -> None:
        self.code.machine_touch(
            ctypes.c_double(self.t.value), pointer(self.y), pointer(self.p), pointer(self.gap)
        )

    def run(self, steps: int, h: float) -> np.ndarray:
        rows = []
        for _ in range(steps):
            assert (
                self.code.machine_step(
                    ctypes.byref(self.t), pointer(self.y), pointer(self.p), ctypes.c_double(h)
                )
                == 0
            )
            self.touch()
            rows.append([*self.y, *self.gap])
        return np.array(rows)

    def speed(self, name: str) -> int:
        return self.export.states.index(f"rate of {name}")


@needs_gcc
@pytest.mark.parametrize("shape", ["sphere", "capsule", "ellipsoid"])
@pytest.mark.parametrize("restitution", [0.3, 0.7])
def test_restitution_is_delivered(shape: str, restitution: float, tmp_path: Path) -> None:
    machine = Machine(ball(shape, restitution=restitution), tmp_path, "flight.velocity_z", -1.0)
    rows = machine.run(8000, 5e-7)
    fall = rows[:, machine.speed("flight.velocity_z")]
    assert fall[0] == -1.0
    assert rows[-1, -1] > 0.0
    assert fall[-1] == pytest.approx(restitution, rel=2e-4)


@needs_gcc
def test_depth_and_time_are_those_of_hertz(tmp_path: Path) -> None:
    """Largest approach (5 m v^2 / 4 K)^(2/5), duration 2.9432752 of it over v."""
    machine = Machine(ball(law="hertz"), tmp_path, "flight.velocity_z", -1.0)
    h = 5e-7
    rows = machine.run(6000, h)
    depth = (5.0 * 0.5 / (4.0 * 1e9)) ** 0.4
    assert -rows[:, -1].min() == pytest.approx(depth, rel=1e-6)
    assert h * np.count_nonzero(rows[:, -1] < 0.0) == pytest.approx(2.9432752 * depth, rel=2e-3)
    assert rows[-1, machine.speed("flight.velocity_z")] == pytest.approx(1.0, rel=1e-7)


@needs_gcc
def test_balls_of_equal_mass_exchange_their_speeds(tmp_path: Path) -> None:
    system = System("balls", gravity=(0.0, 0.0, 0.0))
    bodies = [
        system.body(f"ball {k}", mass=0.5, inertia=(1e-3,) * 3, at=(0.101 * k, 0.0, 0.0)) for k in range(2)
    ]
    for k, body in enumerate(bodies):
        system.free(f"flight {k}", system.ground, body)
    system.contact(
        "blow",
        bodies[0].sphere(0.05),
        bodies[1].sphere(0.05),
        treatment="continuous",
        stiffness=1e7,
        law="hertz",
    )
    machine = Machine(system, tmp_path, "flight 0.velocity_x", 1.0)
    last = machine.run(4000, 1e-6)[-1]
    assert last[machine.speed("flight 0.velocity_x")] == pytest.approx(0.0, abs=1e-7)
    assert last[machine.speed("flight 1.velocity_x")] == pytest.approx(1.0, rel=1e-7)


@needs_gcc
def test_bristles_are_states_of_the_file(tmp_path: Path) -> None:
    system = ball(law="hertz", friction=LuGre(0.5, stiffness=1e5))
    machine = Machine(system, tmp_path)
    mechanism = system.mechanism()
    assert [name for name in machine.export.states if name.startswith("state ")] == [
        f"state floor bend {axis}" for axis in "xyz"
    ]
    x = mechanism.kernel_input()
    height = int(np.flatnonzero(x == 0.051)[0])
    n = len(machine.y)
    x[1 : 1 + n] += np.random.default_rng(5).normal(0.0, 1e-4, n)
    x[height] = 0.0499
    rates = np.zeros(n)
    y, p = x[1 : 1 + n].copy(), x[1 + n :].copy()
    machine.code.machine_rates(ctypes.c_double(0.0), pointer(y), pointer(p), pointer(rates))
    assert relative(rates, mechanism.kernel(x)) < 1e-13


@needs_gcc
def test_samples_press_in_the_file_as_they_do_in_a_run(tmp_path: Path) -> None:
    """Rates of the file at overlapping poses are those of the kernel, wherever its search begins."""
    system = System("egg")
    body = system.body("egg", mass=1.0, inertia=(4e-3, 5e-3, 6e-3), at=(0.0, 0.0, 0.0895))
    system.free("flight", system.ground, body)
    shape = body.shape(sampled_ellipsoid(600, (0.12, 0.1, 0.09)))
    given = {"treatment": "continuous", "restitution": 0.1, "friction": 0.2, "stiffness": 1e6}
    system.contact("floor", system.ground.plane(), shape, **given)  # type: ignore[arg-type]
    machine, mechanism = Machine(system, tmp_path), system.mechanism()
    assert machine.gap == pytest.approx([-5e-4], rel=0.02)
    kept = list(machine.export.parameters).index("floor nearest 0")
    x = mechanism.kernel_input()
    n = len(machine.y)
    random, rates = np.random.default_rng(5), np.zeros(n)
    for begins in (-1.0, 0.0, 5.0):
        y, p = machine.y + random.normal(0.0, 1e-4, n), x[1 + n :].copy()
        x[1 : 1 + n] = y
        p[kept] = begins
        machine.code.machine_rates(ctypes.c_double(0.0), pointer(y), pointer(p), pointer(rates))
        assert np.abs(rates).max() > 1.0
        assert relative(rates, mechanism.kernel(x)) < 1e-11


def test_impacts_are_refused_by_name(tmp_path: Path) -> None:
    system = System("struck")
    body = system.body("body", mass=1.0, inertia=(1.0,) * 3, at=(0.0, 0.0, 1.0))
    system.free("flight", system.ground, body)
    system.contact("floor", system.ground.plane(), body.sphere(0.1))
    with pytest.raises(ModelError, match=r"contact 'floor' strikes.*treatment='continuous'"):
        system.mechanism().export_c(tmp_path / "struck.c")
