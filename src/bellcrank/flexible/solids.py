"""Solid members from volume meshes, by scikit-fem: tetrahedra and hexahedra of first and second order.

First-order elements are too stiff in bending (shear locking); `order=2` on the same mesh cures it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from bellcrank.base.keys import NUMBER, TEXT, Keys, by_name, list_of, may, must, ref, words
from bellcrank.errors import ModelError
from bellcrank.fe.material import Material
from bellcrank.fe.stiffness import isotropic_stiffness
from bellcrank.flexible.beams import MassModel
from bellcrank.flexible.gradients import Gradients
from bellcrank.flexible.interfaces import Region, interface_places, rigid_regions
from bellcrank.flexible.modal_derivatives import ModalDerivatives
from bellcrank.flexible.model import Array, ElasticModel, FieldMatrix, Sparse
from bellcrank.flexible.nodal_inertia import NodalInertia, rigid_motions
from bellcrank.flexible.recipe import CHECK_UNITS, MASS, ModelRecipe
from bellcrank.flexible.recovery import SPATIAL, SYMMETRIC
from bellcrank.flexible.solid_fields import NodalStrain, NodalStress
from bellcrank.flexible.solid_mesh import check_mesh, material_numbers, mesh_order, read_mesh
from bellcrank.flexible.units import check_units as check_member_units
from bellcrank.sparse.cholesky import Elimination

FILES = (".msh", ".inp", ".nas", ".bdf", ".fem", ".vtk", ".vtu")
"""Endings of the volume meshes that model files may name."""
SOLID = Keys(
    "A solid from a volume mesh beside the model file.",
    must("mesh", TEXT, "File below the model's folder: Gmsh, Abaqus, Nastran or VTK.", files=FILES),
    must("material", ref("materials"), "One, or one by named region of the mesh."),
    may("interfaces", by_name(ref("region")), "Nodes by name, each the mean motion of a region."),
    may("order", words(1, 2), "Of the elements; by default that of the mesh.", whole=(1, 2)),
    may("rigid", list_of(TEXT), "Interfaces that do not deform."),
    MASS,
    may("scale", NUMBER, "Of the mesh's unit in metres."),
    CHECK_UNITS,
)


def solid(
    name: str,
    mesh: Any,
    material: Material | Mapping[str, Material],
    interfaces: Mapping[str, Region] | None = None,
    *,
    order: int | None = None,
    rigid: tuple[str, ...] = (),
    mass: MassModel | str = MassModel.CONSISTENT,
    scale: float = 1.0,
    check_units: bool = True,
) -> ElasticModel:
    """A solid body, not yet reduced; its axes are those of the mesh.

    mesh: A scikit-fem mesh (MeshTet, MeshTet2, MeshHex, MeshHex2) or the path of a file that meshio reads.
    material: One, or one by named region of the mesh. interfaces: Named nodes, each the mean motion of a
    region: a boundary name of the mesh, a function of the coordinates (3, n) giving which nodes belong, a
    point, or node numbers. rigid: Interfaces that do not deform (all their nodes move as one); the others are
    averages that add no stiffness. order: Of the elements, 1 or 2; by default that of the mesh. scale: Of
    the file's unit in metres.
    """
    recipe = None
    if isinstance(mesh, str | Path):
        recipe = ModelRecipe(
            "solid",
            {
                "mesh": Path(mesh),
                "material": material,
                "interfaces": dict(interfaces or {}),
                "order": order,
                "rigid": rigid,
                "mass": mass,
                "scale": scale,
                "check_units": check_units,
            },
        )
        mesh, own = read_mesh(name, mesh, scale)
        order = own if order is None else order
    elif scale != 1.0:
        mesh = mesh.scaled(scale)
    mesh = check_mesh(name, mesh)
    numbers = material_numbers(name, mesh, material)
    for one in numbers[3]:
        one.undamped_in(repr(name))
    if check_units:
        _check_units(name, mesh, numbers[3])
    basis = SolidBasis(name, mesh, order, numbers)
    places, K = basis.places, basis.stiffness()
    m = basis.scalar_mass(MassModel.of(mass) is MassModel.LUMPED)
    regions = {label: basis.region(label, which) for label, which in (interfaces or {}).items()}
    spread = rigid_regions(name, places, {label: regions[label] for label in rigid})
    inertia = NodalInertia(m, places, spread)
    total, first, second = inertia.rigid_moments()
    motions = rigid_motions(places)
    return ElasticModel(
        name=name,
        mass=total,
        first_moment=first,
        second_moment=second,
        mass_matrix=inertia.matrix(),
        stiffness_matrix=sp.csr_array(spread.T @ K @ spread),
        rigid=_in_freedoms(spread, motions),
        freedom_places=_freedom_places(spread, places),
        places=interface_places(name, places, regions, spread, basis.neighbours),
        inertia=inertia,
        stiffening=ModalDerivatives(basis, inertia),
        fields=_fields(basis, spread),
        recipe=recipe,
    )


def _check_units(name: str, mesh: Any, materials: list[Material]) -> None:
    extent = float(np.linalg.norm(np.ptp(mesh.p, axis=1)))
    for one in materials:
        check_member_units(name, extent, one)


def _in_freedoms(spread: Sparse, motions: Array) -> Array:
    """The freedoms whose spread is the given rigid motions (exactly representable)."""
    # A node belongs to one rigid region or to none, so only freedoms of one region meet in the product.
    normal = sp.csr_array(spread.T @ spread)
    return (
        Elimination(normal, np.arange(normal.shape[0])[:, None]).factorised(normal).solve(spread.T @ motions)
    )


def _freedom_places(spread: Sparse, places: Array) -> Array:
    """Of a free node its own place, of a rigid region the mean of its nodes."""
    shares = abs(spread).T
    weights = np.asarray(shares.sum(axis=1), dtype=float).reshape(-1, 1)
    return np.asarray(shares @ np.repeat(places, 3, axis=0) / weights, dtype=float)


def _fields(basis: SolidBasis, spread: Sparse) -> dict[str, FieldMatrix]:
    corners = basis.mesh.p[:, : basis.mesh.nvertices].T
    rows = np.concatenate([3 * basis.corner_numbers + i for i in range(3)])
    rows = rows.reshape(3, -1).T.ravel()
    cells = np.asarray(basis.mesh.t.T, dtype=np.int64)
    return {
        "displacement": FieldMatrix(corners, sp.csr_array(spread)[rows], SPATIAL, "m", cells),
        "strain": FieldMatrix(corners, NodalStrain(basis, spread), SYMMETRIC, "1", cells),
        "stress": FieldMatrix(corners, NodalStress(basis, spread), SYMMETRIC, "Pa", cells),
    }


class SolidBasis:
    """Elements over a mesh: matrices over nodal displacements, node by node (x, y, z)."""

    def __init__(
        self, name: str, mesh: Any, order: int | None, numbers: tuple[Array, Array, Array, Any]
    ) -> None:
        from skfem import Basis

        self.name, self.mesh = name, mesh
        self.element = _element(name, mesh, order)
        degree = _degree(self.element, mesh)
        self.scalar = Basis(mesh, self.element, intorder=degree)
        self.places = np.asarray(self.scalar.doflocs.T)
        self.corner_numbers = np.asarray(self.scalar.nodal_dofs[0])
        E, nu, rho, _ = numbers
        self.shear = (E / (2 * (1 + nu)))[:, None]
        self.lame = (E * nu / ((1 + nu) * (1 - 2 * nu)))[:, None]
        self.density = rho[:, None]

    def stiffness(self) -> Sparse:
        """(3 s, 3 s)."""
        return isotropic_stiffness(self.scalar, self.lame[:, 0], self.shear[:, 0])

    def scalar_mass(self, lumped: bool) -> Sparse:
        """(s, s) [kg]; lumped by scaling the diagonal (Hinton, Rock, Zienkiewicz 1976)."""
        from skfem import BilinearForm

        def mass(u: Any, v: Any, w: Any) -> Any:
            return self.density * u * v

        m = sp.csr_array(BilinearForm(mass).assemble(self.scalar))
        if not lumped:
            return m
        diagonal = m.diagonal()
        return sp.csr_array(sp.diags_array(diagonal * (m.sum() / diagonal.sum())))

    @cached_property
    def exact_gradients(self) -> Gradients:
        """At points that integrate products of three gradients exactly in undistorted elements."""
        from skfem import Basis

        second = type(self.element).__name__ in ("ElementTetP2", "ElementHex2")
        tetrahedra = self.mesh.t.shape[0] == 4
        degree = (3 if second else 0) if tetrahedra else (6 if second else 3)
        return Gradients(Basis(self.mesh, self.element, intorder=degree))

    def region(self, label: str, which: Region) -> tuple[Any, Array]:
        """Node numbers of a region and their weights."""
        from bellcrank.flexible.interfaces import region_nodes

        return region_nodes(self, label, which)

    def neighbours(self, nodes: Any) -> Any:
        """All nodes of the elements that touch the given ones."""
        touched = np.isin(self.scalar.element_dofs, nodes).any(axis=0)
        return np.unique(self.scalar.element_dofs[:, touched])


def _element(name: str, mesh: Any, order: int | None) -> Any:
    from skfem import ElementHex1, ElementHex2, ElementTetP1, ElementTetP2

    corners = mesh.t.shape[0]
    own = mesh_order(mesh)
    table = {(4, 1): ElementTetP1, (4, 2): ElementTetP2, (8, 1): ElementHex1, (8, 2): ElementHex2}
    key = (corners, own if order is None else order)
    if key not in table or mesh.p.shape[0] != 3:
        raise ModelError(
            f"member {name!r} needs a mesh of tetrahedra or hexahedra of order 1 or 2, "
            f"not {type(mesh).__name__} of order {key[1]}"
        )
    return table[key]()


def _degree(element: Any, mesh: Any) -> int:
    """Degree of quadrature exact for the mass of undistorted elements; along each edge for hexahedra."""
    first = type(element).__name__ in ("ElementTetP1", "ElementHex1")
    reserve = 0 if mesh.t.shape[0] == 4 and mesh_order(mesh) == 1 else 2
    return (2 if first else 4) + reserve
