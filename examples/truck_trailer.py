"""A truck with a trailer on a circle: by how much the trailer cuts the corner, against the geometry of rolling axles.

Source: without slip the middles of all axles turn about one centre. With the coupling above the rear axle of the truck,
on a circle of the radius R, the axle of the trailer runs on that of the radius sqrt(R^2 - L^2), L from the coupling to
the axle.
"""

import numpy as np

import bellcrank as bc
from bellcrank import tyres, vehicles

WHEEL = 0.5
TRAILER = 6.5
"""From the coupling to the axle of the trailer [m]."""
RUBBER = tyres.Brush(
    radius=WHEEL,
    stiffness=9e5,
    damping=4000,
    width=0.3,
    longitudinal=15,
    lateral=12,
    friction=0.8,
    damping_time=0.01,
)
HEAVY = vehicles.Unsprung(knuckle=150, knuckle_inertia=(8, 6, 8), wheel=100, wheel_inertia=(8, 14, 8), arm=40)


def beam_axle(system: bc.System, body: bc.Body, name: str, x: float, stiffness: float) -> vehicles.Axle:
    """A solid axle on two trailing rods, an upper one and a Panhard rod."""
    links = {
        "left": ((x + 1.2, 0.5, 0.5), (x, 0.5, 0.45)),
        "right": ((x + 1.2, -0.5, 0.5), (x, -0.5, 0.45)),
        "upper": ((x + 1.0, 0.0, 0.85), (x, 0.0, 0.8)),
        "panhard": ((x - 0.2, 0.6, 0.6), (x - 0.2, -0.6, 0.6)),
    }
    points = {"wheel": (x, 1.0, WHEEL), "spring_upper": (x, 0.55, 1.1), "spring_lower": (x, 0.55, 0.6)}
    spring = {"stiffness": stiffness, "damping": 2e4, "free_length": 0.62}
    return vehicles.solid_axle(system, body, name, points, links, unsprung=HEAVY, spring=spring)


def truck() -> bc.System:
    """A truck that steers by its rack, and a trailer."""
    system = bc.System("truck with trailer")
    cab = system.body("truck", mass=7000, inertia=(6000, 24000, 25000), at=(2.2, 0, 1.1))
    system.free("motion", system.ground, cab)
    rack, guide = vehicles.steering_rack(system, cab, "rack", at=(3.35, 0, 0.45), mass=20)
    front = {
        "lower_front": (4.0, 0.4, 0.4), "lower_rear": (3.2, 0.4, 0.4), "lower_outer": (3.6, 0.86, 0.36),
        "upper_front": (3.9, 0.5, 0.8), "upper_rear": (3.3, 0.5, 0.8), "upper_outer": (3.6, 0.82, 0.75),
        "tie_inner": (3.35, 0.42, 0.45), "tie_outer": (3.35, 0.85, 0.42), "wheel": (3.6, 1.0, WHEEL),
        "spring_upper": (3.6, 0.6, 1.0), "spring_lower": (3.6, 0.65, 0.4),
    }  # fmt: skip
    spring = {"stiffness": 4e5, "damping": 2e4, "free_length": 0.68}
    axles = [
        vehicles.double_wishbone(system, cab, "front", front, unsprung=HEAVY, rack=rack, spring=spring),
        beam_axle(system, cab, "rear", 0.0, 4e5),
    ]
    trailer = system.body("trailer", mass=9000, inertia=(9000, 60000, 60000), at=(-4.5, 0, 1.4))
    system.spherical("coupling", cab, trailer, at=(0, 0, 1.2))
    axles.append(beam_axle(system, trailer, "trailer", -TRAILER, 6e5))
    # The tie rods meet the knuckles behind the kingpins: the rack moves to the right (-y) to turn left.
    ease = bc.smooth_table([0, 0.5, 3.0, 3.5], [0, 0, 1, 1], monotone=True)
    system.driver(guide, lambda t: -0.06 * ease(t))
    for axle in axles:
        for corner in axle.corners:
            system.tyre(f"{corner.name} tyre", corner.wheel, RUBBER)
    return system


def main() -> None:
    car = vehicles.Vehicle(truck(), "truck", steering="")
    run = car.run(3.0, 20.0, output=400, tolerance=1e-6)
    rear, last = np.asarray(run["rear axle.position"])[:, :2], np.asarray(run["trailer axle.position"])[:, :2]
    steady = run.time > 17.0
    # The centre of the circle that the rear axle goes on, by least squares.
    x = rear[steady]
    (a, b, c), *_ = np.linalg.lstsq(np.column_stack([2 * x, np.ones(len(x))]), (x**2).sum(axis=1), rcond=None)
    R = np.sqrt(c + a * a + b * b)
    trailer = np.linalg.norm(last[steady] - (a, b), axis=1).mean()
    exact = np.sqrt(R**2 - TRAILER**2)
    print(f"rear axle of the truck on a circle of {R:.2f} m, that of the trailer on one of {trailer:.2f} m")
    print(f"without slip {exact:.2f} m: the trailer cuts the corner by {R - exact:.2f} m")
    # Tyres slip by the angle a_y/(12 g), over which each axle of the trailer's two ends drifts outwards.
    slip = 3.0**2 / R / (12 * 9.81)
    assert abs(trailer - exact) < 2 * TRAILER * slip


if __name__ == "__main__":
    main()
