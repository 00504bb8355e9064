"""Mass and inertia of MJCF bodies, from <inertial> or from geoms of a density."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bellcrank.base.reach import LARGEST_SIZE, SMALLEST_SIZE, is_size
from bellcrank.files.elements import Element
from bellcrank.files.imported import MENDED, Array, Builder, Pose, balanced, nearly_real
from bellcrank.files.mjcf_values import Compiler, rotation_to

SOLIDS = ("sphere", "capsule", "cylinder", "box", "ellipsoid")
DENSITY = 1000.0
_DRAWN = "shapes are drawn alone; they collide with contacts=True (--contacts)"


@dataclass(frozen=True, eq=False)
class Mass:
    """Mass [kg], centre [m] and inertia about it [kg m^2], in body axes."""

    mass: float
    center: Array
    inertia: Array


NOTHING = Mass(0.0, np.zeros(3), np.zeros((3, 3)))


def mass_of(
    build: Builder,
    compiler: Compiler,
    inertial: Element | None,
    geoms: Sequence[tuple[Element, Pose]],
    body: str,
) -> Mass:
    """The mass of a body; geoms come with the frames they stand in."""
    wanted = compiler.inertia_from_geom
    if inertial is not None and wanted != "true":
        for geom, _ in geoms:
            _drop(build, geom, _DRAWN)
        found = _inertial(compiler, inertial)
    else:
        if inertial is not None:
            build.ignore(inertial, "inertiafromgeom='true': the geoms give the mass")
        found = _together([_geom(build, compiler, geom, frame, body, wanted) for geom, frame in geoms])
    J = found.inertia
    if compiler.least_inertia:
        low, axes = np.linalg.eigh(J)
        J = axes @ np.diag(np.maximum(low, compiler.least_inertia)) @ axes.T
    if compiler.balance:
        J = balanced(J)
    elif (mended := nearly_real(J)) is not J:
        J = mended
        build.change(inertial or geoms[0][0], f"inertia of body {body!r}", MENDED)
    return Mass(max(found.mass, compiler.least_mass), found.center, 0.5 * (J + J.T))


def _inertial(compiler: Compiler, element: Element) -> Mass:
    frame = compiler.placement(element)
    if element.text("fullinertia") is not None:
        xx, yy, zz, xy, xz, yz = element.numbers("fullinertia", (6,))
        J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    else:
        J = np.diag(element.numbers("diaginertia", (3,), (0.0, 0.0, 0.0)))
    return Mass(element.number("mass"), frame.p, frame.R @ J @ frame.R.T)


def _drop(build: Builder, geom: Element, why: str) -> None:
    mesh = geom.text("mesh")
    if mesh is not None:
        build.meshes.setdefault(mesh)
    if build.contacts:
        geom.seen = True
    else:
        build.ignore(geom, why)


def _geom(build: Builder, compiler: Compiler, geom: Element, frame: Pose, body: str, wanted: str) -> Mass:
    group = geom.number("group", 0.0)
    low, high = compiler.groups
    if wanted == "false" or not low <= group <= high:
        _drop(build, geom, _DRAWN)
        return NOTHING
    kind = geom.text("type", "mesh" if geom.text("mesh") is not None else "sphere")
    given = geom.text("mass")
    density = geom.number("density", DENSITY)
    weightless = kind in ("plane", "hfield") or (geom.number("mass") if given is not None else density) == 0.0
    if weightless:
        _drop(build, geom, _DRAWN)
        return NOTHING
    if geom.text("shellinertia", "false") == "true":
        raise geom.error("shellinertia is not read; give the body an <inertial>")
    name = geom.text("mesh")
    if kind == "mesh" and name is not None:
        volume, centre, J = compiler.meshes.of_unit_density(geom, name)
        build.meshes.setdefault(name)
        placed = frame @ compiler.placement(geom)
        mass = geom.number("mass") if given is not None else density * volume
        return Mass(mass, placed.p + placed.R @ centre, placed.R @ (mass / volume * J) @ placed.R.T)
    if kind not in SOLIDS or name is not None:
        raise geom.error(
            f"the mass of body {body!r} comes from a geom of type {kind!r} fitted to a mesh or unknown here; give the "
            "body an <inertial>"
        )
    size, pose = size_and_pose(compiler, geom, str(kind))
    volume, unit = solid(str(kind), size)
    mass = geom.number("mass") if given is not None else density * volume
    whole = frame @ pose
    return Mass(mass, whole.p, whole.R @ (mass * unit) @ whole.R.T)


def size_and_pose(compiler: Compiler, geom: Element, kind: str) -> tuple[list[float], Pose]:
    """Sizes (half lengths) [m] of a geom that is a solid, and its place in the frame it stands in."""
    count = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}[kind]
    ends = geom.text("fromto") is not None and kind != "sphere"
    size = _sizes(geom)
    if len(size) < (1 if ends else count):
        raise geom.error(f"a {kind} needs {1 if ends else count} numbers in its size, not {len(size)}")
    _check_sizes(geom, size[: 1 if ends else count])
    if not ends:
        return size[:count], compiler.placement(geom)
    six = np.array(geom.numbers("fromto", (6,)))
    along = six[:3] - six[3:]
    length = float(np.linalg.norm(along))
    if length < 1e-14:
        raise geom.error(f"fromto of {geom.label} has no length")
    half = 0.5 * length
    sizes = [size[0], half] if count == 2 else [size[0], size[0], half]
    _check_sizes(geom, sizes)
    return sizes, Pose(0.5 * (six[:3] + six[3:]), rotation_to(along / length))


def _check_sizes(geom: Element, sizes: Sequence[float]) -> None:
    if any(x <= 0.0 for x in sizes):
        raise geom.error(f"the size of {geom.label} must be positive")
    if not all(map(is_size, sizes)):
        raise geom.error(
            f"the size of {geom.label} must lie between {SMALLEST_SIZE:g} m and {LARGEST_SIZE:g} m"
        )


def _sizes(geom: Element) -> list[float]:
    """A size that is shorter than that of its class keeps the class's further numbers."""
    size: list[float] = []
    here: Element | None = geom
    while here is not None:
        if "size" in here.attributes:
            here.taken.add("size")
            given = [float(x) for x in here.numbers("size", ())]
            size += given[len(size) :]
        here = here.fallback
    return size


def solid(kind: str, size: Sequence[float]) -> tuple[float, Array]:
    """Volume [m^3] and inertia a unit of mass [m^2] about the centre, z along the axis."""
    if kind in ("box", "ellipsoid"):
        a, b, c = size
        share, volume = (3.0, 8.0 * a * b * c) if kind == "box" else (5.0, 4.0 / 3.0 * math.pi * a * b * c)
        return volume, np.diag([b * b + c * c, a * a + c * c, a * a + b * b]) / share
    r = size[0]
    ball = 4.0 / 3.0 * math.pi * r**3
    if kind == "sphere":
        return ball, np.eye(3) * (0.4 * r * r)
    h = 2.0 * size[1]
    tube = math.pi * r * r * h
    along, across = 0.5 * r * r, (3.0 * r * r + h * h) / 12.0
    if kind == "cylinder":
        return tube, np.diag([across, across, along])
    # A capsule: the tube and two half balls, whose own centres stand 3/8 r outside the tube's ends.
    share = ball / (tube + ball)
    across = (1.0 - share) * across + share * (0.4 * r * r + 0.375 * r * h + 0.25 * h * h)
    along = (1.0 - share) * along + share * 0.4 * r * r
    return tube + ball, np.diag([across, across, along])


def _together(parts: Sequence[Mass]) -> Mass:
    mass = sum(part.mass for part in parts)
    if mass <= 0.0:
        return NOTHING
    center = sum((part.mass * part.center for part in parts), np.zeros(3)) / mass
    J = np.zeros((3, 3))
    for part in parts:
        arm = part.center - center
        J += part.inertia + part.mass * ((arm @ arm) * np.eye(3) - np.outer(arm, arm))
    return Mass(float(mass), center, J)
