"""The free slider-crank in MuJoCo: RK4 with a fixed step, the loop a soft constraint of tuned stiffness."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np

from benchmarks.peers import minimal_simulation as minimal
from benchmarks.simulation import Rung
from benchmarks.simulation_slider_crank import error, ladder

MODEL = """
<mujoco>
  <compiler angle="radian" inertiafromgeom="false"/>
  <option gravity="0 {gravity} 0" integrator="RK4" jacobian="dense" iterations="1">
    <flag contact="disable" limit="disable" frictionloss="disable" actuation="disable" energy="disable"/>
  </option>
  <worldbody>
    <body name="crank">
      <inertial pos="1.5 0 0" mass="2" diaginertia="1 1 1"/>
      <joint type="hinge" axis="0 0 1"/>
      <body name="rod" pos="3 0 0">
        <inertial pos="2 0 0" mass="3" diaginertia="2 2 2"/>
        <joint type="hinge" axis="0 0 1"/>
      </body>
    </body>
    <body name="slider" pos="7 0 0">
      <inertial pos="0 0 0" mass="4" diaginertia="1 1 1"/>
      <joint type="slide" axis="1 0 0"/>
    </body>
  </worldbody>
  <equality>
    <connect body1="rod" body2="slider" anchor="4 0 0" solimp="0.9999 0.9999 0.001 0.5 2"/>
  </equality>
</mujoco>
"""
SOFTNESS = (2.0, 4.0, 8.0)
"""Time constants of the loop in steps; which one is best depends on the accuracy wanted, so all are tried."""


def slider_crank() -> Iterator[Rung]:
    """Rungs of falling step, each with the best of the softnesses at that step."""
    model = mujoco.MjModel.from_xml_string(MODEL.format(gravity=-minimal.GRAVITY))
    data = mujoco.MjData(model)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_REFSAFE
    q, v = start()

    def simulate(steps: int, softness: float) -> Any:
        h = minimal.DURATION / steps
        model.opt.timestep = h
        # Critically damped, given as stiffness and damping.
        model.eq_solref[0] = -1.0 / (softness * h) ** 2, -2.0 / (softness * h)
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_step(model, data, nstep=steps)
        return np.array([data.qpos[0], data.qvel[0]])

    for h in ladder(1e-2, 2e-5, 6):
        steps = round(minimal.DURATION / h)
        best = min(SOFTNESS, key=lambda s: _size(error(simulate(steps, s))))
        yield Rung(
            f"step {h:.1e} s, time constant {best:g} steps",
            lambda steps=steps, best=best: simulate(steps, best),
            lambda found: found,
            error,
        )


def _size(value: float) -> float:
    return value if math.isfinite(value) else math.inf


def start() -> tuple[list[float], list[float]]:
    """Coordinates and speeds with the loop closed."""
    from benchmarks.peers.pinocchio_simulation import loop

    q1, q2, x, v1, v2, vx = loop()[1]
    return [q1, q2, x - 7.0], [v1, v2, vx]
