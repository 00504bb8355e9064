"""Rooted trees, by which the order of a Runge-Kutta method is judged.

Source: Butcher, "Numerical Methods for Ordinary Differential Equations", 300-313.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from math import factorial, prod

import numpy as np


@cache
def trees(order):
    """All rooted trees with that many nodes; a tree is the sorted tuple of its branches."""
    return sorted(set(_forests(order - 1, order - 1)))


def _forests(nodes, largest):
    """Sorted tuples of trees with that many nodes in all."""
    if nodes == 0:
        yield ()
    for first in range(1, min(nodes, largest) + 1):
        for tree in trees(first):
            for rest in _forests(nodes - first, first):
                yield tuple(sorted((tree, *rest)))


def size(tree):
    """The number of nodes."""
    return 1 + sum(map(size, tree))


def density(tree):
    """The denominator of the condition: sum of b_i weight_i = 1 / density."""
    return size(tree) * prod(map(density, tree))


def symmetry(tree):
    """In how many ways the tree maps to itself."""
    return prod(factorial(m) * symmetry(branch) ** m for branch, m in Counter(tree).items())


def weights(tree, a):
    """What the stages give for the derivative of that tree."""
    return np.prod([a @ weights(branch, a) for branch in tree], axis=0) if tree else np.ones(len(a))
