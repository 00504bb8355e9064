"""Flexible links: a frame with coordinates of deformation; here modal ones (Ahn and Lee 1994, equations 1 to 7 and 16
to 18).

What the recursion needs of any member is said by the abstract classes; rods are in :mod:`bellcrank.mechanics.rods`.

A point of the member is s = s0 + sum phi_k eta_k + 1/2 sum Gamma_kl eta_k eta_l in the axes of the floating frame;
Gamma is the second-order displacement (foreshortening) that stiffens the member under axial and inertial
loads. All inertia terms follow from a few integrals over the member, each a power of eta:

    h = int rho s,  J = int rho s s^T,  c_k = int rho ds/deta_k,  E_k = int rho (ds/deta_k) s^T.

Inertia sees the affine part of Gamma: with psi_r orthonormal functions that are constant or linear in s0, the mass
moves by

    s = s0 + sum phi_k eta_k + sum psi_r zeta_r,   zeta_r = 1/2 sum B_rkl eta_k eta_l,   B_rkl = int rho psi_r Gamma_kl.

int rho Gamma and int rho Gamma s0^T are exact by that, all other integrals are known, and products of the second-order
displacements are kept: this is the kinetic energy of a motion that exists, so the mass matrix is positive for any eta.
What is left of Gamma, orthogonal to all affine motions, has no first-order effect on a rigid or a spinning frame; it
would add to the modal masses by the fourth power of the slopes.

The member then is a linear one in eta and zeta, whose coordinates zeta follow: P = J^T P', m = J^T m' J,
Q = J^T Q' with J = d(eta, zeta)/deta.

Differs from the paper in: second moments J instead of inertia tensors, body axes, and the terms of Gamma; with
Gamma = 0 this is the paper's linear floating frame. Rotations of nodes are taken as finite ones about the vector
Phi_r eta (Cayley's form), so that node frames stay orthonormal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bellcrank.math.rotations import Symmetric
from bellcrank.math.tuples import (
    UNIT,
    ZERO,
    Mat,
    Vec,
    add,
    cross,
    dot,
    is_zero,
    neg,
    scale,
    sub,
    times,
    transpose,
)
from bellcrank.mechanics.inertia import Inertia
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.flexible.member import Member, Node


def _vec(a: Any) -> Vec:
    return (float(a[0]), float(a[1]), float(a[2]))


def combination(weights: Sequence[Scalar], vectors: Sequence[Vec]) -> Vec:
    """sum w_k v_k. Most entries of the integrals of members are zeros, which need no tracing."""
    x: Scalar = 0.0
    y: Scalar = 0.0
    z: Scalar = 0.0
    for w, (a, b, c) in zip(weights, vectors, strict=True):
        if a.__class__ is not float or a != 0.0:
            x = x + w * a
        if b.__class__ is not float or b != 0.0:
            y = y + w * b
        if c.__class__ is not float or c != 0.0:
            z = z + w * c
    return x, y, z


def quadratic(weights: Sequence[Scalar], vectors: Sequence[Sequence[Vec]]) -> Vec:
    """sum w_k w_l v_kl for v_kl = v_lk: each pair once."""
    total = ZERO
    for k, w in enumerate(weights):
        half = scale(0.5 * w, vectors[k][k])
        total = add(total, scale(w, add(half, combination(weights[:k], vectors[k][:k]))))
    return scale(2.0, total)


def mat_combination(weights: Sequence[Scalar], matrices: Sequence[Mat]) -> Mat:
    """sum w_k M_k."""
    rows = [combination(weights, [m[i] for m in matrices]) for i in range(3)]
    return (rows[0], rows[1], rows[2])


def mat_add(a: Mat, b: Mat) -> Mat:
    """A + B."""
    return (add(a[0], b[0]), add(a[1], b[1]), add(a[2], b[2]))


def vee(m: Mat) -> Vec:
    """The vector of the antisymmetric part: int rho r x (X r) for M = int rho (X r) r^T."""
    return (m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1])


def contraction(a: Mat, b: Mat) -> Scalar:
    """sum A_ij B_ij."""
    return dot(a[0], b[0]) + dot(a[1], b[1]) + dot(a[2], b[2])


@dataclass(frozen=True, eq=False)
class FrameMotion:
    """Motion of a link in its own axes, gravity taken off: w, its rate alpha, the origin's acceleration a, and
    K = [alpha]x + [w]x [w]x."""

    w: Vec
    alpha: Vec
    a: Vec
    K: Mat


@dataclass(frozen=True, eq=False)
class MemberShape(ABC):
    """What a link knows of the member on it: so many coordinates, mass [kg], stiffness and damping over them."""

    modes: int
    mass: float
    stiffness: tuple[tuple[float, ...], ...]
    damping: tuple[tuple[float, ...], ...]

    @property
    @abstractmethod
    def has_constant_masses(self) -> bool:
        """Whether the masses of the coordinates are plain numbers, whatever the deformation."""

    @abstractmethod
    def deformed(self, eta: Sequence[Scalar]) -> DeformedMember:
        """The member at coordinates eta."""


class DeformedMember(ABC):
    """A member in its present shape: mass matrix of its frame's motion and its coordinates, and forces.

    P: Momentum of a unit rate of each coordinate, moment and force on the frame.
    """

    shape: MemberShape
    eta: tuple[Scalar, ...]
    P: Sequence[tuple[Vec, Vec]]

    @abstractmethod
    def inertia(self) -> Inertia:
        """The member as if frozen in its present shape."""

    @abstractmethod
    def modal_mass(self, k: int, j: int) -> Scalar:
        """m_kj."""

    @abstractmethod
    def force(
        self, motion: FrameMotion, rates: Sequence[Scalar], accelerations: Sequence[Scalar]
    ) -> tuple[tuple[Vec, Vec], list[Scalar]]:
        """Wrench on the frame, and forces on the coordinates, of the accelerated member."""

    def kinetic(self, w: Vec, v: Vec, rates: Sequence[Scalar]) -> Scalar:
        """Kinetic energy [J] for the frame's motion and modal rates."""
        n, f = self.inertia().momentum(w, v)
        energy = 0.5 * (dot(n, w) + dot(f, v))
        for k, rate in enumerate(rates):
            turn, push = self.P[k]
            energy = energy + rate * (dot(turn, w) + dot(push, v))
            for j, other in enumerate(rates):
                energy = energy + 0.5 * self.modal_mass(k, j) * (rate * other)
        return energy

    def elastic_forces(self, rates: Sequence[Scalar]) -> list[Scalar]:
        """- K eta - D eta-dot."""
        shape = self.shape
        forces: list[Scalar] = []
        for k in range(shape.modes):
            total: Scalar = 0.0
            for j in range(shape.modes):
                total = total - shape.stiffness[k][j] * self.eta[j] - shape.damping[k][j] * rates[j]
            forces.append(total)
        return forces

    def strain_energy(self) -> Scalar:
        """1/2 eta K eta [J]."""
        total: Scalar = 0.0
        for k, row in enumerate(self.shape.stiffness):
            for j, stiffness in enumerate(row):
                total = total + 0.5 * stiffness * (self.eta[k] * self.eta[j])
        return total


@dataclass(frozen=True, eq=False)
class NodePlace(ABC):
    """A node of a member, undeformed at s0."""

    s0: Vec

    @abstractmethod
    def pose(self, eta: Sequence[Scalar], inverse: bool) -> MovedNode:
        """The node against the member's frame at coordinates eta; `inverse`: the frame against the node."""


class MovedNode(ABC):
    """A node's place and axes against its member's frame: R, r, or those of the frame against the node.

    s: The node's place in the frame's axes. straight: Whether R is known to be the identity.
    """

    R: Mat
    r: Vec
    s: Vec
    straight: bool

    @abstractmethod
    def columns(self) -> list[tuple[Vec, Vec]]:
        """For each coordinate the angular velocity and velocity of the outer frame, in its own axes."""

    @abstractmethod
    def bias(self, rates: Sequence[Scalar]) -> tuple[Vec, Vec]:
        """Rates of the outer frame's motion, in its own axes, while the rates of the coordinates stay constant."""


@dataclass(frozen=True, eq=False)
class Shape(MemberShape):
    """The integrals of a member as plain numbers in scalars' form.

    c, G, GG: Over the modal coordinates and those that follow them. B: zeta_r = 1/2 B_rkl eta_k eta_l. H: Strain
    energy 1/2 sum (1/2 H_skl eta_k eta_l)^2 of the second-order curvature.
    """

    h0: Vec
    J0: Mat
    c: tuple[Vec, ...]
    G: tuple[Mat, ...]
    GG: tuple[tuple[Mat, ...], ...]
    B: tuple[tuple[tuple[float, ...], ...], ...]
    H: tuple[tuple[tuple[float, ...], ...], ...]

    @property
    def has_constant_masses(self) -> bool:
        """Of modal coordinates and of those that follow them."""
        return True

    def mass_of(self, k: int, j: int) -> float:
        """int rho of the product of two shapes, following ones included."""
        g = self.GG[k][j]
        return float(g[0][0] + g[1][1] + g[2][2])

    def deformed(self, eta: Sequence[Scalar]) -> Deformed:
        """The member at modal coordinates eta."""
        return Deformed(self, eta)

    @staticmethod
    def of(member: Member) -> Shape:
        """From a reduced member; entries that are only rounding are dropped, so that they fold.

        What is rounding is judged with every mode scaled to unit modal mass: users may scale modes as they like.
        """
        import numpy as np

        n = member.modes
        own = np.sqrt(np.einsum("kkii->k", np.asarray(member.modal_coupling, dtype=float)))
        own = np.where(own > 0.0, own, 1.0)
        stiff = np.sqrt(np.abs(np.diag(member.stiffness)))
        stiff = np.where(stiff > 0.0, stiff, own)

        def clean(a: Any, *scales: Any) -> Any:
            a = np.array(a, dtype=float)
            level = np.ones(a.shape)
            for axis, one in enumerate(scales):
                level *= np.reshape(one, [-1 if i == axis else 1 for i in range(a.ndim)])
            size = np.abs(a) / level
            a[size < 1e-14 * max(size.max(initial=0.0), 1e-300)] = 0.0
            return a

        def m(a: Any) -> Mat:
            return (_vec(a[0]), _vec(a[1]), _vec(a[2]))

        def forms(a: Any) -> tuple[tuple[tuple[float, ...], ...], ...]:
            return tuple(tuple(tuple(float(x) for x in row) for row in one) for one in a)

        B, c, G, GG = _followed(member)
        own_too = np.concatenate([own, np.ones(len(B))])
        B = clean(B, np.ones(len(B)), own, own)
        c, G, GG = clean(c, own_too), clean(G, own_too), clean(GG, own_too, own_too)
        K, D = clean(member.stiffness, stiff, stiff), clean(member.damping, stiff, stiff)
        every = range(n + len(B))
        return Shape(
            n,
            float(member.mass),
            tuple(tuple(float(x) for x in row) for row in K),
            tuple(tuple(float(x) for x in row) for row in D),
            _vec(clean(member.first_moment)),
            m(clean(member.second_moment)),
            tuple(_vec(c[k]) for k in every),
            tuple(m(G[k]) for k in every),
            tuple(tuple(m(GG[k, j]) for j in every) for k in every),
            forms(B),
            forms(clean(member.curving, np.ones(len(member.curving)), stiff, stiff)),
        )


def _followed(member: Member) -> tuple[Any, Any, Any, Any]:
    """B, and c, G, GG over the modes and the affine second-order shapes psi."""
    import numpy as np

    n = member.modes
    c, G, GG = (np.asarray(x, dtype=float) for x in (member.momentum, member.coupling, member.modal_coupling))
    h, J = np.asarray(member.first_moment, float), np.asarray(member.second_moment, float)
    # Products of 1, x, y, z over the mass; with those of Gamma, of the modes and of the places.
    gram = np.block([[np.full((1, 1), float(member.mass)), h[None, :]], [h[:, None], J]])
    gamma = np.concatenate([member.shortening_momentum[..., None], member.shortening_coupling], axis=-1)
    modes = np.concatenate([c[..., None], G], axis=-1)
    functions = _orthonormal(gram)
    B, axes, rows = [], [], []
    for i in range(3):
        found = np.einsum("ra,kla->rkl", functions, gamma[:, :, i])
        for row, one in zip(functions, found, strict=True):
            if one.any():
                B.append(one)
                axes.append(i)
                rows.append(row)
    if not B:
        return np.zeros((0, n, n)), c, G, GG
    e, f = np.eye(3)[axes], np.array(rows)
    mean, spread = f @ gram[:, 0], f @ gram[:, 1:]
    mixed = np.einsum("ri,kja,ra->rkij", e, modes, f)
    count = n + len(B)
    whole = np.zeros((count, count, 3, 3))
    whole[:n, :n] = GG
    whole[n:, :n], whole[:n, n:] = mixed, mixed.transpose(1, 0, 3, 2)
    whole[n:, n:] = np.einsum("ri,sj,ra,ab,sb->rsij", e, e, f, gram, f)
    return (
        np.array(B),
        np.concatenate([c, e * mean[:, None]]),
        np.concatenate([G, np.einsum("ri,rj->rij", e, spread)]),
        whole,
    )


def _orthonormal(gram: Any) -> Any:
    """Functions 1, x, y, z made orthonormal one after another, as rows; those without mass are dropped.

    A slender body's y and z are not: its axis has no extent there, and what its sections have is no part of Gamma.
    """
    import numpy as np

    rows: list[Any] = []
    for one in np.eye(4):
        square = one @ gram @ one
        for _ in range(2):
            for row in rows:
                one = one - (row @ gram @ one) * row
        left = one @ gram @ one
        if left > 1e-12 * square:
            rows.append(one / np.sqrt(left))
    return np.array(rows)


class Deformed(DeformedMember):
    """A member's inertia at modal coordinates eta."""

    shape: Shape

    def __init__(self, shape: Shape, eta: Sequence[Scalar]) -> None:
        self.shape, self.eta = shape, tuple(eta)
        self.J = [[_sum(row, eta) for row in one] for one in shape.B]
        follow = [0.5 * _sum(row, eta) for row in self.J]
        self.q = (*self.eta, *follow)
        every = range(len(self.q))
        self.E = [mat_add(shape.G[k], mat_combination(self.q, shape.GG[k])) for k in every]
        self.every_P = [(vee(self.E[k]), shape.c[k]) for k in every]
        self.P = [self._wrench(k) for k in range(shape.modes)]

    def _wrench(self, k: int) -> tuple[Vec, Vec]:
        turn, push = self.every_P[k]
        for row, (t, p) in zip(self.J, self.every_P[self.shape.modes :], strict=True):
            turn, push = add(turn, scale(row[k], t)), add(push, scale(row[k], p))
        return turn, push

    def inertia(self) -> Inertia:
        """The member as if frozen in its present shape."""
        shape, every = self.shape, range(len(self.q))
        # h = h0 + c q; J = J0 + sym(G q) + GG q q
        h = add(shape.h0, combination(self.q, shape.c))
        part = mat_combination([0.5 * e for e in self.q], [mat_add(shape.G[k], self.E[k]) for k in every])
        J = mat_add(shape.J0, mat_add(part, transpose(part)))
        six: Symmetric = (J[0][0], J[1][1], J[2][2], J[0][1], J[0][2], J[1][2])
        return Inertia(shape.mass, h, six)

    def elastic_forces(self, rates: Sequence[Scalar]) -> list[Scalar]:
        """- K eta - D eta-dot - sum_s chi_s H_s eta, chi_s = 1/2 eta^T H_s eta."""
        forces = super().elastic_forces(rates)
        for one in self.shape.H:
            bent = [_sum(row, self.eta) for row in one]
            chi = 0.5 * _sum(bent, self.eta)
            forces = [f - chi * b for f, b in zip(forces, bent, strict=True)]
        return forces

    def strain_energy(self) -> Scalar:
        """1/2 eta K eta + 1/2 sum_s chi_s^2 [J]."""
        total = super().strain_energy()
        for one in self.shape.H:
            chi = 0.5 * _sum([_sum(row, self.eta) for row in one], self.eta)
            total = total + 0.5 * (chi * chi)
        return total

    def modal_mass(self, k: int, j: int) -> Scalar:
        """m_kj."""
        shape, n = self.shape, self.shape.modes
        total: Scalar = shape.mass_of(k, j)
        for r, row in enumerate(self.J):
            total = total + shape.mass_of(n + r, k) * row[j] + shape.mass_of(n + r, j) * row[k]
            for s, other in enumerate(self.J):
                total = total + shape.mass_of(n + r, n + s) * (row[k] * other[j])
        return total

    def force(
        self, motion: FrameMotion, rates: Sequence[Scalar], accelerations: Sequence[Scalar]
    ) -> tuple[tuple[Vec, Vec], list[Scalar]]:
        """Wrench on the floating frame and modal forces of the accelerated member.

        n = h x a + vee(K J + 2 [w]x D + E), f = m a + K h + 2 w x (c q-dot) + c q-ddot,
        Q_k = c_k . a + K : E_k + 2 [w]x : (GG_kl q_l-dot) + m_kl q_l-ddot, over all coordinates q = (eta, zeta).
        """
        shape, every = self.shape, range(len(self.q))
        w, a, K = motion.w, motion.a, motion.K
        speeds = [*rates, *(_sum(row, rates) for row in self.J)]
        gains = [*accelerations]
        for row, one in zip(self.J, shape.B, strict=True):
            gains.append(_sum(row, accelerations) + _sum(rates, [_sum(x, rates) for x in one]))
        moment, push = self.inertia().force(a, K)
        relative = combination(speeds, shape.c)
        push = add(push, add(scale(2.0, cross(w, relative)), combination(gains, shape.c)))
        W: Mat = ((0.0, -w[2], w[1]), (w[2], 0.0, -w[0]), (-w[1], w[0], 0.0))
        D = mat_combination([2.0 * r for r in speeds], self.E)
        turned = [[dot(W[i], (D[0][j], D[1][j], D[2][j])) for j in range(3)] for i in range(3)]
        Y = mat_add(_mat(turned), mat_combination(gains, self.E))
        forces: list[Scalar] = []
        for k in every:
            spin = mat_combination(speeds, shape.GG[k])
            force = dot(shape.c[k], a) + contraction(K, self.E[k]) + 2.0 * dot(w, vee(spin))
            for j in every:
                force = force + shape.mass_of(k, j) * gains[j]
            forces.append(force)
        modal = forces[: shape.modes]
        for row, force in zip(self.J, forces[shape.modes :], strict=True):
            modal = [own + x * force for own, x in zip(modal, row, strict=True)]
        return (add(moment, vee(Y)), push), modal


def _sum(weights: Sequence[Scalar], values: Sequence[Scalar]) -> Scalar:
    total: Scalar = 0.0
    for w, v in zip(weights, values, strict=True):
        total = total + w * v
    return total


def _mat(rows: Sequence[Sequence[Scalar]]) -> Mat:
    first, second, third = ((row[0], row[1], row[2]) for row in rows)
    return (first, second, third)


@dataclass(frozen=True, eq=False)
class NodeShape(NodePlace):
    """How a node moves with the modal coordinates."""

    shift: tuple[Vec, ...]
    turn: tuple[Vec, ...]
    bend: tuple[tuple[Vec, ...], ...]

    @staticmethod
    def of(node: Node) -> NodeShape:
        """From a member's node."""
        n = node.translation.shape[1]
        return NodeShape(
            _vec(node.position),
            tuple(_vec(node.translation[:, k]) for k in range(n)),
            tuple(_vec(node.rotation[:, k]) for k in range(n)),
            tuple(tuple(_vec(node.shortening[:, k, j]) for j in range(n)) for k in range(n)),
        )

    def pose(self, eta: Sequence[Scalar], inverse: bool) -> NodePose:
        """The node at modal coordinates eta."""
        return NodePose(self, eta, inverse)


class NodePose(MovedNode):
    """A node's place, axes and motion against the floating frame, or the frame's against the node."""

    def __init__(self, shape: NodeShape, eta: Sequence[Scalar], inverse: bool) -> None:
        self.shape, self.eta, self.inverse = shape, tuple(eta), inverse
        n = range(len(self.eta))
        self.shift = [add(shape.shift[k], combination(eta, shape.bend[k])) for k in n]
        half = [scale(0.5, add(shape.shift[k], self.shift[k])) for k in n]
        self.s = add(shape.s0, combination(eta, half))
        self.g = scale(0.5, combination(eta, shape.turn))
        self.straight = all(is_zero(t) for t in shape.turn)
        self.k: Scalar = 1.0 if self.straight else 1.0 / (1.0 + dot(self.g, self.g))
        R = UNIT if self.straight else _cayley(self.g, self.k)
        self.R_node = R
        self.R = transpose(R) if inverse else R
        self.r = neg(times(self.R, self.s)) if inverse else self.s
        self._columns: list[tuple[Vec, Vec]] | None = None

    def columns(self) -> list[tuple[Vec, Vec]]:
        """For each mode the angular velocity and velocity of the outer frame, in its own axes."""
        if self._columns is None:
            self._columns = self._make_columns()
        return self._columns

    def _make_columns(self) -> list[tuple[Vec, Vec]]:
        found = []
        for turn, shift in zip(self.shape.turn, self.shift, strict=True):
            lean = scale(self.k, add(turn, cross(self.g, turn)))
            if self.inverse:
                found.append((neg(lean), sub(cross(lean, self.s), shift)))
            else:
                back = transpose(self.R_node)
                found.append((times(back, lean), times(back, shift)))
        return found

    def bias(self, rates: Sequence[Scalar]) -> tuple[Vec, Vec]:
        """Rates of the outer frame's motion, in its own axes, while the modal rates stay constant."""
        theta = combination(rates, self.shape.turn)
        slide = combination(rates, self.shift)
        bent = quadratic(rates, self.shape.bend)
        w = scale(self.k, add(theta, cross(self.g, theta)))
        # d/dt of k (theta' + g x theta') at constant theta' is (k'/k) w with k' = -2 k^2 g . g'
        dw = scale(-(self.k * dot(self.g, theta)), w)
        if self.inverse:
            dv = sub(add(cross(dw, self.s), cross(w, slide)), bent)
            return neg(dw), dv
        back = transpose(self.R_node)
        turned, v = times(back, w), times(back, slide)
        return times(back, dw), sub(times(back, bent), cross(turned, v))


def _cayley(g: Vec, k: Scalar) -> Mat:
    """1 + 2 k ([g]x + [g]x [g]x): the rotation with Rodrigues vector g."""
    x, y, z = g
    two = 2.0 * k
    return (
        (1.0 - two * (y * y + z * z), two * (x * y - z), two * (x * z + y)),
        (two * (x * y + z), 1.0 - two * (x * x + z * z), two * (y * z - x)),
        (two * (x * z - y), two * (y * z + x), 1.0 - two * (x * x + y * y)),
    )
