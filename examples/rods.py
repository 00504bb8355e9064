"""Three machines of rods that bend far: a hanging chain, a finger pulled by a cable, a turning blade.

    python rods.py [NAME ...]

The chain of four rods hangs in a loop with the ground as a catenary does. The finger bends to an arc whose curvature
is the moment of its cable over the stiffness of its core: Camarillo, Milne, Carlson, Zinn, Salisbury, IEEE Trans.
Robotics 24 (2008) 1262. The blade's first flapping frequency rises with its speed as in Wright, Smith, Thresher, Wang,
J. Appl. Mech. 49 (1982) 197; a section whose 6 x 6 stiffness couples bending and torsion twists as it bends.
"""

import math
import sys

import numpy as np

import bellcrank as bc
from bellcrank.flexible import STEEL, Material, circle, rod

RUBBER = Material(young=2e6, poisson=0.48, density=1150.0)


def chain(span: float = 1.2, length: float = 2.0, number: int = 4) -> bc.System:
    """Cords of rubber that do not stretch, pinned to each other and to two walls, drawn as a polygon."""
    system = bc.System("chain of rods")
    piece = length / number
    # Sides of equal length whose slopes grow by equal steps from -a to a, so that the ends are `span` apart.
    low, high = 0.0, math.pi
    for _ in range(60):
        middle = 0.5 * (low + high)
        reach = sum(piece * math.cos(x) for x in np.linspace(-middle, middle, number))
        low, high = (middle, high) if reach > span else (low, middle)
    x, z, before = 0.0, 0.0, system.ground
    for k, slope in enumerate(np.linspace(-low, low, number)):
        c, s = math.cos(slope), math.sin(slope)
        member = rod(f"rod {k + 1}", piece, circle(0.001), RUBBER, bending=(4, 0), torsion=0, damping=0.01)
        body = system.flexible_body(
            f"rod {k + 1}", member, at=(x, 0.0, z), rotation=((c, 0.0, -s), (0.0, 1.0, 0.0), (s, 0.0, c))
        )
        system.revolute(f"pin {k + 1}", before, body.node("start"), axis="y")
        x, z, before = x + piece * c, z + piece * s, body.node("end")
    system.revolute(f"pin {number + 1}", before, system.ground.point(span, 0.0, 0.0), axis="y")
    return system


def hang() -> None:
    """The sag of the chain against that of a catenary."""
    span, length = 1.2, 2.0
    rest = chain(span, length).equilibrium()
    low, high = span / 20.0, 20.0 * span
    for _ in range(100):
        a = 0.5 * (low + high)
        low, high = (a, high) if 2.0 * a * math.sinh(0.5 * span / a) > length else (low, a)
    sag = a * (math.cosh(0.5 * span / a) - 1.0)
    found = -rest["rod 2.end.position"][2]
    print(f"the chain sags by {found:.5f} m, a catenary by {sag:.5f} m")
    assert abs(found / sag - 1.0) < 1e-3


def finger(tension: float = 2.0, guides: int = 5, offset: float = 0.004) -> bc.System:
    """A core of spring steel with rings through which a cable runs, `offset` [m] from its axis, to the tip."""
    system = bc.System("finger", gravity=(0.0, 0.0, 0.0))
    length = 0.1
    core = system.flexible_body(
        "core",
        rod("core", length, circle(0.0005), STEEL, bending=(0, 4), torsion=0, slices=16, damping=0.002),
    )
    system.fixed("palm", system.ground, core.node("start"))
    points = [system.ground.point(0.0, offset, 0.0)]
    for k in range(guides):
        arc = length * (k + 1) / guides
        ring = system.body(f"ring {k + 1}", mass=1e-5, inertia=(1e-10,) * 3, at=(arc, 0.0, 0.0))
        system.fixed(f"clamp {k + 1}", core.node(arc), ring)
        points.append(ring.point(0.0, offset, 0.0))
    # A soft cable, so that the tension is nearly the one that it was pulled with.
    stiffness = 100.0
    system.cable("tendon", points, (0.0,) * (guides - 1), stiffness, length=length - tension / stiffness)
    return system


def bend() -> None:
    """The curvature of the finger against the moment of its cable over the stiffness of its core."""
    guides, offset = 5, 0.004
    rest = finger(guides=guides, offset=offset).equilibrium()
    tip = rest["core.end.position"]
    # An arc that leaves the palm along x turns by twice the angle of its chord.
    radius = 0.5 * (tip[0] ** 2 + tip[1] ** 2) / tip[1]
    # From ring to ring, an angle of 2 h, the cable is straight: its mean arm about the axis.
    h = 0.5 * 0.1 / guides / radius
    arm = radius * math.sin(h) / h - (radius - offset) * math.cos(h)
    exact = STEEL.young * circle(0.0005).bending_z / (rest["tendon.tension"] * arm)
    print(
        f"the finger bends to a radius of {1e3 * radius:.3f} mm, by the moment of its cable {1e3 * exact:.3f} mm"
    )
    assert abs(radius / exact - 1.0) < 2e-3


LENGTH, WEIGHT, FLAP, LAG, TWIST = 10.0, 20.0, 4e5, 4e6, 3e5
"""Of the blade [m, kg/m, N m^2, N m^2, N m^2]."""


def blade(coupling: float = 0.0, turns: float = 0.0, speed: float = 0.0) -> bc.System:
    """A blade on a driven hub, along x, turning about z.

    coupling: Of flapping and torsion in the stiffness [N m^2]. turns: Angle of the tip's section at rest [rad]. speed:
    [rad/s].
    """
    stiffness = np.diag([TWIST, FLAP, LAG, 1e9, 1e9, 1e9])
    stiffness[0, 1] = stiffness[1, 0] = coupling
    mass = np.diag([0.2, 0.1, 0.1, WEIGHT, WEIGHT, WEIGHT])
    member = rod(
        "blade", LENGTH, stiffness=stiffness, mass=mass, curvature=(turns / LENGTH, 0.0, 0.0), bending=(5, 2)
    )
    system = bc.System("blade", gravity=(0.0, 0.0, 0.0))
    hub = system.body("hub", mass=100.0, inertia=(50.0,) * 3)
    system.revolute("bearing", system.ground, hub, at=(0.0, 0.0, 0.0), axis="z")
    system.driver("bearing", lambda t: speed * t)
    one = system.flexible_body("blade", member)
    system.fixed("root", hub, one.node("start"))
    return system


def turn() -> None:
    """Flapping at rest and at speed, and the twist of a tip that is lifted."""
    unit = math.sqrt(FLAP / (WEIGHT * LENGTH**4))
    for speed, published in ((0.0, 3.5160), (3.0, 4.7973), (6.0, 7.3604)):
        first = 2.0 * math.pi * min(blade(speed=speed * unit).linearize().frequencies) / unit
        print(f"at {speed:g} the blade flaps at {first:.4f}, published {published:.4f}")
        assert abs(first / published - 1.0) < 2e-3

    # Lifted at its tip, a section of the straight blade twists by its share of the moment F (L - x).
    lift, coupling = 0.1, 1e5
    system = blade(coupling=coupling)
    tip = system.bodies["blade"].node("end")
    system.applied_force("lift", tip, lambda: (0.0, 0.0, lift))
    rest = system.equilibrium()
    angle = rest["blade.end.rotation"][2, 1]
    exact = 0.5 * coupling * lift * LENGTH**2 / (TWIST * FLAP - coupling**2)
    print(f"lifted by {lift:g} N the tip twists by {angle:.6e} rad, closed form {exact:.6e} rad")
    assert abs(angle / exact - 1.0) < 1e-4


def pictures() -> None:
    """All three as they bend, in files."""
    chain().simulate(1.0).picture("chain.png", at=1.0)
    finger(tension=4.0, guides=10).simulate(0.2).picture("finger.png", at=0.2)
    run = blade(coupling=1e5, turns=0.5, speed=4.0)
    run.applied_force("wind", run.bodies["blade"].node("end"), lambda: (0.0, 0.0, 2000.0))
    run.simulate(1.0).picture("blade.png", at=1.0, view=(0.76, -0.65, 0.3))


if __name__ == "__main__":
    for name in sys.argv[1:] or ["hang", "bend", "turn"]:
        {"hang": hang, "bend": bend, "turn": turn, "pictures": pictures}[name]()
