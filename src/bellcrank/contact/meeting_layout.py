"""Where things lie in the arrays that the compiled search of one pair is given: a sampled surface and another shape."""

from __future__ import annotations

from bellcrank.contact.refinement import WIDE_PAD
from bellcrank.contact.tree_layout import GIVEN as TREE_GIVEN
from bellcrank.contact.tree_layout import HEADER as TREE_HEADER
from bellcrank.contact.tree_layout import STACK as ENTRIES_OF_STACK

MOST_POINTS = 12
"""Contact points of one pair: each is a piece of program of its own."""

# header, behind that of trees (whose KIND is one of those in `smooth`, and whose WHAT is one of these):
SEARCH = 0
FOLLOW = 1
POINTS = TREE_HEADER
SLOPE = TREE_HEADER + 1
BEND = TREE_HEADER + 2
ROOM_A = TREE_HEADER + 3  # samples of a piece of surface that a program takes in
ROOM_B = TREE_HEADER + 4
WHICH = TREE_HEADER + 5  # the slot to follow; where more than one point touches, the sample of another
PARTS = TREE_HEADER + 6  # frusta around the other shape
PATCHES_A = TREE_HEADER + 7  # what settles on surfaces of patches; 0 for others
PATCHES_B = TREE_HEADER + 8
SIZE_A = TREE_HEADER + 9  # numbers of a piece of surface
SIZE_B = TREE_HEADER + 10
RIMS_A = TREE_HEADER + 11  # samples of its rim that a program takes in
RIMS_B = TREE_HEADER + 12
ROWS_A = TREE_HEADER + 13  # all samples of rims
ROWS_B = TREE_HEADER + 14
# whether the other shape is convex, and this one made of samples: 2 where it is closed, 1 where it is open
OUTWARDS = TREE_HEADER + 15
CURVED = TREE_HEADER + 16  # whether both are sampled, closed and without edges
SEEN = TREE_HEADER + 17  # at how many places bodies overlap, where those are more than there are points
EDGES_A = TREE_HEADER + 18  # chords of rims, where both surfaces are open ones of samples
EDGES_B = TREE_HEADER + 19
HEADER = TREE_HEADER + 20
# given, behind that of trees: pose of the other seen from the surface, bound, then
SPACING_A = TREE_GIVEN
SPACING_B = TREE_GIVEN + 1
BULGE_A = TREE_GIVEN + 2
BULGE_B = TREE_GIVEN + 3
BAND = TREE_GIVEN + 4
RADIUS = TREE_GIVEN + 5
CLEARANCE = TREE_GIVEN + 6  # answer
MARGIN_A = TREE_GIVEN + 7
MARGIN_B = TREE_GIVEN + 8
FACING = TREE_GIVEN + 9  # how far normals may turn before the next search
RIM = TREE_GIVEN + 10  # how far points beyond rims of patches must come back, at least
# how far normals of the other shape turn at most [1/m]; less than 0 where that is not known
BENDS_B = TREE_GIVEN + 11
# how much farther the surface comes out of its samples on a rim than elsewhere, above a smooth shape
LIFT = TREE_GIVEN + 12
GIVEN = TREE_GIVEN + 13
# pad, behind that of Newton's method: a point, the curvature of a gap (3), tangents (6), cosine between normals
SPOT = WIDE_PAD
GAP_BEND = WIDE_PAD + 3
TANGENTS = WIDE_PAD + 6
COSINE = WIDE_PAD + 12
WAY = WIDE_PAD + 13
OUTWARD = WIDE_PAD + 16
LEVEL = WIDE_PAD + 19
FOOT = WIDE_PAD + 20  # of the last point on a convex shape (3), and whether there is one
AWAY = WIDE_PAD + 24  # normal of the shape there (3)
LEVELS = WIDE_PAD + 28  # of each point of before, the curvature that is not flat against it
PAIRS = LEVELS + MOST_POINTS  # chords of both rims that are near each other
MOST_PAIRS = 24
PAIR = 5
CHORDS = PAIRS + MOST_PAIRS * PAIR  # ends of two chords (12), and where they are closest (2)
PADS = CHORDS + 14
THROUGH = 0.5
"""Depth below an open surface, over the size of the body, from which on that has not come through it but is behind."""
WITHIN = 4
"""Place in the pad of what nearest samples are to be within, as searches of trees have it."""
# rows of whole numbers: stack, samples around a point of each surface, how many
ROWS = 4
WIDTH = 2 * ENTRIES_OF_STACK
# marks of samples: normal as given (3), whether it is one of an edge or a corner, whether no plane meets it first
SHARP = 3
INSIDE = 4
MARKS = 5
NEIGHBOURS = 8
# columns of what is told of normals and curvatures in nodes: how far normals turn; the least curvature, and that less
# what may be noise; how far samples are from their sixth neighbours, at most; whether all lie within a flat side
TURN = 0
LEAST = 1
SURE = 2
WIDE = 3
INNER = 4
TURNS = 5
# columns of samples that are low: place, that of the other's nearest sample, order, whether it lies flat; beside them
# samples that overlap in one piece with a contact point, and those of the other below them
PLACE = 0
PARTNER = 1
ORDER = 2
LIES = 3
NEXT = 4
PARTNER_OF_NEXT = 5
LOW = 6
# columns of their numbers: height, height rounded, distance from the middle, slope down to a neighbour, and by how much
# the lowest neighbour is higher
HEIGHT = 0
STEPPED = 1
OUT = 2
DOWN = 3
UP = 4
MEASURES = 5
# slots: gap, normal (3), x (3), y (3), hold (4); beside them place and partner, -1 for an empty one
HOLD = 10
SLOT = 14
GONE = -2
"""Partner of a point of before that is not found again."""
# what is handed on together: of each surface its samples, nodes and marks, and what normals differ by in nodes;
# frusta around a solid of revolution; chords of rims, and balls around some of them; scratch
TABLE_A = 0
NODES_A = 1
MARKS_A = 2
TABLE_B = 3
NODES_B = 4
MARKS_B = 5
TURNS_A = 6
TURNS_B = 7
FRUSTA = 8
CHORDS_A = 9
BALLS_A = 10
CHORDS_B = 11
BALLS_B = 12
PAD = 0
STACK = 1
NEAR_A = 2
NEAR_B = 3
COUNTS = 4
QUEUE = 5
BOUNDS = 6
DESCENT = 7  # header and given of a search for the lowest places
POSE = 8
# answers of a search
FOUND = 0
LOST = 1
SEVERAL = 2
DEEPER = 3
CROSSED = 4
IS_BEHIND = 5
UNFOLLOWED = 6
ENDED = 7
UNCARRIED = 8
OFF_END = 9
BEHIND_EDGE = 10
