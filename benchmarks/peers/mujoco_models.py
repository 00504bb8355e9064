"""The car and the planar chain in MuJoCo."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np

from benchmarks.peers.car import Array, Car, Link
from benchmarks.timing import REPEATS, Timing, per_call

HARD = "0.9999 0.9999 0.001 0.5 2"
"""MuJoCo's constraints are soft; this is as stiff as they get."""


def text(*numbers: Any) -> str:
    """Numbers as MJCF writes them."""
    return " ".join(repr(float(x)) for x in np.concatenate([np.ravel(n) for n in numbers]))


def root(gravity: Array, jacobian: str = "auto") -> ElementTree.Element:
    """An empty model without contacts, limits and friction."""
    mjcf = ElementTree.Element("mujoco")
    ElementTree.SubElement(mjcf, "compiler", angle="radian", inertiafromgeom="false")
    option = ElementTree.SubElement(mjcf, "option", gravity=text(gravity), jacobian=jacobian)
    off = dict.fromkeys(("contact", "limit", "frictionloss", "actuation", "energy"), "disable")
    ElementTree.SubElement(option, "flag", off)
    return mjcf


def car_mjcf(car: Car, jacobian: str = "auto", loops: bool = True) -> str:
    """The tree with 39 speeds, and the loops as equality constraints of type connect."""
    mjcf = root(car.gravity, jacobian)
    elements = {0: ElementTree.SubElement(mjcf, "worldbody")}
    centres = {0: np.zeros(3)}
    names = {link.number: link.name for link in car.links}
    for link in car.links:
        # Body frames sit at the centre of mass, parallel to the world in the design pose.
        body = ElementTree.SubElement(
            elements[link.parent], "body", name=link.name, pos=text(link.centre - centres[link.parent])
        )
        add_inertia(body, link.mass, np.zeros(3), link.inertia)
        add_joint(body, link)
        elements[link.number], centres[link.number] = body, link.centre
    if loops:
        equality = ElementTree.SubElement(mjcf, "equality")
        for cut in car.cuts:
            ElementTree.SubElement(
                equality, "connect", body1=names[cut.body_a], body2=names[cut.body_b],
                anchor=text(cut.point - centres[cut.body_a]), solimp=HARD,
            )  # fmt: skip
    return ElementTree.tostring(mjcf, encoding="unicode")


def add_inertia(body: ElementTree.Element, mass: float, centre: Array, J: Array) -> None:
    """Mass and inertia about the centre of mass."""
    full = text(J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
    ElementTree.SubElement(body, "inertial", pos=text(centre), mass=text(mass), fullinertia=full)


def add_joint(body: ElementTree.Element, link: Link) -> None:
    """The joint of a link; a universal joint is two hinges."""
    if link.joint == "free":
        ElementTree.SubElement(body, "freejoint")
        return
    pos = text(link.point - link.centre)
    if link.joint == "spherical":
        ElementTree.SubElement(body, "joint", type="ball", pos=pos)
        return
    kind = "slide" if link.joint == "prismatic" else "hinge"
    for axis in link.axes:
        ElementTree.SubElement(body, "joint", type=kind, pos=pos, axis=text(axis))


def chain_model(links: int, length: float = 0.1, mass: float = 0.1) -> Any:
    """Links hanging one on the other by hinges about z; gravity along -y."""
    # Built by calls: nested XML of a thousand links is deeper than a parser goes.
    spec = mujoco.MjSpec.from_string(
        ElementTree.tostring(root(np.array([0.0, -9.81, 0.0])), encoding="unicode")
    )
    moment = mass * length**2 / 12.0
    body = spec.worldbody
    for i in range(links):
        body = body.add_body(pos=[length if i else 0.0, 0.0, 0.0])
        body.mass, body.ipos = mass, [length / 2, 0.0, 0.0]
        body.inertia, body.explicitinertial = [1e-2 * moment, moment, moment], True
        body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0.0, 0.0, 1.0])
    return spec.compile()


def model_and_data(mjcf: str) -> tuple[Any, Any]:
    """A compiled model and its data."""
    model = mujoco.MjModel.from_xml_string(mjcf)
    return model, mujoco.MjData(model)


def call_overhead(model: Any) -> float:
    """What a call from Python costs before the algorithm starts: a function that does nothing [s]."""
    return per_call(lambda: mujoco.mj_isSparse(model))


def time_forward(model: Any, data: Any, repeats: int = REPEATS, note: str = "mj_forward") -> Timing:
    """One mj_forward."""
    overhead = call_overhead(model)
    return Timing(per_call(lambda: mujoco.mj_forward(model, data), repeats) - overhead, overhead, note)


def loop_jacobian(model: Any, data: Any) -> Array:
    """The constraint Jacobian at the present pose."""
    mujoco.mj_forward(model, data)
    if mujoco.mj_isSparse(model):
        J = np.zeros((data.nefc, model.nv))
        mujoco.mju_sparse2dense(J, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind)
        return J
    return np.array(data.efc_J).reshape(data.nefc, model.nv)


def consistent_speeds(model: Any, data: Any, seed: int = 1) -> Array:
    """Random speeds that keep the loops closed."""
    J = loop_jacobian(model, data)
    speeds = np.random.default_rng(seed).uniform(-1, 1, model.nv)
    return speeds - np.linalg.pinv(J) @ (J @ speeds)


def time_car(car: Car, repeats: int = REPEATS) -> Timing:
    """One mj_forward of the moving car, with the faster of dense and sparse Jacobians.

    At rest the car falls freely and the solver has nothing to do, so the car moves. The solver starts
    from the unconstrained accelerations: its own solution of the same state is nothing a run would have.
    """
    best: Timing | None = None
    for jacobian in ("dense", "sparse"):
        model, data = model_and_data(car_mjcf(car, jacobian))
        data.qvel[:] = consistent_speeds(model, data)
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_WARMSTART
        mujoco.mj_forward(model, data)
        note = f"mj_forward, {jacobian} Jacobian, solver iterations: {int(data.solver_niter.max())}"
        found = time_forward(model, data, repeats, note)
        best = found if best is None or found.seconds < best.seconds else best
    assert best is not None
    return best


def time_chain(links: int, repeats: int = REPEATS) -> Timing:
    """One mj_forward of the chain."""
    model = chain_model(links)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(0)
    data.qpos[:], data.qvel[:] = rng.uniform(-1, 1, links), rng.uniform(-1, 1, links)
    return time_forward(model, data, repeats)
