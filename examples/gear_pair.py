"""Two involute gears as meshes of their teeth, in contact by fields: backlash, load, ratio and transmission error.

Source: Litvin and Fuentes, Gear Geometry and Applied Theory (2004): the common normal of involute flanks is the tangent
of both base circles at any angle. So the gap between them is the backlash times the cosine of the pressure angle,
the force is the torque over the base radius, and turns are as the numbers of teeth. The transmission error is what the
wheel lags behind.
"""

import math
import time

import numpy as np

import bellcrank as bc
from bellcrank.contact import Mesh

PRESSURE = math.radians(20.0)
MODULE = 0.01
TEETH = {"pinion": 20, "wheel": 30}
RADIUS = {name: 0.5 * MODULE * number for name, number in TEETH.items()}
BASE = {name: radius * math.cos(PRESSURE) for name, radius in RADIUS.items()}
APART = sum(RADIUS.values())
BACKLASH = 5e-5
"""On the pitch circle, on each side of a tooth that stands in the middle of a gap [m]."""
HALF_WIDTH, ROWS = {"pinion": 4e-3, "wheel": 8e-3}, 5
"""Of the gears [m], and rows of vertices across them; the wheel is wider, so that no edges lie on each other."""
STEP = 1e-3
"""Between vertices of an outline [m]."""
SPEED, TORQUE, PITCHES = 10.0, 20.0, 1.5


def outline(gear: str, thinner: float, low: float, high: float) -> np.ndarray:
    """A tooth (number, 2) about the x axis, from the bottom of one gap to that of the next [m].

    Involutes between the radii low and high; round tips and roots that run into them.
    """
    base, half = BASE[gear], 0.5 * math.pi / TEETH[gear] - 0.5 * thinner / RADIUS[gear]
    begin = half + math.tan(PRESSURE) - PRESSURE
    rolled = [math.sqrt((r / base) ** 2 - 1.0) for r in (low, high)]

    def point(roll: float) -> np.ndarray:
        turn = begin - roll
        out, along = np.array([math.cos(turn), math.sin(turn)]), np.array([-math.sin(turn), math.cos(turn)])
        return base * (out + roll * along)

    def round_off(roll: float, axis: float, side: float) -> np.ndarray:
        """From the flank to the axis of a tooth or a gap: an arc about the point of the axis on the flank's normal."""
        turn, line = begin - roll, np.array([math.cos(axis), math.sin(axis)])
        normal, here = np.array([-math.sin(turn), math.cos(turn)]), point(roll)
        reach, out = np.linalg.solve(np.stack([normal, -line], axis=1), -here)
        centre, first = out * line, math.atan2(*(-reach * normal)[::-1])
        last = axis if side > 0.0 else axis + math.pi
        turns = first + (1.0 - np.linspace(1.0, 0.0, 200)) * math.remainder(last - first, 2.0 * math.pi)
        return centre + abs(reach) * np.stack([np.cos(turns), np.sin(turns)], axis=1)

    flank = np.array([point(roll) for roll in np.linspace(*rolled, 400)])
    root = round_off(rolled[0], math.pi / TEETH[gear], -1.0)
    tip = round_off(rolled[1], 0.0, 1.0)
    upper = np.concatenate([root[::-1], flank[1:-1], tip])
    return np.concatenate([upper[:-1] * [1.0, -1.0], upper[::-1]])


def teeth(name: str, number: int, low: float, high: float) -> Mesh:
    """The sector of a gear about z that holds some neighbouring teeth, in the direction of x."""
    one = outline(name, BACKLASH, low, high)
    turns = 2.0 * math.pi / TEETH[name] * (np.arange(number) - 0.5 * (number - 1))
    whole = np.concatenate(
        [one @ np.array([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]]) for a in turns]
    )
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(whole, axis=0), axis=1))])
    even = np.linspace(0.0, along[-1], round(along[-1] / STEP))
    flat = np.stack([*(np.interp(even, along, whole[:, k]) for k in (0, 1))], axis=1)
    flat = np.concatenate([flat, [(0.0, 0.0)]])
    across = np.linspace(-HALF_WIDTH[name], HALF_WIDTH[name], ROWS)
    layers = [np.column_stack([flat, np.full(len(flat), z)]) for z in across]
    n, top = len(flat), (ROWS - 1) * len(flat)
    k, m = np.arange(n), (np.arange(n) + 1) % n
    inner, middle = np.arange(n - 2), np.full(n - 2, n - 1)
    faces = [(inner + 1, inner, middle), (top + inner, top + inner + 1, top + middle)]
    for row in range(0, top, n):
        faces += [(row + k, row + m, row + k + n), (row + m, row + m + n, row + k + n)]
    return Mesh(np.concatenate(layers), np.concatenate([np.stack(f, 1) for f in faces]), resolution=128)


def gear_pair() -> bc.System:
    """The pinion turns at constant speed, the wheel drives against it with a constant torque."""
    pinion = teeth("pinion", 4, 1.002 * BASE["pinion"], RADIUS["pinion"] + 0.7 * MODULE)
    wheel = teeth("wheel", 5, RADIUS["wheel"] - 0.75 * MODULE, RADIUS["wheel"] + 0.7 * MODULE)
    system = bc.System("gear pair", gravity=(0.0, 0.0, 0.0))
    small = system.body("pinion", mass=2.0, inertia=(0.01, 0.01, 0.01))
    large = system.body("wheel", mass=4.0, inertia=(0.04, 0.04, 0.04), at=(APART, 0.0, 0.0))
    system.revolute("input", system.ground, small, at=(0.0, 0.0, 0.0), axis="z")
    system.revolute("output", system.ground, large, at=(APART, 0.0, 0.0), axis="z")
    system.driver("input", lambda t: -0.25 + SPEED * t)
    system.joint_force("load", "output", lambda coordinate, rate, t: TORQUE)
    # A gap of the pinion lies on the line of centres, and so does a tooth of the wheel.
    half_turn = ((-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0))
    system.contact(
        "mesh", small.shape(pinion), large.shape(wheel, rotation=half_turn),
        treatment="continuous", young=2e10, restitution=0.2,
    )  # fmt: skip
    return system


def turning(system: bc.System, duration: float, outputs: int, gap: float) -> bc.Result:
    """From where the flanks that will carry are so far apart [m]."""
    ratio = TEETH["pinion"] / TEETH["wheel"]
    angle = 0.25 * ratio + (BACKLASH * math.cos(PRESSURE) - gap) / BASE["wheel"]
    return system.simulate(duration, initial={"output": (angle, -SPEED * ratio)}, output=outputs)


def transmission_error(run: bc.Result) -> np.ndarray:
    """What the wheel lags behind the ratio of the teeth, on its pitch circle [m]."""
    lag = run["output.angle"] + TEETH["pinion"] / TEETH["wheel"] * run["input.angle"]
    return RADIUS["wheel"] * lag


def main() -> None:
    """Run it, and compare with the closed forms."""
    began = time.process_time()
    system = gear_pair()
    closed = BACKLASH * math.cos(PRESSURE)
    gap = float(turning(system, 1e-5, 2, closed)["mesh.gap"][0])
    print(f"gap between flanks {1e6 * gap:.1f} um, closed form {1e6 * closed:.1f} um")
    assert abs(gap - closed) < 5e-6

    run = turning(system, PITCHES * 2.0 * math.pi / TEETH["pinion"] / SPEED, 401, 0.0)
    # The last pitch of the pinion; the shock of the start has died away.
    last = run.time > (1.0 - 1.0 / PITCHES) * run.time[-1]
    force, expected = run["mesh.normal_force"][last].mean(), TORQUE / BASE["wheel"]
    print(f"force on the teeth {force:.2f} N in the mean, closed form {expected:.2f} N")
    assert abs(force / expected - 1.0) < 0.02

    begin = np.flatnonzero(last)[0]
    ratio = np.ptp(run["output.angle"][begin:]) / np.ptp(run["input.angle"][begin:])
    print(f"ratio over a pitch {ratio:.6f}, closed form {TEETH['pinion'] / TEETH['wheel']:.6f}")
    assert abs(ratio * TEETH["wheel"] / TEETH["pinion"] - 1.0) < 1e-3
    error = transmission_error(run)[last]
    print(f"transmission error {1e6 * np.ptp(error):.2f} um from peak to peak")
    print(f"{time.process_time() - began:.1f} s of processor time")


if __name__ == "__main__":
    main()
