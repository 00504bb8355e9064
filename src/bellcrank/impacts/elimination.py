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

from bellcrank.program.loops import Ints, Ints2, Reals, compiled, reals

ROOM = 8_000_000
"""Numbers in all panels at most, and in a copy of them."""
LANES = 8
"""Numbers in a vector register of 512 bits. Blocks have rows of whole registers, with zeros behind their columns: a
loop over so many numbers is one instruction, where one over six is six or more."""

SMALL = 0.1
"""Pivot over the largest one of its column below which rows are exchanged: what is left grows by a tenth of its inverse
at most, and the matrices of sticking contacts, which are symmetric and positive, keep their order."""

_OUTSIDE, _WAITING = -2, -1
"""Positions of nodes that are not in the graph, and of those not eliminated yet."""


class Elimination(NamedTuple):
    """Room for the elimination of one graph.

    order: Nodes as they are eliminated, and the position of each node among them. head, link: Sides of joins at each
    node, chained. degree: Unknowns of the nodes joined to a node. seen: Stamp of the last list that holds a node.
    fronts: First entry of each front. front: Their nodes, by position. owner, chain: For each entry the position of the
    node whose front it is, and the next entry of the same node, from `elements` on. absorbed: 1 where a later front
    holds all of a front. late: Positive where a node is to be eliminated after all others. panels: First number of each
    panel in values, and behind the last: the block on the diagonal, then the rows and the transposed columns of the
    front, each padded to whole registers. width: Padded unknowns of each front. row, pivots: Room for a row, and the
    rows exchanged.
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
    late: Ints
    values: Reals
    row: Reals
    pivots: Ints


def elimination_of(first: NDArray[np.int64], joins: int) -> Elimination:
    """Room for a graph of nodes with the given first unknowns, and so many joins."""
    nodes, unknowns = len(first) - 1, int(first[-1])
    longest = sum(padded(int(size)) for size in np.diff(first))
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
        whole(nodes + 1),
        whole(nodes),
        whole(nodes),
        np.zeros(min(2 * longest * longest, ROOM)),
        np.zeros(max(longest, LANES * int(np.diff(first).max(initial=1)))),
        whole(unknowns),
    )


@compiled
def padded(size: int) -> int:
    """The next multiple of the lanes."""
    return (size + LANES - 1) // LANES * LANES


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
            # The ground and the other points of the same two bodies add no neighbour.
            other = joins[listed[j], 1 - side]
            if other < 0 or (
                j > begin and joins[listed[j - 1], side] == node and joins[listed[j - 1], 1 - side] == other
            ):
                continue
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
    if e.late[node] > 0:
        # More than any degree.
        total += len(e.row)
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
            width += padded(size_of(first, e.front[k]))
        e.panels[position], e.width[position] = total, width
        total += size * (padded(size) + 2 * width)
    e.panels[count] = total
    if 2 * total > len(e.values):
        return -1
    return count


@compiled
def products(e: Elimination, first: Ints, begin: int, count: int, filled: bool) -> float:
    """Multiplications of the elimination of some nodes; filled: With those by zeros that fill up registers."""
    total = 0.0
    for position in range(begin, count):
        size, width = float(size_of(first, e.order[position])), float(e.width[position])
        if not filled:
            width = 0.0
            for k in range(e.fronts[position], e.fronts[position + 1]):
                width += float(size_of(first, e.front[k]))
        total += size * (size * size + 2.0 * size * width + width * width)
    return total


@compiled
def clear(e: Elimination, first: Ints, count: int) -> None:
    """Make the matrix zero."""
    for k in range(e.panels[count]):
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
        return at, padded(size), 1
    at += size * padded(size)
    entry = e.fronts[position]
    while e.front[entry] != other:
        at += padded(size_of(first, e.front[entry]))
        entry += 1
    if transposed:
        return at + size * width, 1, width
    return at, width, 1


@compiled
def exchange(x: Reals, a: int, b: int, count: int) -> None:
    """Exchange numbers from a on with those from b on."""
    for k in range(count):
        kept = x[a + k]
        x[a + k] = x[b + k]
        x[b + k] = kept


@compiled
def pivot_row(x: Reals, at: int, down: int, k: int, size: int) -> int:
    """The row of the pivot: that of the diagonal, unless it is small beside another one."""
    best = k
    for i in range(k + 1, size):
        if abs(x[at + i * down + k]) > abs(x[at + best * down + k]):
            best = i
    if abs(x[at + k * down + k]) >= SMALL * abs(x[at + best * down + k]):
        best = k
    return best


@compiled
def decompose(e: Elimination, at: int, size: int, width: int, pivots: int) -> bool:
    """Factor the block on the diagonal of a panel, and divide the rows by its lower, the columns by its upper factor.

    The diagonal of the upper factor is stored inverted. False where the block is singular.
    """
    x, row, down = e.values, e.row, padded(size)
    above = at + size * down
    left = above + size * width
    for k in range(size):
        best = pivot_row(x, at, down, k, size)
        e.pivots[pivots + k] = best
        if best != k:
            exchange(x, at + best * down, at + k * down, size)
            exchange(x, above + best * width, above + k * width, width)
        pivot = x[at + k * down + k]
        if not abs(pivot) > 0.0 or not math.isfinite(pivot):
            return False
        share = 1.0 / pivot
        x[at + k * down + k] = share
        if k + 1 < size:
            for j in range(down):
                row[j] = x[at + k * down + j]
            for j in range(k + 1):
                row[j] = 0.0
            for i in range(k + 1, size):
                factor = share * x[at + i * down + k]
                x[at + i * down + k] = factor
                subtract_row(x, at + i * down, row, factor, down)
            for j in range(width):
                row[j] = x[above + k * width + j]
            for i in range(k + 1, size):
                subtract_row(x, above + i * width, row, x[at + i * down + k], width)
        for j in range(width):
            row[j] = share * x[left + k * width + j]
            x[left + k * width + j] = row[j]
        for i in range(k + 1, size):
            subtract_row(x, left + i * width, row, x[at + k * down + i], width)
    return True


@compiled
def subtract_row(x: Reals, to: int, row: Reals, factor: float, count: int) -> None:
    """Take a multiple of a row, of whole registers, from another array."""
    for b in range(0, count, LANES):
        for k in range(LANES):
            x[to + b + k] -= factor * row[b + k]


@compiled
def subtract_product(
    x: Reals, to: int, down: int, rows: int, left: int, right: int, width: int, size: int, columns: int
) -> None:
    """Take A^T B from a block; A and B have so many rows of the same width, from left and right on."""
    for a in range(rows):
        for b in range(0, columns, LANES):
            total = reals(LANES)
            for m in range(size):
                factor, at = x[left + m * width + a], right + m * width + b
                for k in range(LANES):
                    total[k] += factor * x[at + k]
            at = to + a * down + b
            for k in range(LANES):
                x[at + k] -= total[k]


@compiled
def subtract(e: Elimination, first: Ints, position: int, entry: int, shift: int) -> None:
    """Take the product of a panel with its column of one node from the panel of that node.

    entry, shift: Of the node in the front, and its first column there.
    """
    x, size, width = e.values, size_of(first, e.order[position]), e.width[position]
    rows = e.panels[position] + size * padded(size)
    columns = rows + size * width
    node = e.front[entry]
    target, own = e.position[node], size_of(first, node)
    wide = e.width[target]
    to = e.panels[target]
    subtract_product(x, to, padded(own), own, columns + shift, rows + shift, width, size, padded(own))
    to += own * padded(own)
    beyond, at, mine = own * wide, shift + padded(own), e.fronts[target]
    for k in range(entry + 1, e.fronts[position + 1]):
        other = e.front[k]
        count = padded(size_of(first, other))
        while e.front[mine] != other:
            to += padded(size_of(first, e.front[mine]))
            mine += 1
        subtract_product(x, to, wide, own, columns + shift, rows + at, width, size, count)
        subtract_product(x, to + beyond, wide, own, rows + shift, columns + at, width, size, count)
        at += count


@compiled
def factorise(e: Elimination, first: Ints, begin: int, end: int) -> bool:
    """Eliminate nodes in their order; False where a block on the diagonal is singular."""
    for position in range(begin, end):
        at, size = e.panels[position], size_of(first, e.order[position])
        if not decompose(e, at, size, e.width[position], first[e.order[position]]):
            return False
        shift = 0
        for entry in range(e.fronts[position], e.fronts[position + 1]):
            subtract(e, first, position, entry, shift)
            shift += padded(size_of(first, e.front[entry]))
    return True


@compiled
def reduce(e: Elimination, first: Ints, begin: int, end: int, x: Reals) -> None:
    """Take eliminated nodes out of the right-hand side, which is numbered like the unknowns of the nodes."""
    values, part = e.values, e.row
    for position in range(begin, end):
        node = e.order[position]
        size, width, inverse = size_of(first, node), e.width[position], e.panels[position]
        down, at = padded(size), first[node]
        for a in range(size):
            best = at + e.pivots[at + a]
            kept = x[best]
            x[best] = x[at + a]
            x[at + a] = kept
        for a in range(size):
            total = x[at + a]
            for b in range(a):
                total -= values[inverse + a * down + b] * x[at + b]
            x[at + a] = total
            part[a] = total
        column = inverse + size * down + size * width
        for entry in range(e.fronts[position], e.fronts[position + 1]):
            other = e.front[entry]
            for b in range(size_of(first, other)):
                total = 0.0
                for a in range(size):
                    total += values[column + b + a * width] * part[a]
                x[first[other] + b] -= total
            column += padded(size_of(first, other))


@compiled
def substitute(e: Elimination, first: Ints, begin: int, end: int, x: Reals) -> bool:
    """The unknowns of eliminated nodes from those of the later ones and what `reduce` left."""
    values = e.values
    for step in range(end - begin):
        position = end - 1 - step
        node = e.order[position]
        size, width = size_of(first, node), e.width[position]
        column = e.panels[position] + size * padded(size)
        for entry in range(e.fronts[position], e.fronts[position + 1]):
            other = e.front[entry]
            for a in range(size):
                total = 0.0
                for b in range(size_of(first, other)):
                    total += values[column + a * width + b] * x[first[other] + b]
                x[first[node] + a] -= total
            column += padded(size_of(first, other))
        for back in range(size):
            a = size - 1 - back
            row = e.panels[position] + a * padded(size)
            total = x[first[node] + a]
            for b in range(a + 1, size):
                total -= values[row + b] * x[first[node] + b]
            total *= values[row + a]
            x[first[node] + a] = total
            if not math.isfinite(total):
                return False
    return True


__all__ = [
    "LANES",
    "Elimination",
    "block_of",
    "clear",
    "elimination_of",
    "factorise",
    "order_nodes",
    "padded",
    "products",
    "reduce",
    "substitute",
]
