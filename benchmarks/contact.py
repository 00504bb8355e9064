"""Contact of shapes: closest-point queries against coal, and a contact run against exudyn and mujoco.

Queries: two ellipsoids of the same samples 0.02 m apart in random poses, one after another, the mesh of coal being
the convex hull of the samples with its own bounding-volume tree. Coal answers for flat triangles, Bellcrank's tree for
samples, and with refinement for the smooth surface through them. Runs: a ball of 1 kg and radius 0.1 m falls 0.1 m onto
a plane and bounces for one second on an elastic contact, K = 1e5 N/m (linear, since peers know no other); the error is
that of the height after a second, against the closed form of falls and half oscillations. Peers' steps are refined
until their error is below 1e-4 m, or the finest step is reached.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
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
WANTED = 1e-4
STEPS = (1e-3, 3e-4, 1e-4, 3e-5, 1e-5)


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


def _queries(ask: Callable[[Array, Array], Any], points: Array, repeats: int) -> Timing:
    """Seconds of one query, the fastest of a few rounds."""
    every = poses(points)
    best = math.inf
    for _ in range(max(2, min(repeats, 5))):
        began = time.perf_counter()
        for R, c in every:
            ask(R, c)
        best = min(best, (time.perf_counter() - began) / len(every))
    return Timing(best, note=f"{1.0 / best:.3g} queries/s")


def tree_query(number: int, repeats: int) -> Timing:
    """The nearest pair of samples by two trees."""
    from bellcrank.contact.tree import Tree
    from bellcrank.contact.tree_search import Search

    points, normals = samples(number)
    tree = Tree.over(points, normals)
    return _queries(Search(tree, tree).nearest, points, repeats)


def surface_query(number: int, repeats: int) -> Timing:
    """The closest points of the smooth surfaces through the samples."""
    from bellcrank.contact import Sampled
    from bellcrank.contact.search import SampledPair

    points, normals = samples(number)
    surface = Sampled(points, normals)
    return _queries(SampledPair(surface, surface), points, repeats)


def motion_query(number: int, repeats: int) -> Timing:
    """The same along a turning of half a degree a step, each query begun at the samples of the last."""
    from bellcrank.contact import Sampled
    from bellcrank.contact.descent import Descent

    points, normals = samples(number)
    surface = Sampled(points, normals)
    descent = Descent(surface, surface, 4.0 * surface.spacing, 0.05)
    R, c = poses(points)[0]
    step = np.deg2rad(0.5)
    turn = np.array([[np.cos(step), -np.sin(step), 0.0], [np.sin(step), np.cos(step), 0.0], [0.0, 0.0, 1.0]])
    best, visited = math.inf, 0
    for _ in range(max(2, min(repeats, 5))):
        start, Q, visited = descent(R, c)[0].samples, R, 0
        began = time.perf_counter()
        for _ in range(POSES):
            Q = turn @ Q
            start = descent(Q, c, start)[0].samples
            visited += descent.visited
        best = min(best, (time.perf_counter() - began) / POSES)
    return Timing(best, note=f"{1.0 / best:.3g} queries/s, {visited // POSES} pairs of nodes looked at")


def coal_query(number: int, repeats: int) -> Timing:
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
    still = coal.Transform3s()

    def ask(R: Array, c: Array) -> float:
        return float(
            coal.distance(
                model, still, model, coal.Transform3s(R, c), coal.DistanceRequest(), coal.DistanceResult()
            )
        )

    return _queries(ask, points, repeats)


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


def ours(repeats: int) -> Timing:
    """Bellcrank at the tolerance that meets the error; the first run, which compiles, is not counted."""
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

    def run() -> float:
        return float(mechanism.simulate(1.0, tolerance=1e-6, output=1, progress=False)["ball.position.z"][-1])

    return _timed(run, repeats, "tolerance 1e-6")


def _timed(run: Callable[[], float], repeats: int, how: str) -> Timing:
    height = run()
    best = math.inf
    for _ in range(max(2, min(repeats, 5))):
        began = time.perf_counter()
        height = run()
        best = min(best, time.perf_counter() - began)
    return Timing(best, note=f"{how}, error {abs(height - exact_height()):.1e} m")


def _refined(make: Callable[[float], Callable[[], float]], repeats: int) -> Timing:
    """The coarsest step that meets the error."""
    for step in STEPS:
        run = make(step)
        if abs(run() - exact_height()) < WANTED or step == STEPS[-1]:
            return _timed(run, repeats, f"step {step:g} s")
    raise AssertionError


def mujoco(repeats: int) -> Timing:
    """MuJoCo's soft contact as a spring of that stiffness without damping (solref by stiffness and damping)."""
    import mujoco as mj

    def make(step: float) -> Callable[[], float]:
        model = mj.MjModel.from_xml_string(
            f"""<mujoco><option timestep="{step}" gravity="0 0 {-G}" integrator="RK4"/><worldbody>
            <geom type="plane" size="5 5 .1" solref="{-STIFFNESS} 0" solimp="0 0.9999 1e-9 0.5 1" condim="1"/>
            <body pos="0 0 {RADIUS + DROP}"><freejoint/><geom type="sphere" size="{RADIUS}" mass="{MASS}"
            solref="{-STIFFNESS} 0" solimp="0 0.9999 1e-9 0.5 1" condim="1"/></body></worldbody></mujoco>"""
        )
        data = mj.MjData(model)

        def run() -> float:
            mj.mj_resetData(model, data)
            for _ in range(round(1.0 / step)):
                mj.mj_step(model, data)
            return float(data.qpos[2])

        return run

    return _refined(make, repeats)


def exudyn(repeats: int) -> Timing:
    """Exudyn: a mass point over a one-sided spring, a Python function, with Runge-Kutta steps."""
    import exudyn as exu
    from exudyn import itemInterface as items  # noqa: N813

    def make(step: float) -> Callable[[], float]:
        container = exu.SystemContainer()
        system = container.AddSystem()
        ground = system.AddObject(items.ObjectGround(referencePosition=[0.0, 0.0, 0.0]))
        node = system.AddNode(items.NodePoint(referenceCoordinates=[0.0, 0.0, RADIUS + DROP]))
        body = system.AddObject(items.ObjectMassPoint(physicsMass=MASS, nodeNumber=node))
        below = system.AddMarker(items.MarkerBodyPosition(bodyNumber=ground))
        centre = system.AddMarker(items.MarkerBodyPosition(bodyNumber=body))
        system.AddLoad(items.Force(markerNumber=centre, loadVector=[0.0, 0.0, -MASS * G]))

        def spring(mbs: Any, t: float, number: int, stretch: float, rate: float, *_: Any) -> float:
            return STIFFNESS * stretch if stretch < 0.0 else 0.0

        system.AddObject(
            items.ObjectConnectorSpringDamper(
                markerNumbers=[below, centre],
                referenceLength=RADIUS,
                stiffness=STIFFNESS,
                springForceUserFunction=spring,
            )
        )
        system.Assemble()
        settings = exu.SimulationSettings()
        settings.timeIntegration.numberOfSteps = round(1.0 / step)
        settings.timeIntegration.endTime = 1.0
        settings.solutionSettings.writeSolutionToFile = False
        settings.timeIntegration.verboseMode = 0

        def run() -> float:
            system.systemData.SetODE2Coordinates([0.0] * 3, configuration=exu.ConfigurationType.Initial)
            system.SolveDynamic(settings, solverType=exu.DynamicSolverType.RK44)
            return float(system.GetNodeOutput(node, exu.OutputVariableType.Position)[2])

        return run

    return _refined(make, repeats)


def contact_measures(repeats: int, quick: bool) -> Iterator[tuple[str, str, Callable[[], Timing]]]:
    """Case, code and measure of every row."""
    for number in NUMBERS[: 2 if quick else None]:
        yield f"pair of {number} samples", "bellcrank, samples", lambda n=number: tree_query(n, repeats)  # type: ignore[misc]
        if number <= 100_000:
            yield f"pair of {number} samples", "bellcrank, smooth", lambda n=number: surface_query(n, repeats)  # type: ignore[misc]
            yield (
                f"pair of {number} samples",
                "bellcrank, in motion",
                lambda n=number: motion_query(n, repeats),
            )  # type: ignore[misc]
        yield f"pair of {number} samples", "coal, triangles", lambda n=number: coal_query(n, repeats)  # type: ignore[misc]
    for code, measure in (("bellcrank", ours), ("mujoco", mujoco), ("exudyn", exudyn)):
        yield "elastic bounces, 1 s", code, lambda m=measure: m(repeats)  # type: ignore[misc]


__all__ = ["contact_measures"]
