"""Two sampled surfaces far apart, closed and open: against all samples, many starts, and how much is looked at."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from bellcrank.contact import Plane, Sampled, Sphere
from bellcrank.contact.meeting_layout import FOUND
from bellcrank.contact.search import SampledPair
from bellcrank.contact.shapes import Ellipsoid, Shape
from bellcrank.contact.tree_layout import INNER, ON_RIM, OUTER, SIDES
from bellcrank.contact.tree_search import WAITING, Search
from bellcrank.errors import ModelError
from contact.slow_search import SlowPair
from contact.test_descent import bumpy, ways
from contact.test_places import box, ellipsoid, sheet

Array = NDArray[np.float64]


@cache
def cap(number: int) -> Sampled:
    """A piece of a ball whose samples stand in no rows, so that its rim is jagged."""
    u = ways(4 * number)
    u = u[u[:, 2] > 0.5]
    return Sampled(u, u)


@cache
def flat(number: int) -> Sampled:
    t = np.linspace(-1.0, 1.0, number)
    x, y = np.meshgrid(t, t, indexing="ij")
    return Sampled.from_grid(np.stack([x, y, 0.0 * x], axis=2))


SURFACES = {
    "bumpy": bumpy(900, 0.12, 0.3), "cap": cap(2500), "sheet": sheet(25), "flat": flat(20), "box": box(4),
}  # fmt: skip
FACING = np.diag([1.0, -1.0, -1.0])


def pose(one: Sampled, other: Sampled, trial: int, gap: float) -> tuple[Array, Array, float]:
    """The other surface in a random pose, so that about this gap is left between samples, and the distance of those."""
    R = Rotation.random(random_state=trial).as_matrix()
    way = Rotation.random(random_state=100 + trial).as_matrix()[0]
    far = 4.0 + gap
    for _ in range(40):
        least = float(one.nearest_points.query(other.points @ R.T + far * way)[0].min())
        far -= 0.9 * (least - gap)
    least = float(one.nearest_points.query(other.points @ R.T + far * way)[0].min())
    return R, far * way, least


@pytest.mark.parametrize("second", list(SURFACES))
@pytest.mark.parametrize("first", list(SURFACES))
def test_nearest_samples_are_those_of_looking_at_all(first: str, second: str) -> None:
    one, other = SURFACES[first], SURFACES[second]
    search = Search(one.tree, other.tree)
    for trial in range(6):
        R, c, least = pose(one, other, trial, (0.05, 0.4, 7.0)[trial % 3])
        i, j, found = search.nearest(R, c)
        assert found == pytest.approx(least, abs=1e-13)
        assert np.linalg.norm(one.points[i] - R @ other.points[j] - c) == pytest.approx(least, abs=1e-13)


def test_where_more_pairs_would_wait_than_there_is_room_the_nearest_samples_are_found_all_the_same() -> None:
    """Of parallel flat sides all pairs of nodes are as near: more than may wait."""
    plate = flat(80)
    search = Search(plate.tree, plate.tree)
    c = np.array([0.0071, 0.0113, 0.6])
    least = float(plate.nearest_points.query(plate.points @ FACING + c)[0].min())
    assert search.nearest(FACING, c)[2] == pytest.approx(least, abs=1e-13)
    assert search.looked > 4 * WAITING


@pytest.mark.parametrize("gap", [0.6, 3.0])
@pytest.mark.parametrize("second", list(SURFACES))
@pytest.mark.parametrize("first", list(SURFACES))
def test_the_clearance_is_no_more_than_what_is_left_between_samples(
    first: str, second: str, gap: float
) -> None:
    one, other = SURFACES[first], SURFACES[second]
    pair = SampledPair(one, other)
    for trial in range(4):
        R, c, least = pose(one, other, trial, gap)
        pair.meeting.pose(*pair.seen(R, c))
        pair.meeting.empty(0)
        assert pair.meeting.search(1) == FOUND
        # Surfaces rise between samples by their bulges, which the clearance leaves out.
        bulges = one.bulge + other.bulge
        assert least > pair.meeting.band + max(one.spacing, other.spacing)
        assert pair.meeting.clearance + bulges <= least + 1e-12
        lost = max(one.spacing, other.spacing) + 0.01 * least
        assert pair.meeting.clearance + bulges >= least - lost - 1e-12


@pytest.mark.parametrize("gap", [0.2, 0.5, 0.9])
def test_in_runs_too_bodies_with_dents_are_no_closer_anywhere_than_found(gap: float) -> None:
    """From scratch, and from points of before that are not the closest any more; against all minima of samples."""
    one, other = bumpy(2500, 0.15, 0.3), bumpy(2000, 0.12, 1.1)
    pair, slow = SampledPair(one, other), SlowPair(one, other)
    meeting = pair.meeting
    for trial in range(5):
        R, c, least = pose(one, other, trial, gap)
        gaps = []
        for k in range(2):
            meeting.pose(*pair.seen(R, c))
            meeting.empty(0)
            if k == 1:
                x, y = pair.source.points[7], pair.other.points[11]  # type: ignore[attr-defined]
                meeting.put(0, x, y, (7, 11), (2.0, 0.0, 0.0, 0.0))
            assert meeting.search(1) == FOUND
            assert meeting.kept[1, 0] >= 0
            gaps.append(float(meeting.slots[1, 0]))
        assert gaps[1] == pytest.approx(gaps[0], abs=1e-12)
        i, heights, j = slow.low(*pair.seen(R, c), least + 0.05)
        starts = slow._minima(i, heights)
        slowly = []
        for k in starts[np.argsort(heights[starts])][:8]:
            p, q = slow.source.points[i[k]], slow.other.points[j[k]]  # type: ignore[attr-defined]
            try:
                slowly.append(slow.refined(R, c, *((p, q) if pair.first else (q, p))).gap)
            except ModelError:
                continue
        assert gaps[0] == pytest.approx(min(slowly), abs=1e-10)


@pytest.mark.parametrize("name", ["cap", "sheet", "flat", "box"])
def test_boxes_hold_the_samples_of_nodes_at_rims_and_edges(name: str) -> None:
    surface = SURFACES[name]
    tree = surface.tree
    on_rim = np.zeros(len(surface.points))
    on_rim[np.concatenate([np.zeros(0, np.int64), *(surface.rims or ())])] = 1.0
    boxes = 0
    for k, node in enumerate(tree.nodes):
        level = (k + 1).bit_length() - 1
        share = len(tree.order) >> level
        rows = slice((k + 1 - (1 << level)) * share, (k + 2 - (1 << level)) * share)
        assert node[ON_RIM] == on_rim[tree.order[rows]].sum()
        if not node[SIDES : SIDES + 9].any():
            assert node[ON_RIM] < 2 or share > 100
            continue
        boxes += 1
        # The parts of a direction d are dual . d where d = normals^T parts.
        normals = np.linalg.inv(node[SIDES : SIDES + 9].reshape(3, 3)).T
        assert np.linalg.norm(normals, axis=1) == pytest.approx(np.ones(3), abs=1e-10)
        out = (tree.points[rows] - node[:3]) @ normals.T
        assert out.max(axis=0) == pytest.approx(node[OUTER : OUTER + 3], abs=1e-10)
        assert out.min(axis=0) == pytest.approx(-node[INNER : INNER + 3], abs=1e-10)
    assert boxes > 10


def looked_at(surface: Sampled, other: Shape, gap: float) -> float:
    """Nodes, on the mean over a few poses, the same for all numbers of samples."""
    pair, seen = SampledPair(surface, other), []
    random = np.random.default_rng(8)
    size = 0.0 if isinstance(other, Plane) else float(other.bounding_radius())
    for _ in range(12):
        R = Rotation.random(random_state=random).as_matrix()
        c = -R[:, 2] if isinstance(other, Plane) else random.normal(size=3)
        c *= (gap + 1.3 + size) / np.linalg.norm(c)
        pair.meeting.pose(*pair.seen(R, c))
        pair.meeting.empty(0)
        assert pair.meeting.search(1) == FOUND
        seen.append(pair.meeting.looked)
    return float(np.mean(seen))


GROWS = {
    "ellipsoid": ellipsoid,
    "bumpy": lambda number: bumpy(number, 0.12, 0.3),
    "cap": cap,
    "sheet": lambda number: sheet(round(number**0.5)),
    "box": lambda number: box(round(np.log2(number / 6.0) / 2.0)),
}
NUMBERS = (1024, 4096, 16_384, 65_536)


@cache
def grown(name: str, number: int) -> Sampled:
    return GROWS[name](number)


@pytest.mark.parametrize("gap", [1.0, 5.0])
@pytest.mark.parametrize(
    ("name", "other"),
    [(name, None) for name in GROWS]
    + [
        (name, shape)
        for name in ("cap", "sheet")
        for shape in (Plane(), Sphere(0.6), Ellipsoid(0.3, 0.7, 1.1))
    ],
)
def test_of_closed_and_open_surfaces_what_is_looked_at_grows_with_the_logarithm(
    name: str, other: Shape | None, gap: float
) -> None:
    """Four times the samples add two levels: about as many nodes each time, as in :mod:`test_far`."""
    surfaces = [grown(name, number) for number in NUMBERS]
    added = np.diff([looked_at(surface, other or surface, gap) for surface in surfaces])
    assert added[2] < 1.5 * added[:2].mean()


def test_parallel_flat_sides_far_apart_are_told_by_a_few_looks() -> None:
    """All samples are as near but for how they happen to stand opposite each other: sixteen times as many samples, of
    which a search for the nearest looks at all, are not twice as much to look at."""
    looks = []
    for number in (64, 256):
        plate = flat(number)
        pair = SampledPair(plate, plate)
        pair.meeting.pose(*pair.seen(FACING, np.array([0.0071, 0.0113, 0.6])))
        pair.meeting.empty(0)
        assert pair.meeting.search(1) == FOUND
        assert pair.meeting.slots[1, 0] == pytest.approx(0.6, abs=1e-12)
        assert 0.6 - 1.1 * plate.spacing - 0.006 <= pair.meeting.clearance <= 0.6
        looks.append(pair.meeting.looked)
    assert looks[1] < 2.0 * looks[0]
