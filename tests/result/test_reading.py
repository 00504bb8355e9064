"""Reading results by name: points of bodies, tables of pandas and xarray."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import BellcrankError


@pytest.fixture(scope="module")
def spun() -> bc.Result:
    """A body thrown with a spin about a principal axis: closed form for every point."""
    system = bc.System("thrown", gravity=(0.0, 0.0, -9.81))
    body = system.body("disc", 2.0, (0.1, 0.1, 0.2), at=(1.0, 2.0, 3.0))
    system.free("flight", system.ground, body)
    start = {"flight": {"velocity": (1.0, 0.0, 4.0), "angular_velocity": (0.0, 0.0, 5.0)}}
    return system.simulate(1.0, initial=start, tolerance=1e-11, output=50, progress=False)


def test_points_move_as_their_bodies_carry_them(spun: bc.Result) -> None:
    t = spun.time
    turn, zero = 5.0 * t, 0.0 * t
    arm = np.array([0.3 * np.cos(turn), 0.3 * np.sin(turn), zero + 0.2]).T
    place = np.array([1.0 + t, 2.0 + zero, 3.0 + 4.0 * t - 9.81 / 2 * t**2]).T + arm
    velocity = np.array([1.0 - 5 * arm[:, 1], 5 * arm[:, 0], 4.0 - 9.81 * t]).T
    acceleration = np.array([-25 * arm[:, 0], -25 * arm[:, 1], zero - 9.81]).T
    assert np.asarray(spun["disc.point(0.3, 0, 0.2).position"]) == pytest.approx(place, abs=1e-9)
    assert np.asarray(spun["disc.point(0.3,0,0.2).velocity"]) == pytest.approx(velocity, abs=1e-9)
    assert np.asarray(spun["disc.point(0.3, 0, 0.2).acceleration.z"]) == pytest.approx(
        acceleration[:, 2], abs=1e-8
    )
    assert np.asarray(spun["disc.point(0.3, 0, 0.2).acceleration"]) == pytest.approx(acceleration, abs=1e-7)
    assert spun["disc.point(0.3, 0, 0.2).velocity"].unit == "m/s"
    assert "disc.point(0, 0, 1).velocity.x" in spun


def test_points_can_be_watched_by_events() -> None:
    system = bc.System("thrown", gravity=(0.0, 0.0, -9.81))
    system.free("flight", system.ground, system.body("stick", 1.0, (0.1, 0.1, 0.1), at=(0.0, 0.0, 2.0)))
    ground = bc.Event("touch", lambda m: m["stick.point(0, 0, -0.5).position.z"], stops=True)
    run = system.simulate(2.0, events=[ground], progress=False)
    assert run.events[0].time == pytest.approx(np.sqrt(2 * 1.5 / 9.81), abs=1e-8)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("disk.point(0, 0, 0).position", "did you mean 'disc'"),
        ("disc.point(0, 0).position", "three numbers"),
        ("disc.point(0, 0, 0).speed", "velocity"),
        ("disc.point(0, 0, 0).velocity.w", "x, y, z"),
    ],
)
def test_mistakes_in_points_are_told(spun: bc.Result, name: str, message: str) -> None:
    with pytest.raises(BellcrankError, match=message):
        spun[name]
    assert name not in spun


def test_tables_take_names_one_by_one_or_in_a_list(spun: bc.Result) -> None:
    names = ["disc.position", "energy.total"]
    assert spun.to_pandas(names).equals(spun.to_pandas(*names))
    assert list(spun.to_pandas(names).columns) == [*(f"disc.position.{c}" for c in "xyz"), "energy.total"]
    assert spun.to_xarray(names).equals(spun.to_xarray(*names))


def test_xarray_knows_the_axes(spun: bc.Result) -> None:
    data = spun.to_xarray("disc.position", "disc.rotation", "energy.kinetic")
    np.testing.assert_array_equal(data["disc.position"].sel(axis="z"), spun["disc.position.z"])
    entry = data["disc.rotation"].sel(axis="x", body_axis="y")
    np.testing.assert_array_equal(entry, spun["disc.rotation.xy"])
    assert data["disc.position"].attrs["units"] == "m"
    assert data["energy.kinetic"].dims == ("time",)
