"""The finite elements: names, and the scikit-fem classes behind them."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from bellcrank.base.optional import finite_elements
from bellcrank.errors import ModelError


class Element(StrEnum):
    """Shape and number of nodes; second-order elements follow curved surfaces with their edges."""

    TRIANGLE3 = "triangle3"
    TRIANGLE6 = "triangle6"
    QUADRILATERAL4 = "quadrilateral4"
    QUADRILATERAL9 = "quadrilateral9"
    TETRAHEDRON4 = "tetrahedron4"
    TETRAHEDRON10 = "tetrahedron10"
    HEXAHEDRON8 = "hexahedron8"
    HEXAHEDRON27 = "hexahedron27"

    @property
    def order(self) -> int:
        """Degree of the polynomials."""
        return 2 if self in _SECOND else 1

    @property
    def dimension(self) -> int:
        """Coordinates of a point."""
        return 3 if self.value.startswith(("tetra", "hexa")) else 2

    @property
    def simplex(self) -> bool:
        """Whether it is a triangle or a tetrahedron."""
        return self.value.startswith(("tri", "tetra"))


_SECOND = {Element.TRIANGLE6, Element.QUADRILATERAL9, Element.TETRAHEDRON10, Element.HEXAHEDRON27}
_MESHES = {
    Element.TRIANGLE3: "MeshTri1",
    Element.TRIANGLE6: "MeshTri2",
    Element.QUADRILATERAL4: "MeshQuad1",
    Element.QUADRILATERAL9: "MeshQuad2",
    Element.TETRAHEDRON4: "MeshTet1",
    Element.TETRAHEDRON10: "MeshTet2",
    Element.HEXAHEDRON8: "MeshHex1",
    Element.HEXAHEDRON27: "MeshHex2",
}


def element_of(mesh: Any) -> Element:
    """The element of a scikit-fem mesh."""
    name = type(mesh).__name__
    for element, known in _MESHES.items():
        if name == known:
            return element
    raise ModelError(f"meshes of kind {name} are not supported; elements here: {', '.join(Element)}")


def mesh_kind(element: Element) -> Any:
    """The class of scikit-fem's meshes of an element."""
    return getattr(finite_elements(), _MESHES[element])


def with_element(mesh: Any, element: Element) -> Any:
    """A first-order mesh turned into one of the given element of the same shape."""
    kind = mesh_kind(element)
    if type(mesh) is kind:
        return mesh
    if type(mesh).__name__[:-1] != _MESHES[element][:-1]:
        raise ModelError(f"a mesh of kind {element_of(mesh)} cannot carry elements {element}")
    return kind.from_mesh(mesh) if element.order == 2 else kind(mesh.p[:, : mesh.t.max() + 1], mesh.t)


def scalar_element(element: Element) -> Any:
    """Shape functions of the element."""
    return mesh_kind(element).elem()
