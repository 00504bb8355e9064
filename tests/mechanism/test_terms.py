"""Terms of the equations of motion by their public names; trees beside MuJoCo and pinocchio are in tests/files."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from mechanism.linkages import four_bar


def loaded() -> bc.Mechanism:
    system = four_bar()
    joint = next(iter(system.joints))
    system.joint_force("motor", joint, lambda coordinate, rate, t: 3.0 - 0.5 * rate)
    return system.mechanism(initial={joint: (0.3, 1.0)})


def test_terms_fulfil_the_equations_of_motion_of_a_loop() -> None:
    m = loaded()
    run = m.simulate(0.01, output=1)
    J, gamma = m.constraint_jacobian()
    assert J @ run.du[0] == pytest.approx(gamma, abs=1e-10)
    left = m.mass_matrix() @ run.du[0] + m.bias_forces() - m.applied_forces()
    multipliers = np.linalg.lstsq(J.T, left, rcond=None)[0]
    assert J.T @ multipliers == pytest.approx(left, abs=1e-10)
    assert 0.5 * m.start.u @ m.mass_matrix() @ m.start.u == pytest.approx(run["energy.kinetic"][0])


def test_momenta_and_their_derivatives() -> None:
    m = loaded()
    run = m.simulate(0.1, output=[0.0, 0.05 - 1e-5, 0.05, 0.05 + 1e-5], tolerance=1e-12)
    state = bc.State(run.time[2], run.q[2], run.u[2])
    assert m.jacobian("momentum", state) @ state.u == pytest.approx(m.momentum(state))
    mass = sum(body.mass for body in m.system.bodies.values() if not body.is_ground)
    moved = np.asarray(run["center_of_mass"])
    assert mass * (moved[3] - moved[1]) / 2e-5 == pytest.approx(m.momentum(state), abs=1e-7)
    about = np.array([1.0, 2.0, 3.0])
    shift = m.angular_momentum(state) - np.cross(about, m.momentum(state))
    assert m.angular_momentum(state, about) == pytest.approx(shift)
    name = next(name for name, body in m.system.bodies.items() if not body.is_ground)
    assert m.jacobian(f"{name}.velocity", state) @ state.u == pytest.approx(run[f"{name}.velocity"][2])
    with pytest.raises(bc.ModelError, match="depends on accelerations"):
        m.jacobian(f"{name}.acceleration")
