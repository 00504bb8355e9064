"""Flexible members: finite element models reduced to a few modal coordinates.

Beams, solids, assumed shapes and given matrices all end in the same :class:`Member`: shape integrals, stiffness,
damping and the nodes where joints and forces may sit.
"""

from __future__ import annotations
