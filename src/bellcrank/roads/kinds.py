"""Roads in model files."""

from __future__ import annotations

from bellcrank.base.keys import Kinds
from bellcrank.roads.crg import FILE, crg
from bellcrank.roads.grid import Grid
from bellcrank.roads.plane import Plane
from bellcrank.roads.profile import Profile
from bellcrank.roads.road import Road
from bellcrank.roads.roughness import RandomRoad

CLASSES: tuple[type[Road], ...] = (Plane, Profile, Grid, RandomRoad)
ROADS = Kinds(
    "A road: heights over the plane. All numbers are plain.",
    kinds={road.kind: road.keys for road in CLASSES} | {"crg": FILE},
    makes={road.kind: road for road in CLASSES} | {"crg": crg},
)
