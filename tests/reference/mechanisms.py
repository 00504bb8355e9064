"""Random mechanisms: trees, planar, spatial, nested and overconstrained loops, massless members, drivers.

:func:`mechanism` draws one of a family from a seed; :func:`mechanisms` is the same as a hypothesis strategy.
Every loop is closed in the start pose, because joints are drawn at world points between placed bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from hypothesis import strategies as st

from bellcrank.model import System
from reference.drawing import FREEDOMS, KINDS, Drawing, add_forces
from reference.engine import Engine, Singular, row_space, turn
from reference.newton_euler import mass_and_force
from reference.states import random_state, start_poses

ATTEMPTS = 100


def mechanism(family: str, seed: int, forces: int = 3) -> System:
    """A mechanism of the family; the same seed gives the same one.

    Drawings too near a singular pose are drawn anew, so that agreement to 1e-9 can be asked for.
    """
    for attempt in range(ATTEMPTS):
        drawing = Drawing(np.random.default_rng([seed, attempt]), f"{family} {seed}")
        FAMILIES[family](drawing)
        add_forces(drawing, forces)
        if well_conditioned(drawing.system) and keeps_its_rank(drawing.system):
            return drawing.system
    raise AssertionError(f"no well-conditioned mechanism of family {family!r} in {ATTEMPTS} attempts")


def mechanisms(families: Sequence[str] | None = None) -> st.SearchStrategy[System]:
    """Mechanisms of the families (all of them where none are named)."""
    names = st.sampled_from(sorted(families or FAMILIES))
    return st.builds(mechanism, names, st.integers(0, 2**32 - 1), st.integers(0, 4))


def well_conditioned(system: System, singular_value: float = 2e-3, condition: float = 1e7) -> bool:
    """Whether constraints are clearly independent or clearly redundant, and the masses clearly regular."""
    poses = start_poses(system)
    engine = Engine(system, None, 0.0, poses, {name: (np.zeros(3), np.zeros(3)) for name in poses})
    J, _ = engine.constraint_rows()
    _, s, V = row_space(J)
    if s.size and s[-1] < singular_value * s[0]:
        return False
    M, _ = mass_and_force(engine)
    free = np.linalg.svd(V)[2][s.size :] if s.size else np.eye(M.shape[0])
    if free.shape[0] == 0:
        return True
    moments = np.linalg.eigvalsh(free @ M @ free.T)
    return bool(moments[0] > moments[-1] / condition)


def keeps_its_rank(system: System) -> bool:
    """Whether as many constraints are independent nearby as in the start pose.

    Axes drawn along x, y and z can meet in a pose where a loop is redundant only there.
    """
    start = start_poses(system)
    try:
        nearby, _ = random_state(system, None, 0.0, np.random.default_rng(0), 0.05, steps=1)
    except Singular:
        return False
    rest = {name: (np.zeros(3), np.zeros(3)) for name in start}
    ranks = {
        row_space(Engine(system, None, 0.0, poses, rest).constraint_rows()[0])[1].size
        for poses in (start, nearby)
    }
    return len(ranks) == 1


def tree(drawing: Drawing) -> None:
    """Three to eight bodies, each hung on an earlier one or on the ground by any kind of joint."""
    bodies = ["ground"]
    for _ in range(int(drawing.rng.integers(3, 9))):
        body = drawing.body()
        drawing.joint(drawing.pick(KINDS), drawing.pick(bodies), body)
        bodies.append(body)


def chain(drawing: Drawing) -> None:
    """Every kind of joint once, in one chain."""
    before = "ground"
    for kind in drawing.rng.permutation(KINDS[:-1]):
        body = drawing.body()
        drawing.joint(str(kind), before, body)
        before = body


def planar(
    drawing: Drawing, pairs: Sequence[tuple[int, int]], massless: int = -1, sliders: int = 0
) -> list[str]:
    """A planar linkage of spatial joints: link 0 is the ground, each pair of links is pinned together.

    The plane lies anyhow, pins sit at different depths, and the first `sliders` of the pairs slide.
    """
    R = drawing.rotation()
    offset = drawing.point()
    links = max(max(pair) for pair in pairs)
    names = ["ground"]
    for i in range(1, links + 1):
        names.append(drawing.body(f"link {i}", massless=i == massless))
    for i, (a, b) in enumerate(pairs):
        if i < sliders:
            along = turn(np.array([0.0, 0.0, drawing.rng.uniform(-3, 3)]))[:, 0]
            drawing.joint("prismatic", names[a], names[b], axis=R @ along)
        else:
            drawing.joint("revolute", names[a], names[b], at=offset + R @ drawing.point(), axis=R[:, 2])
    return names


FOUR_BAR = ((3, 0), (0, 1), (1, 2), (2, 3))
FIVE_BAR = ((4, 0), (0, 1), (1, 2), (2, 3), (3, 4))
WATT = ((3, 0), (0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0))
STEPHENSON = ((3, 0), (0, 1), (1, 2), (2, 3), (2, 4), (4, 5), (5, 0))
NESTED = (*STEPHENSON, (4, 6), (6, 7), (7, 1), (5, 8), (8, 9), (9, 0))


def parallel_cranks(drawing: Drawing) -> None:
    """A coupler on three equal parallel cranks: redundant even as a planar mechanism."""
    R, offset = drawing.rotation(), drawing.point()
    arm = R @ np.array([*drawing.rng.uniform(0.4, 1, 2), 0.0])
    coupler = drawing.body("coupler")
    for x in (0.0, 0.7, 1.5):
        pivot = offset + R @ np.array([x, 0.2 * x, 0.1])
        crank = drawing.body()
        drawing.joint("revolute", "ground", crank, at=pivot, axis=R[:, 2])
        drawing.joint("revolute", crank, coupler, at=pivot + arm, axis=R[:, 2])


def spatial_loop(drawing: Drawing, cut: str = "", massless: bool = False) -> None:
    """One loop with at least one freedom; `cut` is the kind of a joint that must close it."""
    kinds = [cut] if cut else []
    usable = [k for k in KINDS if k != "free"]
    while sum(FREEDOMS[k] for k in kinds) < 7 or len(kinds) < 3:
        kinds.append(drawing.pick(usable))
    names = ["ground", *(drawing.body(massless=massless and i == 1) for i in range(len(kinds) - 1)), "ground"]
    for i, kind in enumerate(reversed(kinds)):
        last = i == len(kinds) - 1
        drawing.joint(kind, names[i], names[i + 1], cut=True if cut and last else None)


def ternary_loops(drawing: Drawing) -> None:
    """Two spatial loops that share a body, with a tree hanging on one of them."""
    shared = drawing.body("shared")
    drawing.joint("cylindrical", "ground", shared)
    for _ in range(2):
        first, second = drawing.body(), drawing.body()
        for kind, a, b in (
            ("revolute", "ground", first),
            ("spherical", first, second),
            ("universal", second, shared),
        ):
            drawing.joint(kind, a, b)
        drawing.joint("revolute", second, drawing.body())


def crank_rod_rocker(drawing: Drawing, rod_end: str = "spherical", massless: bool = False) -> None:
    """Revolute, spherical, spherical (the rod may spin) or universal, revolute."""
    crank, rod, rocker = drawing.body("crank"), drawing.body("rod", massless=massless), drawing.body("rocker")
    drawing.joint("revolute", "ground", crank)
    drawing.joint("spherical", crank, rod)
    drawing.joint(rod_end, rod, rocker)
    drawing.joint(drawing.pick(["revolute", "prismatic"]), "ground", rocker)


def platform(drawing: Drawing) -> None:
    """A plate on three legs of universal, prismatic and spherical joints: six freedoms, two loops."""
    plate = drawing.body("plate")
    for _ in range(3):
        lower, upper = drawing.body(), drawing.body()
        foot, top = drawing.point(), drawing.point()
        along = (top - foot) / np.linalg.norm(top - foot)
        drawing.joint("universal", "ground", lower, at=foot, axis=drawing.normal_to(along))
        drawing.joint("prismatic", lower, upper, axis=along)
        drawing.joint("spherical", upper, plate, at=top)


def suspension(drawing: Drawing, cut: bool | None = None) -> None:
    """A wheel on two arms and a tie rod under a floating body: loops cut at spherical joints."""
    chassis, lower, upper, knuckle, rod, wheel = (
        drawing.body(name) for name in ("chassis", "lower arm", "upper arm", "knuckle", "tie rod", "wheel")
    )
    drawing.joint("free", "ground", chassis, turned=False)
    drawing.joint("revolute", chassis, lower)
    drawing.joint("revolute", chassis, upper)
    drawing.joint("spherical", lower, knuckle)
    drawing.joint("spherical", upper, knuckle, cut=cut)
    drawing.joint("universal", chassis, rod)
    drawing.joint("spherical", rod, knuckle, cut=cut)
    drawing.joint("revolute", knuckle, wheel)


def massless_cross(drawing: Drawing) -> None:
    """A tree whose joints are made of massless parts: two hinges and a cross, a hinge and a sleeve."""
    cross, shaft, sleeve, arm = (
        drawing.body("cross", massless=True), drawing.body("shaft"),
        drawing.body("sleeve", massless=True), drawing.body("arm"),
    )  # fmt: skip
    axis = drawing.direction()
    at = drawing.point()
    drawing.joint("revolute", "ground", cross, at=at, axis=axis)
    drawing.joint("revolute", cross, shaft, at=at, axis=drawing.normal_to(axis))
    drawing.joint("prismatic", shaft, sleeve)
    drawing.joint("revolute", sleeve, arm)


def closed_by_twists(
    drawing: Drawing, lengths: Sequence[float], twists: Sequence[float], angles: Sequence[float]
) -> None:
    """A loop of revolute joints from Denavit-Hartenberg numbers that close."""
    R, p = drawing.rotation(), drawing.point()
    places = []
    for length, twist, angle in zip(lengths, twists, angles, strict=True):
        places.append((p, R[:, 2]))
        R = R @ turn(np.array([0.0, 0.0, angle]))
        p = p + R @ np.array([length, 0.0, 0.0])
        R = R @ turn(np.array([twist, 0.0, 0.0]))
    assert np.abs(p - places[0][0]).max() < 1e-12, "these numbers do not close"
    names = ["ground", *(drawing.body() for _ in range(len(places) - 1)), "ground"]
    for i, (at, axis) in enumerate(places):
        drawing.joint("revolute", names[i - 1] if i else names[-2], names[i], at=at, axis=axis)


def bennett(drawing: Drawing) -> None:
    """Bennett's four revolute joints in space, mobile only through a / sin(alpha) = b / sin(beta)."""
    alpha, beta = drawing.rng.uniform(0.4, 0.8), drawing.rng.uniform(1.2, 1.6)
    a = drawing.rng.uniform(0.5, 1.0)
    b = a * np.sin(beta) / np.sin(alpha)
    first = drawing.rng.uniform(0.8, 1.6)
    second = 2 * np.arctan(np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2) / np.tan(first / 2))
    closed_by_twists(drawing, (a, b, a, b), (alpha, beta, alpha, beta), (first, second, -first, -second))


def bricard(drawing: Drawing) -> None:
    """Bricard's threefold symmetric linkage of six revolute joints at right angles: one freedom too many."""
    first = drawing.rng.uniform(1.2, 1.9)
    second = np.arccos(-np.cos(first) / (1 + np.cos(first)))
    quarter = np.pi / 2
    closed_by_twists(drawing, (1.0,) * 6, (quarter, -quarter) * 3, (first, second) * 3)


def coupled(drawing: Drawing) -> None:
    """A tree with a gear, a rack and a coupling of three coordinates."""
    names = [drawing.body() for _ in range(5)]
    kinds = ("revolute", "revolute", "prismatic", "cylindrical", "screw")
    parents = ("ground", "ground", names[0], names[1], names[2])
    joints = [drawing.joint(k, a, b) for k, a, b in zip(kinds, parents, names, strict=True)]
    system, rng = drawing.system, drawing.rng
    system.gear("gear", joints[0], joints[1], float(rng.uniform(-3, -1)))
    system.rack_and_pinion("rack", joints[2], joints[0], 0.3)
    start = joints[3].start_coordinates()
    factors = {(joints[3], "angle"): 1.0, (joints[3], "displacement"): 0.7, joints[4]: -0.5}
    offset = start[0] + 0.7 * start[1] - 0.5 * joints[4].start_coordinates()[0]
    system.coupling("mixture", factors, offset)


def coupled_across_cuts(drawing: Drawing) -> None:
    """A loop with a cut cylindrical joint and a free body, whose coordinates no joint of the tree owns, geared."""
    names = [drawing.body() for _ in range(4)]
    pin = drawing.joint("revolute", "ground", names[0])
    drawing.joint("spherical", names[0], names[1])
    drawing.joint("universal", names[1], names[2])
    cut = drawing.joint("cylindrical", names[2], "ground", cut=True)
    float_ = drawing.joint("free", "ground", names[3])
    terms = [(pin, "angle"), (cut, "angle"), (cut, "displacement"), (float_, "x"), (float_, "z")]
    factors = drawing.rng.uniform(0.5, 2.0, len(terms)) * drawing.rng.choice([-1.0, 1.0], len(terms))
    start = [joint.start_coordinates()[joint.coordinates.index(c)] for joint, c in terms]
    drawing.system.coupling(
        "mixture", dict(zip(terms, map(float, factors), strict=True)), float(factors @ start)
    )


def rolling(drawing: Drawing) -> None:
    """Wheels and balls that float, roll on moving planes and on each other's planes, and a blade."""
    carrier = drawing.body()
    drawing.joint(drawing.pick(["revolute", "cylindrical", "spherical"]), "ground", carrier)
    system, rng = drawing.system, drawing.rng
    for k, base in enumerate(("ground", carrier)):
        wheel = drawing.body()
        drawing.joint("free", "ground", wheel)
        center, axes = drawing.point(), drawing.rotation()
        radius, rim = float(rng.uniform(0.2, 0.5)), float(rng.choice([0.0, 0.1]))
        n = axes[:, 2]
        hub = drawing.frame(wheel, center, np.eye(3))
        if k == 0 or rng.random() < 0.6:
            axis = drawing.normal_to(n) + 0.4 * n
            axis /= np.linalg.norm(axis)
            e = n - (axis @ n) * axis
            lowest = center - radius * e / np.linalg.norm(e) - rim * n
            local = system.bodies[wheel].start_rotation().T @ axis
            plane = drawing.frame(base, lowest, axes)
            system.rolling(f"roll {k}", plane, hub, radius, axis=tuple(local), rim=rim)
        else:
            system.rolling(f"roll {k}", drawing.frame(base, center - radius * n, axes), hub, radius)
    sled = drawing.body()
    drawing.joint("planar", carrier, sled)
    system.knife_edge(
        "blade", drawing.frame("ground", drawing.point(), np.eye(3)), sled, axis=drawing.direction()
    )


def constrained(drawing: Drawing) -> None:
    """A chain and two floating bodies, held by points, directions and a transmission."""
    first, second = drawing.body(), drawing.body()
    shaft = drawing.joint("revolute", "ground", first)
    slide = drawing.joint("cylindrical", first, second)
    system, axes = drawing.system, drawing.rotation()
    for name, base in (("loose", second), ("free", "ground")):
        drawing.body(name)
        drawing.joint("free", "ground", name)
        at = drawing.point()
        made = system.point_on_line if name == "loose" else system.point_on_plane
        made(f"hold {name}", drawing.frame(base, at, axes), drawing.frame(name, at, axes))
    tilted = axes @ turn(np.array([*drawing.rng.uniform(-0.8, 0.8, 2), 0.0]))
    here = drawing.point()
    system.constant_velocity("joint", drawing.frame(first, here, axes), drawing.frame("loose", here, tilted))
    across = axes @ np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    system.perpendicular("square", drawing.frame(second, here, axes), drawing.frame("free", here, across))
    angle = shaft.start_coordinates()[0]
    shift = slide.start_coordinates()[1]
    system.transmission(
        "lift",
        (slide, "displacement"),
        shaft,
        lambda x: shift + 0.3 * (x - angle) + 0.2 * (np.sin(x) - np.sin(angle)),
    )


def driven(drawing: Drawing) -> None:
    """A five-bar with a driven pin, and a tree with driven coordinates and a driven point."""
    planar(drawing, FIVE_BAR)
    system, rng = drawing.system, drawing.rng
    pin = system.joints[next(name for name in system.joints if name.startswith("revolute"))]
    lift, swing = drawing.body("lift"), drawing.body("swing")
    joints = [pin, drawing.joint("prismatic", "ground", lift), drawing.joint("cylindrical", lift, swing)]
    rate = system.parameter("rate", float(rng.uniform(1, 4)), "rad/s")
    for joint, coordinate in zip(joints, ("angle", "displacement", "angle"), strict=True):
        start = joint.start_coordinates()[joint.coordinates.index(coordinate)]
        system.driver(
            joint,
            lambda t, start=start: start + 0.2 * np.sin(rate * t),
            coordinate,
            name=f"drive {joint.name}",
        )
    thrown = drawing.body("thrown")
    drawing.joint("spherical", lift, thrown)
    point = system.bodies["thrown"].point(drawing.point(0.5))
    height = float(point.start_position()[2])
    system.driver(point, lambda t: height + 0.1 * t - 0.3 * t**2, axis="z", name="drive a point")


FAMILIES: dict[str, Callable[[Drawing], object]] = {
    "tree": tree,
    "chain": chain,
    "four-bar": lambda d: planar(d, FOUR_BAR),
    "slider-crank": lambda d: planar(d, FOUR_BAR, sliders=1),
    "five-bar": lambda d: planar(d, FIVE_BAR, sliders=int(d.rng.integers(2))),
    "six-bar": lambda d: planar(d, d.pick([WATT, STEPHENSON])),
    "nested planar loops": lambda d: planar(d, NESTED),
    "parallel cranks": parallel_cranks,
    "spatial loop": spatial_loop,
    "ternary loops": ternary_loops,
    "crank rod rocker": crank_rod_rocker,
    "platform": platform,
    "suspension": suspension,
    "suspension cut": lambda d: suspension(d, cut=True),
    "bennett": bennett,
    "bricard": bricard,
    "massless rod": lambda d: crank_rod_rocker(d, "universal", massless=True),
    "massless coupler": lambda d: planar(d, FOUR_BAR, massless=2),
    "massless crank and slider": lambda d: planar(d, FOUR_BAR, massless=1, sliders=1),
    "massless cross": massless_cross,
    "coupled": coupled,
    "coupled across cuts": coupled_across_cuts,
    "driven": driven,
    "rolling": rolling,
    "constrained": constrained,
    **{f"cut {kind}": (lambda d, kind=kind: spatial_loop(d, cut=kind)) for kind in KINDS if kind != "free"},
}
"""Families by name; each draws into an empty drawing."""
