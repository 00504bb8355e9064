"""Parts of a STEP file by OpenCASCADE; runs in a process of its own, see :mod:`bellcrank.files.step`.

A part is a shape of the file with at least one solid. Parts stand in an assembly, one part perhaps many times. Of each
part come its volume and moments at unit density, its triangles and its flat, cylindrical and spherical faces.
"""

from __future__ import annotations

import re
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.base import blocks

Array = NDArray[np.float64]

METRE = 1e-3
"""OpenCASCADE converts the lengths of every file to millimetres."""
PER_LITRE = 1000.0
"""kg/m^3 in one g/cm^3, in which it gives densities."""
MOST_PARTS = 20_000
MOST_TRIANGLES = 4_000_000
DEEPEST = 64
"""Levels of assemblies; a file whose assembly holds itself has no end."""
PLANE, CYLINDER, SPHERE = 0, 1, 2
FACE_COLUMNS = 11
"""Kind, point (3), outward normal or axis (3), radius, sense (-1: hollow), extent along the axis (2)."""
ELSEWHERE = re.compile(rb"\b(?:DOCUMENT_FILE|DCMFL)\b", re.IGNORECASE)


def packed(data: bytes) -> bytes:
    """Parts and their places as bytes. data: the deflection of triangles, a line, and the file."""
    head, _, text = data.partition(b"\n")
    if ELSEWHERE.search(text):
        raise ValueError("it refers to other files; export the assembly into one")
    return _Reader(float(head)).read(text)


class _Reader:
    """deflection: Largest distance of triangles from the surface over the size of a part."""

    def __init__(self, deflection: float) -> None:
        self.deflection = deflection
        self.arrays: dict[str, NDArray[Any]] = {}
        self.parts: list[dict[str, Any]] = []
        self.known: dict[str, int | None] = {}
        self.nodes: list[dict[str, Any]] = []
        self.poses: list[Array] = []
        self.triangles = 0

    def read(self, text: bytes) -> bytes:
        """Every part once, and the tree of the assembly."""
        from OCP.IFSelect import IFSelect_ReturnStatus
        from OCP.STEPCAFControl import STEPCAFControl_Reader
        from OCP.TCollection import TCollection_ExtendedString
        from OCP.TDocStd import TDocStd_Document
        from OCP.XCAFDoc import XCAFDoc_DocumentTool

        reader = STEPCAFControl_Reader()
        reader.SetNameMode(True)
        reader.SetColorMode(True)
        reader.SetMatMode(True)
        if reader.ReadStream("model.step", BytesIO(text)) != IFSelect_ReturnStatus.IFSelect_RetDone:
            raise ValueError("it is damaged, or no STEP file")
        document = TDocStd_Document(TCollection_ExtendedString("bellcrank"))
        if not reader.Transfer(document):
            raise ValueError("it holds no shapes, or is damaged")
        self.shapes = XCAFDoc_DocumentTool.ShapeTool_s(document.Main())
        self.colours = XCAFDoc_DocumentTool.ColorTool_s(document.Main())
        for label in _children(self.shapes.BaseLabel()):
            if self.shapes.IsShape_s(label) and self.shapes.IsFree_s(label):
                self._node(label, label, -1, np.eye(4), 0)
        places = np.array(self.poses).reshape(-1, 4, 4)
        return blocks.packed({**self.arrays, "places": places}, {"nodes": self.nodes, "parts": self.parts})

    def _node(self, use: Any, label: Any, parent: int, outer: Array, depth: int) -> None:
        """An instance of a part or of an assembly, and all below it."""
        if depth > DEEPEST:
            raise ValueError(f"its assemblies are nested more than {DEEPEST} deep")
        if len(self.nodes) >= MOST_PARTS:
            raise ValueError(f"it holds more than {MOST_PARTS} parts and assemblies")
        pose = outer @ _matrix(self.shapes.GetLocation_s(use)) if use is not label else outer
        number = len(self.nodes)
        own = {"name": _name(use) or _name(label), "product": _name(label), "parent": parent}
        self.nodes.append({**own, "part": -1})
        self.poses.append(pose)
        if self.shapes.IsAssembly_s(label):
            for component in _children(label):
                if self.shapes.IsComponent_s(component):
                    self._node(component, _referred(self.shapes, component), number, pose, depth + 1)
            return
        part = self._part(label)
        if part is not None:
            self.nodes[number]["part"] = part
            self.nodes[number]["colour"] = self._colour(use) or self._colour(label)

    def _part(self, label: Any) -> int | None:
        entry = _entry(label)
        if entry not in self.known:
            self.known[entry] = self._measured(label)
        return self.known[entry]

    def _measured(self, label: Any) -> int | None:
        from OCP.BRepGProp import BRepGProp
        from OCP.BRepMesh import BRepMesh_IncrementalMesh
        from OCP.gp import gp_Pnt
        from OCP.GProp import GProp_GProps
        from OCP.TopAbs import TopAbs_ShapeEnum
        from OCP.TopExp import TopExp_Explorer
        from OCP.XCAFDoc import XCAFDoc_MaterialTool

        shape = self.shapes.GetShape_s(label)
        solids = _explored(TopExp_Explorer(shape, TopAbs_ShapeEnum.TopAbs_SOLID))
        if not solids:
            return None
        low, high = _box(shape)
        middle = gp_Pnt(*((low + high) / 2.0).tolist())
        # Moments about a point within the part: far from the origin their digits would be lost.
        found = GProp_GProps(middle)
        for solid in solids:
            BRepGProp.VolumeProperties_s(solid, found, False, False, False)
        volume = found.Mass() * METRE**3
        if not volume > 0.0:
            raise ValueError(f"the solid of part {_name(label)!r} has the volume {volume:g} m^3")
        centre = found.CentreOfMass()
        about = found.MatrixOfInertia()
        J = np.array([[about.Value(i, j) for j in (1, 2, 3)] for i in (1, 2, 3)]) * METRE**5
        number = len(self.parts)
        size = float(np.linalg.norm(high - low))
        BRepMesh_IncrementalMesh(shape, max(self.deflection * size, 1e-6), False, 0.35, False)
        vertices, faces, rows, spans = self._faces(solids)
        self.arrays |= {
            f"moments {number}": np.array(
                [volume, *np.array([centre.X(), centre.Y(), centre.Z()]) * METRE, *J.ravel()]
            ),
            f"vertices {number}": vertices * METRE,
            f"faces {number}": faces,
            f"surfaces {number}": rows,
            f"spans {number}": spans,
        }
        self.parts.append(
            {"name": _name(label), "density": PER_LITRE * XCAFDoc_MaterialTool.GetDensityForShape_s(label)}
        )
        return number

    def _faces(self, solids: list[Any]) -> tuple[Array, NDArray[np.int64], Array, NDArray[np.int64]]:
        """Triangles of all faces; of flat, cylindrical and spherical ones kind and triangles."""
        from OCP.TopAbs import TopAbs_Orientation, TopAbs_ShapeEnum
        from OCP.TopExp import TopExp_Explorer
        from OCP.TopoDS import TopoDS

        as_face = getattr(TopoDS, "Face_s", None) or TopoDS.Face
        vertices, faces, rows, spans = [np.zeros((0, 3))], [np.zeros((0, 3), np.int64)], [], []
        points = count = 0
        for solid in solids:
            for item in _explored(TopExp_Explorer(solid, TopAbs_ShapeEnum.TopAbs_FACE)):
                face = as_face(item)
                reverse = face.Orientation() == TopAbs_Orientation.TopAbs_REVERSED
                v, f = _triangles(face, reverse)
                self.triangles += len(f)
                if self.triangles > MOST_TRIANGLES:
                    raise ValueError(
                        f"it gives more than {MOST_TRIANGLES} triangles; take a larger deflection"
                    )
                row = _surface(face, reverse, v)
                if row is not None and len(f):
                    rows.append(row)
                    spans.append((count, count + len(f)))
                vertices.append(v)
                faces.append(f + points)
                points, count = points + len(v), count + len(f)
        return (
            np.concatenate(vertices),
            np.concatenate(faces),
            np.array(rows, float).reshape(-1, FACE_COLUMNS),
            np.array(spans, np.int64).reshape(-1, 2),
        )

    def _colour(self, label: Any) -> str:
        from OCP.Quantity import Quantity_Color
        from OCP.XCAFDoc import XCAFDoc_ColorTool, XCAFDoc_ColorType

        colour = Quantity_Color()
        for kind in (XCAFDoc_ColorType.XCAFDoc_ColorSurf, XCAFDoc_ColorType.XCAFDoc_ColorGen):
            if XCAFDoc_ColorTool.GetColor_s(label, kind, colour):
                # OpenCASCADE keeps colours linear; pictures have them as screens do.
                return str(Quantity_Color.ColorToHex_s(colour, True).ToCString()).lower()
        return ""


def _surface(face: Any, reverse: bool, vertices: Array) -> list[float] | None:
    """A row about a face that is flat, cylindrical or spherical."""
    from OCP.BRepAdaptor import BRepAdaptor_Surface
    from OCP.GeomAbs import GeomAbs_SurfaceType

    surface = BRepAdaptor_Surface(face)
    kind = surface.GetType()
    sense = -1.0 if reverse else 1.0
    if kind == GeomAbs_SurfaceType.GeomAbs_Plane:
        plane = surface.Plane()
        # A left-handed frame has its normal against the product of its axes, which the surface follows.
        sign = sense if plane.Direct() else -sense
        return _row(PLANE, plane.Location(), plane.Axis().Direction(), sign, 0.0, sign, vertices)
    if kind == GeomAbs_SurfaceType.GeomAbs_Cylinder:
        cylinder = surface.Cylinder()
        sign = sense if cylinder.Direct() else -sense
        about = (cylinder.Location(), cylinder.Axis().Direction(), 1.0, cylinder.Radius())
        return _row(CYLINDER, *about, sign, vertices)
    if kind == GeomAbs_SurfaceType.GeomAbs_Sphere:
        sphere = surface.Sphere()
        sign = sense if sphere.Direct() else -sense
        return _row(
            SPHERE, sphere.Location(), sphere.Position().Direction(), 1.0, sphere.Radius(), sign, vertices
        )
    return None


def _row(
    kind: int, point: Any, direction: Any, sign: float, radius: float, sense: float, vertices: Array
) -> list[float]:
    at = np.array([point.X(), point.Y(), point.Z()])
    axis = sign * np.array([direction.X(), direction.Y(), direction.Z()])
    along = (vertices - at) @ axis if len(vertices) else np.zeros(1)
    extent = np.array([along.min(), along.max()]) * METRE
    return [kind, *(at * METRE), *axis, radius * METRE, sense, *extent]


def _triangles(face: Any, reverse: bool) -> tuple[Array, NDArray[np.int64]]:
    """Of one face, wound so that normals point out of the solid."""
    from OCP.BRep import BRep_Tool
    from OCP.TopLoc import TopLoc_Location

    place = TopLoc_Location()
    found = BRep_Tool.Triangulation_s(face, place)
    if found is None:
        return np.zeros((0, 3)), np.zeros((0, 3), np.int64)
    moved = place.Transformation()
    points = [found.Node(k).Transformed(moved) for k in range(1, found.NbNodes() + 1)]
    vertices = np.array([(p.X(), p.Y(), p.Z()) for p in points]).reshape(-1, 3)
    corners = [
        (t.Value(1), t.Value(2), t.Value(3))
        for t in (found.Triangle(k) for k in range(1, found.NbTriangles() + 1))
    ]
    faces = np.array(corners, np.int64).reshape(-1, 3) - 1
    mirrored = moved.IsNegative()
    return vertices, faces[:, ::-1] if reverse != mirrored else faces


def _box(shape: Any) -> tuple[Array, Array]:
    from OCP.Bnd import Bnd_Box
    from OCP.BRepBndLib import BRepBndLib

    box = Bnd_Box()
    BRepBndLib.Add_s(shape, box)
    if box.IsVoid() or box.IsOpen():
        raise ValueError("a solid has no bounds")
    low, high = box.CornerMin(), box.CornerMax()
    return np.array([low.X(), low.Y(), low.Z()]), np.array([high.X(), high.Y(), high.Z()])


def _explored(explorer: Any) -> list[Any]:
    found = []
    while explorer.More():
        found.append(explorer.Current())
        explorer.Next()
    return found


def _children(label: Any) -> list[Any]:
    from OCP.TDF import TDF_ChildIterator

    found, iterator = [], TDF_ChildIterator(label, False)
    while iterator.More():
        found.append(iterator.Value())
        iterator.Next()
    return found


def _referred(shapes: Any, component: Any) -> Any:
    from OCP.TDF import TDF_Label

    label = TDF_Label()
    if not shapes.GetReferredShape_s(component, label):
        raise ValueError("a component of its assembly has no shape")
    return label


def _entry(label: Any) -> str:
    tags = []
    while not label.IsRoot():
        tags.append(str(label.Tag()))
        label = label.Father()
    return ":".join(tags)


def _name(label: Any) -> str:
    from OCP.TDataStd import TDataStd_Name

    name = TDataStd_Name()
    return str(name.Get().ToExtString()) if label.FindAttribute(TDataStd_Name.GetID_s(), name) else ""


def _matrix(location: Any) -> Array:
    moved = location.Transformation()
    scale = moved.ScaleFactor()
    if abs(abs(scale) - 1.0) > 1e-9 or moved.IsNegative():
        raise ValueError("an instance of a part is mirrored or scaled; export it as a part of its own")
    found = np.eye(4)
    found[:3] = [[moved.Value(i, j) for j in (1, 2, 3, 4)] for i in (1, 2, 3)]
    found[:3, 3] *= METRE
    return found
