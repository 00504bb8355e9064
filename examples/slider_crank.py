"""A slider crank in free motion: a closed loop whose cut is chosen for you.

Crank 3 m, rod 4 m, masses 2, 3 and 4 kg, started at 30 degrees with 1 rad/s.
Source: Park, Yoo, Hwang, Yang (2000), example 1 without its block; the slider's speed at the time of the
published impact comes from an independent solution in minimal coordinates.
"""

import numpy as np

import bellcrank as bc

IMPACT_TIME, IMPACT_SPEED = 2.856685118125, 2.614951632628

system = bc.System("slider crank", gravity=(0, -9.81, 0))
pin = np.array([3 * np.cos(np.pi / 6), 3 * np.sin(np.pi / 6), 0])
end = np.array([pin[0] + np.sqrt(16 - pin[1] ** 2), 0, 0])
crank = system.body("crank", mass=2, inertia=(1, 1, 1), at=pin / 2, angle=np.pi / 6)
rod = system.body("rod", mass=3, inertia=(2, 2, 2), at=(pin + end) / 2, angle=-np.arcsin(pin[1] / 4))
slider = system.body("slider", mass=4, inertia=(1, 1, 1), at=end)
system.revolute("main bearing", system.ground, crank, at=(0, 0, 0), axis="z")
system.revolute("crank pin", crank, rod, at=pin, axis="z")
system.revolute("wrist pin", rod, slider, at=end, axis="z")
system.prismatic("guide", system.ground, slider, axis="x")


def main() -> None:
    print(system.mechanism())
    result = system.simulate(IMPACT_TIME, initial={"main bearing": (np.pi / 6, 1.0)}, tolerance=1e-11)
    speed = result["slider.velocity.x"][-1]
    print(f"\nlargest guide force: {np.abs(result['guide.force.y']).max():.1f} N")
    print(f"slider speed at {IMPACT_TIME} s: {speed:.9f} m/s, independent solution {IMPACT_SPEED:.9f} m/s")
    assert abs(speed - IMPACT_SPEED) < 1e-8


if __name__ == "__main__":
    main()
