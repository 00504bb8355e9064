"""Random programs that are well conditioned, so that different roundings stay close, and a long chain."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from bellcrank.program.functions import atan2, cos, gather, interval, maximum, minimum, sin, sqrt, where
from bellcrank.program.graph import Graph
from bellcrank.program.program import Program
from bellcrank.program.trace import Scalar, compare, function, logical_not, power

N_IN = 5

SMOOTH = {
    "add": lambda a, b, c: a + b,
    "sub": lambda a, b, c: a - b,
    "mul": lambda a, b, c: 0.5 * a * b,
    "dot": lambda a, b, c: function("tanh", a * b - b * c + 0.25 * a),
    "neg": lambda a, b, c: -a,
    "div": lambda a, b, c: a / (1.5 + b * b),
    "sin": lambda a, b, c: sin(a),
    "cos": lambda a, b, c: cos(a + b),
    "tanh": lambda a, b, c: function("tanh", a),
    "atan": lambda a, b, c: function("atan", a),
    "sqrt": lambda a, b, c: sqrt(1.0 + a * a),
    "exp": lambda a, b, c: function("exp", function("tanh", a)),
    "log": lambda a, b, c: function("log", 1.5 + a * a),
    "pow": lambda a, b, c: power(1.0 + a * a, function("tanh", b)),
    "asin": lambda a, b, c: function("asin", 0.9 * sin(a)),
    "acos": lambda a, b, c: function("acos", 0.9 * sin(a)),
    "sinh": lambda a, b, c: function("sinh", function("tanh", a)),
    "cosh": lambda a, b, c: function("cosh", function("tanh", a)),
    "tan": lambda a, b, c: function("tan", function("tanh", a)),
}
CORNERED = {
    "min": lambda a, b, c: minimum(a, b),
    "max": lambda a, b, c: maximum(a, b),
    "floor of nothing near": lambda a, b, c: maximum(a, -0.5) + minimum(b, 0.25),
    "abs": lambda a, b, c: abs(a),
    "atan2": lambda a, b, c: atan2(a, 1.5 + b * b),
}


@st.composite
def programs(draw: st.DrawFn, smooth: bool = False, longest: int = 40) -> Program:
    """A program of N_IN inputs; conditions and table look-ups are on the inputs themselves."""
    graph = Graph()
    inputs = [graph.input(f"x{k}") for k in range(N_IN)]
    values: list[Scalar] = [*inputs, 0.75]
    rules = SMOOTH if smooth else SMOOTH | CORNERED
    names = sorted(rules) + ([] if smooth else ["where", "table"])
    for _ in range(draw(st.integers(1, longest))):
        name = draw(st.sampled_from(names))
        a, b, c = (values[draw(st.integers(0, len(values) - 1))] for _ in range(3))
        p, q = (inputs[draw(st.integers(0, N_IN - 1))] for _ in range(2))
        if name == "where":
            either = (compare("lt", p, q) | compare("le", q, 0.5)) & logical_not(compare("eq", p, 0.0))
            values.append(where(either, a, b))
        elif name == "table":
            values.append(gather(interval(p, [-1.0, -0.25, 0.5, 0.75, 2.0]), [3.0, 1.0, -2.0, 0.5]) * a)
        else:
            values.append(rules[name](a, b, c))
    return Program.of(inputs, values[-6:])


states = st.lists(
    st.lists(st.floats(-2.0, 2.0, width=32), min_size=N_IN, max_size=N_IN), min_size=1, max_size=6
)


def close(a, b, tolerance=1e-9):
    """Equal up to the rounding of a well conditioned program."""
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def chain(links: int) -> Program:
    """Joint torques of an open chain by Newton and Euler: about 220 operations a link."""
    rng = np.random.default_rng(7)
    graph = Graph()
    q = [graph.input(f"q{k}") for k in range(links)]
    u = [graph.input(f"u{k}") for k in range(links)]

    def cross(a, b):
        return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]

    def plus(*vectors):
        return [sum(parts[1:], parts[0]) for parts in zip(*vectors, strict=True)]

    def turned(m, v):
        return [m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2] for i in range(3)]

    spin, rate, pull = [0.0] * 3, [0.0] * 3, [0.0, 0.0, 9.81]
    turns, arms, forces, moments = [], [], [], []
    for k in range(links):
        fixed = np.linalg.qr(rng.normal(size=(3, 3)))[0].tolist()
        arm, centre = rng.normal(size=3).tolist(), rng.normal(size=3).tolist()
        inertia = np.diag(rng.uniform(1.0, 2.0, 3)).tolist()
        c, s = cos(q[k]), sin(q[k])
        turn = [[row[0] * c + row[1] * s, row[1] * c - row[0] * s, row[2]] for row in fixed]
        back = [list(column) for column in zip(*turn, strict=True)]
        pull = turned(back, plus(pull, cross(rate, arm), cross(spin, cross(spin, arm))))
        spin = turned(back, spin)
        rate = plus(turned(back, rate), cross(spin, [0.0, 0.0, u[k]]))
        spin = [spin[0], spin[1], spin[2] + u[k]]
        force = plus(pull, cross(rate, centre), cross(spin, cross(spin, centre)))
        forces.append(force)
        angular = cross(spin, turned(inertia, spin))
        moments.append(plus(turned(inertia, rate), angular, cross(centre, force)))
        turns.append(turn)
        arms.append(arm)
    force, moment = [0.0] * 3, [0.0] * 3
    torques = []
    for k in reversed(range(links)):
        force, moment = plus(force, forces[k]), plus(moment, moments[k])
        torques.append(moment[2])
        force = turned(turns[k], force)
        moment = plus(turned(turns[k], moment), cross(arms[k], force))
    return Program.of([*q, *u], torques[::-1], "chain")
