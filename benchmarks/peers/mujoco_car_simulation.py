"""The full car over the bump in MuJoCo: its own springs, tyres as a passive force in C, soft loops of tuned stiffness.

A callback in Python would cost more than the rest of a step, which would not be fair, so the tyre law is
compiled with the C compiler of the machine against MuJoCo's headers.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np

from benchmarks.peers.car import load_car
from benchmarks.peers.mujoco_models import car_mjcf, text
from benchmarks.simulation import Rung
from benchmarks.simulation_car import error, reference, start
from benchmarks.simulation_slider_crank import ladder

SOFTNESS = (2.0, 4.0, 8.0)
"""Time constants of the loops in steps; the best one at each step counts."""


def car(integrator: str) -> Iterator[Rung]:
    """Rungs of falling step; `integrator` is "RK4", or "implicitfast" for comparison."""
    model, data = built(integrator)
    qpos, qvel = beginning(model, data)
    samples = len(reference()[0]) - 1
    tyres = tyre_function(model)

    def simulate(steps: int, softness: float) -> Any:
        h = 1.0 / (samples * steps)
        model.opt.timestep = h
        model.eq_solref[:] = -1.0 / (softness * h) ** 2, -2.0 / (softness * h)
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = qpos, qvel
        found = np.empty((samples + 1, 3))
        found[0] = data.qpos[:3]
        # The callback belongs to the whole library, so it stands only as long as this run.
        mujoco.set_mjcb_passive(tyres)
        try:
            for k in range(samples):
                mujoco.mj_step(model, data, nstep=steps)
                found[k + 1] = data.qpos[:3]
        finally:
            mujoco.set_mjcb_passive(None)
        return found

    for h in ladder(7e-3, 2e-4, 10):
        steps = max(1, round(1.0 / (samples * h)))
        tried = {s: error(simulate(steps, s)) for s in SOFTNESS}
        best = min(tried, key=lambda s: tried[s] if tried[s] == tried[s] else np.inf)
        yield Rung(
            f"step {1e3 / (samples * steps):.3g} ms, time constant {best:g} steps",
            lambda steps=steps, best=best: simulate(steps, best),
            lambda found: found,
            error,
        )


def built(integrator: str) -> tuple[Any, Any]:
    """The car with springs, dampers and the rack's actuator as MuJoCo has them."""
    from bellcrank.verify.full_car import full_car_data

    numbers = full_car_data()
    mjcf = ElementTree.fromstring(car_mjcf(load_car(), "dense"))
    option = mjcf.find("option")
    assert option is not None
    option.set("integrator", integrator)
    # Equality constraints alone make a quadratic cost: one Newton step solves it.
    option.set("iterations", "1")
    names = {b["id"]: b["name"] for b in numbers["bodies"]}
    centres = {b["id"]: np.array(b["com"]) for b in numbers["bodies"]}
    bodies = {e.get("name"): e for e in mjcf.iter("body")}
    tendons = ElementTree.SubElement(mjcf, "tendon")
    for spring in numbers["springs"]:
        tendon = ElementTree.SubElement(
            tendons, "spatial", name=spring["name"], stiffness=text(spring["stiffness"]),
            damping=text(spring["damping"]), springlength=text(spring["free_length"]),
        )  # fmt: skip
        for side in ("a", "b"):
            body, site = spring[f"body_{side}"], f"{spring['name']}_{side}"
            place = text(np.array(spring[f"point_{side}"]) - centres[body])
            ElementTree.SubElement(bodies[names[body]], "site", name=site, pos=place)
            ElementTree.SubElement(tendon, "site", site=site)
    actuator = numbers["rack_actuator"]
    rack = bodies[names[actuator["body"]]].find("joint")
    assert rack is not None
    rack.set("stiffness", text(actuator["stiffness"]))
    rack.set("damping", text(actuator["damping"]))
    model = mujoco.MjModel.from_xml_string(ElementTree.tostring(mjcf, encoding="unicode"))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_REFSAFE
    return model, mujoco.MjData(model)


def tyre_function(model: Any) -> Any:
    """The compiled tyre law, told of the wheels and the bump."""
    from bellcrank.verify.full_car import full_car_data

    numbers = full_car_data()
    bump = numbers["scenarios"]["bump"]["bump"]
    library = tyre_library()
    library.clear_tyres(*(ctypes.c_double(bump[k]) for k in ("H", "x0", "length")))
    names = {b["id"]: b["name"] for b in numbers["bodies"]}
    for tyre in numbers["tyres"]:
        law = (tyre[k] for k in ("radius", "stiffness", "damping", "c_long", "c_lat", "N_ref"))
        library.add_tyre(model.body(names[tyre["body"]]).id, *(ctypes.c_double(x) for x in law))
    return library.tyre_forces


@cache
def tyre_library() -> Any:
    """The tyre law as a library; the C compiler is part of the benchmark's requirements."""
    home = Path(mujoco.__file__).parent
    shared = next(home.glob("libmujoco.so*"))
    target = Path(tempfile.mkdtemp()) / "tyres.so"
    subprocess.run(
        ["cc", "-O3", "-march=native", "-shared", "-fPIC", "-I", str(home / "include"), "-o", str(target),
         str(Path(__file__).with_name("tyres_mujoco.c")), str(shared), f"-Wl,-rpath,{home}", "-lm"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return ctypes.CDLL(str(target))


def beginning(model: Any, data: Any, mechanism: Any = None) -> tuple[Any, Any]:
    """Our start state in MuJoCo's coordinates: placements of all bodies, loops closed as ours are."""
    from benchmarks.peers.car_state import placements

    places = placements(start() if mechanism is None else mechanism)
    mujoco.mj_resetData(model, data)
    for body in range(1, model.nbody):
        name = model.body(body).name
        position, rotation, velocity, spin = places[name]
        parent = model.body(model.body_parentid[body]).name
        at, turned, v0, w0 = (
            places[parent] if parent in places else (np.zeros(3), np.eye(3), np.zeros(3), np.zeros(3))
        )
        relative = turned.T @ rotation
        for joint in range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body]):
            q, v = model.jnt_qposadr[joint], model.jnt_dofadr[joint]
            kind, axis = model.jnt_type[joint], model.jnt_axis[joint]
            if kind == mujoco.mjtJoint.mjJNT_FREE:
                data.qpos[q : q + 3] = position
                data.qpos[q + 3 : q + 7] = quaternion(rotation)
                data.qvel[v : v + 3], data.qvel[v + 3 : v + 6] = velocity, rotation.T @ spin
            elif kind == mujoco.mjtJoint.mjJNT_BALL:
                data.qpos[q : q + 4] = quaternion(relative)
                data.qvel[v : v + 3] = rotation.T @ (spin - w0)
            elif kind == mujoco.mjtJoint.mjJNT_SLIDE:
                # Both bodies keep their axes, so the slide is the change of their distance.
                rest = model.body_pos[body]
                data.qpos[q] = axis @ (turned.T @ (position - at) - rest)
                moving = velocity - v0 - np.cross(w0, position - at)
                data.qvel[v] = axis @ (turned.T @ moving)
            elif model.body_jntnum[body] == 1:
                data.qpos[q] = angle_about(relative, axis)
                data.qvel[v] = axis @ (turned.T @ (spin - w0))
        if model.body_jntnum[body] == 2:
            universal(model, data, body, relative, turned.T @ (spin - w0))
    return data.qpos.copy(), data.qvel.copy()


def universal(model: Any, data: Any, body: int, relative: Any, spin: Any) -> None:
    """Two hinges: relative = Rot(first axis, a) Rot(second axis, b), both axes given in the design pose."""
    first = model.body_jntadr[body]
    e1, e2 = model.jnt_axis[first], model.jnt_axis[first + 1]
    e3 = np.cross(e1, e2)
    frame = np.column_stack([e1, e2, e3])
    R = frame.T @ relative @ frame
    a, b = np.arctan2(R[2, 1], R[1, 1]), np.arctan2(R[0, 2], R[0, 0])
    q, v = model.jnt_qposadr[first], model.jnt_dofadr[first]
    data.qpos[q], data.qpos[q + 1] = a, b
    turned = (
        frame @ np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]]) @ frame.T @ e2
    )
    data.qvel[v], data.qvel[v + 1] = np.linalg.lstsq(np.column_stack([e1, turned]), spin, rcond=None)[0]


def angle_about(R: Any, axis: Any) -> float:
    """The angle of a rotation about a known axis."""
    across = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return float(np.arctan2(0.5 * across @ axis, 0.5 * (np.trace(R) - 1.0)))


def quaternion(R: Any) -> Any:
    """(w, x, y, z) of a rotation."""
    found = np.zeros(4)
    mujoco.mju_mat2Quat(found, np.ascontiguousarray(R).ravel())
    return found
