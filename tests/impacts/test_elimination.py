"""Sparse elimination over graphs, against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank.impacts.elimination import (
    Elimination,
    block_of,
    clear,
    elimination_of,
    factorise,
    order_nodes,
    reduce,
    substitute,
)
from bellcrank.program.loops import Ints, Ints2, Reals, Reals2, compiled, entry


@compiled
def put(e: Elimination, first: Ints, joins: Ints2, listed: Ints, A: Reals2, nodes: int) -> None:
    """Put the blocks of a matrix into panels."""
    clear(e, first, nodes)
    for a in range(len(first) - 1):
        for b in range(len(first) - 1):
            joined = False
            for j in range(len(listed)):
                i, k = joins[listed[j], 0], joins[listed[j], 1]
                if (a - i) * (a - k) == 0 and (b - i) * (b - k) == 0:
                    joined = True
            if joined:
                at, down, along = block_of(e, first, a, b)
                for i in range(first[a + 1] - first[a]):
                    for k in range(first[b + 1] - first[b]):
                        e.values[at + i * down + k * along] = A[first[a] + i, first[b] + k]


@entry
def solve(e: Elimination, first: Ints, joins: Ints2, listed: Ints, A: Reals2, x: Reals) -> int:
    """Put the blocks of a matrix into panels, and solve; the number of nodes."""
    nodes = order_nodes(e, first, joins, listed, 0, len(listed))
    if nodes <= 0:
        return nodes
    put(e, first, joins, listed, A, nodes)
    if not factorise(e, first, 0, nodes):
        return 0
    reduce(e, first, 0, nodes, x)
    if not substitute(e, first, 0, nodes, x):
        return 0
    return nodes


@entry
def condense(
    e: Elimination, first: Ints, joins: Ints2, listed: Ints, A: Reals2, late: Reals2, more: Reals, x: Reals
) -> int:
    """Eliminate all but the late nodes, add to what is left of them, and solve; the first late node."""
    nodes = order_nodes(e, first, joins, listed, 0, len(listed))
    start = 0
    while e.late[e.order[start]] == 0:
        start += 1
    put(e, first, joins, listed, A, nodes)
    if not factorise(e, first, 0, start):
        return -1
    reduce(e, first, 0, start, x)
    for n in range(start, nodes):
        node = e.order[n]
        at, down, along = block_of(e, first, node, node)
        for i in range(first[node + 1] - first[node]):
            x[first[node] + i] += more[first[node] + i]
            for k in range(first[node + 1] - first[node]):
                e.values[at + i * down + k * along] += late[first[node] + i, first[node] + k]
    if not factorise(e, first, start, nodes):
        return -1
    reduce(e, first, start, nodes, x)
    if not substitute(e, first, 0, nodes, x):
        return -1
    return start


def graph(seed: int, nodes: int, joins: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes of one to seven unknowns, random joins, some of them with the ground, and a matrix of their pattern."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 8, nodes)
    first = np.concatenate([[0], np.cumsum(sizes)])
    pairs = np.array([rng.choice(nodes, 2, replace=False) for _ in range(joins)])
    pairs[rng.random(joins) < 0.2, 1] = -1
    # Every node is joined to something.
    pairs[:nodes, 0] = np.arange(nodes)
    pairs[pairs[:, 0] == pairs[:, 1], 1] = -1
    pattern = np.eye(nodes, dtype=bool)
    for a, b in pairs:
        if b >= 0:
            pattern[a, b] = pattern[b, a] = True
    A = rng.normal(size=(first[-1], first[-1])) * np.repeat(np.repeat(pattern, sizes, 0), sizes, 1)
    return first, pairs, A + 8.0 * np.eye(first[-1])


@pytest.mark.parametrize(("nodes", "joins"), [(1, 2), (5, 6), (30, 45), (60, 200)])
def test_unknowns_are_those_of_the_dense_matrix(nodes: int, joins: int) -> None:
    for seed in range(4):
        first, pairs, A = graph(seed, max(nodes, 2), max(joins, nodes))
        b = np.random.default_rng(seed).normal(size=len(A))
        x = b.copy()
        count = solve(elimination_of(first, len(pairs)), first, pairs, np.arange(len(pairs)), A, x)
        assert count == len(first) - 1
        assert A @ x == pytest.approx(b, abs=1e-9 * np.abs(A).sum(axis=1).max() * np.abs(x).max())


def test_only_the_nodes_of_the_joins_listed_change() -> None:
    first, pairs, A = graph(1, 12, 12)
    listed = np.array([0, 1])
    nodes = sorted({int(k) for k in pairs[listed].ravel()} - {-1})
    own = np.concatenate([np.arange(first[k], first[k + 1]) for k in nodes])
    part = np.zeros_like(A)
    for a, b in (*pairs[listed], *((k, k) for k in nodes)):
        if b >= 0:
            rows, columns = slice(first[a], first[a + 1]), slice(first[b], first[b + 1])
            part[rows, columns], part[columns, rows] = A[rows, columns], A[columns, rows]
    b = np.ones(len(A))
    x = b.copy()
    assert solve(elimination_of(first, len(pairs)), first, pairs, listed, A, x) == len(nodes)
    assert part[np.ix_(own, own)] @ x[own] == pytest.approx(b[own], abs=1e-9)
    assert (np.delete(x, own) == 1.0).all()


def test_a_chain_has_no_fill() -> None:
    """Of a hundred nodes in a row each front has one node at most; a star is eliminated from its rays."""
    first = np.arange(101) * 6
    for pairs in (
        np.column_stack([np.arange(99), np.arange(1, 100)]),
        np.column_stack([np.zeros(99, int), np.arange(1, 100)]),
    ):
        e = elimination_of(first, 99)
        A, x = 4.0 * np.eye(600), np.ones(600)
        assert solve(e, first, pairs, np.arange(99), A, x) == 100
        assert np.diff(e.fronts).max() == 1


def test_late_nodes_are_condensed_onto_and_may_change_afterwards() -> None:
    first, pairs, A = graph(3, 30, 45)
    rng = np.random.default_rng(5)
    e, late = elimination_of(first, len(pairs)), rng.choice(30, 7, replace=False)
    e.late[late] = 1
    own = np.concatenate([np.arange(first[k], first[k + 1]) for k in late])
    added, more = np.zeros_like(A), np.zeros(len(A))
    for k in late:
        block = slice(first[k], first[k + 1])
        added[block, block] = rng.normal(size=(first[k + 1] - first[k],) * 2)
    more[own] = rng.normal(size=len(own))
    b = rng.normal(size=len(A))
    x = b.copy()
    start = condense(e, first, pairs, np.arange(len(pairs)), A, added, more, x)
    assert start == 30 - 7
    assert set(e.order[start:30].tolist()) == set(late.tolist())
    assert (A + added) @ x == pytest.approx(b + more, abs=1e-9 * np.abs(x).max())


def test_rows_are_exchanged_where_pivots_vanish() -> None:
    """Blocks that are cyclic shifts have nothing on their diagonals."""
    first, pairs, _ = graph(4, 8, 10)
    A = np.zeros((first[-1], first[-1]))
    for k in range(8):
        block = slice(first[k], first[k + 1])
        A[block, block] = 5.0 * np.roll(np.eye(first[k + 1] - first[k]), 1, axis=0)
    for a, b in pairs:
        if b >= 0:
            A[first[a] : first[a + 1], first[b] : first[b + 1]] = 0.1
    b = np.ones(len(A))
    x = b.copy()
    assert solve(elimination_of(first, len(pairs)), first, pairs, np.arange(len(pairs)), A, x) == 8
    assert A @ x == pytest.approx(b, abs=1e-12)
