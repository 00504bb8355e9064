"""Vehicles: drivers, and manoeuvres of standards with their characteristic values."""

from bellcrank.vehicles.comfort import vertical_weighting, weighted
from bellcrank.vehicles.drivers import path_follower, speed_keeper, steer
from bellcrank.vehicles.manoeuvres import (
    braking,
    double_lane_change,
    ride,
    sine_with_dwell,
    steady_circle,
    step_steer,
)
from bellcrank.vehicles.vehicle import Motion, Vehicle

__all__ = [
    "Motion",
    "Vehicle",
    "braking",
    "double_lane_change",
    "path_follower",
    "ride",
    "sine_with_dwell",
    "speed_keeper",
    "steady_circle",
    "steer",
    "step_steer",
    "vertical_weighting",
    "weighted",
]
