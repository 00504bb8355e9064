"""Small machines whose parts touch, each checked against what a closed form says of it.

    python machines_in_contact.py [NAME ...]

Parts are meshes made by the functions below, or shapes with a formula. Each machine prints what it did and how long
that took; the first run of a machine also compiles it. Close fits and the bearing, which take up to a minute, run by
name.
"""

import math
import sys
import time
from collections.abc import Callable

import numpy as np

import bellcrank as bc
from bellcrank.contact import Mesh, Revolution, Sampled

HOW = {"treatment": "continuous", "method": "field"}
ROUGH = {"tolerance": 1e-4}
"""Of runs in which positions to some micrometres are enough."""
STEEL = 7800.0
ACROSS = ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0))
"""Turns the z axis of a shape into the y axis of its body."""


def joined(*parts: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Several closed surfaces as one; they may overlap."""
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    faces = [faces + start for (_, faces), start in zip(parts, starts, strict=False)]
    return np.concatenate([vertices for vertices, _ in parts]), np.concatenate(faces)


def turned(section: np.ndarray, around: int = 96) -> tuple[np.ndarray, np.ndarray]:
    """A closed section (r, z) about the z axis, counterclockwise with r to the right: a tube, a groove [m]."""
    count = len(section)
    turns = 2.0 * math.pi * np.arange(around) / around
    r, z = section.T
    rings = [np.column_stack([r * math.cos(a), r * math.sin(a), z]) for a in turns]
    k, j = (x.ravel() for x in np.meshgrid(np.arange(around), np.arange(count), indexing="ij"))
    a, b = k * count + j, k * count + (j + 1) % count
    c, d = (k + 1) % around * count + j, (k + 1) % around * count + (j + 1) % count
    return np.concatenate(rings), np.concatenate([np.stack([a, c, b], 1), np.stack([b, c, d], 1)])


def plate(outline: np.ndarray, half_width: float) -> tuple[np.ndarray, np.ndarray]:
    """An outline (x, y) that sees the origin, counterclockwise, between z = -half_width and half_width [m]."""
    n = len(outline)
    layers = [np.column_stack([outline, np.full(n, z)]) for z in (-half_width, half_width)]
    k, m = np.arange(n), (np.arange(n) + 1) % n
    faces = [(k, m, k + n), (m, m + n, k + n), (m, k, 0 * k + 2 * n), (k + n, m + n, 0 * k + 2 * n + 1)]
    ends = [[(0.0, 0.0, -half_width), (0.0, 0.0, half_width)]]
    return np.concatenate(layers + ends), np.concatenate([np.stack(f, 1) for f in faces])


def bar(line: np.ndarray, radius: float, around: int = 24) -> tuple[np.ndarray, np.ndarray]:
    """A round bar about a line (number, 3) in the plane y = 0 [m]."""
    along = np.gradient(line, axis=0)
    along /= np.linalg.norm(along, axis=1)[:, None]
    up = np.array([0.0, 1.0, 0.0])
    side = np.cross(along, up)
    turns = 2.0 * math.pi * np.arange(around) / around
    rings = [line + radius * (math.cos(a) * side + math.sin(a) * up) for a in turns]
    vertices = np.concatenate([np.stack(rings, axis=1).reshape(-1, 3), line[[0, -1]]])
    k, j = (x.ravel() for x in np.meshgrid(np.arange(len(line) - 1), np.arange(around), indexing="ij"))
    a, b = k * around + j, k * around + (j + 1) % around
    m, n = np.arange(around), (np.arange(around) + 1) % around
    last = (len(line) - 1) * around
    faces = [
        np.stack([a, a + around, b], 1),
        np.stack([b, a + around, b + around], 1),
        np.stack([n, 0 * m + len(vertices) - 2, m], 1),
        np.stack([last + m, 0 * m + len(vertices) - 1, last + n], 1),
    ]
    return vertices, np.concatenate(faces)


def tube(inner: float, outer: float, half_width: float, around: int = 96) -> tuple[np.ndarray, np.ndarray]:
    """A bush about z [m]."""
    h = half_width
    return turned(np.array([(inner, -h), (outer, -h), (outer, h), (inner, h)]), around)


def solid(system: bc.System, name: str, mesh: Mesh, at: tuple[float, float, float]) -> bc.Body:
    """A body of steel with the mass of a mesh, whose frame is that of the mesh."""
    return system.body(
        name, mass=STEEL * mesh.volume, inertia=STEEL * mesh.inertia, center_of_mass=mesh.centre, at=at
    )


def peg_in_a_hole() -> str:
    """A peg of 20 mm with 0.1 mm of play falls into its hole, a little off its middle, and stands on the ground."""
    system = bc.System("peg in a hole")
    peg = system.body("peg", mass=0.1, inertia=(1.6e-5, 1.6e-5, 5e-6), at=(3e-5, 0.0, 0.0555))
    system.free("flight", system.ground, peg)
    pin = peg.cylinder(0.01, 0.02, rounding=1e-3)
    hole = Mesh(*tube(0.01005, 0.02, 0.015), resolution=96)
    system.contact(
        "hole", system.ground.shape(hole, at=(0.0, 0.0, 0.015)), pin, 0.2, friction=0.1, young=1e9, **HOW
    )
    system.contact("bottom", system.ground.plane(), pin, 0.2, friction=0.1, young=1e9, **HOW)
    run = system.simulate(0.2, output=400, **ROUGH)
    height = float(run["peg.position.z"][-1])
    off = float(np.hypot(run["peg.position.x"], run["peg.position.y"]).max())
    assert abs(height - 0.02) < 2e-5
    assert off < 2e-4
    return f"stands at {1e3 * height:.4f} mm, expected 20; its middle strayed by {1e6 * off:.0f} um at most"


def cam_and_flat_follower() -> str:
    """A flat follower is lifted by s(x) = h (1 - cos 2x) / 2: the cam is the envelope of its face."""
    base, h, speed = 0.02, 0.004, 10.0
    x = np.linspace(0.0, 2.0 * math.pi, 180, endpoint=False)
    lift, slope = 0.5 * h * (1.0 - np.cos(2.0 * x)), h * np.sin(2.0 * x)
    out = np.stack([np.sin(x), np.cos(x)], 1)
    along = np.stack([np.cos(x), -np.sin(x)], 1)
    outline = ((base + lift)[:, None] * out + slope[:, None] * along)[::-1]
    cam = Mesh(*plate(outline, 0.005), resolution=96)
    system = bc.System("cam and follower", gravity=(0.0, 0.0, 0.0))
    shaft = solid(system, "cam", cam, (0.0, 0.0, 0.0))
    follower = system.body("follower", mass=0.05, inertia=(1e-5,) * 3, at=(0.0, base + 0.005, 0.0))
    system.revolute("drive", system.ground, shaft, at=(0.0, 0.0, 0.0), axis="z")
    system.prismatic("guide", system.ground, follower, axis="y")
    system.driver("drive", lambda t: speed * t)
    system.joint_force("spring", "guide", lambda coordinate, rate: -20.0 - 1000.0 * coordinate)
    face = follower.box(0.02, 0.005, 0.004)
    system.contact("face", shaft.shape(cam), face, 0.1, young=1e10, **HOW)
    run = system.simulate(math.pi / speed, output=181, **ROUGH)
    exact = 0.5 * h * (1.0 - np.cos(2.0 * run["drive.angle"]))
    error = np.abs(run["guide.displacement"] - exact)[run.time > 0.02]
    assert error.max() < 2e-5
    return f"lift of {1e3 * h:g} mm followed to {1e6 * error.max():.1f} um, in the mean {1e6 * error.mean():.1f} um"


def ball_in_a_funnel() -> str:
    """A ball circles in a cone at the speed at which weight and turning balance, v^2 = g r tan(slope)."""
    from bellcrank.contact import HeightField

    slope, radius, r, step = 0.8, 0.01, 0.06, 0.004
    n = 61
    x, y = np.meshgrid(*2 * [step * (np.arange(n) - n // 2)], indexing="ij")
    funnel = HeightField(slope * np.sqrt(x * x + y * y + 0.01**2), step)
    system = bc.System("ball in a funnel", gravity=(0.0, 0.0, -9.81))
    place = slope * math.sqrt((r * r) + 0.01**2)
    tilt = slope * r / math.sqrt(r * r + 0.01**2)
    normal = np.array([-tilt, 0.0, 1.0]) / math.hypot(1.0, tilt)
    middle = np.array([r, 0.0, place]) + radius * normal
    ball = system.body("ball", mass=0.033, inertia=(1.3e-6,) * 3, at=tuple(middle))
    system.free("flight", system.ground, ball)
    ground = system.ground.shape(funnel, at=(-step * (n // 2), -step * (n // 2), 0.0))
    system.contact("wall", ground, ball.sphere(radius), 0.2, young=1e9, **HOW)
    speed = math.sqrt(9.81 * middle[0] * tilt)
    run = system.simulate(0.5, initial={"flight": {"velocity": (0.0, speed, 0.0)}}, output=200)
    around = np.hypot(run["ball.position.x"], run["ball.position.y"])
    off = float(np.abs(around / middle[0] - 1.0).max())
    turns = float(np.unwrap(np.arctan2(run["ball.position.y"], run["ball.position.x"]))[-1]) / (2.0 * math.pi)
    expected = speed * 0.5 / (2.0 * math.pi * middle[0])
    # The triangles of the ball lie up to 0.05 mm inside it, so it begins a little deeper.
    assert off < 0.03
    assert abs(turns / expected - 1.0) < 1e-2
    return f"{turns:.4f} turns, expected {expected:.4f}; radius constant to {100 * off:.2f} %"


def hook_lifts_a_ring() -> str:
    """A hook moves up, takes a ring from the ground and holds it."""
    t = np.linspace(-1.0, 0.0, 25)
    bow = np.stack([0.02 * np.cos(math.pi * t), 0.0 * t, 0.02 * np.sin(math.pi * t)], 1)
    shank = np.stack([np.full(12, 0.02), np.zeros(12), np.linspace(0.005, 0.06, 12)], 1)
    tip = np.stack([np.full(3, -0.02), np.zeros(3), np.array([0.015, 0.01, 0.005])], 1)
    hook = Mesh(*bar(np.concatenate([tip, bow, shank]), 0.004))
    system = bc.System("hook and ring", gravity=(0.0, 0.0, -9.81))
    crane = solid(system, "hook", hook, (0.0, 0.0, 0.062))
    ring = system.body("ring", mass=0.1, inertia=(4.6e-5, 4.6e-5, 9e-5), at=(0.0, 0.0, 0.035),
                       rotation=((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))  # fmt: skip
    system.prismatic("winch", system.ground, crane, axis="z")
    system.free("flight", system.ground, ring)
    system.driver("winch", lambda t: 0.05 * (t - 0.2 * np.sin(5.0 * t)))
    torus = ring.torus(0.03, 0.005)
    system.contact("hold", crane.shape(hook), torus, 0.2, friction=0.3, **HOW)
    system.contact("floor", system.ground.plane(), torus, 0.2, friction=0.3, **HOW)
    run = system.simulate(1.0, output=200)
    late = run.time > 0.8
    load = run["hold.force.z"][late].mean()
    # Weight, and what slows the ring down with the hook.
    expected = 0.1 * (9.81 + np.polyfit(run.time[late], run["hook.velocity.z"][late], 1)[0])
    assert run["floor.gap"][-1] > 0.005
    assert abs(load / expected - 1.0) < 0.01
    above = 1e3 * run["floor.gap"][-1]
    return f"ring {above:.1f} mm above the ground; hook carries {load:.3f} N, expected {expected:.3f} N"


def link_of_a_chain() -> str:
    """The inner link of a roller chain swings on the pin of the next: a pendulum whose bush rolls on the pin."""
    pitch, pin, play = 0.0254, 0.004, 1e-4
    bush, faces = tube(pin + play, 0.006, 0.005, 64)
    down = np.array([0.0, -pitch, 0.0])
    web = plate(0.0066 * np.array([(0.25, -1.0), (0.25, 1.0), (-0.25, 1.0), (-0.25, -1.0)]), 0.003)
    parts = joined((bush, faces), (bush + down, faces), (web[0] + 0.5 * down, web[1]))
    link = Mesh(*parts, resolution=128)
    system = bc.System("link of a chain", gravity=(0.0, -9.81, 0.0))
    body = solid(system, "link", link, (0.0, -play, 0.0))
    system.planar("plane", system.ground, body, axis="z")
    system.contact(
        "pin", system.ground.shape(bc.contact.Cylinder(pin, 0.008)), body.shape(link), 0.2, young=1e8, **HOW
    )
    start = 0.3
    c = -float(link.centre[1])
    inertia = STEEL * (link.inertia[2, 2] + link.volume * c * c)
    period = 2.0 * math.pi * math.sqrt(inertia / (STEEL * link.volume * 9.81 * c)) * (1.0 + start**2 / 16.0)
    run = system.simulate(0.8, initial={"plane": {"angle": start}}, output=800, **ROUGH)
    angle = run["plane.angle"]
    down = np.flatnonzero((angle[:-1] > 0.0) & (angle[1:] <= 0.0))
    times = run.time[down] + angle[down] / (angle[down] - angle[down + 1]) * np.diff(run.time)[0]
    found = float(np.diff(times).mean())
    assert abs(found / period - 1.0) < 0.02
    return f"period {found:.4f} s, pendulum about the middle of the pin {period:.4f} s"


def snap_hook() -> str:
    """A hook on a spring is pushed over an edge, is deflected by its height and snaps in; pulled back it holds."""
    nose = np.array([(-0.002, 0.002), (-0.002, -0.002), (0.001, -0.002), (0.006, 0.001), (0.006, 0.002)])
    head = Mesh(*plate(nose, 0.003), resolution=96)
    system = bc.System("snap hook", gravity=(0.0, 0.0, 0.0))
    slide = system.body("slide", mass=0.02, inertia=(1e-6,) * 3)
    hook = system.body("hook", mass=0.005, inertia=(5e-7,) * 3, at=(0.03, 0.0, 0.0))
    system.prismatic("push", system.ground, slide, axis="x")
    system.revolute("root", slide, hook, at=(0.0, 0.0, 0.0), axis="z")
    system.joint_force(
        "hand",
        "push",
        lambda coordinate, rate, t: 500.0 * (0.016 * np.sin(10.0 * t) - coordinate) - 2.0 * rate,
    )
    system.joint_force("stem", "root", lambda coordinate, rate: -1.0 * coordinate - 1e-3 * rate)
    edge = system.ground.box(0.002, 0.004, 0.006, at=(0.0385, -0.0048, 0.0), rounding=4e-4)
    system.contact("snap", edge, hook.shape(head), 0.2, friction=0.1, young=1e8, **HOW)
    run = system.simulate(0.3, output=300, **ROUGH)
    lifted = 0.03 * float(np.sin(run["root.angle"]).max())
    held = float(run["push.displacement"][-1])
    assert 1.1e-3 < lifted < 1.4e-3
    assert abs(held - 0.0125) < 2e-4
    return (
        f"lifted by {1e3 * lifted:.2f} mm over an edge of 1.2 mm, then held at {1e3 * held:.2f} mm, expected 12.5, "
        f"with {run['snap.force.x'][-1]:.2f} N"
    )


def coin() -> str:
    """A coin spun on its rim tips over, rolls on its rim and settles."""
    system = bc.System("coin", gravity=(0.0, 0.0, -9.81))
    r, h, mass = 0.012, 0.001, 0.007
    flat = mass * (r * r / 4.0 + h * h / 3.0)
    c, s = math.cos(1.3), math.sin(1.3)
    disc = system.body("coin", mass=mass, inertia=(flat, flat, 0.5 * mass * r * r), at=(0.0, 0.0, r * s + h * c),
                       rotation=((1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c)))  # fmt: skip
    system.free("flight", system.ground, disc)
    system.contact("table", system.ground.plane(), disc.cylinder(r, h), 0.3, friction=0.3, young=1e8, **HOW)
    run = system.simulate(
        1.5, initial={"flight": {"angular_velocity": (0.0, 0.0, 30.0)}}, output=300, **ROUGH
    )
    tilt = np.degrees(np.arccos(np.clip(np.abs(run["coin.rotation"][:, 2, 2]), 0.0, 1.0)))
    assert tilt[-1] < 0.1
    assert np.diff(run["energy.total"]).max() < 1e-9
    return f"tilt {tilt[0]:.0f} degrees at first, {tilt[-1]:.2f} at the end; the energy never rises"


def thrown_dice() -> bc.Result:
    """Three dice on a table, which also hit each other."""
    from scipy.spatial.transform import Rotation

    system = bc.System("dice", gravity=(0.0, 0.0, -9.81))
    floor, start, shapes = system.ground.plane(), {}, []
    for k in range(3):
        turn = Rotation.from_euler("xyz", (0.5 + k, 0.3 * k, 0.2)).as_matrix()
        die = system.body(
            f"die {k}", mass=0.005, inertia=(2.1e-7,) * 3, at=(0.012 * k, 0.0, 0.03 + 0.02 * k), rotation=turn
        )
        system.free(f"flight {k}", system.ground, die)
        box = die.box(0.008, 0.008, 0.008, rounding=1e-3)
        system.contact(f"table {k}", floor, box, 0.3, friction=0.4, **HOW)
        for j, other in enumerate(shapes):
            system.contact(f"dice {j} {k}", other, box, 0.3, friction=0.4, **HOW)
        shapes.append(box)
        start[f"flight {k}"] = {"velocity": (-0.3 * k, 0.1, 0.0), "angular_velocity": (5.0, 10.0 * k, 3.0)}
    return system.simulate(0.6, initial=start, output=200)


def dice() -> str:
    """Three dice thrown on a table come to rest; weight and load agree."""
    run = thrown_dice()
    load = sum(run[f"table {k}.normal_force"] for k in range(3))[run.time > 0.5].mean()
    weight = 3 * 0.005 * 9.81
    assert abs(load / weight - 1.0) < 1e-2
    return (
        f"table carries {load:.5f} N, weight {weight:.5f} N; kinetic energy {run['energy.kinetic'][-1]:.1e} J"
    )


def ball_bearing(balls: int = 8) -> str:
    """Balls pressed between two grooves roll once around, at r_in / (r_in + r_out) of the speed of the shaft."""
    ball, ring, press, speed = 0.005, 0.02, 5e-6, 200.0
    groove, half = 1.08 * ball, 0.003
    # The centres of the grooves' sections are moved so that the balls are pressed at the bottom of both.
    middle = ring + groove - ball + press
    inner = Revolution(lambda z: middle - np.sqrt(groove**2 - (z - half) ** 2), 2.0 * half)
    around, across = np.meshgrid(np.arange(200) * np.pi / 100.0, np.linspace(-0.55, 0.55, 13), indexing="ij")
    outwards = np.stack(
        [np.cos(across) * np.cos(around), np.cos(across) * np.sin(around), np.sin(across)], axis=2
    )
    towards = np.stack([np.cos(around), np.sin(around), 0.0 * around], axis=2)
    hollow = (2.0 * ring - middle) * towards + groove * outwards
    outer = Sampled(hollow.reshape(-1, 3), -outwards.reshape(-1, 3))
    system = bc.System("ball bearing", gravity=(0.0, -9.81, 0.0))
    shaft = system.body("shaft", mass=0.05, inertia=(1e-5, 1e-5, 1e-5))
    system.revolute("axle", system.ground, shaft, at=(0.0, 0.0, 0.0), axis="z")
    system.driver("axle", lambda t: speed * t)
    housing, race = system.ground.shape(outer), shaft.shape(inner, (0.0, 0.0, -half))
    r_in, r_out = ring - ball, ring + ball
    cage = speed * r_in / (r_in + r_out)
    duration = 2.0 * math.pi / cage
    start = {}
    mass = STEEL * 4.0 / 3.0 * math.pi * ball**3
    how = {"treatment": "continuous", "method": "points", "stiffness": 1e8, "friction": 0.2}
    for k in range(balls):
        a = 2.0 * math.pi * k / balls
        x = ring * np.array([math.cos(a), math.sin(a), 0.0])
        one = system.body(f"ball {k}", mass=mass, inertia=(0.4 * mass * ball**2,) * 3, at=tuple(x))
        system.free(f"flight {k}", system.ground, one)
        sphere = one.sphere(ball)
        system.contact(f"inner {k}", race, sphere, 0.3, **how)
        system.contact(f"outer {k}", housing, sphere, 0.3, **how)
        start[f"flight {k}"] = {
            "velocity": tuple(cage * np.array([-x[1], x[0], 0.0])),
            "angular_velocity": (0.0, 0.0, -cage * r_out / ball + cage),
        }
    run = system.simulate(duration, initial=start, output=200, **ROUGH)
    turned_by = [
        float(
            np.unwrap(np.arctan2(run[f"ball {k}.position.y"], run[f"ball {k}.position.x"]))[[0, -1]]
            @ (-1.0, 1.0)
        )
        for k in range(balls)
    ]
    mean = float(np.mean(turned_by)) / duration
    assert abs(mean / cage - 1.0) < 1e-3
    return (
        f"one turn of {balls} balls at {mean:.3f} rad/s in the mean, rolling without slip {cage:.3f}; "
        f"{min(turned_by) / duration:.3f} to {max(turned_by) / duration:.3f} rad/s each"
    )


def thread(
    radius: float, depth: float, pitch: float, length: float, around: int = 32, steps: int = 8
) -> np.ndarray:
    """Rows (along, around, 3) of a wavy thread of one start [m]."""
    rows = round(steps * length / pitch) + 1
    z, a = np.meshgrid(
        np.linspace(-0.5 * length, 0.5 * length, rows),
        2.0 * math.pi * np.arange(around) / around,
        indexing="ij",
    )
    r = radius + 0.5 * depth * np.cos(2.0 * math.pi * z / pitch - a)
    return np.stack([r * np.cos(a), r * np.sin(a), z], 2)


def wall(rows: np.ndarray) -> np.ndarray:
    """Triangles of rows around an axis, which face outwards."""
    n, around = rows.shape[:2]
    k, j = (x.ravel() for x in np.meshgrid(np.arange(n - 1), np.arange(around), indexing="ij"))
    a, b = k * around + j, k * around + (j + 1) % around
    return np.concatenate([np.stack([a, b, a + around], 1), np.stack([b, b + around, a + around], 1)])


def nut_on_a_bolt() -> str:
    """A nut is turned by its driver and moves along the bolt by a pitch every turn, less its play at first."""
    radius, depth, pitch, play = 0.01, 0.0015, 0.004, 1e-4
    rows = thread(radius, depth, pitch, 0.020)
    n = rows.shape[1]
    ends = np.array([(0.0, 0.0, -0.010), (0.0, 0.0, 0.010)])
    k, m, last, count = np.arange(n), (np.arange(n) + 1) % n, rows.shape[0] * n - n, rows.shape[0] * n
    caps = [np.stack([m, k, 0 * k + count], 1), np.stack([last + k, last + m, 0 * k + count + 1], 1)]
    bolt = Mesh(
        np.concatenate([rows.reshape(-1, 3), ends]), np.concatenate([wall(rows), *caps]), resolution=96
    )
    bore = thread(radius + play, depth, pitch, 0.008)
    skin = bore.copy()
    skin[..., :2] *= 0.018 / np.linalg.norm(bore[..., :2], axis=2)[..., None]
    both = bore.shape[0] * n
    low = np.concatenate([np.stack([k, m, both + k], 1), np.stack([m, both + m, both + k], 1)])
    high = low[:, ::-1] + (bore.shape[0] - 1) * n
    skins = [wall(bore)[:, ::-1], wall(skin) + both, low[:, ::-1], high[:, ::-1]]
    nut = Mesh(
        np.concatenate([bore.reshape(-1, 3), skin.reshape(-1, 3)]), np.concatenate(skins), resolution=96
    )
    system = bc.System("nut on a bolt", gravity=(0.0, 0.0, -9.81))
    part = solid(system, "nut", nut, (0.0, 0.0, 0.0))
    system.cylindrical("axis", system.ground, part, at=(0.0, 0.0, 0.0), axis="z")
    system.driver("axis", lambda t: 2.0 * math.pi * t, coordinate="angle")
    system.joint_force("weight", "axis", lambda coordinate, rate: -20.0, coordinate="displacement")
    system.contact("thread", system.ground.shape(bolt), part.shape(nut), 0.2, friction=0.1, young=1e9, **HOW)
    run = system.simulate(0.3, output=100, **ROUGH)
    since = run.time > 0.05
    lead = np.polyfit(run["axis.angle"][since], run["axis.displacement"][since], 1)[0] * 2.0 * math.pi
    assert abs(lead / pitch - 1.0) < 5e-3
    return f"moves {1e3 * lead:.4f} mm a turn, pitch {1e3 * pitch:g} mm"


QUICK = (hook_lifts_a_ring, ball_in_a_funnel, dice, snap_hook)
SLOW = (link_of_a_chain, coin, cam_and_flat_follower, peg_in_a_hole, ball_bearing, nut_on_a_bolt)
MACHINES: dict[str, Callable[[], str]] = {made.__name__: made for made in (*QUICK, *SLOW)}


def main(names: list[str]) -> None:
    """Run the named machines, or those that take a few seconds each."""
    for name in names or [made.__name__ for made in QUICK]:
        began = time.process_time()
        said = MACHINES[name]()
        print(
            f"{name.replace('_', ' ')}: {said} ({time.process_time() - began:.1f} s of processor time)",
            flush=True,
        )
    if not names:
        print("by name also:", ", ".join(made.__name__ for made in SLOW))


if __name__ == "__main__":
    main(sys.argv[1:])
