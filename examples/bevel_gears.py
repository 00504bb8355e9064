"""Two bevel gears as meshes of their teeth, in contact by fields: mean ratio and transmission error.

Source: Litvin and Fuentes, Gear Geometry and Applied Theory (2004), chapter 21: a great circle that rolls on a base
cone draws a spherical involute, and two of them on cones with one apex are conjugate. So turns are as the numbers of
teeth; what the wheel lags behind is the error of the triangles, of the grid, and of the teeth that give way.
"""

import math
import time

import numpy as np

import bellcrank as bc
from bellcrank.contact import Mesh

TEETH = 16, 24
PRESSURE = math.radians(20.0)
CONES = math.atan2(TEETH[0], TEETH[1]), math.atan2(TEETH[1], TEETH[0])
"""Half angles of the pitch cones; the axes cross at a right angle."""
MODULE = 2.0 * math.sin(CONES[0]) / TEETH[0]
"""Over the distance from the apex."""
NEAR, FAR, ROWS = 0.08, 0.1, 6
"""Distances of both ends of the teeth from the apex [m], and rows of vertices along them."""
SECTOR = 4, 5
"""Neighbouring teeth of each gear that are there: those that meet."""
BACKLASH = 1e-3
"""On the pitch circle, over the distance from the apex."""
SPEED, TORQUE, PITCHES = 10.0, 5.0, 1
"""Of the pinion [rad/s], on the wheel [N m], and pitches after the first."""


def outline(gear: int, points: int = 10) -> np.ndarray:
    """Some teeth of a gear on the unit sphere about z, (number, 3), in the direction of x."""
    cone, number = CONES[gear], TEETH[gear]
    base = math.asin(math.sin(cone) * math.cos(PRESSURE))

    def involute(angle: float) -> float:
        """Turn about z on which the involute comes from its base cone to a cone of this half angle."""
        rolled = math.acos(min(1.0, math.cos(angle) / math.cos(base)))
        return rolled / math.sin(base) - math.atan(math.tan(rolled) / math.sin(base))

    half = 0.5 * math.pi / number - 0.25 * BACKLASH / math.sin(cone) + involute(cone)
    root, tip = cone - 1.2 * MODULE, cone + 0.9 * MODULE
    flank = [(angle, half - involute(angle)) for angle in np.linspace(max(base, root), tip, points)]
    if root < base:
        flank = [(root, half), *flank]
    tooth = [(angle, -turn) for angle, turn in flank] + [(angle, turn) for angle, turn in reversed(flank)]
    turns = 2.0 * math.pi * (np.arange(SECTOR[gear]) - SECTOR[gear] // 2) / number
    return np.array(
        [
            (math.sin(a) * math.cos(t + turn), math.sin(a) * math.sin(t + turn), math.cos(a))
            for turn in turns
            for a, t in tooth
        ]
    )


def gear(number: int) -> Mesh:
    """The sector of a gear that holds these teeth; its apex is the origin and its axis is z."""
    axis = (0.0, 0.0, math.cos(CONES[number] - 1.2 * MODULE))
    rim = np.concatenate([outline(number), [axis]])
    n, top = len(rim), (ROWS - 1) * len(rim)
    k, m = np.arange(n), (np.arange(n) + 1) % n
    inner, middle = np.arange(n - 2), np.full(n - 2, n - 1)
    faces = [(inner + 1, inner, middle), (top + inner, top + inner + 1, top + middle)]
    for row in range(0, top, n):
        faces += [(row + k, row + m, row + m + n), (row + k, row + m + n, row + k + n)]
    layers = [r * rim for r in np.linspace(NEAR, FAR, ROWS)]
    return Mesh(np.concatenate(layers), np.concatenate([np.stack(f, 1) for f in faces]), resolution=160)


def bevel_pair() -> bc.System:
    """The pinion turns about z at constant speed, the wheel about x against a torque; both apices are the origin."""
    system = bc.System("bevel gears", gravity=(0.0, 0.0, 0.0))
    pinion = system.body("pinion", mass=0.5, inertia=(3e-4,) * 3)
    # The wheel's own z is along x, its own x along z.
    along_x = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])
    wheel = system.body("wheel", mass=1.0, inertia=(1e-3,) * 3, rotation=along_x)
    system.revolute("input", system.ground, pinion, at=(0.0, 0.0, 0.0), axis="z")
    system.revolute("output", system.ground, wheel, at=(0.0, 0.0, 0.0), axis="x")
    system.driver("input", lambda t: SPEED * t)
    system.joint_force("load", "output", lambda rate: TORQUE - 0.05 * rate)
    # A tooth of the pinion points at the wheel, which has a gap there.
    turn = math.pi / TEETH[1]
    half_pitch = (
        (math.cos(turn), -math.sin(turn), 0.0),
        (math.sin(turn), math.cos(turn), 0.0),
        (0.0, 0.0, 1.0),
    )
    system.contact(
        "mesh", pinion.shape(gear(0)), wheel.shape(gear(1), rotation=half_pitch),
        treatment="continuous", young=2e9, restitution=0.2,
    )  # fmt: skip
    return system


def turning() -> bc.Result:
    """From standing teeth; outputs are a sixtieth of a pitch apart."""
    pitch = 2.0 * math.pi / TEETH[0] / SPEED
    start = {"output": (0.0, -SPEED * TEETH[0] / TEETH[1])}
    return bevel_pair().simulate((PITCHES + 1) * pitch, initial=start, output=60 * (PITCHES + 1))


def transmission_error(run: bc.Result) -> np.ndarray:
    """What the wheel lags behind the ratio of the teeth, on its pitch circle at the far end [m]."""
    lag = run["output.angle"].to_numpy() + TEETH[0] / TEETH[1] * run["input.angle"].to_numpy()
    return FAR * math.sin(CONES[1]) * lag


def main() -> None:
    """Run it, and compare the ratio with that of the teeth."""
    began = time.process_time()
    run = turning()
    last = slice(60, None)
    ratio = np.ptp(run["output.angle"][last]) / np.ptp(run["input.angle"][last])
    print(f"ratio over a pitch {ratio:.6f}, teeth {TEETH[0] / TEETH[1]:.6f}")
    assert abs(ratio * TEETH[1] / TEETH[0] - 1.0) < 1e-3
    error = np.ptp(transmission_error(run)[last])
    print(f"transmission error {1e6 * error:.1f} um from peak to peak")
    assert error < 5e-5
    print(f"{time.process_time() - began:.1f} s of processor time")


if __name__ == "__main__":
    main()
