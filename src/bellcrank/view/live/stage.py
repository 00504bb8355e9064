"""A scene on a viser server: solids on moving frames, springs, flexible bodies in stress colours, impacts.

Nodes go by numbers: names of a model are shown as plain text only and never become part of a path or a page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.math.rotations import from_quaternion
from bellcrank.view.placing import GROUND
from bellcrank.view.scene import Arrows, Deforming, Patches, Scene, rgb
from bellcrank.view.shapes import darker
from bellcrank.view.stress import PRESSED, colours

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bellcrank.result.impact_table import ImpactRecord

Array = NDArray[np.float64]

BINS = 12
"""Colours of a stressed surface."""
FLASH = 0.04
"""Share of the run for which an impact stays to be seen."""


class Stage:
    """The nodes of one scene; `show` puts them where they are in a frame."""

    def __init__(
        self, server: Any, scene: Scene, struck: Sequence[ImpactRecord] = (), names: bool = False
    ) -> None:
        self.server, self.scene, self.struck = server, scene, struck
        api = server.scene
        self.root = api.add_frame("/stage", show_axes=False)
        self.frames = [api.add_frame(f"/stage/body{k}", show_axes=False) for k in range(len(scene.bodies))]
        self.stretching: list[tuple[int, Any]] = []
        self.cut: tuple[int, float] | None = None
        self._parts: list[_Part | _Edges] = []
        self._frame = 0
        self._solids()
        self._grid()
        self.labels = [
            api.add_label(f"/stage/body{k}/name", name, visible=names)
            for k, name in enumerate(scene.bodies)
            if name
        ]
        most = scene.stress
        self.deforming = [_Bent(api, f"/stage/bent{k}", d, most) for k, d in enumerate(scene.deforming)]
        self.patches = [
            _Pressed(api, f"/stage/patch{k}", p, scene.pressure, 1e-3 * scene.size)
            for k, p in enumerate(scene.patches)
        ]
        self.arrows = {a.kind: self._arrow_marks(a) for a in scene.arrows if a.largest > 0.0}
        self.traces = [
            api.add_line_segments(
                f"/stage/trace{k}",
                np.stack([p.points[:-1], p.points[1:]], axis=1),
                rgb(p.colour),
                thickness=0.003 * scene.size,
            )
            for k, p in enumerate(scene.traces)
            if len(p.points) > 1
        ]
        self.impacts = self._impact_marks()
        self._lights()

    def remove(self) -> None:
        """Take everything away."""
        self.root.remove()

    def show_names(self, wanted: bool) -> None:
        """Names of the bodies beside them."""
        for label in self.labels:
            label.visible = wanted

    def show_arrows(self, kind: str, wanted: bool) -> None:
        """Arrows of a kind."""
        if kind in self.arrows:
            self.arrows[kind].visible = wanted

    def section(self, cut: tuple[int, float] | None) -> None:
        """Draw nothing beyond a place on a world axis: its number and the place [m]; None for everything."""
        self.cut = cut
        with self.server.atomic():
            self._cut_parts()
            for bent in self.deforming:
                bent.show(self._frame, self.cut)

    def _cut_parts(self) -> None:
        for part in self._parts:
            part.cut(None if self.cut is None else self._plane(part.body, self.cut))
        for body, handle in self.stretching:
            # What stretches is there or not by its first end.
            at = self.scene.positions[self._frame, body]
            handle.visible = self.cut is None or bool(at[self.cut[0]] <= self.cut[1])

    def _plane(self, body: int, cut: tuple[int, float]) -> tuple[Array, float]:
        """The section in the axes of a body: its normal towards what is cut away, and its distance."""
        axis, place = cut
        if body == GROUND:
            return np.eye(3)[axis], place
        at, turned = (
            self.scene.positions[self._frame, body],
            np.array(from_quaternion(self.scene.quaternions[self._frame, body])),
        )
        return turned[axis], place - float(at[axis])

    def _arrow_marks(self, arrows: Arrows) -> Any:
        size = self.scene.size
        return self.server.scene.add_arrows(
            f"/stage/arrows {arrows.kind}",
            arrows.drawn(0, size),
            # The page takes colours of arrows as linear light and shows them brighter.
            tuple(round(255 * (c / 255) ** 2.2) for c in rgb(arrows.colour)),
            shaft_radius=0.006 * size,
            head_radius=0.016 * size,
            head_length=0.04 * size,
            visible=False,
        )

    def show(self, frame: int) -> None:
        """Move everything to a frame."""
        scene, self._frame = self.scene, frame
        with self.server.atomic():
            if self.cut is not None:
                self._cut_parts()
            for k, node in enumerate(self.frames):
                node.position, node.wxyz = scene.positions[frame, k], scene.quaternions[frame, k]
            for k, handle in self.stretching:
                handle.scale = (1.0, 1.0, float(scene.stretch[frame, k]))
            for arrows in scene.arrows:
                if arrows.kind in self.arrows:
                    self.arrows[arrows.kind].points = arrows.drawn(frame, scene.size)
            for bent in self.deforming:
                bent.show(frame, self.cut)
            for pressed in self.patches:
                pressed.show(frame)
            now, span = scene.time[frame], FLASH * float(np.ptp(scene.time))
            for time, mark in self.impacts:
                mark.visible = bool(0.0 <= now - time <= span)

    def _solids(self) -> None:
        """Parts with smooth normals, and their edges, one mesh for each frame, colour and opacity."""
        found: dict[tuple[int, str, float, bool], list[tuple[Array, NDArray[np.int64]]]] = {}
        edges: dict[tuple[int, str], list[Array]] = {}
        for body, solid in self.scene.solids:
            if len(solid.faces):
                vertices, _, triangles = solid.surface
                key = (body, solid.colour, solid.opacity, solid.ground)
                found.setdefault(key, []).append((vertices, triangles))
            if len(solid.edges):
                shade = (
                    "#a9b1ba"
                    if solid.endless
                    else darker(solid.colour, 0.45)
                    if len(solid.faces)
                    else solid.colour
                )
                edges.setdefault((body, shade), []).append(solid.corners[solid.edges])
        for n, ((body, colour, opacity, ground), parts) in enumerate(found.items()):
            offsets = np.cumsum([0, *(len(corners) for corners, _ in parts)])
            vertices = np.vstack([corners for corners, _ in parts])
            faces = np.vstack([f + offset for (_, f), offset in zip(parts, offsets, strict=False)])
            handle = self.server.scene.add_mesh_simple(
                f"{self._path(body)}/solid{n}",
                vertices,
                faces,
                color=rgb(colour),
                opacity=None if opacity == 1.0 else opacity,
                flat_shading=False,
                side="double",
                cast_shadow=not ground and opacity == 1.0,
                receive_shadow=ground,
            )
            if not self._stretched(body, handle):
                self._parts.append(_Part(body, handle, vertices, faces))
        for n, ((body, colour), lines) in enumerate(edges.items()):
            ends = np.vstack(lines)
            handle = self.server.scene.add_line_segments(
                f"{self._path(body)}/edges{n}", ends, rgb(colour), thickness=0.0012 * self.scene.size
            )
            if not self._stretched(body, handle):
                self._parts.append(_Edges(body, handle, ends))

    def _stretched(self, body: int, handle: Any) -> bool:
        """Whether a part changes its length with the frame that carries it; such parts are noted."""
        link = body - len(self.scene.bodies) + len(self.scene.links)
        if link < 0 or not self.scene.links[link].length > 0.0:
            return False
        self.stretching.append((body, handle))
        return True

    @staticmethod
    def _path(body: int) -> str:
        return "/stage" if body == GROUND else f"/stage/body{body}"

    def _grid(self) -> None:
        """A ground to stand on, below everything, level across the upward direction."""
        scene, up = self.scene, self.scene.up
        size = 10.0 ** np.floor(np.log10(scene.size))
        cell = float(size * (0.5 if scene.size / size > 3 else 0.2))
        points = [scene.placed(b, s.corners, 0) for b, s in scene.solids if not s.endless]
        points += [d.points[0] for d in scene.deforming]
        heights = np.vstack(points) @ up
        roads = [s.corners for b, s in scene.solids if s.ground]
        # A road lies in the grid's place and a little above it.
        low = (
            min(float(heights.min()), *(float((r @ up).min()) for r in roads))
            if roads
            else float(heights.min())
        )
        middle = scene.positions[0].mean(axis=0)
        self.server.scene.add_grid(
            "/stage/grid",
            infinite_grid=True,
            cell_size=cell,
            section_size=5 * cell,
            cell_color=(203, 210, 217),
            section_color=(160, 170, 180),
            fade_distance=12 * scene.size,
            shadow_opacity=0.25,
            wxyz=_turn(np.array([0.0, 0.0, 1.0]), up),
            position=middle - up * float(middle @ up) + up * (low - 0.02 * scene.size),
        )

    def _impact_marks(self) -> list[tuple[float, Any]]:
        """Balls where impacts were, the larger the stronger, seen for a moment after each."""
        records = list(self.struck)[:200]
        strongest = max((abs(c.impulse) for r in records for c in r.contacts), default=0.0) or 1.0
        marks = []
        for n, record in enumerate(records):
            for m, contact in enumerate(record.contacts):
                share = np.sqrt(abs(contact.impulse) / strongest)
                mark = self.server.scene.add_icosphere(
                    f"/stage/impact{n}_{m}",
                    radius=float(self.scene.size * (0.012 + 0.02 * share)),
                    color=(225, 60, 40),
                    opacity=0.8,
                    position=contact.point,
                    visible=False,
                )
                marks.append((record.time, mark))
        return marks

    def _lights(self) -> None:
        up, view = self.scene.up, self.scene.view
        side = np.cross(up, view)
        light = 1.6 * up + 1.0 * view + 0.7 * side
        self.server.scene.configure_default_lights(enabled=False)
        self.server.scene.configure_environment_map(hdri=None)
        self.server.scene.add_light_hemisphere(
            "/stage/sky", sky_color=(255, 255, 255), ground_color=(150, 155, 165), intensity=2.1
        )
        self.server.scene.add_light_directional(
            "/stage/sun",
            color=(255, 250, 240),
            intensity=2.4,
            cast_shadow=True,
            position=8.0 * self.scene.size * light / np.linalg.norm(light),
        )


class _Part:
    """A rigid mesh, which a section may cut."""

    def __init__(self, body: int, handle: Any, vertices: Array, faces: NDArray[np.int64]) -> None:
        self.body, self.handle, self.vertices, self.faces = body, handle, vertices, faces
        self.plane: tuple[Array, float] | None = None

    def cut(self, plane: tuple[Array, float] | None) -> None:
        """Show what lies before a plane; all where None."""
        if plane is None and self.plane is None:
            return
        self.plane = plane
        vertices, faces = (
            (self.vertices, self.faces) if plane is None else clipped(self.vertices, self.faces, *plane)
        )
        self.handle.visible = bool(len(faces))
        if len(faces):
            self.handle.vertices, self.handle.faces = vertices.astype(np.float32), faces.astype(np.uint32)


class _Edges:
    """Lines of a rigid body, which a section may cut."""

    def __init__(self, body: int, handle: Any, ends: Array) -> None:
        self.body, self.handle, self.ends = body, handle, ends
        self.whole = True

    def cut(self, plane: tuple[Array, float] | None) -> None:
        """Show what lies before a plane; all where None."""
        if plane is None and self.whole:
            return
        ends, self.whole = self.ends, plane is None
        if plane is not None:
            height = ends @ plane[0] - plane[1]
            ends, height = ends[height.min(axis=1) < 0.0], height[height.min(axis=1) < 0.0]
            low, high = height.min(axis=1), height.max(axis=1)
            share = np.where(high > 0.0, low / np.where(high > 0.0, low - high, 1.0), 1.0)[:, None]
            row = np.arange(len(ends))
            first, last = ends[row, height.argmin(axis=1)], ends[row, height.argmax(axis=1)]
            ends = np.stack([first, first + share * (last - first)], axis=1)
        self.handle.visible = bool(len(ends))
        if len(ends):
            self.handle.points = ends.astype(np.float32)


def clipped(
    vertices: Array, faces: NDArray[np.int64], normal: Array, distance: float
) -> tuple[Array, NDArray[np.int64]]:
    """The part of a mesh on the side of a plane away from its normal."""
    height = vertices @ normal - distance
    beyond = (height > 0.0)[faces]
    count = beyond.sum(axis=1)
    made, corners = [faces[count == 0]], [vertices]
    first = len(vertices)
    for many in (1, 2):
        crossing = faces[count == many]
        if not len(crossing):
            continue
        # The lone corner first: that beyond where there is one, that before where there are two.
        lone = np.argmax(beyond[count == many] == (many == 1), axis=1)
        a, b, c = (np.take_along_axis(crossing, ((lone + k) % 3)[:, None], axis=1)[:, 0] for k in range(3))
        new = []
        for other in (b, c):
            share = height[a] / (height[a] - height[other])
            corners.append(vertices[a] + share[:, None] * (vertices[other] - vertices[a]))
            new.append(first + np.arange(len(crossing)))
            first += len(crossing)
        if many == 1:
            made += [np.column_stack([new[0], b, c]), np.column_stack([new[0], c, new[1]])]
        else:
            made.append(np.column_stack([a, new[0], new[1]]))
    return np.vstack(corners), np.vstack(made)


class _Bent:
    """A flexible body: its surface, beams as round bars, in bins of stress colour."""

    def __init__(self, api: Any, path: str, drawn: Deforming, most: float) -> None:
        self.drawn = drawn
        self.most = most or 1.0
        shades = colours(np.linspace(0.0, 1.0, BINS)) if drawn.stress is not None else [rgb(drawn.colour)]
        self.surface = [
            api.add_mesh_simple(
                f"{path}/bin{n}",
                drawn.points[0],
                drawn.skin_faces[:1],
                color=tuple(int(c) for c in shade),
                side="double",
            )
            for n, shade in enumerate(shades)
        ]
        self.show(0)

    def show(self, frame: int, cut: tuple[int, float] | None = None) -> None:
        d = self.drawn
        points, faces = d.skin(frame), d.skin_faces
        bins = np.zeros(len(faces), dtype=int)
        if d.stress is not None:
            share = (d.stress[frame] / self.most)[d.skin_points]
            bins = np.clip((BINS * share[faces].mean(axis=1)).astype(int), 0, BINS - 1)
        for n, mesh in enumerate(self.surface):
            here, corners = faces[bins == n], points
            if cut is not None:
                corners, here = clipped(points, here, np.eye(3)[cut[0]], cut[1])
            mesh.visible = bool(len(here))
            if len(here):
                used, numbered = np.unique(here, return_inverse=True)
                mesh.vertices, mesh.faces = (
                    corners[used].astype(np.float32),
                    numbered.reshape(-1, 3).astype(np.uint32),
                )


class _Pressed:
    """A contact patch in bins of pressure colour, drawn on both sides of where it is.

    lift: How far in front of the surfaces [m], so that they do not hide it.
    """

    def __init__(self, api: Any, path: str, drawn: Patches, most: float, lift: float) -> None:
        self.drawn, self.most, self.lift = drawn, most or 1.0, lift
        self.bins = [
            api.add_mesh_simple(
                f"{path}/bin{n}",
                np.zeros((3, 3)),
                np.array([[0, 1, 2]]),
                color=tuple(int(c) for c in shade),
                flat_shading=True,
                side="double",
                visible=False,
            )
            for n, shade in enumerate(colours(np.linspace(0.0, 1.0, BINS), PRESSED))
        ]

    def show(self, frame: int) -> None:
        corners, pressure = self.drawn.of(frame)
        bins = np.clip((BINS * pressure.mean(axis=1) / self.most).astype(int), 0, BINS - 1)
        for n, mesh in enumerate(self.bins):
            here = corners[bins == n]
            mesh.visible = bool(len(here))
            if len(here):
                normals = np.cross(here[:, 1] - here[:, 0], here[:, 2] - here[:, 0])
                length = np.linalg.norm(normals, axis=1, keepdims=True)
                shift = self.lift * (normals / np.where(length > 0.0, length, 1.0))[:, None]
                both = np.concatenate([here + shift, here - shift]).reshape(-1, 3)
                mesh.vertices = both.astype(np.float32)
                mesh.faces = np.arange(len(both), dtype=np.uint32).reshape(-1, 3)


def _turn(a: Array, b: Array) -> Array:
    """The quaternion of the smallest rotation that turns unit vector a into unit vector b."""
    w = 1.0 + float(a @ b)
    if w < 1e-9:
        return np.array([0.0, 1.0, 0.0, 0.0])
    q = np.array([w, *np.cross(a, b)])
    return np.asarray(q / np.linalg.norm(q))
