"""A sweep over parameters: the machine code is made once, a parameter is an input of it.

A mass on a spring is let go; its period against the closed form 2 pi sqrt(m / k).
"""

import numpy as np

import bellcrank as bc

system = bc.System("oscillator", gravity=(0, 0, 0))
mass = system.parameter("mass", 1.0, "kg")
stiffness = system.parameter("stiffness", 100.0, "N/m")
block = system.body("block", mass=mass, at=(1, 0, 0))
system.prismatic("rail", system.ground, block, axis="x")
system.spring(
    "spring", system.ground.point(-1, 0, 0), block.point(0, 0, 0), stiffness=stiffness, free_length=2.0
)
middle = bc.Event("through the middle", lambda m: m["block.position.x"] - 1.0, direction=1)


def period(m: float, k: float) -> float:
    result = system.simulate(
        5.0,
        initial={"rail": 0.1},
        parameters={"mass": m, "stiffness": k},
        events=[middle],
        tolerance=1e-11,
        integrator="dop853",
    )
    times = [event.time for event in result.events]
    return float(np.mean(np.diff(times)))


def main() -> None:
    worst = 0.0
    for m in (0.5, 1.0, 2.0):
        for k in (50.0, 200.0, 800.0):
            found, exact = period(m, k), 2 * np.pi * np.sqrt(m / k)
            worst = max(worst, abs(found / exact - 1))
            print(f"m = {m:g} kg, k = {k:3g} N/m: period {found:.10f} s, closed form {exact:.10f} s")
    print(f"largest relative difference: {worst:.1e}")
    assert worst < 1e-9


if __name__ == "__main__":
    main()
