"""Shapes, one a file: field of depth, triangles, mass, and support points where they exist."""

from bellcrank.contact.shapes.base import FLAT, TINY, FieldShape, Shape, Support, Surface, sample_normals
from bellcrank.contact.shapes.box import Box, BoxField
from bellcrank.contact.shapes.capsule import Capsule
from bellcrank.contact.shapes.cylinder import Cylinder
from bellcrank.contact.shapes.ellipsoid import Ellipse, Ellipsoid
from bellcrank.contact.shapes.fields import Field, PlacedField, smooth_absolute, smooth_maximum
from bellcrank.contact.shapes.implicit import Implicit
from bellcrank.contact.shapes.plane import HalfPlane, Line, Plane, PlaneField
from bellcrank.contact.shapes.revolution import Revolution
from bellcrank.contact.shapes.sphere import Circle, Sphere, SphereField
from bellcrank.contact.shapes.superellipsoid import Superellipsoid

__all__ = [
    "FLAT",
    "TINY",
    "Box",
    "BoxField",
    "Capsule",
    "Circle",
    "Cylinder",
    "Ellipse",
    "Ellipsoid",
    "Field",
    "FieldShape",
    "HalfPlane",
    "Implicit",
    "Line",
    "PlacedField",
    "Plane",
    "PlaneField",
    "Revolution",
    "Shape",
    "Sphere",
    "SphereField",
    "Superellipsoid",
    "Support",
    "Surface",
    "sample_normals",
    "smooth_absolute",
    "smooth_maximum",
]
