"""Optimisation against closed forms; exact gradients against differences."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import BellcrankError, ModelError
from bellcrank.study import Choice, Function, Limit, Study, Uniform
from bellcrank.study.evaluation import Evaluator
from bellcrank.study.files import load_study
from study.models import cart, oscillator, runaway

EXAMPLES = Path(__file__).parents[2] / "examples"


def damper(**more) -> Study:
    """The integral of x^2 over a long time of an oscillator let go at x0.

    For m x'' + c x' + k x = 0 it is x0^2 (m / (2 c) + c / (2 k)), least for c = sqrt(m k).
    """
    variables = {"damping": Uniform(2.0, 40.0)}
    squared = Function(
        lambda run: float(np.trapezoid(np.asarray(run["block.position.x"]) ** 2, run.time)),
        ["block.position.x"],
        "m^2 s",
    )
    measures = {"rms": "rms of block.position.x", "squared": squared}
    given = {"duration": 8.0, "objective": "rms", "tolerance": 1e-10, "output": 2000} | more
    return Study(oscillator(), variables, {"rms": measures["rms"]} | given.pop("measures", {}), **given)


BEST = math.sqrt(1.0 * 100.0)


@pytest.mark.parametrize(
    "method",
    ["slsqp", "l-bfgs-b", "trust-constr", "nelder-mead", "powell", "cobyqa", "differential-evolution"],
)
def test_the_best_damper(method: str) -> None:
    found = damper().optimise(method=method, tolerance=1e-8, begin={"damping": 25.0})
    assert found.status == "converged"
    assert found.feasible
    assert found.variables["damping"] == pytest.approx(BEST, rel=2e-4)
    # The rms by the trapezoidal rule over 8 s, by which the motion has died out.
    assert found.measures["rms"] == pytest.approx(0.1 * math.sqrt((1.0 / BEST) / 8.0), rel=1e-4)
    assert (found.gradients is not None) == (method in ("slsqp", "l-bfgs-b", "trust-constr"))
    if found.gradients is not None:
        assert abs(found.gradients["rms"]["damping"]) < 1e-6
    assert len({e.point.tobytes() for e in found.history}) == len(found.history)


@pytest.mark.parametrize("method", ["slsqp", "trust-constr", "cobyqa", "differential-evolution"])
def test_constraints_hold(method: str) -> None:
    """Pushed from rest for 1 s the cart has twice the speed of its way, so a limit of 2 m/s lets it go 1 m."""
    variables = {name: Uniform(0.0, 1.0) for name in "abc"}
    study = Study(
        cart(),
        variables,
        {"way": "final of cart.position.x", "speed": "final of cart.velocity.x"},
        1.0,
        output=4,
        objective="way",
        maximise=True,
        constraints={"speed": Limit(at_most=2.0)},
    )
    options = {"popsize": 6} if method == "differential-evolution" else {}
    found = study.optimise(method=method, tolerance=1e-8, options=options)
    assert found.feasible
    assert found.measures["way"] == pytest.approx(1.0, rel=1e-4)
    assert found.measures["speed"] <= 2.0 * (1.0 + 1e-6)


def differences(study: Study, point: dict[str, float], measure: str) -> np.ndarray:
    """Central differences of fourth order, on runs without tangents."""
    from bellcrank.study import Given

    names = list(study.variables)
    rows, steps = [], {}
    for name in names:
        steps[name] = 2e-4 * point[name]
        for k in (-2, -1, 1, 2):
            rows.append({**point, name: point[name] + k * steps[name]})
    columns = {name: np.array([row[name] for row in rows]) for name in names}
    wide = {name: Uniform(0.1 * point[name], 10.0 * point[name]) for name in names}
    found = (
        replace(study, variables=wide, design=Given(columns), integrator="dop853")
        .run()[measure]
        .reshape(-1, 4)
    )
    return np.array(
        [w @ [1.0, -8.0, 8.0, -1.0] / (12.0 * steps[n]) for n, w in zip(names, found, strict=True)]
    )


@pytest.mark.parametrize("start", ["described", "equilibrium"])
def test_gradients_against_differences(start: str) -> None:
    """The quarter car: starts that move with the parameters included, where the spring is not trimmed."""
    study = load_study(EXAMPLES / "quarter_car.study")
    study = replace(
        study,
        start=start,
        tolerance=1e-12,
        fixed={"wheel_mass": 38.0},
        variables={
            **study.variables,
            "body_mass": Uniform(200.0, 500.0),
            "tyre_stiffness": Uniform(1e5, 3e5),
        },
        measures={"comfort": "rms of body.acceleration.z", "end": "final of suspension.length"},
        constraints={},
    )
    point = {"stiffness": 20e3, "damping": 1800.0, "body_mass": 300.0, "tyre_stiffness": 1.9e5}
    found = Evaluator(study, True).at(np.array([*point.values()]))[0]
    assert not found.reason
    for measure in study.measures:
        near = differences(study, point, measure)
        np.testing.assert_allclose(found.gradients[measure], near, rtol=1e-6, atol=1e-6 * np.abs(near).max())


def test_equilibrium_moves_with_the_parameters() -> None:
    """A pendulum with a torsion spring, its support moved by a parameter, in a closed loop with a rocker."""
    from mechanism.linkages import four_bar

    system = four_bar(C=(1.1, 0.95))
    k = system.parameter("spring", 40.0, "N m/rad")
    system.torsion_spring("return", next(iter(system.joints)), stiffness=k, damping=1.0, free_angle=0.6)
    mechanism = system.mechanism()
    state = mechanism.equilibrium().state
    from dataclasses import replace as changed

    from bellcrank.analyses.equilibrium_tangent import equilibrium_tangents

    here = changed(mechanism, start=state).with_programs_of(mechanism)
    dq, du = equilibrium_tangents(here, [0])
    h = 0.02
    ends = [
        mechanism.equilibrium(parameters={"spring": 40.0 + s * h}, start=state).state.q
        for s in (-2, -1, 1, 2)
    ]
    near = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * h)
    np.testing.assert_allclose(dq[:, 0], near, rtol=1e-6, atol=1e-8)
    assert not du.any()
    found = system.sensitivity(0.2, outputs=["coupler.position.x"], start="equilibrium", output=4)
    # A mechanism that rests stays where its equilibrium is.
    at_start = found["coupler.position.x", "spring"]
    np.testing.assert_allclose(at_start, at_start[0], rtol=1e-5)
    assert abs(at_start[0]) > 1e-6


def test_a_killed_search_goes_on_where_it_was(tmp_path) -> None:
    """The search is stopped in the middle; started again, it asks for no point twice and ends the same."""
    study = damper()
    whole = study.optimise(method="nelder-mead", begin={"damping": 30.0})

    class Killed(Exception):
        pass

    def stop_after(count: int):
        seen = []

        def seeing(evaluation) -> None:
            seen.append(evaluation)
            if len(seen) == count:
                raise Killed

        return seeing

    import bellcrank.study.optimise as search

    original = search._Line.show
    try:
        stopping = stop_after(7)
        search._Line.show = lambda self, evaluation: stopping(evaluation)
        with pytest.raises(Killed):
            study.optimise(method="nelder-mead", begin={"damping": 30.0}, store=tmp_path / "points")
    finally:
        search._Line.show = original
    assert len(list((tmp_path / "points").glob("part-*"))) == 7
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "points").glob("part-*")}
    again = study.optimise(method="nelder-mead", begin={"damping": 30.0}, store=tmp_path / "points")
    assert again.variables == whole.variables
    assert len(again.history) == len(whole.history)
    assert all(p.stat().st_mtime_ns == t for p, t in before.items())
    with pytest.raises(ModelError, match="differs in: search"):
        study.optimise(method="powell", store=tmp_path / "points")


def test_python_functions_and_impacts_go_without_gradients() -> None:
    measures = {
        "late": Function(
            lambda run: float(np.abs(run["block.position.x"][-500:]).max()), ["block.position.x"]
        )
    }
    study = damper(measures=measures, objective="late")
    with pytest.raises(ModelError, match="Python function, which has no exact gradient"):
        study.optimise()
    assert study.optimise(method="nelder-mead", tolerance=1e-3).status == "converged"
    stop = bc.Event("middle", lambda m: m["block.position.x"], stops=True)
    with pytest.raises(ModelError, match="do not follow events"):
        damper(events=[stop]).optimise()


def test_failing_runs_steer_the_search_away() -> None:
    study = Study(
        runaway(),
        {"gain": Uniform(-1.0, 4.0)},
        {"end": "final of cart.position.x"},
        3.0,
        output=30,
        objective="end",
    )
    found = study.optimise(method="differential-evolution", options={"popsize": 8, "maxiter": 20})
    assert any(e.reason for e in found.history)
    assert found.variables["gain"] < 0.0
    for method in ("slsqp", "nelder-mead"):
        with pytest.raises(BellcrankError, match="first point cannot be simulated"):
            study.optimise(begin={"gain": 3.9}, method=method)
    hopeless = replace(study, variables={"gain": Uniform(10.0, 20.0)})
    with pytest.raises(BellcrankError, match="no point could be simulated"):
        hopeless.optimise(method="differential-evolution", options={"popsize": 4, "maxiter": 2})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "newton"}, "no method named 'newton'"),
        ({"begin": {"damping": 100.0}}, "outside of its range"),
        ({"begin": {"dampin": 3.0}}, "did you mean 'damping'"),
        ({"cluster": "local"}, "one point after the other"),
    ],
)
def test_mistakes_are_told(options, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        damper().optimise(**options)


def test_more_mistakes_are_told() -> None:
    with pytest.raises(ModelError, match="takes no constraints"):
        damper(constraints={"rms": Limit(at_most=1.0)}).optimise(method="nelder-mead")
    with pytest.raises(ModelError, match="needs the objective"):
        damper(objective=None).optimise()
    with pytest.raises(ModelError, match="separate values"):
        replace(damper(), variables={"damping": Choice([1.0, 2.0])}).optimise()
