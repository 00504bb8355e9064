"""Many contacts: dice, a heap, balls, dominoes and a table by steps of 1 ms, against MuJoCo in the same scenes.

    python -m benchmarks.many [--only dice heap balls dominoes table] [--repeats 3]
    python -m benchmarks.many --growth packing 27 64 125 216
    python -m benchmarks.many --growth layers 36 64 100 144
    python -m benchmarks.many --growth pile 20 45 80 125 180
    python -m benchmarks.many --growth dominoes 12 25 50 100
    python -m benchmarks.many --events

Times are processor time of a simulated second on one core, the least of a few runs; compilation is over before the
clock starts. MuJoCo runs with its elliptic cones, once with its usual contacts and once with ones as stiff as the
step bears. Its contacts are damped springs, which know no restitution; ours have that of the scene. Penetration is
the deepest overlap over the size: of MuJoCo over the smallest half edge or the radius, at the beginning of any step;
ours over the size of the smaller body (centre to the furthest point), where contacts are solved in any step, after
the correction of positions.

With --growth balls settle in a box, boxes fall on a pile, or dominoes fall, as many as given. The exponent of the time
in the contacts of a step is fitted to all sizes. Piles of five times a square have columns of five: ten boxes lie in
columns of two and three, so that their growth to twenty is one of height.

With --events impacts among ten contacts are timed, event by event: a cradle, which conducts what strikes it at once,
with friction one strike after another, and a column of free balls. The time is that of a whole impact with its bodies
at hand: which contacts touch, their impulses, the record, and which of them stay in touch.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.impacts import moreau
from bellcrank.impacts.contacts import Contacts
from bellcrank.impacts.stepping import SteppedRun
from bellcrank.mechanism import Mechanism, analyse
from bellcrank.model import System

Array = NDArray[np.float64]

STEP, GRAVITY, DENSITY = 1e-3, 9.81, 1000.0


@dataclass(frozen=True, eq=False)
class Body:
    """A free box, or a ball where it has one size: where it is, how it is turned (w, x, y, z), and how it moves.

    legs: Boxes without mass, half their edges and where they are on the body.
    """

    half: tuple[float, ...]
    at: Array
    turned: Array
    velocity: Array
    legs: tuple[tuple[tuple[float, float, float], tuple[float, float, float]], ...] = ()

    @property
    def mass(self) -> float:
        """[kg]."""
        volume = (
            8.0 * math.prod(self.half) if len(self.half) == 3 else 4.0 / 3.0 * math.pi * self.half[0] ** 3
        )
        return DENSITY * volume

    @property
    def inertia(self) -> tuple[float, float, float]:
        """About its centre [kg m^2]."""
        if len(self.half) == 1:
            return (0.4 * self.mass * self.half[0] ** 2,) * 3
        x, y, z = (h * h for h in self.half)
        a, b, c = (self.mass / 3.0 * s for s in (y + z, x + z, x + y))
        return a, b, c

    @property
    def rotation(self) -> Array:
        """From its axes to the world's."""
        from scipy.spatial.transform import Rotation

        return np.asarray(Rotation.from_quat(np.roll(self.turned, -1)).as_matrix())


@dataclass(frozen=True, eq=False)
class Scene:
    """Bodies above a floor, or between walls so far from the middle."""

    bodies: list[Body]
    friction: float
    restitution: float
    duration: float
    walls: float | None = None

    @property
    def planes(self) -> list[tuple[tuple[float, float, float], tuple[float, float, float]]]:
        """Point and normal of floor and walls."""
        found = [((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))]
        if self.walls is not None:
            w = self.walls
            found += [((-w, 0.0, 0.0), (1.0, 0.0, 0.0)), ((w, 0.0, 0.0), (-1.0, 0.0, 0.0))]
            found += [((0.0, -w, 0.0), (0.0, 1.0, 0.0)), ((0.0, w, 0.0), (0.0, -1.0, 0.0))]
        return found

    @property
    def size(self) -> float:
        """The smallest half edge or radius [m]."""
        return min(min(body.half) for body in self.bodies)


UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def dice() -> Scene:
    """Five dice, thrown."""
    rng = np.random.default_rng(1)
    bodies = []
    for k in range(5):
        x, y = 0.12 * np.array([k % 3, k // 3 % 3]) + 0.02 * rng.random(2)
        at = np.array([x, y, 0.2 + 0.1 * k])
        bodies.append(Body((0.05,) * 3, at, rng.normal(size=4), 0.5 * rng.normal(size=3)))
    return Scene(bodies, 0.5, 0.3, 2.0)


def heap() -> Scene:
    """Twenty boxes that fall on each other."""
    rng = np.random.default_rng(2)
    bodies = []
    for k in range(20):
        at = np.array([0.15 * rng.random(), 0.15 * rng.random(), 0.15 + 0.24 * k])
        bodies.append(Body((0.05, 0.06, 0.08), at, rng.normal(size=4), np.zeros(3)))
    return Scene(bodies, 0.5, 0.3, 3.0)


def balls() -> Scene:
    """A hundred balls that fall into a box."""
    rng = np.random.default_rng(3)
    bodies = []
    for k in range(100):
        x, y = 0.1 * np.array([k % 5, k // 5 % 5]) - 0.2 + 0.004 * rng.random(2)
        bodies.append(Body((0.045,), np.array([x, y, 0.1 + 0.11 * (k // 25)]), UPRIGHT, np.zeros(3)))
    return Scene(bodies, 0.3, 0.3, 3.0, 0.25)


def dominoes(count: int = 50) -> Scene:
    """Dominoes in a row; the first leans on nothing."""
    half, lean = (0.005, 0.02, 0.05), 0.15
    bodies = [Body(half, np.array([0.04 * k, 0.0, 0.05]), UPRIGHT, np.zeros(3)) for k in range(count)]
    at = np.array([0.05 * math.sin(lean), 0.0, 0.05 * math.cos(lean) + 0.005 * math.sin(lean)])
    bodies[0] = Body(half, at, np.array([math.cos(lean / 2), 0.0, math.sin(lean / 2), 0.0]), np.zeros(3))
    return Scene(bodies, 0.3, 0.0, 3.0)


def table() -> Scene:
    """A table on four legs, pushed over rough ground so that it rattles and turns."""
    leg = (0.02, 0.02, 0.2)
    legs = tuple((leg, (x, y, -0.22)) for x in (-0.35, 0.35) for y in (-0.25, 0.25))
    top = Body((0.4, 0.3, 0.02), np.array([0.0, 0.0, 0.42]), UPRIGHT, np.array([2.0, 0.4, 0.0]), legs)
    return Scene([top], 0.6, 0.1, 2.0)


def packing(count: int) -> Scene:
    """Balls in a box as wide as it is high; the count is the next cube."""
    edge = math.ceil(count ** (1.0 / 3.0) - 1e-9)
    return boxed(edge, edge)


def boxed(edge: int, layers: int) -> Scene:
    """Balls in a box that is so many balls wide and deep, laid in layers a little apart."""
    rng = np.random.default_rng(3)
    bodies = []
    for k in range(edge * edge * layers):
        x, y = (
            0.1 * np.array([k % edge, k // edge % edge]) - 0.05 * (edge - 1) + 0.004 * (rng.random(2) - 0.5)
        )
        bodies.append(Body((0.045,), np.array([x, y, 0.05 + 0.11 * (k // edge**2)]), UPRIGHT, np.zeros(3)))
    return Scene(bodies, 0.3, 0.3, 1.0, 0.05 * edge)


def layers(count: int) -> Scene:
    """Balls in four layers in a box; the count is the next lower square times four."""
    return boxed(math.isqrt(count // 4), 4)


def pile(count: int) -> Scene:
    """Boxes that fall on each other in columns of five."""
    rng = np.random.default_rng(2)
    wide = math.ceil(math.sqrt(count / 5))
    bodies = []
    for k in range(count):
        column = k % (wide * wide)
        x, y = 0.24 * np.array([column % wide, column // wide]) + 0.01 * rng.random(2)
        at = np.array([x, y, 0.15 + 0.24 * (k // (wide * wide))])
        bodies.append(Body((0.05, 0.06, 0.08), at, rng.normal(size=4), np.zeros(3)))
    return Scene(bodies, 0.5, 0.3, 1.0)


GROWING: dict[str, Callable[[int], Scene]] = {
    "packing": packing,
    "layers": layers,
    "pile": pile,
    "dominoes": dominoes,
}

SCENES: dict[str, Callable[[], Scene]] = {
    "dice": dice,
    "heap": heap,
    "balls": balls,
    "dominoes": dominoes,
    "table": table,
}


@dataclass(frozen=True)
class Row:
    """Processor time of a simulated second [s], penetration over the size, and what else is worth knowing."""

    name: str
    seconds: float
    penetration: float
    note: str = ""


def mechanism(scene: Scene) -> Mechanism:
    """Free bodies that collide with each other, the floor and the walls."""
    system = System("many", gravity=(0.0, 0.0, -GRAVITY))
    system.ground.collides(*(system.ground.plane(at=at, normal=normal) for at, normal in scene.planes))
    initial = {}
    for k, given in enumerate(scene.bodies):
        body = system.body(
            f"body {k}", mass=given.mass, inertia=given.inertia, at=tuple(given.at), rotation=given.rotation
        )
        system.free(f"flight {k}", system.ground, body)
        initial[f"flight {k}"] = {"velocity": tuple(given.velocity)}
        body.collides(body.sphere(*given.half) if len(given.half) == 1 else body.box(*given.half))
        body.collides(*(body.box(*half, at=at) for half, at in given.legs))
    system.contacts_between(restitution=scene.restitution, friction=scene.friction)
    return analyse(system, initial=initial)


def ours(scene: Scene, repeats: int) -> Row:
    """By steps, from a mechanism whose programs are compiled."""
    made = mechanism(scene)
    began = time.perf_counter()
    made.simulate(2.0 * STEP, impacts="stepping", step=STEP, output=1)
    first = time.perf_counter() - began
    best, result = math.inf, None
    for _ in range(repeats):
        start = time.process_time()
        result = made.simulate(scene.duration, impacts="stepping", step=STEP, output=1, progress=False)
        best = min(best, time.process_time() - start)
    assert result is not None
    run = result.run
    note = f"residual {run.residual:.0e}, {run.unsolved} of {run.steps} steps above 1e-6, first run {first:.1f} s"
    return Row("bellcrank", best / scene.duration, run.penetration, note)


def mujoco_model(scene: Scene, stiff: bool) -> Any:
    """The scene in MuJoCo's language."""
    import mujoco

    solref = f'solref="{2.0 * STEP if stiff else 0.02} 1"'
    geom = f'friction="{scene.friction} 0 0" condim="3" {solref}'
    parts = []
    for at, normal in scene.planes:
        place = " ".join(map(str, at))
        parts.append(
            f'<geom type="plane" size="9 9 1" pos="{place}" zaxis="{" ".join(map(str, normal))}" {geom}/>'
        )
    for body in scene.bodies:
        kind = "sphere" if len(body.half) == 1 else "box"
        pos, quat = " ".join(map(str, body.at)), " ".join(map(str, body.turned / np.linalg.norm(body.turned)))
        size = " ".join(map(str, body.half))
        legs = "".join(
            f'<geom type="box" size="{" ".join(map(str, half))}" pos="{" ".join(map(str, at))}" density="0" {geom}/>'
            for half, at in body.legs
        )
        parts.append(
            f'<body pos="{pos}" quat="{quat}"><freejoint/>'
            f'<geom type="{kind}" size="{size}" density="{DENSITY}" {geom}/>{legs}</body>'
        )
    text = (
        f'<mujoco><option timestep="{STEP}" cone="elliptic" gravity="0 0 {-GRAVITY}"/><size memory="100M"/>'
        f"<worldbody>{''.join(parts)}</worldbody></mujoco>"
    )
    return mujoco.MjModel.from_xml_string(text)


def mujoco(scene: Scene, stiff: bool, repeats: int) -> Row:
    """Steps timed alone; the deepest contact in a run of its own."""
    import mujoco as engine

    model = mujoco_model(scene, stiff)
    steps = round(scene.duration / STEP)

    def fresh() -> Any:
        data = engine.MjData(model)
        for k, body in enumerate(scene.bodies):
            data.qvel[6 * k : 6 * k + 3] = body.velocity
        return data

    best, deepest = math.inf, 0.0
    for _ in range(repeats):
        data = fresh()
        start = time.process_time()
        for _ in range(steps):
            engine.mj_step(model, data)
        best = min(best, time.process_time() - start)
    data = fresh()
    for _ in range(steps):
        engine.mj_step(model, data)
        if data.ncon:
            deepest = min(deepest, float(data.contact.dist.min()))
    return Row("mujoco stiff" if stiff else "mujoco", best / scene.duration, -deepest / scene.size)


def grow(name: str, counts: list[int]) -> None:
    """Time against the contacts of a step, for scenes of growing size, and the exponents."""
    print(
        f"{'bodies':>6} {'contacts':>9} {'CPU s / s':>10} {'of mujoco':>10} {'unsolved':>9} {'residual':>9}"
    )
    held, spent, peer = [], [], []
    for count in counts:
        scene = GROWING[name](count)
        made = mechanism(scene)
        made.simulate(2.0 * STEP, impacts="stepping", step=STEP, output=1)
        run = SteppedRun(made, STEP, (), ())
        start = time.process_time()
        report = run.go_on(np.array([0.0, scene.duration]), False).run
        spent.append((time.process_time() - start) / scene.duration)
        held.append(run.statistics[moreau.ACTIVE] / run.statistics[moreau.SOLVED])
        peer.append(mujoco(scene, False, 1).seconds)
        print(
            f"{len(scene.bodies):6} {held[-1]:9.0f} {spent[-1]:10.3f} {spent[-1] / peer[-1]:10.2f} "
            f"{report.unsolved:9} {report.residual:9.0e}",
            flush=True,
        )
    if len(counts) > 1:
        mine, its = (np.polyfit(np.log(held), np.log(seconds), 1)[0] for seconds in (spent, peer))
        print(f"time grows like contacts^{mine:.2f}, mujoco's like contacts^{its:.2f}")


def cradle(restitution: float, friction: float) -> Mechanism:
    """Eleven pendulums that touch; the first is lifted."""
    system = System("cradle", gravity=(0.0, 0.0, -GRAVITY))
    shapes = []
    for k in range(11):
        ball = system.body(f"ball {k}", mass=1.0, inertia=(1e-3,) * 3, at=(0.1 * k, 0.0, -1.0))
        system.revolute(f"pin {k}", system.ground, ball, at=(0.1 * k, 0.0, 0.0), axis="y")
        shapes.append(ball.sphere(0.05))
    for k in range(10):
        a, b = shapes[k : k + 2]
        system.contact(f"contact {k}", a, b, restitution=restitution, friction=friction)
    return analyse(system, initial={"pin 0": 1.0})


def column() -> Mechanism:
    """Ten free balls that fall on each other."""
    system = System("column", gravity=(0.0, 0.0, -GRAVITY))
    shapes = [system.ground.plane()]
    for k in range(10):
        ball = system.body(f"ball {k}", mass=1.0, inertia=(1e-3,) * 3, at=(0.0, 0.0, 0.1 + 0.11 * k))
        system.free(f"flight {k}", system.ground, ball)
        shapes.append(ball.sphere(0.05))
        a, b = shapes[-2:]
        system.contact(f"contact {k}", a, b, restitution=0.8, friction=0.2)
    return analyse(system)


def events(repeats: int) -> None:
    """Times of impacts: the least of the repeats of each, and of these the median and the longest."""
    scenes = (
        ("cradle", cradle(1.0, 0.0), 3.0),
        ("cradle with friction", cradle(0.8, 0.2), 3.0),
        ("column", column(), 0.6),
    )
    strike = Contacts.strike
    spent: list[float] = []

    def timed(self: Contacts, *given: Any, **more: Any) -> Any:
        began = time.perf_counter()
        found = strike(self, *given, **more)
        spent.append(time.perf_counter() - began)
        return found

    print(f"{'scene':20} {'impacts':>8} {'median us':>10} {'longest us':>10}")
    Contacts.strike = timed  # type: ignore[method-assign]
    try:
        for name, made, duration in scenes:
            made.simulate(duration, output=1)
            best = np.full(0, math.inf)
            for _ in range(repeats):
                spent.clear()
                made.simulate(duration, output=1)
                best = np.minimum(best, spent) if len(best) else np.array(spent)
            print(f"{name:20} {len(best):8} {1e6 * np.median(best):10.0f} {1e6 * best.max():10.0f}")
    finally:
        Contacts.strike = strike  # type: ignore[method-assign]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="*", choices=list(SCENES), default=list(SCENES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--growth", nargs="+", metavar=("SCENE", "BODIES"))
    parser.add_argument("--events", action="store_true")
    given = parser.parse_args()
    if given.events:
        events(given.repeats)
        return
    if given.growth:
        if given.growth[0] not in GROWING:
            parser.error(f"no growing scene {given.growth[0]!r}; there are: {', '.join(GROWING)}")
        grow(given.growth[0], [int(count) for count in given.growth[1:]] or [27, 64, 125])
        return
    print(f"{'scene':10} {'code':14} {'CPU s / s':>10} {'of mujoco':>10} {'penetration':>12}")
    for name in given.only:
        scene = SCENES[name]()
        peers = [mujoco(scene, stiff, given.repeats) for stiff in (False, True)]
        for row in (*peers, ours(scene, given.repeats)):
            ratio = row.seconds / peers[0].seconds
            print(
                f"{name:10} {row.name:14} {row.seconds:10.4f} {ratio:10.2f} {row.penetration:12.1e}  {row.note}",
                flush=True,
            )


if __name__ == "__main__":
    main()
