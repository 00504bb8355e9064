"""Contact of shapes: closest points, and laws of force."""

from bellcrank.contact.bezier import BezierGrid
from bellcrank.contact.closest import Closest, check_pair, closest, has_closed_form
from bellcrank.contact.fields import FieldLaw
from bellcrank.contact.friction import Coulomb, LuGre
from bellcrank.contact.laws import ForceLaw, kelvin_voigt_damping
from bellcrank.contact.mesh import Mesh
from bellcrank.contact.notes import ContactNote
from bellcrank.contact.numeric import ClosestKernel, ClosestNumbers, closest_numeric, closest_program
from bellcrank.contact.parametric import Parametric
from bellcrank.contact.sampled import Sampled
from bellcrank.contact.shapes import (
    Box,
    Capsule,
    Circle,
    Cone,
    Cylinder,
    Ellipse,
    Ellipsoid,
    HalfPlane,
    HeightField,
    Line,
    Part,
    Plane,
    Shape,
    Sphere,
    Superellipsoid,
    Torus,
    Tube,
    Union,
)
from bellcrank.contact.shapes.implicit import Implicit
from bellcrank.contact.shapes.revolution import Revolution
from bellcrank.contact.solid import Solid
from bellcrank.contact.triangles import Triangles

__all__ = [
    "BezierGrid",
    "Box",
    "Capsule",
    "Circle",
    "Closest",
    "ClosestKernel",
    "ClosestNumbers",
    "Cone",
    "ContactNote",
    "Coulomb",
    "Cylinder",
    "Ellipse",
    "Ellipsoid",
    "FieldLaw",
    "ForceLaw",
    "HalfPlane",
    "HeightField",
    "Implicit",
    "Line",
    "LuGre",
    "Mesh",
    "Parametric",
    "Part",
    "Plane",
    "Revolution",
    "Sampled",
    "Shape",
    "Solid",
    "Sphere",
    "Superellipsoid",
    "Torus",
    "Triangles",
    "Tube",
    "Union",
    "check_pair",
    "closest",
    "closest_numeric",
    "closest_program",
    "has_closed_form",
    "kelvin_voigt_damping",
]
