"""Where things lie in the arrays that compiled searches of trees are given."""

from __future__ import annotations

STACK = 4096
"""Entries of the stacks; a search goes down both trees, so it holds a few nodes a level."""

# columns of nodes, behind the centre: the ball; the drum; the dome (its top, its curvature and the inverse of that);
# how many samples of a rim there are; and the box, oblique or not, of a node at a rim or across an edge: what a
# direction is to be multiplied with for its parts along the normals of three sides (9, all zero for nodes without a
# box), and how far samples reach against each of these and along it
BALL = 3
AXIS = 4
HALF = 7
DRUM = 8
TOP = 9
BEND = 10
RADIUS = 11
ON_RIM = 12
SIDES = 13
INNER = 22
OUTER = 25
NODE = 28
ROUND = 1.0 + 1e-12

# header: sizes of both trees, room for answers, kind of the other body
N_A = 0
LEAVES_A = 1
N_B = 2
LEAVES_B = 3
ROOM = 4
KIND = 5
WIDTH_A = 6
WIDTH_B = 7
WHAT = 8
LOOKED = 9  # answer: nodes, or pairs of them, looked at
HEADER = 10
# kinds of the other body
PLANE = 0
SEGMENT = 1
# given: pose of b seen from a (rotation by rows, origin), bound on distances, then the numbers of the other body
BOUND = 12
OTHER = 13
GIVEN = 20
