"""Shapes, one a file: field of depth, triangles, mass, keys of model files, and support points where they exist.

A new shape is a file here and a line in :data:`KINDS`; ``body.shape(...)`` puts it on a body.
"""

from bellcrank.contact.shapes.base import FLAT, TINY, FieldShape, Shape, Support, Surface, sample_normals
from bellcrank.contact.shapes.box import Box, BoxField
from bellcrank.contact.shapes.capsule import Capsule, CapsuleField
from bellcrank.contact.shapes.cone import Cone, ConeField
from bellcrank.contact.shapes.cylinder import Cylinder, CylinderField
from bellcrank.contact.shapes.ellipsoid import Ellipse, Ellipsoid, EllipsoidField
from bellcrank.contact.shapes.fields import (
    Field,
    PlacedField,
    bounds,
    depths,
    smooth_absolute,
    smooth_maximum,
    smooth_radius,
)
from bellcrank.contact.shapes.height_field import HeightField, HeightFieldField
from bellcrank.contact.shapes.implicit import Implicit, ImplicitField
from bellcrank.contact.shapes.plane import HalfPlane, Line, Plane, PlaneField
from bellcrank.contact.shapes.revolution import Revolution, RevolutionField
from bellcrank.contact.shapes.sphere import Circle, Sphere, SphereField
from bellcrank.contact.shapes.stop import ConeStop, Stop
from bellcrank.contact.shapes.superellipsoid import Superellipsoid, SuperellipsoidField
from bellcrank.contact.shapes.torus import Torus, TorusField
from bellcrank.contact.shapes.tube import Tube, TubeField
from bellcrank.contact.shapes.union import Part, Union, UnionField

KINDS: tuple[type[Shape], ...] = (
    *(
        Sphere,
        Box,
        Ellipsoid,
        Superellipsoid,
        Capsule,
        Cylinder,
        Cone,
        Torus,
        Plane,
        Circle,
        Ellipse,
        HalfPlane,
    ),
    *(Implicit, Revolution, HeightField, Tube, Union),
)
"""The shapes of this folder that model files carry."""

__all__ = [
    "FLAT",
    "KINDS",
    "TINY",
    "Box",
    "BoxField",
    "Capsule",
    "CapsuleField",
    "Circle",
    "Cone",
    "ConeField",
    "ConeStop",
    "Cylinder",
    "CylinderField",
    "Ellipse",
    "Ellipsoid",
    "EllipsoidField",
    "Field",
    "FieldShape",
    "HalfPlane",
    "HeightField",
    "HeightFieldField",
    "Implicit",
    "ImplicitField",
    "Line",
    "Part",
    "PlacedField",
    "Plane",
    "PlaneField",
    "Revolution",
    "RevolutionField",
    "Shape",
    "Sphere",
    "SphereField",
    "Stop",
    "Superellipsoid",
    "SuperellipsoidField",
    "Support",
    "Surface",
    "Torus",
    "TorusField",
    "Tube",
    "TubeField",
    "Union",
    "UnionField",
    "bounds",
    "depths",
    "sample_normals",
    "smooth_absolute",
    "smooth_maximum",
    "smooth_radius",
]
