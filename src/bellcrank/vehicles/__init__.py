"""Vehicles: drivers, and manoeuvres of standards with their characteristic values."""

from bellcrank.vehicles.brake_system import Brakes, anti_lock, brakes
from bellcrank.vehicles.comfort import vertical_weighting, weighted
from bellcrank.vehicles.drivers import path_follower, speed_keeper, steer
from bellcrank.vehicles.manoeuvres import (
    brake_in_turn,
    braking,
    double_lane_change,
    four_post,
    ride,
    sine_with_dwell,
    steady_circle,
    step_steer,
)
from bellcrank.vehicles.passenger_car import sedan
from bellcrank.vehicles.report import Reported
from bellcrank.vehicles.suspension_rig import SuspensionReport, Sweep, kinematics_and_compliance
from bellcrank.vehicles.suspensions import (
    Axle,
    Corner,
    Unsprung,
    double_wishbone,
    mcpherson,
    multi_link,
    solid_axle,
    steering_rack,
    twist_beam,
)
from bellcrank.vehicles.vehicle import Motion, Vehicle

__all__ = [
    "Axle",
    "Brakes",
    "Corner",
    "Motion",
    "Reported",
    "SuspensionReport",
    "Sweep",
    "Unsprung",
    "Vehicle",
    "anti_lock",
    "brake_in_turn",
    "brakes",
    "braking",
    "double_lane_change",
    "double_wishbone",
    "four_post",
    "kinematics_and_compliance",
    "mcpherson",
    "multi_link",
    "path_follower",
    "ride",
    "sedan",
    "sine_with_dwell",
    "solid_axle",
    "speed_keeper",
    "steady_circle",
    "steer",
    "steering_rack",
    "step_steer",
    "twist_beam",
    "vertical_weighting",
    "weighted",
]
