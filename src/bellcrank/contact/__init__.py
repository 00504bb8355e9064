"""Contact of shapes: closest points, the time of impact, impulses, and lasting contact."""

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
    Union,
)
from bellcrank.contact.shapes.implicit import Implicit
from bellcrank.contact.shapes.revolution import Revolution
from bellcrank.contact.solid import Solid
from bellcrank.contact.triangles import Triangles
from bellcrank.impacts.impact_queue import ImpactQueue
from bellcrank.impacts.impulses import Impact, ImpactError, Propagation, solve_impact
from bellcrank.impacts.lasting import (
    ContactForces,
    ContactState,
    JammedContact,
    after_slip_stops,
    contact_forces,
)
from bellcrank.impacts.routh import ImpactLaw

__all__ = [
    "BezierGrid",
    "Box",
    "Capsule",
    "Circle",
    "Closest",
    "ClosestKernel",
    "ClosestNumbers",
    "Cone",
    "ContactForces",
    "ContactNote",
    "ContactState",
    "Coulomb",
    "Cylinder",
    "Ellipse",
    "Ellipsoid",
    "FieldLaw",
    "ForceLaw",
    "HalfPlane",
    "HeightField",
    "Impact",
    "ImpactError",
    "ImpactLaw",
    "ImpactQueue",
    "Implicit",
    "JammedContact",
    "Line",
    "LuGre",
    "Mesh",
    "Parametric",
    "Part",
    "Plane",
    "Propagation",
    "Revolution",
    "Sampled",
    "Shape",
    "Solid",
    "Sphere",
    "Superellipsoid",
    "Torus",
    "Triangles",
    "Union",
    "after_slip_stops",
    "check_pair",
    "closest",
    "closest_numeric",
    "closest_program",
    "contact_forces",
    "has_closed_form",
    "kelvin_voigt_damping",
    "solve_impact",
]
