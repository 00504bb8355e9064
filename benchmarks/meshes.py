"""Real meshes dropped on a plane: whether the runs complete, how energy behaves, and what they cost beside MuJoCo.

    python -m benchmarks.meshes [--only TEXT] [--seconds 1] [--on plane|mesh|bowl]

Every mesh of :mod:`benchmarks.meshes_sources` that is installed, scaled to 0.2 m and made of 1000 kg/m^3, falls from
above with restitution 0.3 and friction 0.4. Printed: processor time a simulated second (of a run whose programs are
compiled), the largest rise of the total energy, the last penetration and speed; with `mujoco`, the time that MuJoCo
takes for the convex hull of the same mesh at steps of 1 ms.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.contact import Mesh, Shape
from bellcrank.errors import BellcrankError
from bellcrank.model.contacts import PlacedShape
from benchmarks.meshes_sources import Source, installed

DENSITY = 1000.0
FALL = 0.05
"""Gap under the lowest point at the start [m]."""


@dataclass(frozen=True)
class Row:
    """One mesh: processor times [s], rise of energy over that of the fall; last penetration [m] and speed [m/s]."""

    name: str
    triangles: int
    first: float
    run: float
    rise: float
    penetration: float
    speed: float
    mujoco: float
    error: str = ""


def floor(system: bc.System, kind: str, mesh: Mesh) -> PlacedShape:
    """What the mesh falls on: a plane, itself lying there, or a bowl."""
    if kind == "mesh":
        return system.ground.shape(mesh, at=tuple(-np.asarray(mesh.centre)))
    if kind == "bowl":
        return system.ground.shape(bowl(), at=(0.0, 0.0, -0.1))
    return system.ground.plane()


def bowl() -> Shape:
    """A bowl of 0.6 m across."""
    from bellcrank.contact import HeightField

    x = np.linspace(-0.5, 0.5, 41)
    r = np.hypot(*np.meshgrid(x, x, indexing="ij"))
    heights = 0.8 * r**2
    return HeightField(heights - heights.min(), 0.025)


def dropped(mesh: Mesh, on: str, seconds: float, seed: int) -> tuple[Any, float, float]:
    """The result, and the processor times of the first and of the second run."""
    turned = Rotation.random(random_state=seed).as_matrix()
    system = bc.System("drop", gravity=(0.0, 0.0, -9.81))
    mass = max(DENSITY * float(mesh.volume), 1e-9)
    principal, axes = np.linalg.eigh(DENSITY * np.asarray(mesh.inertia))
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    lowest = (turned @ (np.asarray(mesh.vertices) - mesh.centre).T)[2].min()
    height = FALL - lowest + (0.22 if on == "mesh" else 0.0)
    body = system.body(
        "part", mass=mass, inertia=tuple(principal), at=(0.0, 0.0, height), rotation=turned @ axes
    )
    system.free("flight", system.ground, body)
    shape = body.shape(mesh, at=tuple(-axes.T @ np.asarray(mesh.centre)), rotation=axes.T)
    system.contact("touch", floor(system, on, mesh), shape, 0.3, 0.4, treatment="continuous")
    begin = time.process_time()
    system.simulate(1e-4, output=1)
    first = time.process_time() - begin
    begin = time.process_time()
    result = system.simulate(seconds, tolerance=1e-6, output=100)
    return result, first, (time.process_time() - begin) / seconds


def measured(source: Source, on: str, seconds: float, seed: int) -> Row:
    """One mesh."""
    mesh = Mesh(*source.triangles())
    result, first, run = dropped(mesh, on, seconds, seed)
    energy = np.asarray(result["energy.total"])
    fall = DENSITY * float(mesh.volume) * 9.81 * FALL
    rise = float(np.max(np.maximum.accumulate(energy[::-1])[::-1][1:] - energy[:-1], initial=0.0)) / fall
    speed = float(np.linalg.norm(result["part.velocity"][-1]))
    penetration = float(result["touch.penetration"][-1])
    return Row(source.name, len(mesh.faces), first, run, rise, penetration, speed, hulls(mesh, seconds))


def hulls(mesh: Mesh, seconds: float) -> float:
    """Processor time of MuJoCo for the hull of the mesh on a plane; NaN without it, or where it takes no such hull."""
    try:
        import mujoco
    except ImportError:
        return float("nan")
    vertices = np.asarray(mesh.vertices) - mesh.centre
    text = " ".join(f"{x:.6g}" for x in vertices[:: max(1, len(vertices) // 2000)].ravel())
    scene = f"""<mujoco><option timestep="0.001"/><asset><mesh name="m" vertex="{text}"/></asset><worldbody>
        <geom type="plane" size="5 5 0.1"/><body pos="0 0 0.3"><freejoint/><geom type="mesh" mesh="m"/></body>
        </worldbody></mujoco>"""
    try:
        model = mujoco.MjModel.from_xml_string(scene)
    except ValueError:
        return float("nan")
    data = mujoco.MjData(model)
    begin = time.process_time()
    while data.time < seconds:
        mujoco.mj_step(model, data)
    return (time.process_time() - begin) / seconds


def main() -> None:
    """Print the table and its medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="meshes whose name holds this")
    parser.add_argument("--on", default="plane", choices=("plane", "mesh", "bowl"))
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--most", type=int, default=10**6, help="meshes at most")
    options = parser.parse_args()
    rows: list[Row] = []
    print(
        f"{'mesh':44} {'triangles':>9} {'first s':>8} {'s/s':>8} {'rise':>8} {'mm in':>8} {'m/s':>8} {'mujoco':>8}"
    )
    chosen = [source for source in installed() if options.only in source.name][: options.most]
    for k, source in enumerate(chosen):
        try:
            row = measured(source, options.on, options.seconds, k)
        except BellcrankError as problem:
            row = Row(source.name, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, f"{type(problem).__name__}: {problem}")
        rows.append(row)
        figures = (
            f"{row.triangles:9d} {row.first:8.2f} {row.run:8.3f} {row.rise:8.1e} {1e3 * row.penetration:8.4f}"
        )
        print(f"{row.name:44} {figures} {row.speed:8.1e} {row.mujoco:8.4f} {row.error[:120]}", flush=True)
    done = [row for row in rows if not row.error]
    if done:
        runs = [row.run for row in done]
        ratio = np.nanmedian([row.run / row.mujoco for row in done])
        print(
            f"\n{len(done)} of {len(rows)} complete; median {np.median(runs):.3f} s/s, worst {max(runs):.2f}; "
        )
        print(
            f"MuJoCo's hulls: {ratio:.0f} times less; largest rise of energy {max(row.rise for row in done):.1e}"
        )


if __name__ == "__main__":
    main()
