"""A Geneva drive: a pin steps a slotted wheel, given as a mesh, by a quarter of a turn.

Source: Norton, Design of Machinery (2004), chapter 8: crank and wheel are c apart, and the crank is c sin(pi/4) long,
so that the pin enters a slot along it. While it is there the wheel stands at atan(a sin x / (c - a cos x)) for a crank
at x, and turns 1 / (sqrt(2) - 1) times as fast as the crank in the middle.
"""

import math

import numpy as np

import bellcrank as bc
from bellcrank.contact import Capsule, Mesh

APART, PIN, CLEARANCE, HALF_WIDTH = 0.1, 0.005, 1e-4, 0.006
CRANK = RADIUS = APART * math.sin(math.pi / 4)
STEP = 0.002
"""Between vertices of the outline [m]."""
SPEED = 2.0 * math.pi


def outline() -> np.ndarray:
    """The wheel (number, 2), a slot along x and every quarter of a turn [m]."""
    half = PIN + CLEARANCE
    inner = APART - CRANK - PIN  # a little deeper than the pin comes
    outer = math.sqrt(RADIUS**2 - half**2)
    bottom = [
        (inner - half * math.sin(a), half * math.cos(a)) for a in np.linspace(0.5 * math.pi, 0.0, 9)[:-1]
    ]
    wall = [(x, half) for x in np.linspace(inner, outer, round((outer - inner) / STEP))]
    begin = math.asin(half / RADIUS)
    turns = np.linspace(begin, 0.5 * math.pi - begin, round(RADIUS / STEP))[1:-1]
    tip = [(RADIUS * math.cos(a), RADIUS * math.sin(a)) for a in turns]
    quarter = np.array(
        [*bottom, *wall, *tip, *((y, x) for x, y in wall[::-1]), *((y, x) for x, y in bottom[:0:-1])]
    )
    turned = [quarter]
    for _ in range(3):
        x, y = turned[-1].T
        turned.append(np.stack([-y, x], axis=1))
    return np.concatenate(turned)


def triangles(corners: np.ndarray) -> list[tuple[int, int, int]]:
    """A polygon without holes, one ear cut off after the other."""
    left, found = list(range(len(corners))), list[tuple[int, int, int]]()

    def side(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        return (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (
            c[..., 0] - a[..., 0]
        )

    while len(left) > 3:
        ears = list[tuple[float, int]]()
        for k in range(len(left)):
            i, j, m = left[k - 1], left[k], left[(k + 1) % len(left)]
            a, b, c = corners[i], corners[j], corners[m]
            others = corners[[n for n in left if n not in (i, j, m)]]
            inside = (side(a, b, others) >= 0.0) & (side(b, c, others) >= 0.0) & (side(c, a, others) >= 0.0)
            if side(a, b, c) > 1e-12 and not inside.any():
                ears.append((float(np.linalg.norm(c - a)), k))
        k = min(ears)[1]
        found.append((left[k - 1], left[k], left[(k + 1) % len(left)]))
        del left[k]
    return [*found, (left[0], left[1], left[2])]


def wheel() -> Mesh:
    """The closed mesh: both ends and the wall between them."""
    flat = outline()
    number, ends = len(flat), triangles(flat)
    points = np.concatenate([np.column_stack([flat, np.full(number, z)]) for z in (-HALF_WIDTH, HALF_WIDTH)])
    faces = [(a, c, b) for a, b, c in ends] + [(a + number, b + number, c + number) for a, b, c in ends]
    for i in range(number):
        j = (i + 1) % number
        faces += [(i, j, j + number), (i, j + number, i + number)]
    return Mesh(points, np.array(faces), resolution=128)


def geneva_drive() -> bc.System:
    """The crank turns at constant speed; the wheel is braked, so that it stays where the pin leaves it."""
    system = bc.System("geneva drive", gravity=(0.0, 0.0, 0.0))
    crank = system.body("crank", mass=0.2, inertia=(1e-4,) * 3)
    star = system.body("star", mass=0.3, inertia=(5e-4,) * 3, at=(APART, 0.0, 0.0))
    system.revolute("drive", system.ground, crank, at=(0.0, 0.0, 0.0), axis="z")
    system.revolute("axle", system.ground, star, at=(APART, 0.0, 0.0), axis="z")
    system.driver("drive", lambda t: -math.pi / 4 - 0.05 + SPEED * t)
    system.joint_force("brake", "axle", lambda rate: -0.01 * rate)
    s = math.sqrt(0.5)
    system.contact(
        "pin", star.shape(wheel(), rotation=((-s, -s, 0.0), (s, -s, 0.0), (0.0, 0.0, 1.0))),
        crank.shape(Capsule(PIN, 0.5 * HALF_WIDTH), at=(CRANK, 0.0, 0.0)),
        treatment="continuous", young=1e9, restitution=0.2,
    )  # fmt: skip
    return system


def main() -> None:
    """A step, compared with the closed forms."""
    run = geneva_drive().simulate((0.5 * math.pi + 0.2) / SPEED, output=601)
    x = run["drive.angle"]
    within = np.abs(x) < math.pi / 4
    exact = -np.arctan2(CRANK * np.sin(x), APART - CRANK * np.cos(x)) - math.pi / 4
    play = CLEARANCE / np.hypot(CRANK * np.sin(x), APART - CRANK * np.cos(x))
    off = np.abs(run["axle.angle"] - exact)
    print(f"wheel off the closed form by at most {(off / play)[within].max():.3f} of the play in the slot")
    # The triangles of the pin lie up to a quarter of the clearance inside it.
    assert (off / play)[within].max() < 1.5

    middle = np.abs(x) < 0.05
    ratio = -np.polyfit(run.time[middle], run["axle.angle"][middle], 1)[0] / SPEED
    print(f"in the middle it turns {ratio:.3f} times as fast, closed form {1.0 / (math.sqrt(2.0) - 1.0):.3f}")
    assert abs(ratio * (math.sqrt(2.0) - 1.0) - 1.0) < 0.01
    print(f"turned by {-math.degrees(run['axle.angle'][-1]):.2f} degrees")


if __name__ == "__main__":
    main()
