"""A four-bar linkage driven through a full turn, against the closed form of its rocker angle.

Source: the loop equation solved for the rocker (Freudenstein, 1955): with A = d - a cos(phi), B = -a sin(phi) and
C = (b^2 - A^2 - B^2 - c^2) / (2 c), the rocker angle psi satisfies A cos(psi) + B sin(psi) = C.
"""

import numpy as np

import bellcrank as bc

a, b, c, d = 0.2, 0.5, 0.45, 0.6  # crank, coupler, rocker, ground; the crank can turn fully (Grashof)


def rocker_angle(phi: np.ndarray) -> np.ndarray:
    A, B = d - a * np.cos(phi), -a * np.sin(phi)
    C = (b**2 - A**2 - B**2 - c**2) / (2 * c)
    return np.arctan2(B, A) + np.arccos(C / np.hypot(A, B))


psi = float(rocker_angle(np.array(0.0)))
tip, end = np.array([a, 0, 0]), np.array([d + c * np.cos(psi), c * np.sin(psi), 0])
system = bc.System("four-bar linkage", gravity=(0, -9.81, 0))
crank = system.body("crank", mass=1, inertia=(0.01, 0.01, 0.01), center_of_mass=(a / 2, 0, 0))
coupler = system.body(
    "coupler",
    mass=2,
    inertia=(0.05, 0.05, 0.05),
    center_of_mass=(b / 2, 0, 0),
    at=tip,
    angle=np.arctan2(end[1], end[0] - a),
)
rocker = system.body(
    "rocker", mass=2, inertia=(0.05, 0.05, 0.05), center_of_mass=(c / 2, 0, 0), at=(d, 0, 0), angle=psi
)
system.revolute("crank bearing", system.ground, crank, at=(0, 0, 0))
system.revolute("crank pin", crank, coupler, at=tip)
system.revolute("rocker pin", coupler, rocker, at=end)
system.revolute("rocker bearing", system.ground, rocker, at=(d, 0, 0))
system.driver("crank bearing", lambda t: 2 * np.pi * t, name="motor")


def main() -> None:
    result = system.simulate(1.0, output=360)
    turned = np.unwrap(np.arctan2(result["rocker.rotation.yx"], result["rocker.rotation.xx"]))
    wrong = np.abs(turned - rocker_angle(2 * np.pi * result.time)).max()
    print(f"motor torque: {result['motor.effort'].min():.2f} to {result['motor.effort'].max():.2f} N m")
    print(f"energy ledger closes to {result.ledger.relative_residual:.1e}")
    print(f"rocker angle against the closed form, over the full turn: {wrong:.1e} rad")
    assert wrong < 1e-9


if __name__ == "__main__":
    main()
