"""Real meshes dropped on a plane, on another mesh and into a bowl: do runs complete, and what do they cost?

    python -m benchmarks.meshes [--on plane|mesh|bowl] [--only TEXT] [--most N] [--output FILE] [--limit 300]

Every mesh of :mod:`benchmarks.meshes_sources` that is installed, scaled to 0.2 m and made of a hard plastic, falls by
5 cm with restitution 0.3 and friction 0.4, and is followed for 1 s. In the second case the next mesh of the list stands
below on a table. Printed: processor time of building shape and programs, and that of a simulated second; the largest
rise of the total energy over that of the fall; penetration and speed at the end; the time that MuJoCo takes for the
convex hull of the same mesh on a plane at steps of 1 ms. With --output, rows are appended to a file of JSON lines, and
meshes that are in it are not run again. A mesh past the limit [s] of processor time is counted as not complete.
"""

from __future__ import annotations

import argparse
import json
import signal
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.contact import HeightField, Mesh
from bellcrank.errors import BellcrankError
from bellcrank.model.contacts import PlacedShape
from benchmarks.meshes_sources import Source, installed

DENSITY = 1000.0
YOUNG, POISSON = 2e9, 0.35
"""Of a hard plastic [Pa], as the density is. Walls of a millimetre of rubber would be pressed through."""
FALL = 0.05
"""Gap under the lowest point at the start [m]."""


@dataclass(frozen=True)
class Row:
    """One mesh: processor times [s], rise of energy over that of the fall, last penetration [m] and speed [m/s]."""

    name: str
    on: str
    triangles: int = 0
    build: float = 0.0
    run: float = 0.0
    rise: float = 0.0
    penetration: float = 0.0
    speed: float = 0.0
    mujoco: float = 0.0
    error: str = ""


class SlowError(Exception):
    """A mesh past its limit."""


def ended(signum: int, frame: object) -> None:
    raise SlowError


def bowl() -> HeightField:
    """A round bowl, 1 m across and 0.2 m deep."""
    x = np.linspace(-0.5, 0.5, 41)
    return HeightField(0.8 * np.add.outer(x**2, x**2), 0.025)


def below(system: bc.System, on: str, other: Mesh) -> tuple[list[PlacedShape], float]:
    """What the mesh falls on, and how high that is [m]."""
    if on == "bowl":
        return [system.ground.shape(bowl(), at=(-0.5, -0.5, 0.0))], 0.0
    if on == "plane":
        return [system.ground.plane()], 0.0
    low, high = other.vertices.min(axis=0)[2], other.vertices.max(axis=0)[2]
    x, y, _ = np.asarray(other.centre)
    return [system.ground.shape(other, at=(-x, -y, -low)), system.ground.plane()], float(high - low)


def dropped(mesh: Mesh, other: Mesh, on: str, seed: int) -> tuple[Any, float, float]:
    """The result, and the processor times of building and of running."""
    begin = time.process_time()
    turned = Rotation.random(random_state=seed).as_matrix()
    system = bc.System("drop", gravity=(0.0, 0.0, -9.81))
    mass = max(DENSITY * float(mesh.volume), 1e-9)
    principal, axes = np.linalg.eigh(DENSITY * np.asarray(mesh.inertia))
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    places, top = below(system, on, other)
    lowest = (turned @ (np.asarray(mesh.vertices) - mesh.centre).T)[2].min()
    rim = 0.0
    if on == "bowl":
        # Above the highest place of the bowl under the mesh.
        rim = 0.8 * float(((np.asarray(mesh.vertices) - mesh.centre) ** 2).sum(axis=1).max())
    body = system.body(
        "part",
        mass=mass,
        inertia=tuple(principal),
        at=(0.0, 0.0, FALL - lowest + top + rim),
        rotation=turned @ axes,
    )
    system.free("flight", system.ground, body)
    shape = body.shape(mesh, at=tuple(-axes.T @ np.asarray(mesh.centre)), rotation=axes.T)
    for k, place in enumerate(places):
        system.contact(
            f"touch {k}", place, shape, 0.3, 0.4, treatment="continuous", young=YOUNG, poisson=POISSON
        )
    system.simulate(1e-4, output=1)
    build = time.process_time() - begin
    begin = time.process_time()
    result = system.simulate(1.0, tolerance=1e-6, output=100)
    return result, build, time.process_time() - begin


def measured(source: Source, other: Source, on: str, seed: int) -> Row:
    """One mesh."""
    mesh = Mesh(*source.triangles())
    result, build, run = dropped(mesh, Mesh(*other.triangles()) if on == "mesh" else mesh, on, seed)
    energy = np.asarray(result["energy.total"])
    fall = DENSITY * float(mesh.volume) * 9.81 * FALL
    rise = float(np.max(np.maximum.accumulate(energy[::-1])[::-1][1:] - energy[:-1], initial=0.0)) / fall
    speed = float(np.linalg.norm(result["part.velocity"][-1]))
    deep = max(float(result[f"touch {k}.penetration"][-1]) for k in range(2 if on == "mesh" else 1))
    return Row(source.name, on, len(mesh.faces), build, run, rise, deep, speed, hulls(mesh, 1.0))


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


def rows(chosen: list[Source], on: str, limit: float, known: dict[str, Row]) -> Iterator[Row]:
    """One after the other."""
    signal.signal(signal.SIGVTALRM, ended)
    for k, source in enumerate(chosen):
        if source.name in known:
            continue
        signal.setitimer(signal.ITIMER_VIRTUAL, limit)
        try:
            yield measured(source, chosen[(k + 1) % len(chosen)], on, k)
        except BellcrankError as problem:
            yield Row(source.name, on, error=f"{type(problem).__name__}: {problem}"[:200])
        except SlowError:
            yield Row(source.name, on, error=f"not complete after {limit:g} s")
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)


def told(row: Row) -> str:
    """A line of the table."""
    if row.error:
        return f"{row.name:52} {row.error}"
    times = f"{row.triangles:9d} {row.build:8.2f} {row.run:8.3f}"
    return f"{row.name:52} {times} {row.rise:8.1e} {1e3 * row.penetration:8.4f} {row.speed:8.1e} {row.mujoco:8.4f}"


def summary(found: list[Row]) -> str:
    """Medians and the worst."""
    done = [row for row in found if not row.error]
    runs = np.array([row.run for row in done])
    ratio = np.nanmedian(runs / [row.mujoco for row in done])
    return (
        f"{len(done)} of {len(found)} complete; {np.median(runs):.3f} s a simulated second in the median, "
        f"{runs.max():.2f} at worst, {ratio:.0f} times MuJoCo's hulls; "
        f"build {np.median([row.build for row in done]):.1f} s; "
        f"energy rises by {max(row.rise for row in done):.1e} at most; at the end "
        f"{1e3 * np.median([row.penetration for row in done]):.3f} mm deep in the median and "
        f"{1e3 * max(row.penetration for row in done):.3f} at worst, "
        f"{sum(row.speed < 0.01 for row in done)} slower than 1 cm/s"
    )


def main() -> None:
    """Print the table and its medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="meshes whose name holds this")
    parser.add_argument("--on", default="plane", choices=("plane", "mesh", "bowl"))
    parser.add_argument("--most", type=int, default=10**6, help="meshes at most, spread over the list")
    parser.add_argument("--limit", type=float, default=300.0, help="processor time of a mesh [s]")
    parser.add_argument("--output", type=Path, help="file of JSON lines to go on with")
    options = parser.parse_args()
    known = dict[str, Row]()
    if options.output and options.output.exists():
        read = (Row(**json.loads(line)) for line in options.output.read_text().splitlines())
        known = {row.name: row for row in read if row.on == options.on}
    chosen = [source for source in installed() if options.only in source.name]
    chosen = chosen[:: -(-len(chosen) // options.most)]
    print(
        f"{'mesh':52} {'triangles':>9} {'build s':>8} {'s/s':>8} {'rise':>8} {'mm in':>8} {'m/s':>8} {'mujoco':>8}"
    )
    for row in known.values():
        print(told(row))
    for row in rows(chosen, options.on, options.limit, known):
        print(told(row), flush=True)
        known[row.name] = row
        if options.output:
            with options.output.open("a") as file:
                file.write(json.dumps(asdict(row)) + "\n")
    print(f"\n{options.on}: {summary(list(known.values()))}")


if __name__ == "__main__":
    main()
