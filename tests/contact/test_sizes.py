"""Sizes of shapes as parameters, in contact by fields: the same run as with numbers, and exact derivatives."""

from collections.abc import Callable

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.contact import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    HeightField,
    Mesh,
    Part,
    Revolution,
    Shape,
    Sphere,
    Superellipsoid,
    Torus,
    Tube,
    Union,
)
from bellcrank.contact.shapes.fields import depths
from bellcrank.contact.shapes.union import UnionField
from bellcrank.files import dumps, loads
from bellcrank.flexible import STEEL, Clamped, NormalModes, beam, circle
from bellcrank.math.vectors import Vector

SHAPES: dict[str, Callable[..., Shape]] = {
    "sphere": lambda r: Sphere(r),
    "box": lambda r: Box(0.06, r, 0.5 * r),
    "ellipsoid": lambda r: Ellipsoid(0.05, r, 0.08),
    "capsule": lambda r: Capsule(0.5 * r, 0.05),
    "cylinder": lambda r: Cylinder(0.05, r),
    "superellipsoid": lambda r: Superellipsoid(0.05, r, 0.08, (4.0, 3.0)),
    "cone": lambda r: Cone(r, 0.05, 0.7 * r),
    "tip": lambda r: Cone(0.05, r),
    "torus": lambda r: Torus(0.08, 0.3 * r),
    "tube": lambda r: Tube(r, 0.04, 0.03),
}
HEIGHTS = {"sphere": 0.1699, "box": 0.135}
RUN = {"output": 4, "tolerance": 1e-10, "integrator": "dop853"}
DURATION = 0.015
WATCHED = ("body.position.z", "body.velocity.x", "body.velocity.z")


@pytest.mark.parametrize("kind", SHAPES)
def test_vertices_stay_on_the_surface_as_sizes_change(kind: str) -> None:
    before, now = SHAPES[kind](0.07), SHAPES[kind](0.09)
    x = before.triangles().vertices[::7]
    moved = np.array([now.field.carried(Vector(*v), before.field) for v in x.tolist()])
    assert np.abs(depths(now.field, moved)[0]).max() < 1e-15
    change = np.linalg.norm(moved - x, axis=1).max()
    assert 0.2 * now.field.change(before.field) < change <= now.field.change(before.field) * (1 + 1e-12)
    still = np.array([before.field.carried(Vector(*v), before.field) for v in x.tolist()])
    assert np.array_equal(still, x)


def dropped(kind: str, radius: float | None = None) -> bc.System:
    """A body falls on a ball, beside its top, at an angle."""
    system = bc.System(kind, gravity=(0, 0, -9.81))
    r = system.parameter("r", 0.07) if radius is None else radius
    body = system.body("body", mass=0.5, inertia=(1e-3, 2e-3, 1.5e-3), at=(0.01, 0, HEIGHTS[kind]))
    system.free("flight", system.ground, body)
    how = {"restitution": 0.6, "friction": 0.3, "young": 1e6, "law": "half-space", "treatment": "continuous"}
    system.contact("touch", system.ground.sphere(0.1), body.shape(SHAPES[kind](r)), **how)
    return system


@pytest.mark.parametrize("kind", HEIGHTS)
def test_a_run_with_a_parameter_is_that_with_the_number_and_has_exact_derivatives(kind: str) -> None:
    system = dropped(kind)
    start = {"flight": {"velocity": (0, 0, -0.5)}}
    run, plain = (s.simulate(DURATION, initial=start, **RUN) for s in (system, dropped(kind, 0.07)))
    read = loads(dumps(system)).simulate(DURATION, initial=start, **RUN)
    assert plain["touch.normal_force"].max() > 10.0
    for name in WATCHED:
        assert run[name][-1] == pytest.approx(plain[name][-1], abs=1e-12)
        assert read[name][-1] == pytest.approx(run[name][-1], abs=1e-12)
    found = system.sensitivity(DURATION, outputs=WATCHED, by=["r"], initial=start, **RUN)
    h = 1e-6
    low, high = (system.simulate(DURATION, initial=start, parameters={"r": 0.07 + d}, **RUN) for d in (-h, h))
    for name in WATCHED:
        slope = (high[name][-1] - low[name][-1]) / (2 * h)
        assert found[name, "r"][-1] == pytest.approx(slope, rel=1e-4, abs=1e-5)
    # A body of another size has other triangles, those of this one as it grows.
    other = {"r": 0.072}
    grown, made = system.simulate(DURATION, initial=start, parameters=other, **RUN), dropped(kind, 0.072)
    end = made.simulate(DURATION, initial=start, **RUN)["body.velocity.z"][-1]
    assert grown["body.velocity.z"][-1] == pytest.approx(end, rel=1e-2)
    patch = grown.patch("touch", grown.time[1])
    if len(patch.corners):
        middle = np.average(patch.corners.mean(axis=1), axis=0, weights=patch.pressure.mean(axis=1))
        assert np.allclose(middle, grown["touch.point"][1], atol=2e-3)


def test_the_partner_of_a_skin_may_have_a_parameter() -> None:
    ends = []
    for given in (None, 0.05):
        system = bc.System("bar", gravity=(0, 0, -9.81))
        bar = beam("bar", 1.0, circle(0.02), STEEL, elements=5).reduce(NormalModes(count=2), Clamped("start"))
        body = system.flexible_body("bar", bar)
        system.fixed("root", system.ground, body.node("start"))
        ball = system.body("ball", mass=0.2, inertia=(1e-4,) * 3, at=(0.63, 0, 0.0599))
        system.prismatic("guide", system.ground, ball, axis="z")
        along = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]])
        skin = body.skin(Capsule(0.01, 0.49), at=(0.5, 0, 0), rotation=along, spacing=0.01)
        r = system.parameter("r", 0.05) if given is None else given
        system.contact("touch", skin, ball.sphere(r), 0.5, young=1e8, treatment="continuous")
        ends.append(system.simulate(5e-3, **RUN)["ball.position.z"][-1])
    assert ends[0] == pytest.approx(ends[1], abs=1e-12)


class Lump(Sphere):
    """A shape of a user's own, whose field does not know where its surface goes as it grows."""

    @property
    def field(self):
        return UnionField(self.radius, self.radius, 0.0)


def test_shapes_whose_sizes_are_numbers_are_named() -> None:
    system = bc.System("lump")
    body = system.body("body", mass=1.0, inertia=(1e-3,) * 3)
    r = system.parameter("r", 0.1)
    with pytest.raises(bc.ModelError, match=r"the sizes of a Lump are plain numbers.*Give a number"):
        system.contact(
            "c", system.ground.plane(), body.shape(Lump(r)), 0.5, treatment="continuous", law="half-space"
        )


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda r: Union([Part(Box(r, 0.1, 0.1))]), "Box in a union: half_x"),
        (lambda r: Superellipsoid(0.1, 0.1, 0.1, (r, 4.0)), "superellipsoid: exponents"),
        (lambda r: Revolution(lambda z: 0.1 + 0.0 * z, r), "solid of revolution: length"),
        (lambda r: HeightField(np.zeros((9, 9)), r), "height field: spacing"),
        (lambda r: Mesh.from_file("body.stl", scale=r), "mesh: scale"),
    ],
)
def test_what_is_a_number_says_so_of_a_parameter(make: Callable[..., Shape], named: str) -> None:
    with pytest.raises(
        bc.ModelError, match=f"{named} is a plain number and cannot depend on the parameter <r>"
    ):
        make(bc.System("plain").parameter("r", 0.1))
