"""Equations of the constraints beside joints, on jets; those of velocities as rows whose rate they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.program.graph import Graph
from reference.jets import Jet, evaluate, stack

if TYPE_CHECKING:
    from reference.engine import Engine


def rate(x: Jet) -> Jet:
    """The rate of a jet and its own rate; what comes after is not known."""
    return Jet(x.f1, x.f2)


def dot(a: Jet, b: Jet) -> Jet:
    return a[:, 0] * b[:, 0] + a[:, 1] * b[:, 1] + a[:, 2] * b[:, 2]


def cross(a: Jet, b: Jet) -> Jet:
    x, y, z = (a[:, i] * b[:, j] - a[:, j] * b[:, i] for i, j in ((1, 2), (2, 0), (0, 1)))
    return stack([x, y, z])


def times(a: Jet, factor: Any) -> Jet:
    return stack([a[:, i] * factor for i in range(3)])


def turning(R: Jet) -> Jet:
    """Angular velocity of R: R-dot R^T is its skew matrix."""
    W = rate(R) @ R.transposed
    return stack([W[:, 2, 1], W[:, 0, 2], W[:, 1, 0]])


def of_velocities(values: list[Jet]) -> list[Jet]:
    """Rows whose rates are these values, so that Jacobian and acceleration follow as for positions."""
    return [Jet(np.zeros_like(x.f), x.f, x.f1) for x in values]


def described_rows(engine: Engine, item: Any) -> tuple[Jet, list[tuple[str, str, Jet]]]:
    """Rows of a constraint and the bodies its unit twists belong to."""
    if item.kind == "transmission":
        (joint_a, name_a), (joint_b, name_b) = item.a, item.b
        x = engine.coordinate(joint_b, name_b)
        parts = []
        for joint, part in (
            (joint_a, engine.coordinate(joint_a, name_a)),
            (joint_b, -_through(item.function, x)),
        ):
            parts.append((joint.a.body.name, joint.b.body.name, stack([part])))
        return stack([engine.coordinate(joint_a, name_a) - _through(item.function, x)]), parts
    rows = stack(_rows(engine, item))
    return rows, [(item.a.body.name, item.b.body.name, rows)]


def _through(function: Any, *values: Jet) -> Jet:
    inputs = [Graph().input("reference 0")]
    inputs += [inputs[0].graph.input(f"reference {k}") for k in range(1, len(values))]
    return evaluate(function(*inputs), {f"reference {k}": x for k, x in enumerate(values)})


def _rows(engine: Engine, item: Any) -> list[Jet]:
    d, C = engine.relative(item.a, item.b)
    match item.kind:
        case "curve_on_curve":
            # An ellipse and a straight line, its normal y of frame b: the line is as far from the centre as the
            # ellipse reaches along its normal.
            ellipse = item.curve_a.function
            x, y = C[:, 0, 1], C[:, 1, 1]
            reach = (x * x * ellipse.a**2 + y * y * ellipse.b**2).sqrt()
            return [d[:, 0] * x + d[:, 1] * y - reach]
        case "point_on_line":
            return [d[:, 0], d[:, 1]]
        case "point_on_plane":
            return [d[:, 2]]
        case "point_on_surface":
            return [_through(item.surface, d[:, 0], d[:, 1], d[:, 2])]
        case "parallel":
            return [C[:, 0, 2], C[:, 1, 2]]
        case "perpendicular":
            return [C[:, 2, 2]]
        case "constant_velocity":
            return [C[:, 0, 1] - C[:, 1, 0]]
    r_a, R_a = engine.frame(item.a, 0)
    r_b, R_b = engine.frame(item.b, 1)
    slip = rate(r_b) - rate(r_a)
    axis = None
    if item.axis is not None:
        of_body = np.asarray(item.b.rotation, dtype=float).T @ np.asarray(item.axis, dtype=float)
        axis = stack(
            [sum((R_b[:, i, j] * float(of_body[j]) for j in range(3)), Jet(np.zeros(13))) for i in range(3)]
        )
    if item.kind == "knife_edge":
        assert axis is not None
        return of_velocities([dot(axis, slip - cross(turning(R_a), r_b - r_a))])
    # Rolling: over the plane the wheel's centre is as high as its rim reaches down; its lowest point does not slip.
    radius, rim = float(item.radius), float(item.rim)
    n = R_a[:, :, 2]
    if item.surface is not None and axis is not None:
        # A wheel on a globe: the rim is nearest where its arm lies in the plane of axis and middle of the globe.
        to_middle = r_a - r_b
        arm = to_middle - times(axis, dot(axis, to_middle))
        arm = times(arm, radius * dot(arm, arm).sqrt().reciprocal())
        out = arm - to_middle
        far = dot(out, out).sqrt()
        n = times(out, far.reciprocal())
        height, down = far - item.surface.function.radius - rim, arm - times(n, rim)
    elif item.surface is not None:
        slopes = []
        for k in range(3):
            h = 1e-6
            at = [d[:, i] for i in range(3)]
            up, down = (
                _through(item.surface, *(x + s * (i == k) for i, x in enumerate(at))) for s in (h, -h)
            )
            slopes.append((up - down) * (0.5 / h))
        n = stack([sum((R_a[:, i, j] * slopes[j] for j in range(3)), Jet(np.zeros(13))) for i in range(3)])
        height = _through(item.surface, d[:, 0], d[:, 1], d[:, 2]) - radius
        down = times(n, -radius)
    elif axis is None:
        height, down = d[:, 2] - radius, times(n, -radius)
    else:
        sine = dot(axis, n)
        reach = (1.0 - sine * sine).sqrt()
        height = d[:, 2] - reach * radius - rim
        down = times(n - times(axis, sine), -1.0 * radius * reach.reciprocal()) - times(n, rim)
    lowest = r_b + down
    slip = slip + cross(turning(R_b), down) - cross(turning(R_a), lowest - r_a)
    first = cross(n, Jet(np.broadcast_to(np.array([0.6, -0.3, 0.5]), (13, 3))))
    return [height, *of_velocities([dot(first, slip), dot(cross(n, first), slip)])]
