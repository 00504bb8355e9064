"""Stiff problems with known answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bellcrank.integrate import Options, Problem, Sample, integrate
from bellcrank.integrate.auto import explicit as chosen
from bellcrank.mechanism import analyse
from bellcrank.model import System
from bellcrank.program.derive import jvp_program
from bellcrank.program.kernel import compile_program
from bellcrank.run.simulation import simulate
from integrate.problems import kernel, oscillator, van_der_pol


def _prothero_robinson(x, y):
    y[0] = x[2] * (x[1] - np.cos(x[0])) - np.sin(x[0])


@pytest.mark.parametrize("method", ["radau", "generalised_alpha"])
@pytest.mark.parametrize("eigenvalue", [-1e2, -1e6])
def test_prothero_robinson(method, eigenvalue):
    problem = Problem(kernel(_prothero_robinson), np.array([1.0]), p=np.array([eigenvalue]))
    result = integrate(problem, method, np.linspace(0, 10, 51), Options(rtol=1e-7, atol=1e-7))
    assert result.y[:, 0] == pytest.approx(np.cos(result.t), abs=2e-5)
    assert result.steps < 10 * 1e6 / 3.3 / 100


@pytest.mark.parametrize("jacobian", ["kernel", "directional", "differences"])
def test_van_der_pol_of_the_ivp_test_set(jacobian):
    # Reference of the test set for initial value problem solvers (Bari), problem VDPOL, t = 2.
    problem = replace(van_der_pol(1e-6), y0=np.array([2.0, 0.0]))
    if jacobian != "kernel":
        problem = replace(problem, jacobian=0, tangent=problem.tangent if jacobian == "directional" else 0)
    result = integrate(problem, "radau", [2.0], Options(rtol=1e-10, atol=1e-10))
    assert result.y[-1] == pytest.approx([1.706167732170483, -0.8928097010247975], rel=1e-11)
    assert result.steps < 10_000


def test_van_der_pol_by_generalised_alpha():
    """Errors no larger than what the steps allow together, of order 2; the stiff speed has none of its own.

    The reference is the method of order 5 at a tighter tolerance. On the slow curve y' = y / (1 - y^2) but for terms of
    epsilon, so that an error of y moves y' along it.
    """
    problem = van_der_pol(1e-3)
    reference = integrate(problem, "radau", [0.5], Options(rtol=1e-12, atol=1e-12)).y[-1]
    y = reference[0]
    errors, steps = [], []
    for tolerance in (1e-6, 1e-7, 1e-8):
        damped = Options(rtol=tolerance, atol=tolerance, spectral_radius=0.2)
        found = integrate(problem, "generalised_alpha", [0.5], damped)
        error = found.y[-1] - reference
        assert (np.abs(error) < found.steps * tolerance * (1.0 + np.abs(reference))).all()
        assert error[1] == pytest.approx((1.0 + y * y) / (1.0 - y * y) ** 2 * error[0], rel=5e-3)
        errors.append(abs(error[0]))
        steps.append(found.steps)
    assert steps[0] < 80
    assert np.diff(np.log(errors)) / np.diff(np.log(steps)) == pytest.approx(-2.0, abs=0.2)


def _robertson(x, y):
    y[0] = -0.04 * x[1] + 1e4 * x[2] * x[3]
    y[2] = 3e7 * x[2] * x[2]
    y[1] = -y[0] - y[2]


def test_robertson():
    # t = 40: Hairer, Wanner, IV.10; t = 1e11: test set for initial value problem solvers (Bari), ROBER.
    problem = Problem(kernel(_robertson), np.array([1.0, 0.0, 0.0]))
    result = integrate(problem, "radau", [40.0, 1e11], Options(rtol=1e-10, atol=[1e-12, 1e-16, 1e-12]))
    assert result.y[0] == pytest.approx([0.7158270688, 0.9185534765e-5, 0.2841637458], rel=1e-8)
    assert result.y[1] == pytest.approx(
        [0.2083340149701255e-07, 0.8333360770334713e-13, 0.9999999791665050], rel=1e-9
    )
    assert result.steps < 3000


def test_radau_damps_and_generalised_alpha_keeps_what_it_is_told():
    def size(method, radius, step):
        options = Options(fixed_step=step, spectral_radius=radius, rtol=1e-10, atol=1e-12)
        return np.linalg.norm(integrate(oscillator(), method, [1000.0 * step], options).y[-1])

    # A vibration far above the step frequency.
    assert size("generalised_alpha", 1.0, 50.0) == pytest.approx(1.0, abs=1e-6)
    assert size("generalised_alpha", 0.5, 50.0) < 1e-6
    assert size("radau", 0.5, 50.0) < 1e-6


def test_auto_changes_method_when_the_motion_becomes_stiff_and_back():
    problem = van_der_pol(1e-3)
    options = Options(rtol=1e-8, atol=1e-8)
    result = integrate(problem, "auto", np.linspace(0, 2, 21), options)
    reference = integrate(problem, "radau", np.linspace(0, 2, 21), Options(rtol=1e-11, atol=1e-11))
    assert result.y == pytest.approx(reference.y, rel=1e-4, abs=1e-4)
    assert [name for _, name in result.switches][:2] == ["dop853", "radau"]
    explicit = integrate(problem, "dop853", [2.0], options)
    assert result.evaluations < explicit.evaluations


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-8])
def test_auto_stays_explicit_on_a_smooth_motion(tolerance):
    options = Options(rtol=tolerance, atol=tolerance)
    name = chosen(options)
    result, explicit = (integrate(oscillator(), method, [100.0], options) for method in ("auto", name))
    assert [name for _, name in result.switches] == [name]
    # Watching the largest eigenvalue costs a few evaluations.
    assert result.evaluations < 1.05 * explicit.evaluations


@pytest.mark.parametrize("angle", [180.0, 135.0, 100.0, 95.0])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-8])
def test_auto_notices_stiffness_wherever_the_eigenvalue_lies(angle, tolerance):
    """A decayed vibration of frequency 1e4 beside a slow motion; at 1e-8 the steps stay far inside the border."""
    a, b = 2e4 * np.cos(np.radians(angle)), 1e8

    def rhs(x, y):
        # The smooth solution z = cos t satisfies this for every a and b.
        y[0] = x[2]
        y[1] = -np.cos(x[0]) + x[3] * (x[2] + np.sin(x[0])) - x[4] * (x[1] - np.cos(x[0]))

    problem = Problem(kernel(rhs), np.array([1.0, 0.0]), p=np.array([a, b]))
    options = Options(rtol=tolerance, atol=tolerance)
    result = integrate(problem, "auto", [5.0], options)
    assert [name for _, name in result.switches] == [chosen(options), "radau"]
    assert result.switches[1][0] < 0.1
    assert result.y[-1] == pytest.approx([np.cos(5.0), -np.sin(5.0)], abs=100 * tolerance)


def test_auto_notices_stiffness_between_the_calls_of_a_controller():
    def rhs(x, y):
        y[0] = 1e5 * (x[2] * np.cos(x[0]) - x[1])

    problem = Problem(kernel(rhs), np.array([1.0]), p=np.array([1.0]))
    sample = Sample(5e-4, lambda t, y, p: {0: 1.0 + 1e-3 * np.sin(t)})
    result = integrate(problem, "auto", [0.1], Options(rtol=1e-4, atol=1e-4), samples=[sample])
    assert [name for _, name in result.switches][:2] == ["runge_kutta5", "radau"]


def test_auto_returns_to_the_explicit_method():
    def rhs(x, y):
        # A spring that is stiff and damped only for 1 < t < 3.
        on = 1.0 if 1.0 < x[0] < 3.0 else 0.0
        y[0] = x[2]
        y[1] = -x[1] - on * 1e6 * x[2]

    problem = Problem(kernel(rhs), np.array([1.0, 0.0]))
    result = integrate(problem, "auto", [30.0], Options(rtol=1e-6, atol=1e-8, max_step=0.5))
    assert [name for _, name in result.switches] == ["dop853", "radau", "dop853"]


def test_promises_that_kinks_break_do_not_make_auto_change_on_and_on():
    """Between the kinks of a rectangular force the motion is slow, but no step of any method can be long."""

    def rhs(x, y):
        force = 1.0 if np.sin(1e3 * x[0]) > 0.0 else -1.0
        y[0] = x[2]
        y[1] = 1e6 * (force - x[1]) - 1.4e3 * x[2]

    problem, options = Problem(kernel(rhs), np.zeros(2)), Options(rtol=1e-6, atol=1e-6)
    auto, *single = (integrate(problem, method, [0.5], options) for method in ("auto", "dop853", "radau"))
    assert len(auto.switches) <= 3
    assert auto.evaluations < 1.1 * min(one.evaluations for one in single)


def test_what_kinks_cost_does_not_keep_auto_from_radau_in_the_rest_behind_them():
    def rhs(x, y):
        force = np.cos(x[0])
        if 0.05 < x[0] < 0.1:
            force = 1.0 if np.sin(400.0 * x[0]) > 0.0 else -1.0
        y[0] = x[2]
        y[1] = 1e10 * (force - x[1]) - 1.4e5 * x[2]

    problem, options = Problem(kernel(rhs), np.array([1.0, 0.0])), Options(rtol=1e-6, atol=1e-6)
    auto, radau = (integrate(problem, method, [1.5], options) for method in ("auto", "radau"))
    assert [name for _, name in auto.switches][:3] == ["dop853", "radau", "dop853"]
    assert auto.evaluations < 1.3 * radau.evaluations


STIFFNESS = 1e7


def _swing_system(stiffness: float | None) -> System:
    """A swing whose bearing block of 1 kg is held by a rubber bushing damped to 8 %; None: by a weld."""
    system = System("swing on a bushing", gravity=(0.0, -9.81, 0.0))
    block = system.body("block", 1.0, (0.01, 0.01, 0.01))
    arm = system.body("arm", 2.0, (0.1, 0.1, 0.1), (0.8, 0.0, 0.0))
    if stiffness is None:
        system.fixed("mount", system.ground, block)
    else:
        damping = 0.16 * np.sqrt(stiffness)
        system.free("mount", system.ground, block)
        system.bushing(
            "rubber",
            system.ground,
            block,
            stiffness=[stiffness] * 3 + [1e-2 * stiffness] * 3,
            damping=[damping] * 3 + [1e-2 * damping] * 3,
        )
    system.revolute("bearing", block, arm, at=(0.0, 0.0, 0.0))
    return system


def _swing(integrator: str, stiffness: float | None = STIFFNESS):
    return simulate(
        _swing_system(stiffness), 10.0, integrator=integrator, tolerance=1e-6, output=100, progress=False
    )


@pytest.mark.parametrize(("method", "beside"), [("radau", 2.0), ("auto", 3.0)])
def test_the_motion_sets_the_step_not_a_bushing(method, beside):
    implicit, explicit, welded = _swing(method), _swing("dop853"), _swing("radau", None)
    # The bushing swings with 3000 rad/s and more, which an explicit method must follow.
    assert implicit.run.steps < 0.12 * explicit.run.steps
    # Beside the swing there is the first settling of the bushing, and for `auto` the time until it notices.
    assert implicit.run.steps < beside * welded.run.steps
    assert np.asarray(implicit["bearing.angle"]) == pytest.approx(
        np.asarray(explicit["bearing.angle"]), abs=2e-4
    )


def test_the_steps_do_not_grow_with_the_stiffness():
    steps = [_swing("radau", k).run.steps for k in (1e7, 1e8, 1e9)]
    assert max(steps) < 1.5 * min(steps)


def test_auto_goes_over_to_radau_on_a_stiff_bushing():
    names = [name for _, name in _swing("auto").run.switches]
    assert names[:2] == ["dop853", "radau"]


def _link_on_a_spring(stiffness: float) -> System:
    """A double pendulum whose second mass hangs on a stiff spring, damped to a tenth, that turns with the motion."""
    system = System("link on a spring", gravity=(0.0, -9.81, 0.0))
    arm = system.body("arm", 2.0, (0.1, 0.1, 0.1), at=(1.0, 0.0, 0.0))
    bob = system.body("bob", 1.0, (0.1, 0.1, 0.1), at=(1.0, -0.5, 0.0))
    system.revolute("pin", system.ground, arm, at=(0.0, 0.0, 0.0))
    system.planar("plane", system.ground, bob, at=(1.0, -0.5, 0.0), axis="z")
    system.spring("link", arm, bob, stiffness=stiffness, damping=0.16 * np.sqrt(stiffness), free_length=0.5)
    return system


def test_a_stiff_spring_that_turns_does_not_set_the_step():
    """A Newton iteration with the Jacobian of the start of the step does not see the spring turn."""
    runs = {
        k: simulate(_link_on_a_spring(k), 2.0, integrator="radau", tolerance=1e-6, output=100, progress=False)
        for k in (1e4, 1e7, 1e9)
    }
    steps = [run.run.steps for run in runs.values()]
    assert steps[1] < 2 * steps[0]
    assert steps[2] < 3 * steps[0]
    assert all(run.run.rejected < 0.1 * run.run.steps for run in runs.values())
    explicit = simulate(
        _link_on_a_spring(1e7), 2.0, integrator="dop853", tolerance=1e-9, output=100, progress=False
    )
    assert runs[1e7].q == pytest.approx(explicit.q, abs=2e-4)


def test_a_stiff_spring_that_turns_does_not_set_the_step_of_generalised_alpha():
    """Neither a state between the ends of a step nor speeds along the spring that no step resolves may shorten it."""
    runs = {
        k: simulate(
            _link_on_a_spring(k),
            2.0,
            integrator="generalised_alpha",
            tolerance=1e-6,
            output=100,
            progress=False,
        )
        for k in (1e4, 1e7, 1e9)
    }
    steps = [run.run.steps for run in runs.values()]
    assert max(steps) < 5 * steps[0]
    explicit = simulate(
        _link_on_a_spring(1e7), 2.0, integrator="dop853", tolerance=1e-9, output=100, progress=False
    )
    assert runs[1e7].q == pytest.approx(explicit.q, abs=2e-4)


def test_the_bushing_does_not_set_the_step_of_generalised_alpha():
    welded = _swing("generalised_alpha", None).run.steps
    assert all(_swing("generalised_alpha", k).run.steps < 1.5 * welded for k in (1e7, 1e8, 1e9))


def test_the_tangent_kernel_is_the_jacobian_of_a_stiff_mechanism():
    mechanism = analyse(_swing_system(STIFFNESS))
    program = mechanism.traced().rates
    rates, tangent = compile_program(program), compile_program(jvp_program(program))
    random = np.random.default_rng(3)
    x = mechanism.kernel_input() + np.where(
        np.arange(rates.n_in) > 0, 1e-3 * random.normal(size=rates.n_in), 0
    )
    for k in range(1, rates.n_in):
        along = np.zeros(rates.n_in)
        along[k] = 1.0
        exact = tangent(np.concatenate([x, along]))[rates.n_out :]
        # Richardson's extrapolation of central differences, of order 4.
        h = 1e-4
        wide, narrow = ((rates(x + s * along) - rates(x - s * along)) / (2 * s) for s in (2 * h, h))
        scale = np.abs(exact).max() + 1.0
        assert exact == pytest.approx((4 * narrow - wide) / 3, abs=1e-7 * scale)
        assert tangent(np.concatenate([x, along]))[: rates.n_out] == pytest.approx(rates(x), rel=1e-12)


@pytest.mark.parametrize("stiffness", [1e-3, 1.0])
def test_turns_of_the_interpreter_do_not_change_auto(stiffness):
    """How often the interpreter gets a turn depends on the clock; neither the steps nor the switches may."""
    runs = [
        integrate(van_der_pol(stiffness), "auto", np.linspace(0.0, 2.0, 11), Options(chunk_seconds=seconds))
        for seconds in (1e-9, 10.0)
    ]
    assert len({(run.steps, run.evaluations, run.switches) for run in runs}) == 1
    np.testing.assert_array_equal(runs[0].y, runs[1].y)
