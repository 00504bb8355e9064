"""The examples of Park, Yoo, Hwang and Yang in Python: a slider crank that strikes a block, a ball, two pendulums.

Source: Park, Yoo, Hwang, Yang (2000); numbers from an independent solution. The same as model files:
slider_crank_impact.yaml, ball_on_ground.yaml, two_pendulums.yaml.
"""

import math
from pathlib import Path

import bellcrank as bc
from bellcrank.files import load

TIGHT = {"tolerance": 1e-11, "integrator": "dop853", "output": 100}


def slider_crank() -> bc.System:
    """Crank 3 m, rod 4 m, and a block on the slider's rail."""
    system = bc.System("slider crank with a block", gravity=(0, -9.81, 0))
    angle = math.pi / 6
    pin = (3 * math.cos(angle), 3 * math.sin(angle), 0)
    lean = -math.asin(pin[1] / 4)
    end = (pin[0] + 4 * math.cos(lean), 0, 0)
    crank = system.body("crank", mass=2, inertia=(1, 1, 1), at=(pin[0] / 2, pin[1] / 2, 0), angle=angle)
    middle = ((pin[0] + end[0]) / 2, pin[1] / 2, 0)
    rod = system.body("rod", mass=3, inertia=(2, 2, 2), at=middle, angle=lean)
    slider = system.body("slider", mass=4, inertia=(1, 1, 1), at=end)
    block = system.body("block", mass=5, inertia=(1, 1, 1), at=(7, 0, 0))
    system.revolute("main bearing", system.ground, crank, at=(0, 0, 0))
    system.revolute("crank pin", crank, rod, at=pin)
    system.revolute("wrist pin", rod, slider, at=end)
    system.prismatic("guide", system.ground, slider, axis="x", cut=True)
    system.prismatic("rail", system.ground, block, axis="x")
    system.contact("bump", slider.circle(0.1), block.circle(0.1), restitution=0.8)
    return system


def ball() -> bc.System:
    """Dropped from 1 m onto the line y = 0, fully elastic."""
    system = bc.System("ball on the ground", gravity=(0, -9.81, 0))
    body = system.body("ball", mass=1, inertia=(0.4, 0.4, 0.4), at=(0, 1, 0))
    system.planar("plane", system.ground, body, at=(0, 1, 0), axis="z")
    system.contact("bounce", system.ground.line(), body.circle(0.2), restitution=1.0)
    return system


def pendulums() -> bc.System:
    """A round and an elliptic bob; gravity along x."""
    system = bc.System("two pendulums", gravity=(9.81, 0, 0))
    one = system.body("one", mass=1, inertia=(0.3, 0.3, 0.3), at=(0, -0.5, 0), angle=-math.pi / 2)
    two = system.body("two", mass=2, inertia=(1, 1, 1), at=(0.5, 0.3, 0))
    system.revolute("first pivot", system.ground, one, at=(0, 0, 0))
    system.revolute("second pivot", system.ground, two, at=(0, 0.3, 0))
    system.contact("clash", one.circle(0.1), two.ellipse(0.5, 0.1), restitution=1.0)
    return system


EXAMPLES = {
    "slider_crank_impact": (
        slider_crank,
        5.0,
        {"main bearing": (math.pi / 6, 1.0)},
        2.856685118125,
        16.6775376419,
    ),
    "ball_on_ground": (ball, 1.0, None, 0.403855021877, 7.923635529225),
    "two_pendulums": (pendulums, 1.0, None, 0.668702961765, 2 * 3.432494125978),
}
"""By model file: description, duration [s], start (which the file carries), first impact [s], its impulse [N s]."""


def main() -> None:
    folder = Path(__file__).parent
    for name, (describe, duration, start, time, impulse) in EXAMPLES.items():
        for system, initial in ((describe(), start), (load(folder / f"{name}.yaml"), None)):
            result = system.simulate(duration, initial=initial, **TIGHT)
            first = result.impacts[0]
            assert abs(first.time / time - 1) < 1e-9
            assert abs(first.impulse / impulse - 1) < 1e-8
        print(f"{name}: impact at {first.time:.9f} s with {first.impulse:.9g} N s, as published")
        print(result.impacts)


if __name__ == "__main__":
    main()
