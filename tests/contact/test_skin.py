"""Surfaces of flexible members in contact: they bend with the member, and the modes feel what presses on them."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.contact import Capsule, LuGre
from bellcrank.contact.skin import Skin
from bellcrank.files import dumps, loads
from bellcrank.flexible import STEEL, Clamped, NormalModes, beam, circle
from bellcrank.flexible.member import Member
from bellcrank.model.contacts import PlacedShape

LENGTH, THICK, RADIUS, AT = 1.0, 0.02, 0.05, 0.63
ALONG = Rotation.from_euler("y", 90, degrees=True).as_matrix()


def member(modes: int = 4) -> Member:
    model = beam("bar", LENGTH, circle(THICK), STEEL, elements=5)
    return model.reduce(NormalModes(count=modes), Clamped("start"))


def ball_on_bar(
    made: Member, mass: float, overlap: float, turned: float = 0.0, **contact: float
) -> bc.System:
    """A bar is clamped at one end, and a ball in a guide stands on it between two nodes; all turned about z."""
    system = bc.System("bar", gravity=(0, 0, -9.81))
    R = Rotation.from_euler("z", turned).as_matrix()
    bar = system.flexible_body("bar", made, rotation=R)
    system.fixed("root", system.ground, bar.node("start"))
    place = R @ (AT, 0, THICK / 2 + RADIUS - overlap)
    ball = system.body("ball", mass=mass, inertia=(1e-4,) * 3, at=place)
    system.prismatic("guide", system.ground, ball, axis="z")
    system.contact("touch", skin(bar), ball.sphere(RADIUS), treatment="continuous", **contact)
    return system


def skin(bar: bc.Body) -> PlacedShape:
    shape = Capsule(THICK / 2, LENGTH / 2 - THICK / 2)
    return bar.skin(shape, at=(LENGTH / 2, 0, 0), rotation=ALONG, spacing=0.05)


@pytest.fixture(scope="module")
def bar() -> Member:
    return member()


def test_a_load_between_nodes_bends_the_bar_as_beam_theory_says(bar: Member) -> None:
    mass = 1.0
    system = ball_on_bar(bar, mass, 1e-3, restitution=0.5, young=1e6)
    rest = system.equilibrium()
    found = system.simulate(1e-6, start=rest.state, output=1)
    load, stiffness = mass * 9.81, STEEL.young * np.pi * THICK**4 / 64
    own = STEEL.density * np.pi * THICK**2 / 4 * 9.81
    tip = -load * AT**2 * (3 * LENGTH - AT) / (6 * stiffness) - own * LENGTH**4 / (8 * stiffness)
    assert found["touch.force"][0][2] == pytest.approx(load, rel=1e-6)
    # Four modes carry the tip to less than a percent.
    assert found["bar.end.position"][0][2] == pytest.approx(tip, rel=1e-2)


def test_an_elastic_impact_keeps_the_energy_and_turning_everything_changes_nothing(bar: Member) -> None:
    ends = []
    for turned in (0.0, 0.7):
        system = ball_on_bar(bar, 0.2, -1e-3, turned, restitution=1.0, friction=0.0, young=1e8)
        run = system.simulate(0.03, output=30, tolerance=1e-9)
        energy = run["energy.total"].to_numpy()
        assert np.ptp(energy) < 1e-6 * np.ptp(run["energy.kinetic"].to_numpy())
        assert run["touch.normal_force"].max() > 10.0
        hardest = int(run["touch.normal_force"].to_numpy().argmax())
        patch = run.patch("touch", run.time[hardest])
        middle = np.average(patch.corners.mean(axis=1), axis=0, weights=patch.pressure.mean(axis=1))
        assert np.allclose(middle, run["touch.point"][hardest], atol=1e-3)
        assert abs(run.ledger.residual).max() < 1e-5 * np.ptp(run["energy.kinetic"].to_numpy())
        ends.append([run["ball.position.z"][-1], run["bar.end.position"][-1][2]])
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)


def test_what_cannot_touch_is_named(bar: Member) -> None:
    system = bc.System("two")
    one, two = (system.flexible_body(name, bar) for name in ("one", "two"))
    ball = system.body("ball", mass=1.0, inertia=(1e-4,) * 3)
    how = {"restitution": 0.5, "treatment": "continuous"}
    with pytest.raises(bc.ModelError, match="skins of two flexible members"):
        system.contact("c", skin(one), skin(two), **how)
    with pytest.raises(bc.ModelError, match="leave method='points' out"):
        system.contact("c", skin(one), ball.sphere(0.1), method="points", **how)
    with pytest.raises(bc.ModelError, match="Coulomb's"):
        system.contact("c", skin(one), ball.sphere(0.1), friction=LuGre(0.3), **how)
    with pytest.raises(bc.ModelError, match="body 'ball': the body is rigid"):
        ball.skin()
    with pytest.raises(bc.ModelError, match="give the shape around its axis"):
        one.skin()


def test_files_carry_it(bar: Member) -> None:
    system = ball_on_bar(bar, 0.2, 1e-4, restitution=1.0, young=1e8)
    again = loads(dumps(system))
    ends = [s.simulate(2e-3, output=1)["ball.position.z"][-1] for s in (system, again)]
    assert ends[0] == pytest.approx(ends[1], abs=1e-12)
    with pytest.raises(bc.ModelError, match="triangles of a skin name vertices"):
        Skin(np.eye(3), np.array([[0, 1, 7]]), np.zeros((3, 3, 1)))
    strange = PlacedShape(
        system.bodies["bar"].node("start"), Skin(np.eye(3), np.array([[0, 1, 2]]), np.zeros((3, 3, 1)))
    )
    with pytest.raises(bc.ModelError, match="has 1 modes, the body 4"):
        system.contact("d", strange, system.bodies["ball"].sphere(0.1), 0.5, treatment="continuous")
