"""Roads: interpolation, spectra, files, and wheels on them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import yaml
from scipy.signal import csd, welch
from scipy.special import k1

from bellcrank import System
from bellcrank.errors import ModelError
from bellcrank.files import dumps, load, loads, schema
from bellcrank.roads import Grid, Plane, Profile, RandomRoad, Road, crg
from bellcrank.roads.roughness import CLASSES, REFERENCE
from bellcrank.tyres import Brush

X = np.array([-1.0, 0.0, 0.5, 1.5, 2.0, 3.5, 4.0])
Y = np.array([-2.0, -1.0, -0.8, 0.0, 1.0, 1.5])
RNG = np.random.default_rng(7)
ROADS: dict[str, Road] = {
    "plane": Plane(slope=0.1, bank=-0.05, height=0.2),
    "one track": Profile([0.0, 1.0, 2.5, 3.0], [0.0, 0.1, 0.0, 0.05]),
    "two tracks": Profile([0.0, 1.0, 2.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.2], width=1.2),
    "grid": Grid(X, Y, 0.1 * RNG.normal(size=(7, 6)), at=(1.0, 2.0), heading=0.3),
    "iso8608": RandomRoad("D", 20.0, seed=5, width=1.4, spacing=0.2, level=2.0),
}


def slopes(road: Road, x: np.ndarray, y: np.ndarray, h: float = 1e-6) -> np.ndarray:
    along = (road.heights(x + h, y) - road.heights(x - h, y)) / (2 * h)
    return np.stack([along, (road.heights(x, y + h) - road.heights(x, y - h)) / (2 * h)])


def test_a_grid_meets_its_heights_and_is_exact_for_parabolas() -> None:
    x, y = np.meshgrid(X, Y, indexing="ij")
    heights = RNG.normal(size=x.shape)
    assert np.array_equal(Grid(X, Y, heights).heights(x, y), heights)
    bent = lambda x, y: 0.3 * x * x - 0.2 * x * y + 0.1 * y * y + x - 2.0  # noqa: E731
    inner_x, inner_y = RNG.uniform(X[1], X[-2], 50), RNG.uniform(Y[1], Y[-2], 50)
    found = Grid(X, Y, bent(x, y)).heights(inner_x, inner_y)
    assert np.allclose(found, bent(inner_x, inner_y), atol=1e-13)
    assert np.allclose(
        Grid(X, Y, heights).heights([-50.0, 90.0], [-7.0, 8.0]), [heights[0, 0], heights[-1, -1]]
    )


def test_normals_are_continuous_over_the_lines_of_a_grid_and_beyond_its_ends() -> None:
    road = Grid(X, Y, RNG.normal(size=(7, 6)))
    places = np.concatenate([X, [2 * X[0] - X[1], 2 * X[-1] - X[-2]]])
    y = RNG.uniform(-3.0, 2.5, len(places))
    gap = 1e-5
    assert np.abs(slopes(road, places + gap, y) - slopes(road, places - gap, y)).max() < 1e-3
    assert np.abs(slopes(road, X + 0.2, y[:7])).max() > 0.1


def test_two_tracks_are_level_across() -> None:
    road = ROADS["two tracks"]
    x = np.linspace(0.0, 2.0, 9)
    for side in (-1, 1):
        assert np.allclose(road.heights(x, side * 0.6), road.heights(x, side * 5.0), atol=1e-15)
    assert np.allclose(road.heights(x, 0.0), (road.heights(x, 0.6) + road.heights(x, -0.6)) / 2)
    assert np.abs(slopes(road, x, np.full(9, 0.6))[1]).max() < 1e-5


def test_a_turned_grid_is_a_turned_road() -> None:
    road = ROADS["grid"]
    c, s = np.cos(0.3), np.sin(0.3)
    plain = Grid(X, Y, road.z)  # type: ignore[attr-defined]
    x, y = RNG.uniform(0.0, 3.0, (2, 20))
    assert np.allclose(road.heights(1.0 + c * x - s * y, 2.0 + s * x + c * y), plain.heights(x, y))


def test_the_upper_side_of_a_mesh() -> None:
    corners = [(0, 0, 0), (4, 0, 0), (4, 2, 0.4), (0, 2, 0.4), (0, 0, -1), (4, 0, -1), (4, 2, -1)]
    road = Grid.from_mesh(corners, [(0, 1, 2), (0, 2, 3), (4, 5, 6)], cell=0.25)
    x, y = RNG.uniform(0.5, 3.5, 30), RNG.uniform(0.5, 1.5, 30)
    assert np.allclose(road.heights(x, y), 0.2 * y, atol=1e-12)
    with pytest.raises(ModelError, match="vertices 0 to 6"):
        Grid.from_mesh(corners, [(0, 1, 9)], cell=0.25)


@pytest.mark.parametrize("roughness", "AEH")
def test_a_random_road_has_the_spectrum_of_its_class(roughness: str) -> None:
    spacing = 0.1
    road = RandomRoad(roughness, 20000.0, seed=11, spacing=spacing, level=0.0)
    tracks = np.array([road.profile.left, road.profile.right])
    n, found = welch(tracks, 1.0 / spacing, nperseg=4096)
    octaves = [(n >= low) & (n < 2 * low) for low in (0.02, 0.05, 0.1, 0.3, 1.0)]
    exact = CLASSES[roughness] * (n[1:] / REFERENCE) ** -2.0
    for part in octaves:
        # An octave has tens of windows times frequencies of its own; 10 % are three deviations of their mean.
        assert found[:, part].mean() == pytest.approx(exact[part[1:]].mean(), rel=0.1)
    told = (n > 0.02) & (n < 2.83)
    slope, level = np.polyfit(np.log10(n[told] / REFERENCE), np.log10(found[:, told].mean(axis=0)), 1)
    assert slope == pytest.approx(-2.0, abs=0.02)
    assert 10.0**level == pytest.approx(CLASSES[roughness], rel=0.1)


def test_tracks_share_long_waves() -> None:
    road = RandomRoad("C", 40000.0, seed=2, width=1.5, level=0.0)
    n, cross = csd(road.profile.left, road.profile.right, 10.0, nperseg=4096)
    own = welch(road.profile.right, 10.0, nperseg=4096)[1]
    for low in (0.02, 0.06, 0.2):
        part = (n >= low) & (n < 1.5 * low)
        apart = 2.0 * np.pi * 1.5 * n[part]
        assert np.mean(cross[part].real / own[part]) == pytest.approx(np.mean(apart * k1(apart)), abs=0.06)


def test_a_random_road_is_its_seed() -> None:
    first, again, other = (RandomRoad("C", 50.0, seed=k) for k in (1, 1, 2))
    x = np.linspace(-5.0, 60.0, 200)
    assert np.array_equal(first.heights(x, 0.0), again.heights(x, 0.0))
    assert np.abs(first.heights(x, 0.0) - other.heights(x, 0.0)).max() > 1e-3
    assert np.all(first.heights([-5.0, 0.0, 50.0, 60.0], 0.3) == 0.0)


@pytest.mark.parametrize("name", ROADS)
def test_every_road_stands_in_the_file(name: str) -> None:
    system = rolling(ROADS[name])
    text = dumps(system)
    jsonschema.Draft202012Validator(schema()).validate(yaml.safe_load(text))
    again = loads(text)
    assert dumps(again) == text
    x, y = RNG.uniform(-2.0, 5.0, (2, 40))
    read = again.forces["tyre"].road.function  # type: ignore[attr-defined]
    assert type(read) is type(ROADS[name])
    assert np.array_equal(read.heights(x, y), ROADS[name].heights(x, y))


def rolling(road: Road | Callable[..., float]) -> System:
    system = System("wheel")
    wheel = system.body("wheel", mass=20.0, inertia=(1.0, 1.5, 1.0), at=(0.5, 0.0, 0.55))
    system.free("motion", system.ground, wheel)
    law = Brush(radius=0.3, stiffness=2e5, damping=500.0, longitudinal=20.0, lateral=15.0)
    system.tyre("tyre", wheel, law, road=road, friction=Plane(height=0.9))
    return system


def test_a_wheel_rolls_on_a_road_as_on_its_function() -> None:
    plane = Plane(slope=0.1, bank=-0.05)
    x, y = np.linspace(-2.0, 8.0, 6), np.linspace(-3.0, 3.0, 4)
    grid = Grid(x, y, plane.heights(x[:, None], y[None]))
    start = {"motion": {"velocity": (3.0, 0.0, 0.0)}}
    ends = [
        rolling(road).simulate(0.3, initial=start, tolerance=1e-9)["wheel.position"][-1]
        for road in (grid, lambda x, y, t: 0.1 * x - 0.05 * y)
    ]
    assert np.allclose(*ends, atol=1e-7)


HEAD = """$CT
a road
$
$ROAD_CRG ! of a test
REFERENCE_LINE_START_X = 10.0
REFERENCE_LINE_START_Y = -2.0
REFERENCE_LINE_START_PHI = {phi}
REFERENCE_LINE_START_Z = 0.5
REFERENCE_LINE_INCREMENT = 0.5
$
$KD_Definition
#:{form}
U:reference line u,m,0,0.5
{channels}
$
{more}$$$$$$$$10$$$$$$$$20
"""
SECTIONS = "\n".join(f"D:long section at v = {v:.3f},m" for v in (-1.5, -0.5, 1.0))


def written(path: Path, form: str, rows: np.ndarray, channels: str, phi: float = 0.0, more: str = "") -> Path:
    head = HEAD.format(form=form, channels=channels, phi=phi, more=more).encode()
    if form in ("KRBI", "KDBI"):
        data = rows.astype(">f4" if form == "KRBI" else ">f8")
        unused = np.full(-data.nbytes % 80 // data.itemsize, np.nan, data.dtype)
        path.write_bytes(head + data.tobytes() + unused.tobytes())
    else:
        wide = {"LRFI": 10, "LDFI": 20}[form]
        lines = []
        for row in rows:
            words = ["*missing*".rjust(wide) if np.isnan(x) else f"{x:{wide}.7f}" for x in row]
            a_line = 80 // wide
            lines += ["".join(words[k : k + a_line]) for k in range(0, len(words), a_line)]
        path.write_bytes(head + ("\n".join(lines) + "\n").encode())
    return path


@pytest.mark.parametrize("form", ["LRFI", "LDFI", "KRBI", "KDBI"])
def test_a_straight_crg_file_with_slope_and_bank(form: str, tmp_path: Path) -> None:
    count, slope, heading = 9, 0.02, 0.4
    grid = np.round(RNG.normal(size=(count, 3)) * 0.01, 4)
    bank = np.linspace(0.0, 0.04, count)
    rows = np.column_stack([np.r_[np.nan, np.full(count - 1, slope)], bank, grid])
    channels = f"D:reference line slope,m/m\nD:reference line banking,m/m\n{SECTIONS}"
    road = crg(written(tmp_path / "a.crg", form, rows, channels, heading))
    u, v = np.meshgrid(0.5 * np.arange(count), [-1.5, -0.5, 1.0], indexing="ij")
    x = 10.0 + u * np.cos(heading) - v * np.sin(heading)
    y = -2.0 + u * np.sin(heading) + v * np.cos(heading)
    assert np.allclose(road.heights(x, y), 0.5 + slope * u + bank[:, None] * v + grid, atol=1e-6)


def test_missing_heights_are_those_beside_them(tmp_path: Path) -> None:
    rows = np.array([[np.nan, 1.0, 3.0], [np.nan] * 3, [0.0, np.nan, 5.0]])
    z = crg(written(tmp_path / "a.crg", "LRFI", rows, SECTIONS)).z - 0.5
    assert np.allclose(z, [[1.0, 1.0, 3.0], [1.0, 1.0, 3.0], [0.0, 2.0, 5.0]])


def test_a_crg_file_along_a_circle(tmp_path: Path) -> None:
    """A banked turn: the height is a function of the distance from its centre."""
    radius, step = 20.0, 0.5
    angles = step / radius * (np.arange(40) + 0.5)
    rows = np.column_stack([np.r_[np.nan, angles], np.tile([-0.3, -0.1, 0.2], (41, 1))])
    path = written(tmp_path / "a.crg", "KDBI", rows, f"D:reference line phi,rad\n{SECTIONS}")
    road = crg(path, cell=0.1)
    turned, v = RNG.uniform(0.2, 0.8, 60), RNG.uniform(-1.2, 0.8, 60)
    at = np.array([10.0 + (radius - v) * np.sin(turned), -2.0 + radius - (radius - v) * np.cos(turned)])
    # A polyline of 0.5 m lies 1.6 mm beside the circle; the height rises by 0.2 m/m across.
    assert np.allclose(road.heights(*at), 0.5 + 0.2 * v, atol=5e-4)
    part = crg(path, between=(5.0, 10.0), cell=0.1)
    inside = (turned * radius > 5.5) & (turned * radius < 9.5)
    assert np.allclose(part.heights(*at[:, inside]), road.heights(*at[:, inside]), atol=5e-4)
    assert part.z.size < road.z.size / 2


def test_a_model_file_names_a_crg_file(tmp_path: Path) -> None:
    rows = np.tile([0.0, 0.1, 0.2], (4, 1))
    written(tmp_path / "a.crg", "LRFI", rows, SECTIONS)
    said = yaml.safe_load(dumps(rolling(Plane())))
    said["forces"]["tyre"]["road"] = {"kind": "crg", "file": "a.crg"}
    (tmp_path / "model.yaml").write_text(yaml.safe_dump(said, sort_keys=False))
    road = load(tmp_path / "model.yaml").forces["tyre"].road.function  # type: ignore[attr-defined]
    assert np.array_equal(road.z, 0.5 + rows)


WRONG = {
    "no line of": b"$ROAD_CRG\n$\n",
    "format 'XYZ'": HEAD.format(form="XYZ", channels=SECTIONS, phi=0, more="").encode(),
    "0 cross sections": HEAD.format(form="LRFI", channels=SECTIONS, phi=0, more="").encode(),
    "not a number": HEAD.format(form="LRFI", channels=SECTIONS, phi=0, more="").encode() + b"     hello\n",
    "no channels": HEAD.format(form="LRFI", channels="", phi=0, more="").encode(),
    "needs 2": HEAD.format(form="LRFI", channels="D:long section 1,m", phi=0, more="").encode() + b"1\n2\n",
    "another file": HEAD.format(
        form="LRFI", channels="", phi=0, more="$ROAD_CRG_FILE\n/etc/passwd\n$\n"
    ).encode(),
    "reference_line_offset_x": HEAD.format(
        form="LRFI", channels="", phi=0, more="$ROAD_CRG\nREFERENCE_LINE_OFFSET_X = 2\n$\n"
    ).encode(),
    "scale_width": HEAD.format(
        form="LRFI", channels="", phi=0, more="$ROAD_CRG_MODS\nscale_width = 2\n$\n"
    ).encode(),
}


@pytest.mark.parametrize("message", WRONG)
def test_wrong_crg_files_are_named(message: str, tmp_path: Path) -> None:
    (tmp_path / "a.crg").write_bytes(WRONG[message])
    with pytest.raises(ModelError, match=message) as error:
        crg(tmp_path / "a.crg")
    assert "a.crg" in str(error.value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Profile([0.0, 0.0], [1.0, 1.0]), "x of a road profile must increase"),
        (lambda: Profile([0.0, 1.0], [1.0]), "left of a road profile"),
        (lambda: Profile([0.0, 1.0], [1.0, np.nan]), "finite"),
        (lambda: Grid([0.0, 1.0], [0.0, 1.0, 2.0], np.zeros((3, 2))), "2 rows of 3 heights"),
        (lambda: RandomRoad("J", 10.0), "class of a random road"),
        (lambda: RandomRoad("A", 1e9), "heights"),
        (lambda: RandomRoad("A", 10.0, seed=-1), "seed"),
        (lambda: RandomRoad("A", 10.0, level=8.0), "level"),
        (lambda: Plane(slope=np.inf), "slope of a plane road"),
    ],
)
def test_wrong_roads_are_named(make: Callable[[], Road], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        make()
