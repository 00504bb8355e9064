"""Contact of shapes: closest-point queries against coal, and a contact run against exudyn and mujoco.

    python -m benchmarks.contact [--most 10000] [--repeats 3]

Queries: two ellipsoids of the same samples 0.02 m apart in random poses, one after another, the mesh of coal being the
convex hull of the samples with its own bounding-volume tree. Coal answers for flat triangles, Bellcrank for the smooth
surface through the samples, each query from scratch; each row tells the largest error of its distances against the two
ellipsoids, so that rows of one error can be compared.
Runs: a ball of 1 kg and radius 0.1 m falls 0.1 m onto a plane and bounces for one second on an elastic contact,
K = 1e5 N/m (linear, since peers know no other); the error is that of the height after a second, against the closed form
of falls and half oscillations. Of the methods of each code the fastest is taken whose error is below 1e-4 m, and below
1e-6 m, at its coarsest setting and at the next finer one.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Timing

Array = NDArray[np.float64]
NUMBERS = (1_000, 10_000, 100_000, 1_000_000)
AXES = np.array([1.0, 0.8, 1.3])
GAP = 0.02
POSES = 40
G, RADIUS, DROP, STIFFNESS, MASS = 9.81, 0.1, 0.1, 1e5, 1.0
WANTED = (1e-4, 1e-6)
STEPS = (1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5)
TOLERANCES = tuple(10.0**-k for k in range(3, 13))


def samples(number: int) -> tuple[Array, Array]:
    """Points and normals of an ellipsoid, spread evenly."""
    k = np.arange(number)
    z, turn = 1.0 - (2 * k + 1) / number, np.pi * (3.0 - np.sqrt(5.0)) * k
    r = np.sqrt(1.0 - z * z)
    p = np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1)
    n = p / AXES
    return p * AXES, n / np.linalg.norm(n, axis=1)[:, None]


def poses(points: Array) -> list[tuple[Array, Array]]:
    """Random rotations, the second body moved away along a line until its support planes are GAP apart."""
    random = np.random.default_rng(4)
    found = []
    for _ in range(POSES):
        R = np.linalg.qr(random.normal(size=(3, 3)))[0]
        R *= np.sign(np.linalg.det(R))
        way = R[:, 0]
        far = float((points @ way).max() + (points @ (R.T @ -way)).max())
        found.append((R, (far + GAP) * way))
    return found


Ask = Callable[[Array, Array], float]
"""The pose of the second body to its distance."""


def _queries(ask: Ask, every: list[tuple[Array, Array]], repeats: int) -> Timing:
    """Seconds of one query, on the mean over the poses; of each the fastest of a few rounds through all of them."""
    from bellcrank.contact import ClosestKernel
    from bellcrank.contact.shapes import Ellipsoid

    body = Ellipsoid(*AXES.tolist())
    exact = ClosestKernel(body, body)
    error = max(abs(ask(R, c) - float(exact(np.eye(3), np.zeros(3), R, c).distance)) for R, c in every)
    best = np.full(len(every), math.inf)
    for _ in range(max(3, min(repeats, 15))):
        for k, (R, c) in enumerate(every):
            began = time.perf_counter()
            ask(R, c)
            best[k] = min(best[k], time.perf_counter() - began)
    seconds = float(best.mean())
    return Timing(seconds, note=f"{1.0 / seconds:.3g} queries/s, error {error:.1e} m")


def surface_query(number: int, repeats: int) -> Timing:
    """The closest points of the smooth surfaces through the samples."""
    from bellcrank.contact import ClosestKernel, Sampled

    body = Sampled(*samples(number))
    search = ClosestKernel(body, body)

    def ask(R: Array, c: Array) -> float:
        return float(search(np.eye(3), np.zeros(3), R, c).distance)

    return _queries(ask, poses(body.points), repeats)


@lru_cache(1)
def coal_mesh(number: int) -> Ask:
    """Coal's distance of the same points as triangles."""
    import coal
    from scipy.spatial import ConvexHull

    points, _ = samples(number)
    faces = ConvexHull(points).simplices
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(faces), len(points))
    model.addVertices(points)
    model.addTriangles(faces.astype(np.int64))
    model.endModel()
    still, asked = coal.Transform3s(), coal.DistanceRequest()

    def ask(R: Array, c: Array) -> float:
        return float(coal.distance(model, still, model, coal.Transform3s(R, c), asked, coal.DistanceResult()))

    return ask


def coal_query(number: int, repeats: int) -> Timing:
    """Coal from random poses; it begins anew each time."""
    return _queries(coal_mesh(number), poses(samples(number)[0]), repeats)


def exact_height(end: float = 1.0) -> float:
    """Of the ball's centre: falls, and half oscillations about the static depth."""
    omega = math.sqrt(STIFFNESS / MASS)
    v = math.sqrt(2.0 * G * DROP)
    t = math.sqrt(2.0 * DROP / G)
    if end < t:
        return RADIUS + DROP - 0.5 * G * end * end
    sag = G / omega**2
    touch = 2.0 * (math.pi - math.atan2(v / omega, sag)) / omega
    left = math.fmod(end - t, touch + 2.0 * v / G)
    if left < touch:
        return RADIUS - sag + sag * math.cos(omega * left) - v / omega * math.sin(omega * left)
    up = left - touch
    return RADIUS + v * up - 0.5 * G * up * up


Run = Callable[[], float]
Ladder = list[tuple[str, Callable[[], Run]]]
"""Settings of one method from coarse to fine: what it is, and what makes a run of it."""


def fastest(ladders: list[Ladder], wanted: float, repeats: int) -> Timing:
    """The fastest of the coarsest settings that meet the error, and go on to do so at the next finer one.

    A coarse setting may meet it by luck, the errors of several bounces having either sign. Where none does, the one
    that comes closest.
    """
    met: list[Timing] = []
    missed: list[tuple[float, str, Run]] = []
    for ladder in ladders:
        before: tuple[str, Run] | None = None
        for how, make in ladder:
            run = make()
            error = abs(run() - exact_height())
            missed.append((error, how, run))
            if error >= wanted:
                before = None
                continue
            if before is not None:
                met.append(_timed(before[1], repeats, before[0]))
                break
            before = how, run
    if met:
        return min(met, key=lambda timing: timing.seconds)
    error, how, run = min(missed, key=lambda one: one[0])
    return _timed(run, repeats, f"misses it: {how}")


def _timed(run: Run, repeats: int, how: str) -> Timing:
    height = run()
    best = math.inf
    for _ in range(max(2, min(repeats, 5))):
        began = time.perf_counter()
        height = run()
        best = min(best, time.perf_counter() - began)
    return Timing(best, note=f"{how}, error {abs(height - exact_height()):.1e} m")


def ours(wanted: float, repeats: int) -> Timing:
    """Bellcrank by its tolerance; the first run, which compiles, is not counted."""
    from bellcrank.model import System

    system = System("ball", gravity=(0.0, 0.0, -G))
    ball = system.body("ball", mass=MASS, inertia=(0.4 * RADIUS**2,) * 3, at=(0.0, 0.0, RADIUS + DROP))
    system.free("flight", system.ground, ball)
    system.contact(
        "floor",
        system.ground.plane(),
        ball.sphere(RADIUS),
        treatment="continuous",
        law="kelvin-voigt",
        damping=0.0,
        stiffness=STIFFNESS,
    )
    mechanism = system.mechanism()

    def make(tolerance: float) -> Run:
        def run() -> float:
            result = mechanism.simulate(1.0, tolerance=tolerance, output=1, progress=False)
            return float(result["ball.position.z"][-1])

        return run

    return fastest([[(f"tolerance {t:g}", lambda t=t: make(t)) for t in TOLERANCES]], wanted, repeats)  # type: ignore[misc]


def mujoco(wanted: float, repeats: int) -> Timing:
    """MuJoCo's soft contact as a spring of that stiffness without damping (solref by stiffness and damping).

    Its contacts mix the free acceleration with that of the spring by the impedance d, a = (1 - d) a_free + d a_spring,
    the stiffness being divided by d: the least impedance, 1e-4, leaves gravity nearly what it is in contact. With one
    near 1 a body in contact does not feel gravity, and no step brings the error below 5e-4 m.
    """
    import mujoco as mj

    def make(integrator: str, step: float) -> Run:
        soft = f'solref="{-STIFFNESS} 0" solimp="1e-4 1e-4 1 0.5 1" condim="1"'
        model = mj.MjModel.from_xml_string(
            f"""<mujoco><option timestep="{step}" gravity="0 0 {-G}" integrator="{integrator}" tolerance="1e-14"/>
            <worldbody><geom type="plane" size="5 5 .1" {soft}/><body pos="0 0 {RADIUS + DROP}"><freejoint/>
            <geom type="sphere" size="{RADIUS}" mass="{MASS}" {soft}/></body></worldbody></mujoco>"""
        )
        data = mj.MjData(model)

        def run() -> float:
            mj.mj_resetData(model, data)
            mj.mj_step(model, data, round(1.0 / step))
            return float(data.qpos[2])

        return run

    ladders: list[Ladder] = [
        [(f"{name}, step {step:g} s", lambda name=name, step=step: make(name, step)) for step in STEPS]  # type: ignore[misc]
        for name in ("Euler", "implicitfast", "RK4")
    ]
    return fastest(ladders, wanted, repeats)


def exudyn(wanted: float, repeats: int) -> Timing:
    """Exudyn: a mass point over a one-sided spring: its own limit stop, or a Python function.

    The limit stop is compiled but switches at steps only; the function is exact at every stage.
    """
    import exudyn as exu
    from exudyn import itemInterface as items  # noqa: N813

    def spring(mbs: Any, t: float, number: int, stretch: float, *_: Any) -> float:
        return STIFFNESS * (stretch + DROP) if stretch < -DROP else 0.0

    def make(stop: bool, solver: str, step: float, tolerance: float) -> Run:
        container = exu.SystemContainer()
        system = container.AddSystem()
        still = system.AddNode(items.NodePointGround())
        node = system.AddNode(items.NodePoint(referenceCoordinates=[0.0, 0.0, RADIUS + DROP]))
        system.AddObject(items.ObjectMassPoint(mass=MASS, nodeNumber=node))
        below = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=still, coordinate=0))
        height = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=2))
        system.AddLoad(items.LoadCoordinate(markerNumber=height, load=-MASS * G))
        if stop:
            state = items.NodeGenericData(initialCoordinates=[0.0] * 3, numberOfDataCoordinates=3)
            connector = items.ObjectConnectorCoordinateSpringDamperExt(
                markerNumbers=[below, height],
                nodeNumber=system.AddNode(state),
                useLimitStops=True,
                limitStopsLower=-DROP,
                limitStopsUpper=10.0,
                limitStopsStiffness=STIFFNESS,
            )
        else:
            connector = items.ObjectConnectorCoordinateSpringDamper(
                markerNumbers=[below, height], springForceUserFunction=spring
            )
        system.AddObject(connector)
        system.Assemble()
        settings = exu.SimulationSettings()
        times = settings.timeIntegration
        times.numberOfSteps, times.endTime, times.verboseMode = round(1.0 / step), 1.0, 0
        times.automaticStepSize = tolerance > 0.0
        if tolerance > 0.0:
            times.relativeTolerance, times.absoluteTolerance = tolerance, tolerance
            times.minimumStepSize = 1e-9
        settings.solutionSettings.writeSolutionToFile = False

        def run() -> float:
            system.systemData.SetODE2Coordinates([0.0] * 3, configuration=exu.ConfigurationType.Initial)
            system.SolveDynamic(settings, solverType=getattr(exu.DynamicSolverType, solver))
            return float(system.GetNodeOutput(node, exu.OutputVariableType.Position)[2])

        return run

    ladders: list[Ladder] = []
    for stop, name in ((True, "limit stop"), (False, "function")):
        for solver in ("VelocityVerlet", "RK44"):
            ladders.append([
                (f"{name}, {solver}, step {h:g} s", lambda s=stop, o=solver, h=h: make(s, o, h, 0.0))  # type: ignore[misc]
                for h in STEPS
            ])  # fmt: skip
        ladders.append([
            (f"{name}, DOPRI5, tolerance {t:g}", lambda s=stop, t=t: make(s, "DOPRI5", 1e-2, t))  # type: ignore[misc]
            for t in TOLERANCES
        ])  # fmt: skip
    return fastest(ladders, wanted, repeats)


def contact_measures(
    repeats: int, quick: bool, most: int | None = None
) -> Iterator[tuple[str, str, Callable[[], Timing]]]:
    """Case, code and measure of every row. most: Samples at most."""
    for number in [n for n in NUMBERS if n <= (most or NUMBERS[1 if quick else -1])]:
        case = f"pair of {number} samples"
        yield case, "bellcrank, smooth", lambda n=number: surface_query(n, repeats)  # type: ignore[misc]
        yield case, "coal, triangles", lambda n=number: coal_query(n, repeats)  # type: ignore[misc]
    for wanted in WANTED:
        case = f"elastic bounces, 1 s, within {wanted:g} m"
        for code, measure in (("bellcrank", ours), ("mujoco", mujoco), ("exudyn", exudyn)):
            yield case, code, lambda m=measure, w=wanted: m(w, repeats)  # type: ignore[misc]


def main() -> None:
    """Print a line for every measure; codes that are not installed are told of."""
    parser = argparse.ArgumentParser(description="Time closest points and contact runs.")
    parser.add_argument("--most", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    for case, code, measure in contact_measures(given.repeats, True, given.most):
        try:
            found = measure()
        except ImportError as error:
            print(f"{case:45} {code:20} {error}")
            continue
        print(f"{case:45} {code:20} {found.seconds:.3g} s, {found.note}", flush=True)


if __name__ == "__main__":
    main()


__all__ = ["contact_measures"]
