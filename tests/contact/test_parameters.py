"""Material and friction of a continuous contact as parameters: derivatives, files, and values that make no sense."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.contact import Coulomb, LuGre
from bellcrank.files import dumps, loads

VALUES = {"E": 2e5, "mu": 0.3, "more": 0.1}


def sliding(method: str, law: type[Coulomb] | type[LuGre] = Coulomb) -> bc.System:
    """A ball is pressed onto the floor and slides."""
    system = bc.System("sliding", gravity=(0, 0, -9.81))
    young, mu, more = (system.parameter(name, value) for name, value in VALUES.items())
    ball = system.body("ball", mass=0.5, inertia=(0.002,) * 3, at=(0, 0, 0.099))
    system.free("flight", system.ground, ball)
    system.initial("flight", {"velocity": (1.0, 0.0, 0.0)})
    system.contact(
        "floor",
        system.ground.plane(),
        ball.sphere(0.1),
        0.5,
        friction=law(mu, static=mu + more),
        young=(young, float("inf")),
        treatment="continuous",
        method=method,
    )
    return system


@pytest.mark.parametrize("method", ["points", "field"])
def test_derivatives_by_material_and_friction_are_those_of_runs(method: str) -> None:
    system, names = sliding(method), ["ball.position.x", "ball.position.z"]
    found = system.sensitivity(0.05, outputs=names, by=list(VALUES), tolerance=1e-10)
    for name, at in VALUES.items():
        h = 1e-3 * at
        ends = []
        for sign in (1, -1):
            run = system.simulate(0.05, parameters={name: at + sign * h}, tolerance=1e-11)
            ends.append([run[n][-1] for n in names])
        slopes = (np.array(ends[0]) - ends[1]) / (2 * h)
        assert [found[n, name][-1] for n in names] == pytest.approx(slopes, rel=2e-3, abs=1e-9 / at)


@pytest.mark.parametrize("law", [Coulomb, LuGre])
def test_a_file_keeps_them(law: type[Coulomb] | type[LuGre]) -> None:
    again = loads(dumps(sliding("field", law)))
    values = {"E": 3e5, "mu": 0.2, "more": 0.0}
    ends = [
        s.simulate(0.03, parameters=values, output=2)["ball.position"].to_numpy()
        for s in (sliding("field", law), again)
    ]
    assert np.array_equal(*ends)


def test_values_that_make_no_sense_are_refused() -> None:
    system = bc.System("one")
    ball = system.body("ball", mass=1.0, inertia=(1.0,) * 3)
    pair = system.ground.plane(), ball.sphere(0.1)
    low = system.parameter("low", -0.1)
    for given, words in (
        ({"friction": low}, "friction of contact 'c' is -0.1"),
        ({"friction": Coulomb(0.2, static=low)}, "static"),
        ({"young": low}, "young of contact 'c'"),
        ({"young": bc.System("two").parameter("E", 1e5)}, "not a parameter of this system"),
    ):
        with pytest.raises(bc.ModelError, match=words):
            system.contact("c", *pair, 0.5, treatment="continuous", **given)


@pytest.mark.parametrize("above", [1e-9, 0.0, -2e-6, -1e-4])
def test_derivatives_of_a_body_that_is_laid_down_are_those_of_runs(above: float) -> None:
    """The speed that the damping refers to follows the stiffness: the deeper it sinks, the faster it is.

    It touches in the run, as it begins, or was put in by less and by more than its weight presses it.
    """
    system = bc.System("laid down")
    body = system.body("body", mass=1.0, inertia=(4e-3,) * 3, at=(0.0, 0.0, 0.1 + above))
    system.free("flight", system.ground, body)
    k = system.parameter("k", 1e6)
    system.contact(
        "floor", system.ground.plane(), body.sphere(0.1), 0.5, 0.0, treatment="continuous", stiffness=k
    )
    how = {"output": 4, "tolerance": 1e-11, "integrator": "dop853"}
    names, h = ("body.position.z", "body.velocity.z"), 10.0
    found = system.sensitivity(0.01, outputs=names, by=["k"], **how)
    low, high = (system.simulate(0.01, parameters={"k": 1e6 + d}, **how) for d in (-h, h))
    for name in names:
        slope = (high[name][-1] - low[name][-1]) / (2 * h)
        assert found[name, "k"][-1] == pytest.approx(slope, rel=1e-6)
