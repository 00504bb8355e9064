"""Sparse elimination of block matrices whose pattern is that of a graph, compiled.

The matrix couples nodes, sets of unknowns, that are joined in a graph: by contacts, here. Its pattern is symmetric, its
values need not be. Nodes are eliminated in the order of their degrees, each as a dense panel against its *front*, the
nodes that are left and joined to it, by the graph or by earlier eliminations. In a packing of balls, most of which
touch four or five others, fronts stay small, where a band would be as wide as a layer of the packing.

Source: George, Liu (1989), "The evolution of the minimum degree ordering algorithm": quotient graph and absorption.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bellcrank.program.loops import Ints, Ints2, Reals, compiled

ROOM = 4_000_000
"""Numbers in all panels at most."""

_OUTSIDE, _WAITING = -2, -1
"""Positions of nodes that are not in the graph, and of those not eliminated yet."""


class Elimination(NamedTuple):
    """Room for the elimination of one graph.

    order: Nodes as they are eliminated, and the position of each node among them. head, link: Sides of joins at each
    node, chained. degree: Unknowns of the nodes joined to a node. seen: Stamp of the last list that holds a node.
    fronts: First entry of each front. front: Their nodes, by position. owner, chain: For each entry the position of the
    node whose front it is, and the next entry of the same node, from `elements` on. absorbed: 1 where a later front
    holds all of a front. panels: First number of each panel in values: the block on the diagonal, then the rows and the
    transposed columns of the front. width: Unknowns of each front. upper, lower: One row of products.
    """

    order: Ints
    position: Ints
    head: Ints
    link: Ints
    degree: Ints
    seen: Ints
    fronts: Ints
    front: Ints
    owner: Ints
    chain: Ints
    elements: Ints
    absorbed: Ints
    panels: Ints
    width: Ints
    values: Reals
    upper: Reals
    lower: Reals


def elimination_of(first: NDArray[np.int64], joins: int) -> Elimination:
    """Room for a graph of nodes with the given first unknowns, and so many joins."""
    nodes, unknowns = len(first) - 1, int(first[-1])
    entries = min(nodes * (nodes - 1) // 2, ROOM // 4)

    def whole(size: int) -> NDArray[np.int64]:
        return np.zeros(size, np.int64)

    return Elimination(
        whole(nodes),
        whole(nodes),
        whole(nodes),
        whole(2 * joins),
        whole(nodes),
        whole(nodes),
        whole(nodes + 1),
        whole(entries),
        whole(entries),
        whole(entries),
        whole(nodes),
        whole(nodes),
        whole(nodes),
        whole(nodes),
        np.zeros(min(unknowns * unknowns, ROOM)),
        np.zeros(unknowns),
        np.zeros(unknowns),
    )


@compiled
def size_of(first: Ints, node: int) -> int:
    """Unknowns of a node."""
    size: int = first[node + 1] - first[node]
    return size


@compiled
def chain_joins(e: Elimination, joins: Ints2, listed: Ints, begin: int, end: int) -> int:
    """Find the nodes of the joins listed, and the joins of each node; the number of nodes."""
    count = 0
    for j in range(begin, end):
        for side in range(2):
            node = joins[listed[j], side]
            if node >= 0:
                e.position[node] = _OUTSIDE
    for j in range(begin, end):
        for side in range(2):
            node, link = joins[listed[j], side], 2 * listed[j] + side
            if node < 0:
                continue
            if e.position[node] == _OUTSIDE:
                e.position[node], e.head[node], e.elements[node], e.seen[node] = _WAITING, -1, -1, -1
                e.order[count] = node
                count += 1
            e.link[link] = e.head[node]
            e.head[node] = link
    return count


@compiled
def see(e: Elimination, first: Ints, node: int, stamp: int) -> int:
    """Unknowns that a node adds to a list: none where it is eliminated or there already."""
    found = 0
    if node >= 0 and e.position[node] == _WAITING and e.seen[node] != stamp:
        e.seen[node] = stamp
        found = size_of(first, node)
    return found


@compiled
def count_degree(e: Elimination, first: Ints, joins: Ints2, node: int, stamp: int) -> None:
    """Count the unknowns joined to a node."""
    e.seen[node] = stamp
    total = 0
    link = e.head[node]
    while link >= 0:
        total += see(e, first, joins[link // 2, 1 - link % 2], stamp)
        link = e.link[link]
    entry = e.elements[node]
    before = -1
    while entry >= 0:
        owner = e.owner[entry]
        if e.absorbed[owner] == 1:
            if before >= 0:
                e.chain[before] = e.chain[entry]
            else:
                e.elements[node] = e.chain[entry]
        else:
            for k in range(e.fronts[owner], e.fronts[owner + 1]):
                total += see(e, first, e.front[k], stamp)
            before = entry
        entry = e.chain[entry]
    e.degree[node] = total


@compiled
def find_front(e: Elimination, first: Ints, joins: Ints2, node: int, position: int, stamp: int) -> bool:
    """List the front of a node, which absorbs those it holds; False where there is no room."""
    at, room = e.fronts[position], len(e.front)
    e.seen[node] = stamp
    link = e.head[node]
    while link >= 0:
        other = joins[link // 2, 1 - link % 2]
        if see(e, first, other, stamp) > 0:
            if at == room:
                return False
            e.front[at] = other
            at += 1
        link = e.link[link]
    entry = e.elements[node]
    while entry >= 0:
        owner = e.owner[entry]
        if e.absorbed[owner] == 0:
            e.absorbed[owner] = 1
            for k in range(e.fronts[owner], e.fronts[owner + 1]):
                if see(e, first, e.front[k], stamp) > 0:
                    if at == room:
                        return False
                    e.front[at] = e.front[k]
                    at += 1
        entry = e.chain[entry]
    e.fronts[position + 1] = at
    return True


@compiled
def least_joined(e: Elimination, begin: int, count: int, least: int) -> int:
    """Where among the nodes that are left one of least degree is; none has less than `least`."""
    found = begin
    for k in range(begin, count):
        if e.degree[e.order[k]] < e.degree[e.order[found]]:
            found = k
        if e.degree[e.order[found]] <= least:
            break
    return found


@compiled
def order_nodes(e: Elimination, first: Ints, joins: Ints2, listed: Ints, begin: int, end: int) -> int:
    """Order the nodes that joins couple, and lay out their panels; their number, or -1 where there is no room."""
    count = chain_joins(e, joins, listed, begin, end)
    stamp = 0
    for k in range(count):
        count_degree(e, first, joins, e.order[k], stamp)
        stamp += 1
    least = 0
    e.fronts[0] = 0
    for position in range(count):
        found = least_joined(e, position, count, least)
        node = e.order[found]
        e.order[found] = e.order[position]
        e.order[position] = node
        if not find_front(e, first, joins, node, position, stamp):
            return -1
        stamp += 1
        e.position[node], e.absorbed[position] = position, 0
        for k in range(e.fronts[position], e.fronts[position + 1]):
            other = e.front[k]
            e.owner[k], e.chain[k] = position, e.elements[other]
            e.elements[other] = k
        for k in range(e.fronts[position], e.fronts[position + 1]):
            count_degree(e, first, joins, e.front[k], stamp)
            stamp += 1
        # A neighbour loses this node, whose degree was the least, and nothing else.
        least = e.degree[node] - size_of(first, node)
    total = 0
    for position in range(count):
        sort_front(e, position)
        size, width = size_of(first, e.order[position]), 0
        for k in range(e.fronts[position], e.fronts[position + 1]):
            width += size_of(first, e.front[k])
        e.panels[position], e.width[position] = total, width
        total += size * (size + 2 * width)
    if total > len(e.values):
        return -1
    return count


@compiled
def products(e: Elimination, first: Ints, count: int) -> float:
    """Multiplications of one elimination."""
    total = 0.0
    for position in range(count):
        size, width = float(size_of(first, e.order[position])), float(e.width[position])
        total += size * (size * size + 2.0 * size * width + width * width)
    return total


@compiled
def clear(e: Elimination, first: Ints, count: int) -> None:
    """Make the matrix zero."""
    size = size_of(first, e.order[count - 1])
    for k in range(e.panels[count - 1] + size * size):
        e.values[k] = 0.0


@compiled
def sort_front(e: Elimination, position: int) -> None:
    """Sort the front of a node by the positions of its nodes."""
    begin = e.fronts[position]
    for k in range(begin + 1, e.fronts[position + 1]):
        node, at = e.front[k], k
        while at > begin and e.position[e.front[at - 1]] > e.position[node]:
            e.front[at] = e.front[at - 1]
            at -= 1
        e.front[at] = node


@compiled
def block_of(e: Elimination, first: Ints, a: int, b: int) -> tuple[int, int, int]:
    """Where in values the block of the rows of one node and the columns of another is, and its two strides."""
    position, other = e.position[a], b
    transposed = e.position[b] < position
    if transposed:
        position, other = e.position[b], a
    size, width = size_of(first, e.order[position]), e.width[position]
    at = e.panels[position]
    if a == b:
        return at, size, 1
    at += size * size
    entry = e.fronts[position]
    while e.front[entry] != other:
        at += size_of(first, e.front[entry])
        entry += 1
    if transposed:
        return at + size * width, 1, width
    return at, width, 1


@compiled
def invert(e: Elimination, at: int, size: int) -> bool:
    """Invert a block in place, by Gauss and Jordan's method with row pivots; False where it is singular."""
    x, rows = e.values, e.upper
    for k in range(size):
        best = k
        for i in range(k + 1, size):
            if abs(x[at + i * size + k]) > abs(x[at + best * size + k]):
                best = i
        rows[k] = float(best)
        pivot = x[at + best * size + k]
        if not abs(pivot) > 0.0 or not math.isfinite(pivot):
            return False
        for j in range(size):
            swapped = x[at + best * size + j]
            x[at + best * size + j] = x[at + k * size + j]
            x[at + k * size + j] = swapped / pivot
        x[at + k * size + k] = 1.0 / pivot
        for i in range(size):
            if i == k:
                continue
            factor = x[at + i * size + k]
            x[at + i * size + k] = 0.0
            for j in range(size):
                x[at + i * size + j] -= factor * x[at + k * size + j]
    for step in range(size):
        k = size - 1 - step
        best = int(rows[k])
        if best != k:
            for i in range(size):
                swapped = x[at + i * size + k]
                x[at + i * size + k] = x[at + i * size + best]
                x[at + i * size + best] = swapped
    return True


@compiled
def subtract(e: Elimination, first: Ints, position: int, entry: int, shift: int) -> None:
    """Take the product of a panel with its column of one node from the panel of that node.

    entry, shift: Of the node in the front, and its first column there.
    """
    x, upper, lower = e.values, e.upper, e.lower
    size, width = size_of(first, e.order[position]), e.width[position]
    inverse = e.panels[position]
    rows = inverse + size * size + shift
    columns = rows + size * width
    node = e.front[entry]
    target, own = e.position[node], size_of(first, node)
    diagonal, wide = e.panels[target], e.width[target]
    left = width - shift
    for a in range(own):
        for b in range(left):
            upper[b] = 0.0
            lower[b] = 0.0
        for m in range(size):
            f, g = 0.0, 0.0
            for n in range(size):
                f += x[columns + n * width + a] * x[inverse + n * size + m]
                g += x[inverse + m * size + n] * x[rows + n * width + a]
            for b in range(left):
                upper[b] += f * x[rows + m * width + b]
                lower[b] += g * x[columns + m * width + b]
        for b in range(own):
            x[diagonal + a * own + b] -= upper[b]
        to = diagonal + own * own + a * wide
        beyond = own * wide
        at, mine = own, e.fronts[target]
        for k in range(entry + 1, e.fronts[position + 1]):
            other = e.front[k]
            count = size_of(first, other)
            while e.front[mine] != other:
                to += size_of(first, e.front[mine])
                mine += 1
            for b in range(count):
                x[to + b] -= upper[at + b]
                x[to + beyond + b] -= lower[at + b]
            at += count


@compiled
def factorise(e: Elimination, first: Ints, count: int) -> bool:
    """Eliminate all nodes; False where a block on the diagonal is singular."""
    for position in range(count):
        if not invert(e, e.panels[position], size_of(first, e.order[position])):
            return False
        shift = 0
        for entry in range(e.fronts[position], e.fronts[position + 1]):
            subtract(e, first, position, entry, shift)
            shift += size_of(first, e.front[entry])
    return True


@compiled
def substitute(e: Elimination, first: Ints, count: int, x: Reals) -> bool:
    """Solve for the unknowns from the right-hand side in x, which are numbered like those of the nodes."""
    values, part = e.values, e.upper
    for position in range(count):
        node = e.order[position]
        size, width, inverse = size_of(first, node), e.width[position], e.panels[position]
        for a in range(size):
            part[a] = 0.0
            for b in range(size):
                part[a] += values[inverse + a * size + b] * x[first[node] + b]
        column = inverse + size * size + size * width
        for entry in range(e.fronts[position], e.fronts[position + 1]):
            other = e.front[entry]
            for b in range(size_of(first, other)):
                for a in range(size):
                    x[first[other] + b] -= values[column + a * width] * part[a]
                column += 1
    for step in range(count):
        position = count - 1 - step
        node = e.order[position]
        size, width, inverse = size_of(first, node), e.width[position], e.panels[position]
        column = inverse + size * size
        for a in range(size):
            part[a] = x[first[node] + a]
        for entry in range(e.fronts[position], e.fronts[position + 1]):
            other = e.front[entry]
            for b in range(size_of(first, other)):
                for a in range(size):
                    part[a] -= values[column + a * width] * x[first[other] + b]
                column += 1
        for a in range(size):
            total = 0.0
            for b in range(size):
                total += values[inverse + a * size + b] * part[b]
            x[first[node] + a] = total
            if not math.isfinite(total):
                return False
    return True


__all__ = ["Elimination", "block_of", "clear", "elimination_of", "factorise", "order_nodes", "substitute"]
