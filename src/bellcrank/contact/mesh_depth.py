"""Exact depths of a triangle mesh as it comes: closed or open, overlapping itself, wound either way.

The surface is split into *shells* (connected by their vertices). A shell that encloses a volume is a solid: a point is
inside where the generalised winding number of all solids is at least one half, so overlaps and small holes need no
repair. Any other shell is a sheet, with half its thickness on either side. The depth of the mesh is the larger of both.

Source: Jacobson, Kavan, Sorkine-Hornung (2013), Robust inside-outside segmentation using generalized winding numbers;
Barill et al. (2018), Fast winding numbers for soups and clouds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.mesh_distance import Tree, distances, tree_of
from bellcrank.contact.mesh_winding import Bins, bins_of, windings
from bellcrank.contact.solid_angle import Seen, seen_of, solid_angles
from bellcrank.errors import ModelError

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

WELD = 1e-7
"""Vertices closer than this over the size of the mesh are one: single precision in files is no finer."""
SOLID = 0.9
"""Mean winding number behind the triangles of an open shell above which it is a solid with holes: the holes are seen
under less than a tenth of all directions. A cube without one of its sides has 5/6."""
PROBES = 2000
"""Triangles that are looked at to decide about a shell."""
SHELLS = 200
"""Open shells that are looked at one by one, the largest first; smaller ones are sheets."""
PIECE = 1.0 / 32.0
"""Size of the pieces by which overlapping solids are separated, over that of the mesh: two cells."""
OVERLAP = 0.01
"""Share of the surface within other solids beyond which they overlap; less is a seam, or rounding in a corner."""
EMPTY = 1e-6
"""Volume over area^1.5 below which a shell encloses nothing: a ball has 0.09, a plate three millionths thick this."""
SLIVER = 1e-14
"""Area over the square of the size below which a triangle has none: the square of the distance of welding."""
STEP = 1e-5
"""From a triangle to a point beside it, over the size: more than rounding, less than a wall."""
PIECES = 2_000_000
"""Triangles at most after division."""
DENSE = 150_000
"""Triangles beyond which the solids are clustered to half a cell before distances are taken."""
SHORT = 16.0
"""Longest side [cells] of the triangles in the tree of distances, twice the reach of the band: boxes around longer ones
hold much besides them, shorter ones make the tree larger and the search no quicker."""
FAN = 8
"""Edges of a hole at most that are joined to its middle: fewer need no tree."""
STRIDE = 4
"""Steps of a lattice from corner to corner of the cells in which solid angles are looked at first; those that are not
clear are halved."""


@dataclass(frozen=True, eq=False)
class Surface:
    """A mesh made ready: vertices (n, 3), and the triangles of its solids and of its sheets.

    Without doubled vertices and triangles, and wound so that the winding number of a solid is positive within.
    """

    vertices: Array
    solids: Indices
    sheets: Indices
    notes: tuple[str, ...] = field(default=())

    @cached_property
    def outer(self) -> tuple[Array, Indices]:
        """Vertices and triangles of the solids without what lies within others."""
        if not self.overlapping:
            return self.vertices, self.solids
        size = float(np.ptp(self.vertices, axis=0).max())
        return self._exposed(PIECE * size)

    def scaled(self, centre: Array, unit: float, step: float) -> Surface:
        """The surface around `centre` in another unit of length, rounded to multiples of `step`."""

        def moved(v: Array) -> Array:
            return np.ascontiguousarray(np.round((v - centre) / (unit * step)) * step)

        made = Surface(moved(self.vertices), self.solids, self.sheets, self.notes)
        v, f = self.outer
        outer = moved(v) if v is not self.vertices else made.vertices
        # What is known of the surface holds in every unit.
        made.__dict__.update(overlapping=self.overlapping, closed_solids=self.closed_solids, outer=(outer, f))
        return made

    @property
    def faces(self) -> Indices:
        """All triangles."""
        return np.concatenate([self.solids, self.sheets])

    @cached_property
    def overlapping(self) -> bool:
        """Whether solids overlap, so that a part of their surface lies within them."""
        if len(self.solids) == 0:
            return False
        points, normals, _ = spread(self.vertices, self.solids, PROBES)
        return float(np.mean(self._covered(points, normals))) > OVERLAP

    @cached_property
    def closed_solids(self) -> bool:
        """Whether every edge of the solids is passed as often one way as the other: there are no holes."""
        return bool(_balanced(self.solids).all())

    @cached_property
    def _closed(self) -> tuple[Array, Indices, int, Bins]:
        """The solids with a cap over each hole: vertices, triangles with those of the caps behind, the number of the
        solids' own, and bins of all."""
        v, f = self.vertices, self.solids
        own = len(f)
        if not self.closed_solids:
            v, caps = _caps(v, *borders(f, len(v)))
            f = np.concatenate([f, caps])
        whole = np.ascontiguousarray(f)
        return v, whole, own, bins_of(v, whole)

    @cached_property
    def _seen_caps(self) -> Seen:
        v, f, own, _ = self._closed
        return seen_of(v, f[own:])

    def winding(self, points: Array) -> Array:
        """The winding number of the solids at points (n, 3).

        Of a closed mesh by the crossings of a ray. What caps over holes add is taken off.
        """
        v, f, own, bins = self._closed
        found = windings(bins, v, f, points)
        return found - self.caps_seen(points) if len(f) > own else found

    def caps_seen(self, points: Array) -> Array:
        """The solid angle under which caps over holes are seen from points (n, 3), over that of a sphere."""
        return solid_angles(self._seen_caps, points)

    def inside_on_lattice(
        self, points: Array, keys: Indices, shape: Indices, step: float
    ) -> NDArray[np.bool_]:
        """Which nodes of a lattice are inside solids with holes. keys: Their places. step: Between neighbours.

        With n crossings and caps seen under a, a node is inside where n >= a + 1/2. Away from the borders of holes a is
        harmonic, so it varies most on the sides of a cell. Nodes of cells without a border, where it stays off 1/2 at
        the corners by more than it varies between them, need no a of their own.
        """
        v, f, _, bins = self._closed
        index = np.stack(np.unravel_index(keys, shape.tolist()), axis=1)
        a, ask = np.empty(len(points)), np.arange(len(points))
        border = np.floor((self._border(0.5 * step) - points[0]) / step).astype(np.int64) + index[0]
        stride = STRIDE
        while stride > 1 and len(ask):
            wide = shape // stride + 2
            steps = np.array([wide[1] * wide[2], wide[2], 1])
            cells, cell = np.unique((index[ask] // stride) @ steps, return_inverse=True)
            around = np.array([(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]) @ steps
            nodes, corner = np.unique(cells[:, None] + around, return_inverse=True)
            places = np.stack(np.unravel_index(nodes, wide.tolist()), axis=1) * stride
            seen = self.caps_seen(points[0] + (places - index[0]) * step)[corner.reshape(-1, 8)]
            whole = np.round(seen.mean(axis=1))
            known = np.abs(seen - whole[:, None]).max(axis=1) + np.ptp(seen, axis=1) < 0.5
            known &= ~np.isin(cells, (border // stride) @ steps)
            a[ask] = whole[cell]
            ask = ask[~known[cell]]
            stride //= 2
        a[ask] = self.caps_seen(points[ask])
        return np.asarray(windings(bins, v, f, points) - a >= 0.5)

    def _border(self, pitch: float) -> Array:
        """Points along the borders of holes, no further apart than the pitch, (n, 3)."""
        a, b, _ = borders(self.solids, len(self.vertices))
        ends = self.vertices[a], self.vertices[b]
        count = np.ceil(np.linalg.norm(ends[1] - ends[0], axis=1) / pitch).astype(np.int64) + 1
        share = np.concatenate([np.zeros(0), *(np.linspace(0.0, 1.0, k) for k in count)])[:, None]
        row = np.repeat(np.arange(len(a)), count)
        return np.asarray(ends[0][row] * (1.0 - share) + ends[1][row] * share)

    def _covered(self, points: Array, normals: Array) -> NDArray[np.bool_]:
        """Which points of the surface have the inside of the solids in front of them as well."""
        step = STEP * float(np.ptp(self.vertices, axis=0).max())
        return np.asarray(self.winding(points + step * normals) > 0.75)

    def _exposed(self, longest: float) -> tuple[Array, Indices]:
        """The surface of the union of overlapping solids in pieces of about `longest`, without those inside."""
        points, pieces = divided(self.vertices, self.solids, longest)
        _, normal = areas_and_normals(points, pieces)
        covered = self._covered(points[pieces].mean(axis=1), normal)
        return points, np.ascontiguousarray(pieces[~covered])


def areas_and_normals(vertices: Array, faces: Indices) -> tuple[Array, Array]:
    """Areas and unit normals of triangles; zero for those without area."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    n = np.cross(b - a, c - a)
    twice = np.linalg.norm(n, axis=1)
    return 0.5 * twice, n / np.maximum(twice, 1e-300)[:, None]


def prepared(vertices: Array, faces: Indices, as_sheet: bool) -> Surface:
    """The surface of a mesh. as_sheet: Whether all of it is a sheet, because the user gave a thickness."""
    notes: list[str] = []
    v, f = _welded(vertices, faces)
    f = _unique(v, _without_needles(v, f), notes)
    if as_sheet:
        return Surface(v, f[:0], f, tuple(notes))
    f = _consistent(f, notes)
    shell = _shells(f)
    f = _outward(v, f, shell, notes)
    sheet = _sheets(v, f, shell, notes)
    return Surface(v, f[~sheet], f[sheet], tuple(notes))


def _welded(vertices: Array, faces: Indices) -> tuple[Array, Indices]:
    """Vertices that lie in one place made one, and unused ones left out; in the order of the file."""
    used, local = np.unique(faces, return_inverse=True)
    v = vertices[used]
    size = float(np.ptp(v, axis=0).max())
    # At most 10^7 steps along each axis: 24 bits, of which 63 hold two and most of a third; so in two numbers.
    x, y, z = np.round((v - v.min(axis=0)) / (WELD * size)).astype(np.int64).T
    order = np.lexsort((np.arange(len(v)), z, x << 24 | y))
    xy, along = (x << 24 | y)[order], z[order]
    new = np.ones(len(v), bool)
    new[1:] = (xy[1:] != xy[:-1]) | (along[1:] != along[:-1])
    same = np.empty(len(v), np.int64)
    same[order] = np.cumsum(new) - 1
    first = order[new]
    place = np.empty(len(first), np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return np.ascontiguousarray(v[np.sort(first)]), place[same[local]].reshape(-1, 3)


def _without_needles(v: Array, f: Indices) -> Indices:
    """Triangles without area whose vertices lie in line, taken out so that no gap is left.

    The longest side of such a needle is the side of a neighbour, which is divided where the third vertex lies on it.
    Left out without that, it would be a hole, though one of no width.
    """
    f = f[(f[:, 0] != f[:, 1]) & (f[:, 1] != f[:, 2]) & (f[:, 2] != f[:, 0])]
    thin = _without_area(v, f)
    if not thin.any():
        return f
    rows = [tuple(row) for row in f.tolist()]
    owner: dict[tuple[int, int], int] = {}
    for k, (a, b, c) in enumerate(rows):
        owner.update({(a, b): k, (b, c): k, (c, a): k})
    alive = np.ones(len(rows), bool).tolist()
    waiting = np.flatnonzero(thin).tolist()
    # Dividing a neighbour may make another needle of it, each time with a shorter side.
    for _ in range(4 * len(waiting)):
        if not waiting:
            break
        k = waiting.pop()
        if not alive[k]:
            continue
        a, b, c = rows[k]
        # The vertex between the other two comes second.
        sides = [np.linalg.norm(v[c] - v[b]), np.linalg.norm(v[a] - v[c]), np.linalg.norm(v[b] - v[a])]
        longest = int(np.argmax(sides))
        b, c, a = ((a, b, c), (b, c, a), (c, a, b))[longest]
        other = owner.get((a, c))
        alive[k] = False
        if other is None or other == k or not alive[other]:
            continue
        d = next(x for x in rows[other] if x not in (a, c))
        if d == b:
            continue
        alive[other] = False
        for row in ((a, b, d), (b, c, d)):
            owner.update(
                {(row[0], row[1]): len(rows), (row[1], row[2]): len(rows), (row[2], row[0]): len(rows)}
            )
            if _without_area(v, np.array([row]))[0]:
                waiting.append(len(rows))
            rows.append(row)
            alive.append(True)
    return np.ascontiguousarray(np.array(rows, np.int64)[np.array(alive)])


def _without_area(v: Array, f: Indices) -> NDArray[np.bool_]:
    """Which triangles are narrower than the distance at which vertices are welded."""
    size = float(np.ptp(v, axis=0).max())
    return np.asarray(areas_and_normals(v, f)[0] <= SLIVER * size * size)


def _unique(v: Array, f: Indices, notes: list[str]) -> Indices:
    """Without triangles that have no area or are there twice.

    A triangle with its own back is a wall between two solids, and both stay; where most of a mesh is so, it was written
    to be seen from both sides, and one of each stays.
    """
    f = f[~_without_area(v, f)]
    if len(f) == 0:
        raise ModelError(
            "no triangle of the mesh has an area; check the file, its faces and its unit of length"
        )
    first = np.argmin(f, axis=1)
    turned = np.take_along_axis(f, (first[:, None] + np.arange(3)) % 3, axis=1)
    a, b, c = turned.T
    back = (b > c).astype(np.int64)
    order = np.lexsort((np.arange(len(f)), back, np.maximum(b, c), np.minimum(b, c), a))
    key = np.stack([a, np.minimum(b, c), np.maximum(b, c), back], axis=1)[order]
    new = np.ones((2, len(f)), bool)
    new[0, 1:] = (key[1:, :3] != key[:-1, :3]).any(axis=1)
    new[1, 1:] = new[0, 1:] | (key[1:, 3] != key[:-1, 3])
    backs = int(new[1].sum() - new[0].sum())
    both_sides = 4 * backs > len(f)
    kept = new[0] if both_sides else new[1]
    if not kept.all():
        how = "seen from both sides" if both_sides else "there twice"
        notes.append(f"{int((~kept).sum())} triangles are {how} and count once")
    return np.ascontiguousarray(f[np.sort(order[kept])])


def edges(f: Indices) -> tuple[Indices, Indices]:
    """The edges of triangles (3 each) as numbers without direction, and their direction: 1 or -1."""
    start, end = f.reshape(-1), np.roll(f, -1, axis=1).reshape(-1)
    return np.minimum(start, end) << 32 | np.maximum(start, end), np.where(start < end, 1, -1)


def _balanced(f: Indices) -> NDArray[np.bool_]:
    """For each triangle, whether its edges are passed as often one way as the other."""
    key, direction = edges(f)
    _, which = np.unique(key, return_inverse=True)
    return np.asarray((np.bincount(which, direction)[which] == 0).reshape(-1, 3).all(axis=1))


def borders(f: Indices, count: int) -> tuple[Indices, Indices, Indices]:
    """Edges passed more often in one direction than in the other: start, end, and the number of the hole at each.

    An edge stands there as many times as the numbers of passes differ. count: Of vertices.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    key, direction = edges(f)
    found, which = np.unique(key, return_inverse=True)
    net = np.bincount(which, direction, len(found)).astype(np.int64)
    found, net = np.repeat(found, np.abs(net)), np.repeat(net, np.abs(net))
    low, high = found >> 32, found & 0xFFFFFFFF
    start, end = np.where(net > 0, low, high), np.where(net > 0, high, low)
    graph = coo_matrix((np.ones(len(start), np.int8), (start, end)), shape=(count, count))
    loop = connected_components(graph, directed=False)[1][start]
    return start, end, np.unique(loop, return_inverse=True)[1].reshape(-1)


def _caps(v: Array, start: Indices, end: Indices, loop: Indices) -> tuple[Array, Indices]:
    """Triangles over holes, and the vertices with their middles.

    Two edges in a row are cut off by a triangle, again and again, until few are left, and these make a fan around the
    middle of the hole: so triangles are as large as they are far from the border, which a tree of them needs.
    """
    sums = np.stack([np.bincount(loop, v[start, k]) for k in range(3)], axis=1)
    middles = sums / np.bincount(loop)[:, None]
    caps = []
    while True:
        # Each edge is followed by one that begins where it ends; of several the first ones of both go together.
        after = np.argsort(start, kind="stable")[np.argsort(np.argsort(end, kind="stable"), kind="stable")]
        place, length = _along_cycles(after)
        cut = (place % 2 == 0) & (place + 1 < length) & (length > FAN)
        if not cut.any():
            break
        beyond = after[cut]
        ears = np.stack([end[beyond], end[cut], start[cut]], axis=1)
        caps.append(
            ears[(ears[:, 0] != ears[:, 1]) & (ears[:, 1] != ears[:, 2]) & (ears[:, 2] != ears[:, 0])]
        )
        end[cut] = end[beyond]
        kept = np.ones(len(start), bool)
        kept[beyond] = False
        kept &= start != end
        start, end, loop = start[kept], end[kept], loop[kept]
    caps.append(np.stack([end, start, len(v) + loop], axis=1))
    return np.concatenate([v, middles]), np.concatenate(caps)


def _along_cycles(after: Indices) -> tuple[Indices, Indices]:
    """For each element of a permutation its place in its cycle, and the length of that."""
    place, length = np.full(len(after), -1), np.zeros(len(after), np.int64)
    following = after.tolist()
    for first in range(len(following)):
        if place[first] >= 0:
            continue
        cycle = [first]
        while (k := following[cycle[-1]]) != first:
            cycle.append(k)
        place[cycle], length[cycle] = np.arange(len(cycle)), len(cycle)
    return place, length


def _consistent(f: Indices, notes: list[str]) -> Indices:
    """Neighbours across edges of two triangles wound alike.

    Every triangle stands there twice, as it is and turned. What is connected across edges then is one orientation of a
    patch, of which that stays in which its first triangle stands as it is.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    key, direction = edges(f)
    order = np.argsort(key, kind="stable")
    _, first, count = np.unique(key[order], return_index=True, return_counts=True)
    one, other = order[first[count == 2]], order[first[count == 2] + 1]
    against = direction[one] == direction[other]
    if not against.any():
        return f
    n = len(f)
    a, b = one // 3, other // 3
    start = np.concatenate([a, a + n])
    end = np.concatenate([np.where(against, b + n, b), np.where(against, b, b + n)])
    graph = coo_matrix((np.ones(len(start), np.int8), (start, end)), shape=(2 * n, 2 * n))
    patches, patch = connected_components(graph, directed=False)
    as_it_is, turned = patch[:n], patch[n:]
    earliest = np.full(patches, n)
    np.minimum.at(earliest, as_it_is, np.arange(n))
    notes.append(
        f"triangles were wound against each other along {int(against.sum())} edges; they were turned"
    )
    return np.where((earliest[turned] < earliest[as_it_is])[:, None], f[:, ::-1], f)


def _shells(f: Indices) -> Indices:
    """For each triangle the number of its shell; triangles that share an edge are of one."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    key, _ = edges(f)
    order = np.argsort(key, kind="stable")
    same = np.flatnonzero(key[order][1:] == key[order][:-1])
    a, b = order[same] // 3, order[same + 1] // 3
    graph = coo_matrix((np.ones(len(a), np.int8), (a, b)), shape=(len(f), len(f)))
    return np.asarray(connected_components(graph, directed=False)[1], np.int64)


def _outward(v: Array, f: Indices, shell: Indices, notes: list[str]) -> Indices:
    """Shells that face inwards turned, but for the walls of cavities in others."""
    centres = v[f].mean(axis=1)
    weights, normal = areas_and_normals(v, f)
    area = np.bincount(shell, weights)
    middle = np.stack([np.bincount(shell, weights * centres[:, k]) for k in range(3)], axis=1) / area[:, None]
    volume = np.bincount(shell, weights * np.einsum("ij,ij->i", centres - middle[shell], normal)) / 3.0
    # A shell that encloses nothing to speak of has no inside.
    volume[np.abs(volume) < EMPTY * area**1.5] = 0.0
    turned = np.full(len(area), volume.sum() < 0.0)
    volume = np.where(turned, -volume, volume)
    f = np.where(turned[shell, None], f[:, ::-1], f)
    negative = volume < 0.0
    if negative.any():
        probes = np.flatnonzero(negative[shell])
        within = solid_angles(seen_of(v, f[volume[shell] > 0.0]), centres[probes])
        share = np.bincount(shell[probes], within > 0.5, len(area)) / np.bincount(shell, minlength=len(area))
        inwards = negative & (share < 0.5)
        f = np.where(inwards[shell, None], f[:, ::-1], f)
        turned ^= inwards
    if turned.any():
        notes.append(f"{int(turned.sum())} of {len(area)} shells faced inwards and were turned")
    return np.ascontiguousarray(f)


def _sheets(v: Array, f: Indices, shell: Indices, notes: list[str]) -> NDArray[np.bool_]:
    """For each triangle, whether its shell is a sheet: open, or closed around nothing."""
    area, normal = areas_and_normals(v, f)
    count = int(shell.max()) + 1
    centre = v[f].mean(axis=1)
    volume = np.bincount(shell, area * np.einsum("ij,ij->i", centre - v.mean(axis=0), normal)) / 3.0
    whole = np.bincount(shell, ~_balanced(f), count) == 0
    suspect = ~whole | (np.abs(volume) < EMPTY * np.bincount(shell, area) ** 1.5)
    if not suspect.any():
        return np.zeros(len(f), bool)
    together = suspect[shell]
    if _enclosure(v, f[together]) >= SOLID:
        notes.append("the surface has holes, which the winding number closes")
        return np.zeros(len(f), bool)
    sheet = suspect.copy()
    largest = np.argsort(-np.bincount(shell, area), kind="stable")
    filled = [s for s in largest[suspect[largest]][:SHELLS] if _enclosure(v, f[shell == s]) >= SOLID]
    if filled:
        sheet[filled] = False
        notes.append(f"{len(filled)} of {count} shells have holes, which the winding number closes")
    return np.asarray(sheet[shell])


def _enclosure(v: Array, f: Indices) -> float:
    """Mean winding number of a shell just behind its triangles: 1 where it is closed, 1/2 for a flat sheet."""
    area, normal = areas_and_normals(v, f)
    chosen = np.argsort(-area, kind="stable")[:PROBES]
    step = STEP * float(np.ptp(v[f.reshape(-1)], axis=0).max())
    behind = v[f[chosen]].mean(axis=1) - step * normal[chosen]
    return float(np.average(solid_angles(seen_of(v, f), behind), weights=area[chosen]))


def spread(v: Array, f: Indices, count: int) -> tuple[Array, Array, Indices]:
    """Points spread evenly over triangles, the same ones every time; their unit normals and their triangles."""
    area, normal = areas_and_normals(v, f)
    random = np.random.default_rng(0)
    chosen = random.choice(len(area), count, p=area / area.sum())
    weights = random.dirichlet((1.0, 1.0, 1.0), count)
    return np.einsum("ij,ijk->ik", weights, v[f[chosen]]), normal[chosen], chosen


def divided(v: Array, f: Indices, longest: float) -> tuple[Array, Indices]:
    """Triangles cut across their longest edges until none is longer than `longest`; neighbours need not match."""
    points, pieces, done = v[f], [], 0
    while len(points):
        sides = np.linalg.norm(np.roll(points, -1, axis=1) - points, axis=2)
        long = sides.max(axis=1) > longest
        if done + 2 * len(points) > PIECES:
            long[:] = False
        pieces.append(points[~long])
        done += int((~long).sum())
        k = np.argmax(sides[long], axis=1)
        rest = points[long]
        rows = np.arange(len(rest))
        a, b, c = (rest[rows, (k + i) % 3] for i in range(3))
        middle = 0.5 * (a + b)
        points = np.concatenate([np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)])
    corners = np.concatenate(pieces).reshape(-1, 3)
    return corners, np.arange(len(corners), dtype=np.int64).reshape(-1, 3)


def _cubes(v: Array, pitch: float) -> Indices:
    """One number for each point: the cube of side `pitch` that it lies in. They grow with x, then y, then z."""
    cell = np.floor(v / pitch).astype(np.int64)
    cell -= cell.min(axis=0)
    wide = cell.max(axis=0) + 1
    return np.asarray((cell[:, 0] * wide[1] + cell[:, 1]) * wide[2] + cell[:, 2])


def clustered(v: Array, f: Indices, pitch: float) -> tuple[Array, Indices]:
    """The mesh with one vertex for each cube of side `pitch`: the one nearest to the mean of those in it.

    It lies on the surface, so that smooth parts keep their place and edges move by less than the pitch.
    """
    _, which = np.unique(_cubes(v - v.min(axis=0), pitch), return_inverse=True)
    count = np.bincount(which)
    mean = np.stack([np.bincount(which, v[:, k]) / count for k in range(3)], axis=1)
    order = np.lexsort((((v - mean[which]) ** 2).sum(axis=1), which))
    first = order[np.searchsorted(which[order], np.arange(len(count)))]
    g = which[f]
    g = g[(g[:, 0] != g[:, 1]) & (g[:, 1] != g[:, 2]) & (g[:, 2] != g[:, 0])]
    return np.ascontiguousarray(v[first]), np.unique(g, axis=0) if len(g) else g


@dataclass(frozen=True, eq=False)
class _Part:
    """The triangles of the solids or of the sheets, ready for distances; half: Of the thickness."""

    vertices: Array
    faces: Indices
    half: float

    @cached_property
    def tree(self) -> Tree:
        return tree_of(*divided(self.vertices, self.faces, SHORT))

    def distance(self, points: Array) -> Array:
        return distances(self.tree, points)


class ExactDepth:
    """Depths of a prepared surface, positive inside; all lengths in cells of the grid they are for.

    thickness: Of its sheets.
    """

    def __init__(self, surface: Surface, thickness: float, wall: float = 0.0) -> None:
        self.surface, self.thickness = surface, thickness
        self._parts = []
        if len(surface.solids):
            v, f = surface.outer
            self._parts.append(_Part(*(clustered(v, f, 0.5) if len(f) > DENSE else (v, f)), 0.0))
        if len(surface.sheets):
            self._parts.append(_Part(surface.vertices, surface.sheets, max(0.5 * thickness, wall)))

    def thickened(self, half: float) -> ExactDepth:
        """These depths with walls of at least twice `half`: triangles whose back is nearer are sheets as well."""
        made = ExactDepth(self.surface, self.thickness, half)
        if len(self.surface.solids):
            part = made._parts[0]
            v, f = divided(part.vertices, part.faces, 4.0)
            _, normal = areas_and_normals(v, f)
            thin = self(v[f].mean(axis=1) - 2.0 * half * normal) < 1.6 * half
            if thin.any():
                made._parts.append(_Part(v, np.ascontiguousarray(f[thin]), half))
        return made

    def __call__(self, points: Array) -> Array:
        """Depth at points (n, 3)."""
        points = np.ascontiguousarray(points)
        return self._joined([p.distance(points) for p in self._parts], points, self._inside(points))

    def on_lattice(self, points: Array, keys: Indices, shape: Indices, step: float, known: Array) -> Array:
        """Depth at nodes of a lattice. keys: Their places in it. step: Between neighbours. known: Distances from the
        surface that are good enough, NaN where they are wanted.

        Between neighbours whose distances add up to more than the step lies no surface, so one winding number serves
        for all nodes connected in this sense, unless there are holes.
        """
        apart = [known.copy() for _ in self._parts]
        wanted = np.isnan(known)
        for p, d in zip(self._parts, apart, strict=True):
            d[wanted] = p.distance(points[wanted])
        if not len(self.surface.solids):
            return self._joined(apart, points, np.zeros(len(points), bool))
        if not self.surface.closed_solids:
            inside = self.surface.inside_on_lattice(points, keys, shape, step)
            return self._joined(apart, points, inside)
        from scipy.ndimage import label

        free = np.zeros(int(np.prod(shape)), bool)
        free[keys] = apart[0] > 0.51 * step
        region = label(free.reshape(shape.tolist()))[0].reshape(-1)[keys]
        _, first = np.unique(region, return_index=True)
        first = first[region[first] > 0]
        ask = np.concatenate([first, np.flatnonzero(region == 0)])
        found = self._inside(np.ascontiguousarray(points[ask]))
        of_region = np.zeros(int(region.max()) + 1, bool)
        of_region[region[first]] = found[: len(first)]
        inside = of_region[region]
        inside[ask[len(first) :]] = found[len(first) :]
        return self._joined(apart, points, inside)

    def _joined(self, apart: list[Array], points: Array, inside: NDArray[np.bool_]) -> Array:
        found = np.full(len(points), -np.inf)
        for p, d in zip(self._parts, apart, strict=True):
            np.maximum(found, np.where(inside, d, -d) if p.half == 0.0 else p.half - d, out=found)
        return found

    def _inside(self, points: Array) -> NDArray[np.bool_]:
        if len(self.surface.solids) == 0:
            return np.zeros(len(points), bool)
        return np.asarray(self.surface.winding(points) >= 0.5)
