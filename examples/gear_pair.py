"""Two involute gears given by samples of their teeth: backlash, line of action, and the load from tooth to tooth.

Source: Litvin and Fuentes, Gear Geometry and Applied Theory (2004): the common normal of involute flanks is the tangent
of both base circles at any angle. So the gap between them is the backlash times the cosine of the pressure angle,
the force is the torque over the base radius, and turns are as the numbers of teeth.
"""

import math

import numpy as np

import bellcrank as bc
from bellcrank.contact import Sampled

PRESSURE = math.radians(20.0)
MODULE = 0.01
TEETH = {"pinion": 20, "wheel": 30}
RADIUS = {name: 0.5 * MODULE * number for name, number in TEETH.items()}
BASE = {name: radius * math.cos(PRESSURE) for name, radius in RADIUS.items()}
APART = sum(RADIUS.values())
BACKLASH = 5e-5
"""On the pitch circle, on each side of a tooth that stands in the middle of a gap [m]."""
CROWN, HALF_WIDTH = 1.5e-4, 6e-3
"""By how much the ends of the pinion's teeth are lower, so that they touch at points [m]."""
STEP = 4e-4
"""Between samples [m]."""
SPEED, TORQUE = 10.0, 20.0


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
        turn, way = begin - roll, np.array([math.cos(axis), math.sin(axis)])
        normal, here = np.array([-math.sin(turn), math.cos(turn)]), point(roll)
        reach, out = np.linalg.solve(np.stack([normal, -way], axis=1), -here)
        centre, first = out * way, math.atan2(*(-reach * normal)[::-1])
        last = axis if side > 0.0 else axis + math.pi
        turns = first + (1.0 - np.linspace(1.0, 0.0, 200)) * math.remainder(last - first, 2.0 * math.pi)
        return centre + abs(reach) * np.stack([np.cos(turns), np.sin(turns)], axis=1)

    flank = np.array([point(roll) for roll in np.linspace(*rolled, 400)])
    root = round_off(rolled[0], math.pi / TEETH[gear], -1.0)
    tip = round_off(rolled[1], 0.0, 1.0)
    upper = np.concatenate([root[::-1], flank[1:-1], tip])
    return np.concatenate([upper[:-1] * [1.0, -1.0], upper[::-1]])


def teeth(gear: str, number: int, rows: int, low: float, high: float) -> Sampled:
    """Some neighbouring teeth of a gear about z, in the direction of x, crowned over their width."""
    across = STEP * np.arange(-rows, rows + 1)
    lines: list[np.ndarray] = []
    count = 0
    for z in across:
        one = outline(gear, BACKLASH + 2.0 * CROWN * (z / HALF_WIDTH) ** 2, low, high)
        turns = 2.0 * math.pi / TEETH[gear] * (np.arange(number) - 0.5 * (number - 1))
        whole = np.concatenate(
            [one @ np.array([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]]) for a in turns]
        )
        along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(whole, axis=0), axis=1))])
        count = count or round(along[-1] / STEP)
        even = np.linspace(0.0, along[-1], count)
        lines.append(
            np.stack([np.interp(even, along, whole[:, k]) for k in (0, 1)] + [np.full(count, z)], axis=1)
        )
    return Sampled.from_grid(np.stack(lines, axis=1))


def gear_pair() -> bc.System:
    """The pinion turns at constant speed, the wheel drives against it with a constant torque."""
    pinion = teeth("pinion", 4, 15, 1.002 * BASE["pinion"], RADIUS["pinion"] + 0.7 * MODULE)
    wheel = teeth("wheel", 5, 20, RADIUS["wheel"] - 0.75 * MODULE, RADIUS["wheel"] + 0.7 * MODULE)
    system = bc.System("gear pair", gravity=(0.0, 0.0, 0.0))
    small = system.body("pinion", mass=2.0, inertia=(0.01, 0.01, 0.01))
    large = system.body("wheel", mass=4.0, inertia=(0.04, 0.04, 0.04), at=(APART, 0.0, 0.0))
    system.revolute("input", system.ground, small, at=(0.0, 0.0, 0.0), axis="z")
    system.revolute("output", system.ground, large, at=(APART, 0.0, 0.0), axis="z")
    system.driver("input", lambda t: -0.25 + SPEED * t)
    system.joint_force("load", "output", lambda coordinate, rate, t: TORQUE)
    half_turn = ((-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0))
    system.contact(
        "mesh", small.shape(pinion), large.shape(wheel, rotation=half_turn),
        treatment="continuous", stiffness=5e9, restitution=0.9, points=4,
    )  # fmt: skip
    return system


def turning(system: bc.System, duration: float, outputs: int, gap: float) -> bc.Result:
    """From where the flanks that will carry are so far apart [m]."""
    ratio = TEETH["pinion"] / TEETH["wheel"]
    angle = 0.25 * ratio + (BACKLASH * math.cos(PRESSURE) - gap) / BASE["wheel"]
    return system.simulate(duration, initial={"output": (angle, -SPEED * ratio)}, output=outputs)


def main() -> None:
    """Run it, and compare with the closed forms."""
    system = gear_pair()
    closed = BACKLASH * math.cos(PRESSURE)
    run = turning(system, 1e-4, 2, closed)
    gap = float(min(run[f"mesh {k}.gap"][0] for k in (1, 2, 3, 4)))
    angle = math.degrees(math.asin(abs(float(run["mesh 1.normal"][0][0]))))
    print(f"gap between flanks {1e6 * gap:.3f} um, closed form {1e6 * closed:.3f} um")
    print(f"line of action at {angle:.3f} degrees, closed form 20")
    assert abs(gap - closed) < 1e-7
    assert abs(angle - 20.0) < 0.01

    run = turning(system, 0.05, 501, 0.0)
    force = sum(run[f"mesh {k}.normal_force"] for k in (1, 2, 3, 4))
    calm = (run.time > 0.006) & (run.time < 0.01)
    expected = TORQUE / BASE["wheel"]
    print(f"force on the teeth {force[calm].mean():.2f} N, closed form {expected:.2f} N")
    assert abs(force[calm].mean() / expected - 1.0) < 5e-3

    # From one tooth to the next all repeats, but for what is left of the shock at the start.
    since, pitch = 0.008, 2.0 * math.pi / TEETH["pinion"]
    turned = -np.diff(np.interp([since, since + pitch / SPEED], run.time, run["output.angle"]))[0]
    print(f"turned by {turned:.5f} rad in a pitch, closed form {2.0 * math.pi / TEETH['wheel']:.5f} rad")
    assert abs(turned * TEETH["wheel"] / (2.0 * math.pi) - 1.0) < 1e-3


if __name__ == "__main__":
    main()
