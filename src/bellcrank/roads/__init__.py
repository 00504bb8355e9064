"""Roads: planes, profiles of two tracks, grids and meshes, OpenCRG files, random roads of ISO 8608."""

from bellcrank.roads.crg import crg, read_crg
from bellcrank.roads.grid import Grid
from bellcrank.roads.plane import Plane
from bellcrank.roads.profile import Profile
from bellcrank.roads.road import Road, heights
from bellcrank.roads.roughness import RandomRoad

__all__ = ["Grid", "Plane", "Profile", "RandomRoad", "Road", "crg", "heights", "read_crg"]
