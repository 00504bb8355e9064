"""Pictures and films of a scene without a browser or a display, drawn by VTK."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.optional import needed
from bellcrank.errors import ModelError
from bellcrank.view.animation import floor, usual_speed
from bellcrank.view.placing import GROUND
from bellcrank.view.scene import Scene, rgb, scene
from bellcrank.view.shapes import Array, Index, Solid, arrow, darker
from bellcrank.view.stress import PRESSED, colours

if TYPE_CHECKING:
    from bellcrank.result.result import Result

Pixels = NDArray[np.uint8]

FINER = 2
"""Pixels of the drawing for one of the picture, each way: thin edges come out smooth."""
ANGLE = 30.0
"""Of view of the camera, from bottom to top [deg]."""
SHADOW, ON_GROUND = "#d9dce0", "#bcc3cb"
"""Colours of shadows on white and on a floor."""
MARGIN = 1.06
"""The picture over what it shows."""
FRAMES = 2000
"""Of a film at most."""
SIDES = {
    f"{sign}{axis}": (k, value) for k, axis in enumerate("xyz") for sign, value in (("+", 1.0), ("-", -1.0))
}


def picture(
    result: Result,
    path: str | PathLike[str],
    at: float | None = None,
    size: tuple[int, int] = (1600, 1000),
    *,
    view: str | Sequence[float] | None = None,
    orthographic: bool | None = None,
    section: tuple[str, float] | None = None,
    arrows: Sequence[str] = (),
    traces: Sequence[str] = (),
    magnified: float = 1.0,
) -> None:
    """Write a picture of a result at a time; see :meth:`bellcrank.Result.picture`."""
    images = needed("PIL.Image", "a picture", "pillow", "picture")
    drawn = _scene(result, magnified, arrows, traces)
    time = float(drawn.time[0]) if at is None else float(at)
    if not drawn.time[0] <= time <= drawn.time[-1]:
        raise ModelError(
            f"the result goes from {drawn.time[0]:g} to {drawn.time[-1]:g} s; {time:g} s is not in it"
        )
    still = drawn.resampled(np.array([time]))
    with Renderer(
        still, size, whole=drawn, view=view, orthographic=orthographic, section=section
    ) as renderer:
        images.fromarray(renderer.frame(0)).save(Path(path))


def video(
    result: Result,
    path: str | PathLike[str],
    size: tuple[int, int] = (1280, 720),
    fps: float = 30.0,
    speed: float | None = None,
    *,
    view: str | Sequence[float] | None = None,
    orthographic: bool | None = None,
    section: tuple[str, float] | None = None,
    arrows: Sequence[str] = (),
    traces: Sequence[str] = (),
    magnified: float = 1.0,
) -> None:
    """Write a film of a result, MP4 or GIF by its name; see :meth:`bellcrank.Result.video`."""
    path = Path(path)
    if path.suffix.lower() not in (".mp4", ".gif", ".webm", ".mov"):
        raise ModelError(f"{path}: films are written as .mp4, .mov, .webm and .gif, not as {path.suffix!r}")
    if path.suffix.lower() != ".gif":
        needed("imageio_ffmpeg", f"{path.suffix} films", "imageio-ffmpeg", "picture")
    drawn = _scene(result, magnified, arrows, traces)
    duration = float(drawn.time[-1] - drawn.time[0])
    pace = usual_speed(duration) if speed is None else float(speed)
    if not (pace > 0.0 and fps > 0.0):
        raise ModelError(f"speed and fps of a film are positive, not {speed!r} and {fps!r}")
    count = int(duration / pace * fps) + 1
    if count > FRAMES:
        raise ModelError(
            f"a film of {duration:g} s at speed {pace:g} and {fps:g} frames a second has {count} frames, more than "
            f"{FRAMES}: give speed={duration * fps / FRAMES:.2g} or more, or a smaller fps"
        )
    times = drawn.time[0] + pace / fps * np.arange(count)
    moving = drawn.resampled(times)
    with Renderer(
        moving, size, whole=drawn, view=view, orthographic=orthographic, section=section, finer=1
    ) as renderer:
        frames = (renderer.frame(k) for k in range(count))
        _gif(path, frames, fps) if path.suffix.lower() == ".gif" else _encoded(path, frames, size, fps)


def _scene(result: Result, magnified: float, arrows: Sequence[str], traces: Sequence[str]) -> Scene:
    if not len(result):
        raise ModelError("the result has no outputs: there is nothing to show")
    return scene(result, magnified=magnified, arrows=arrows, traces=traces)


def _encoded(path: Path, frames: Iterator[Pixels], size: tuple[int, int], fps: float) -> None:
    import imageio_ffmpeg

    if size[0] % 2 or size[1] % 2:
        raise ModelError(f"width and height of a film are even numbers of pixels, not {size[0]} x {size[1]}")
    writer = imageio_ffmpeg.write_frames(str(path), size, fps=fps, quality=8, macro_block_size=2)
    writer.send(None)
    try:
        for frame in frames:
            writer.send(np.ascontiguousarray(frame))
    finally:
        writer.close()


def _gif(path: Path, frames: Iterator[Pixels], fps: float) -> None:
    images = needed("PIL.Image", "a .gif film", "pillow", "picture")
    pictures = [images.fromarray(f).quantize(128, dither=images.Dither.NONE) for f in frames]
    # Players of GIF files hold times of hundredths of a second, and none below two of them.
    pause = max(20, round(100.0 / fps) * 10)
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=pause, loop=0, optimize=True)


class Renderer:
    """Draws the frames of a scene.

    size: Width and height [px]. whole: The scene that the camera is fitted to. view: From where to look: None as the
    animation does first, "+x" to "-z", or a direction. orthographic: Whether lines that are parallel stay so; None
    for mechanisms that move in a plane. section: An axis and a place [m], such as ("x", 0.1), beyond which nothing is
    drawn. finer: Pixels drawn for one of the picture, each way.
    """

    def __init__(
        self,
        drawn: Scene,
        size: tuple[int, int],
        *,
        whole: Scene | None = None,
        view: str | Sequence[float] | None = None,
        orthographic: bool | None = None,
        section: tuple[str, float] | None = None,
        finer: int = FINER,
    ) -> None:
        needed("vtkmodules", "a picture or a film", "vtk", "picture")
        import vtkmodules.vtkRenderingOpenGL2  # noqa: F401  the drawing itself
        from vtkmodules.vtkCommonCore import vtkObject
        from vtkmodules.vtkRenderingCore import vtkRenderer, vtkRenderWindow

        # Without a display VTK says so and takes the next way to draw.
        vtkObject.GlobalWarningDisplayOff()
        self.scene, self.size, self.finer = drawn, size, finer
        self.whole = drawn if whole is None else whole
        # A single picture of what travels is that of its moment.
        self.goes_along = self.whole.travels and len(drawn.time) > 1
        if min(size) < 16 or max(size) * finer > 16384:
            raise ModelError(
                f"a picture has 16 to {16384 // finer} pixels each way, not {size[0]} x {size[1]}"
            )
        self.window = vtkRenderWindow()
        self.window.SetOffScreenRendering(1)
        self.window.SetMultiSamples(4 if finer == 1 else 0)
        self.window.SetSize(size[0] * finer, size[1] * finer)
        self.window.SetNumberOfLayers(2)
        # What would be hidden by the bodies is drawn over them: patches between them, arrows, traces.
        self.back, self.front = vtkRenderer(), vtkRenderer()
        self.back.SetBackground(1.0, 1.0, 1.0)
        self.front.SetLayer(1)
        for renderer in (self.back, self.front):
            self.window.AddRenderer(renderer)
        self.front.SetActiveCamera(self.back.GetActiveCamera())
        self.plane = _section(section)
        self.moving: list[tuple[int, Array, Any]] = []
        self.sun, self.thrown = _sunlight(self.whole)
        self.shade = SHADOW if floor(self.whole) is not None else ON_GROUND
        self._solids()
        nothing, one = np.zeros((3, 3)), np.array([[0, 1, 2]])
        self.bent = [(d, self._mesh(d.skin(0), d.skin_faces, d.colour)) for d in drawn.deforming]
        self.wet = [(p, self._mesh(nothing, one, "#ffffff", front=True)) for p in drawn.patches]
        self.arrows = [
            (a, b, self._mesh(nothing, one, a.colour, front=True, lit=True))
            for a, b in zip(drawn.arrows, self.whole.arrows, strict=True)
        ]
        for p in self.whole.traces:
            follow = np.arange(len(p.points) - 1)
            self._line(p.points, np.column_stack([follow, follow + 1]), p.colour, 2.0, front=True)
        self._camera(self.whole, view, orthographic)
        self._lights(self.whole)

    def __enter__(self) -> Renderer:
        return self

    def __exit__(self, *_: object) -> None:
        self.window.Finalize()

    def frame(self, k: int) -> Pixels:
        """The pixels (height, width, 3) of a frame."""
        from vtkmodules.util.numpy_support import vtk_to_numpy
        from vtkmodules.vtkRenderingCore import vtkWindowToImageFilter

        drawn = self.scene
        for body, after, actor in self.moving:
            matrix = np.eye(4)
            matrix[:3, :3], matrix[:3, 3] = drawn.rotations[k, body], drawn.positions[k, body]
            actor.SetUserMatrix(_matrix(after @ matrix))
        for d, data in self.bent:
            shades = None
            if d.stress is not None:
                shades = colours(d.stress[k] / (self.whole.stress or 1.0))[d.skin_points]
            _fill(data, d.skin(k), d.skin_faces, shades)
        for p, data in self.wet:
            corners, pressure = p.of(k)
            shades = colours(pressure.reshape(-1) / (self.whole.pressure or 1.0), PRESSED)
            _fill(data, corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3), shades)
        for a, all_of_it, data in self.arrows:
            _fill(data, *_arrow_triangles(a.drawn(k, drawn.size, all_of_it.largest), drawn.size), None)
        middle = self.middle
        if self.goes_along:
            middle = middle + drawn.positions[k, drawn.anchor] - self.whole.positions[0, drawn.anchor]
        camera = self.back.GetActiveCamera()
        camera.SetFocalPoint(*middle)
        camera.SetPosition(*(middle + self.away))
        self.window.Render()
        grab = vtkWindowToImageFilter()
        grab.SetInput(self.window)
        grab.ReadFrontBufferOff()
        grab.Update()
        found = grab.GetOutput()
        wide, high, _ = found.GetDimensions()
        pixels = vtk_to_numpy(found.GetPointData().GetScalars()).reshape(high, wide, -1)[::-1, :, :3]
        n = self.finer
        if n == 1:
            return np.ascontiguousarray(pixels)
        blocks = pixels.reshape(high // n, n, wide // n, n, 3).astype(np.float32)
        return np.asarray(np.round(blocks.mean(axis=(1, 3))), dtype=np.uint8)

    def _solids(self) -> None:
        for body, solid in self.scene.solids:
            if len(solid.faces):
                vertices, normals, triangles = solid.surface
                data = _data(vertices, triangles, normals)
                actor = self._actor(data, solid.colour, solid.opacity)
                self._carried(body, actor)
                if solid.ground:
                    actor.GetProperty().LightingOff()
                if solid.opacity == 1.0 and not solid.ground:
                    self._shadow(body, data)
            if len(solid.edges):
                shade = (
                    "#c3cad2"
                    if solid.endless
                    else darker(solid.colour, 0.42)
                    if len(solid.faces)
                    else solid.colour
                )
                self._carried(body, self._line(solid.corners, solid.edges, shade, 0.7))

    def _carried(self, body: int, actor: Any) -> None:
        if body != GROUND:
            self.moving.append((body, np.eye(4), actor))

    def _shadow(self, body: int, data: Any) -> None:
        """What a part throws on the ground, or on the paper behind it."""
        actor = self._actor(data, self.shade, 1.0)
        actor.GetProperty().LightingOff()
        actor.GetMapper().ScalarVisibilityOff()
        if body == GROUND:
            actor.SetUserMatrix(_matrix(self.thrown))
        else:
            self.moving.append((body, self.thrown, actor))

    def _mesh(self, points: Array, faces: Index, colour: str, front: bool = False, lit: bool = False) -> Any:
        """A mesh that changes from frame to frame."""
        data = _data(points, faces)
        actor = self._actor(data, colour, 1.0, front)
        if front and not lit:
            actor.GetProperty().LightingOff()
        elif not front:
            self._shadow(GROUND, data)
        return data

    def _actor(self, data: Any, colour: str, opacity: float, front: bool = False) -> Any:
        from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper

        mapper = vtkPolyDataMapper()
        mapper.SetInputData(data)
        mapper.SetResolveCoincidentTopologyToPolygonOffset()
        if self.plane is not None:
            mapper.AddClippingPlane(self.plane)
        actor = vtkActor()
        actor.SetMapper(mapper)
        look = actor.GetProperty()
        look.SetColor(*(c / 255.0 for c in rgb(colour)))
        look.SetOpacity(opacity)
        look.SetAmbient(0.34)
        look.SetDiffuse(0.72)
        look.SetSpecular(0.14)
        look.SetSpecularPower(40.0)
        (self.front if front else self.back).AddActor(actor)
        return actor

    def _line(self, points: Array, lines: Index, colour: str, width: float, front: bool = False) -> Any:
        actor = self._actor(_data(points, lines), colour, 1.0, front)
        look = actor.GetProperty()
        look.LightingOff()
        # As thick on paper, however many pixels there are.
        look.SetLineWidth(max(1.0, width * self.finer * self.size[1] / 900.0))
        return actor

    def _camera(self, drawn: Scene, view: str | Sequence[float] | None, orthographic: bool | None) -> None:
        towards, up = _direction(drawn, view), drawn.up
        if np.linalg.norm(np.cross(up, towards)) < 1e-6:
            up = drawn.axes[1] if abs(float(drawn.axes[1] @ towards)) < 0.9 else np.roll(np.abs(towards), 1)
        right = np.cross(up, towards)
        right /= np.linalg.norm(right)
        above = np.cross(towards, right)
        seen = drawn if self.goes_along or not drawn.travels else self.scene
        middle, box = seen.extent((right, above, towards))
        half = 0.5 * MARGIN * max(box[1], box[0] * self.size[1] / self.size[0])
        flat = drawn.planar if orthographic is None else orthographic
        away = half / np.tan(np.radians(ANGLE / 2)) + 0.5 * box[2]
        self.middle, self.reach, self.away = middle, float(np.linalg.norm(box)), away * towards
        camera = self.back.GetActiveCamera()
        camera.SetViewUp(*above)
        camera.SetViewAngle(ANGLE)
        camera.SetParallelProjection(int(flat))
        camera.SetParallelScale(half)
        depth = 4.0 * self.reach
        camera.SetClippingRange(max(away - depth, 0.02 * away), away + depth)

    def _lights(self, drawn: Scene) -> None:
        """A sun, and a softer light from the eye."""
        from vtkmodules.vtkRenderingCore import vtkLight

        sun = vtkLight()
        sun.SetPosition(*(self.middle + self.reach * self.sun))
        sun.SetFocalPoint(*self.middle)
        sun.SetIntensity(0.72)
        sky = vtkLight()
        sky.SetLightTypeToHeadlight()
        sky.SetIntensity(0.4)
        self.back.AutomaticLightCreationOff()
        self.back.AddLight(sun)
        self.back.AddLight(sky)


def _sunlight(drawn: Scene) -> tuple[Array, Array]:
    """The direction towards the sun, and the matrix (4, 4) that throws shadows on what lies below or behind."""
    up, view = drawn.up, drawn.view
    towards = (0.6, 1.0) if drawn.planar else (0.9, 0.6)
    sun = towards[0] * up + towards[1] * view - 0.4 * np.cross(up, view)
    sun /= np.linalg.norm(sun)
    ground = floor(drawn)
    if ground is None:
        corners = np.vstack([s.corners for _, s in drawn.solids if s.ground])
        # Where most of the floor is: a bump hides shadows rather than lifting them all.
        ground = {"normal": up, "level": float(np.median(corners @ up)) + 1e-3 * drawn.size}
    n = np.asarray(ground["normal"])
    # p - sun (n p - level) / (n sun)
    thrown = np.eye(4)
    thrown[:3, :3] -= np.outer(sun, n) / float(n @ sun)
    thrown[:3, 3] = sun * ground["level"] / float(n @ sun)
    return sun, thrown


def _direction(drawn: Scene, view: str | Sequence[float] | None) -> Array:
    if view is None:
        return drawn.view
    if isinstance(view, str):
        if view not in SIDES:
            raise ModelError(f"view is one of {', '.join(SIDES)} or a direction, not {view!r}")
        k, sign = SIDES[view]
        return np.asarray(sign * np.eye(3)[k])
    given = np.asarray(view, dtype=float)
    if given.shape != (3,) or not np.isfinite(given).all() or not given.any():
        raise ModelError(f"view is one of {', '.join(SIDES)} or a direction of three numbers, not {view!r}")
    return np.asarray(given / np.linalg.norm(given))


def _section(given: tuple[str, float] | None) -> Any:
    if given is None:
        return None
    from vtkmodules.vtkCommonDataModel import vtkPlane

    axis, place = given
    if axis not in ("x", "y", "z"):
        raise ModelError(f"section is an axis, x, y or z, and a place on it [m], not {given!r}")
    normal = -np.eye(3)["xyz".index(axis)]
    plane = vtkPlane()
    plane.SetNormal(*normal)
    plane.SetOrigin(*(-float(place) * normal))
    return plane


def _matrix(values: Array) -> Any:
    from vtkmodules.vtkCommonMath import vtkMatrix4x4

    made = vtkMatrix4x4()
    made.DeepCopy(values.ravel().tolist())
    return made


def _data(points: Array, cells: Index, normals: Array | None = None) -> Any:
    """Triangles (m, 3), or lines (m, 2), for VTK."""
    from vtkmodules.vtkCommonDataModel import vtkPolyData

    data = vtkPolyData()
    _fill(data, points, cells, None, normals)
    return data


def _fill(
    data: Any, points: Array, cells: Index, shades: Pixels | None, normals: Array | None = None
) -> None:
    from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray
    from vtkmodules.vtkCommonCore import vtkPoints
    from vtkmodules.vtkCommonDataModel import vtkCellArray

    at = vtkPoints()
    at.SetData(numpy_to_vtk(np.ascontiguousarray(points, dtype=np.float64), deep=True))
    data.SetPoints(at)
    width = cells.shape[1]
    made = vtkCellArray()
    made.SetData(
        width, numpy_to_vtkIdTypeArray(np.ascontiguousarray(cells.ravel(), dtype=np.int64), deep=True)
    )
    data.SetLines(made) if width == 2 else data.SetPolys(made)
    if width == 3:
        if normals is None:
            normals = _smooth(points, cells)
        data.GetPointData().SetNormals(
            numpy_to_vtk(np.ascontiguousarray(normals, dtype=np.float32), deep=True)
        )
    if shades is not None:
        data.GetPointData().SetScalars(numpy_to_vtk(np.ascontiguousarray(shades, dtype=np.uint8), deep=True))
    data.Modified()


def _smooth(points: Array, faces: Index) -> Array:
    """Normals of a surface without sharp edges."""
    normals = np.zeros((len(points), 3))
    a, b, c = (points[faces[:, k]] for k in range(3))
    each = np.cross(b - a, c - a)
    for k in range(3):
        np.add.at(normals, faces[:, k], each)
    return np.asarray(normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300))


def _arrow_triangles(ends: Array, size: float) -> tuple[Array, Index]:
    """All arrows of a kind as one mesh."""
    solids: list[tuple[Array, Index]] = []
    first = 0
    for foot, tip in ends:
        length = float(np.linalg.norm(tip - foot))
        if length < 1e-4 * size:
            continue
        made: Solid = arrow(foot, tip, min(0.006 * size, 0.2 * length), "#000000")
        solids.append((made.corners, made.faces + first))
        first += len(made.corners)
    if not solids:
        return np.zeros((3, 3)), np.array([[0, 1, 2]])
    return np.vstack([c for c, _ in solids]), np.vstack([f for _, f in solids])
