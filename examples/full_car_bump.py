"""The 22-body car of Kang and Yoon over a bump, from its static equilibrium, against an independent solution.

Source: absolute coordinates with Euler parameters, 117 constraint equations with multipliers, integrated to 5e-12 m.
"""

import numpy as np

from bellcrank.verify.full_car import full_car_system
from bellcrank.verify.full_car_bump import rolling_start

CHASSIS_AT_HALF_A_SECOND = (4.99951942383, 0.0101449143271, 0.563380786624)
REAR_LEFT_LOAD = 4529.49564499


def main() -> None:
    mechanism = full_car_system("bump").mechanism()
    start = rolling_start(mechanism, speed=10.0)
    result = mechanism.simulate(0.5, start=start, integrator="dop853", tolerance=1e-10, output=100)
    position, load = result["chassis.position"][-1], result["RL_tyre.load"][-1]
    wrong = np.abs(position - CHASSIS_AT_HALF_A_SECOND).max()
    print(f"chassis at 0.5 s: {position}, {wrong:.1e} m from the independent solution")
    print(f"load of the rear left tyre: {load:.6f} N, independent solution {REAR_LEFT_LOAD:.6f} N")
    assert wrong < 1e-9
    assert abs(load - REAR_LEFT_LOAD) < 1e-4


if __name__ == "__main__":
    main()
