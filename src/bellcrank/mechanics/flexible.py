"""Flexible links: a frame with coordinates of deformation; here modal ones (Ahn and Lee 1994, equations 1 to 7 and 16
to 18).

What the recursion needs of any member is said by the abstract classes; rods are in :mod:`bellcrank.mechanics.rods`.

A point of the member is s = s0 + sum phi_k eta_k + 1/2 sum Gamma_kl eta_k eta_l in the axes of the floating frame;
Gamma is the second-order displacement (foreshortening) that stiffens the member under axial and inertial
loads. All inertia terms follow from a few integrals over the member, each a power of eta:

    h = int rho s,  J = int rho s s^T,  c_k = int rho ds/deta_k,  E_k = int rho (ds/deta_k) s^T.

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
    """sum w_k v_k."""
    total = ZERO
    for w, v in zip(weights, vectors, strict=True):
        total = add(total, scale(w, v))
    return total


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
    """The integrals of a member as plain numbers in scalars' form."""

    h0: Vec
    J0: Mat
    c: tuple[Vec, ...]
    G: tuple[Mat, ...]
    GG: tuple[tuple[Mat, ...], ...]
    c2: tuple[tuple[Vec, ...], ...]
    A: tuple[tuple[Mat, ...], ...]

    @property
    def has_constant_masses(self) -> bool:
        """Products of the second-order displacements are left out, and with them all that would change."""
        return True

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

        GG, c2, A = (
            clean(member.modal_coupling, own, own),
            clean(member.shortening_momentum, own, own),
            clean(member.shortening_coupling, own, own),
        )
        c, G = clean(member.momentum, own), clean(member.coupling, own)
        K, D = clean(member.stiffness, stiff, stiff), clean(member.damping, stiff, stiff)
        return Shape(
            n,
            float(member.mass),
            tuple(tuple(float(x) for x in row) for row in K),
            tuple(tuple(float(x) for x in row) for row in D),
            _vec(clean(member.first_moment)),
            m(clean(member.second_moment)),
            tuple(_vec(c[k]) for k in range(n)),
            tuple(m(G[k]) for k in range(n)),
            tuple(tuple(m(GG[k, j]) for j in range(n)) for k in range(n)),
            tuple(tuple(_vec(c2[k, j]) for j in range(n)) for k in range(n)),
            tuple(tuple(m(A[k, j]) for j in range(n)) for k in range(n)),
        )


class Deformed(DeformedMember):
    """A member's inertia at modal coordinates eta."""

    shape: Shape

    def __init__(self, shape: Shape, eta: Sequence[Scalar]) -> None:
        self.shape, self.eta = shape, tuple(eta)
        n = range(shape.modes)
        self.c = [add(shape.c[k], combination(eta, shape.c2[k])) for k in n]
        linear = [mat_combination(eta, [mat_add(shape.GG[k][j], shape.A[k][j]) for j in n]) for k in n]
        self.E = [mat_add(shape.G[k], linear[k]) for k in n]
        self.P = [(vee(self.E[k]), self.c[k]) for k in n]

    def inertia(self) -> Inertia:
        """The member as if frozen in its present shape."""
        shape, eta, n = self.shape, self.eta, range(self.shape.modes)
        # h = h0 + c eta + 1/2 c2 eta eta; J = J0 + sym(G eta) + GG eta eta + sym(1/2 A eta eta)
        half = [scale(0.5, add(shape.c[k], self.c[k])) for k in n]
        h = add(shape.h0, combination(eta, half))
        part = mat_combination([0.5 * e for e in eta], [mat_add(shape.G[k], self.E[k]) for k in n])
        J = mat_add(shape.J0, mat_add(part, transpose(part)))
        six: Symmetric = (J[0][0], J[1][1], J[2][2], J[0][1], J[0][2], J[1][2])
        return Inertia(shape.mass, h, six)

    def modal_mass(self, k: int, j: int) -> float:
        """m_kj."""
        g = self.shape.GG[k][j]
        return float(g[0][0] + g[1][1] + g[2][2])

    def force(
        self, motion: FrameMotion, rates: Sequence[Scalar], accelerations: Sequence[Scalar]
    ) -> tuple[tuple[Vec, Vec], list[Scalar]]:
        """Wrench on the floating frame and modal forces of the accelerated member.

        n = h x a + vee(K J + 2 [w]x D + E), f = m a + K h + 2 w x (c eta-dot) + c eta-ddot + c2 eta-dot eta-dot,
        Q_k = c_k . a + K : E_k + 2 [w]x : (GG_kl eta_l-dot) + m_kl eta_l-ddot.
        """
        shape, n = self.shape, range(self.shape.modes)
        w, a, K = motion.w, motion.a, motion.K
        moment, push = self.inertia().force(a, K)
        relative = combination(rates, self.c)
        second = quadratic(rates, shape.c2)
        push = add(push, add(scale(2.0, cross(w, relative)), add(combination(accelerations, self.c), second)))
        W: Mat = ((0.0, -w[2], w[1]), (w[2], 0.0, -w[0]), (-w[1], w[0], 0.0))
        D = mat_combination([2.0 * r for r in rates], self.E)
        turned = [[dot(W[i], (D[0][j], D[1][j], D[2][j])) for j in range(3)] for i in range(3)]
        Y = mat_add(_mat(turned), mat_combination(accelerations, self.E))
        Y = mat_add(Y, _mat([quadratic(rates, [[m[i] for m in row] for row in shape.A]) for i in range(3)]))
        modal: list[Scalar] = []
        for k in n:
            spin = mat_combination(rates, shape.GG[k])
            force = dot(self.c[k], a) + contraction(K, self.E[k]) + 2.0 * dot(w, vee(spin))
            for j in n:
                force = force + self.modal_mass(k, j) * accelerations[j]
            modal.append(force)
        return (add(moment, vee(Y)), push), modal


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
