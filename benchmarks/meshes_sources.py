"""Real meshes that packages on PyPI carry: scans, toys, tools, gears, links of robots, sheets; none is installed here.

    python -m benchmarks.meshes_sources [--only TEXT] [--output FILE]

builds the field of every mesh that is found among the installed packages and prints a table: triangles, whether the
mesh is watertight, the seconds of a build, and the error of the depth against exact distances at points within a cell
of the surface. The sizes of the meshes differ by their units; each is scaled to a longest side of 0.2 m.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.mesh import Mesh
from bellcrank.contact.mesh_depth import ExactDepth
from bellcrank.contact.mesh_grid import evaluated
from bellcrank.errors import BellcrankError
from bellcrank.fe.triangle_files import read_triangles

SIZE = 0.2
"""Longest side of every mesh in the benchmark [m]."""
PACKAGES: dict[str, tuple[str, str]] = {
    "pybullet": (
        "pybullet_data",
        """
        bunny.obj
        duck.obj
        duck_vhacd.obj
        soccerball.obj
        teddy2_VHACD_CHs.obj
        terrain.obj
        cloth_z_up.obj
        l_finger.stl
        l_finger_tip.stl
        stone.obj
        differential/diff_ring.stl
        differential/diff_pinion.stl
        differential/diff_spider.stl
        differential/diff_side.stl
        differential/diff_carrier.stl
        a1/meshes/trunk.obj
        a1/meshes/calf.obj
        a1/meshes/thigh.obj
        franka_panda/meshes/visual/link6.obj
        franka_panda/meshes/visual/hand.obj
        franka_panda/meshes/collision/link0.obj
        quadruped/microtaur/channel.stl
        quadruped/microtaur/plate.stl
        quadruped/microtaur/d435i.stl
        mini_cheetah/meshes/mini_body.obj
        mini_cheetah/meshes/mini_upper_link.obj
        laikago/chassis.obj
        kiva_shelf/meshes/pod_lowres.stl
        husky/meshes/wheel.stl
        husky/meshes/top_plate.stl
        bicycle/files/wheel_scaled.stl
        bicycle/files/handlebar_scaled.stl
        bicycle/files/frame_scaled.stl
        xarm/xarm_gripper/meshes/left_finger.STL
        xarm/xarm_gripper/meshes/base_link.STL
        xarm/xarm_description/meshes/xarm6/visual/link2.stl
        kuka_iiwa/meshes/link_0.obj
        kuka_iiwa/meshes/link_3.obj
        lego/lego.obj
        objects/mug.obj
        toys/concave_box.obj
        random_urdfs/000/000.obj
        random_urdfs/007/007.obj
        random_urdfs/023/023.obj
        random_urdfs/042/042.obj
        random_urdfs/061/061.obj
        random_urdfs/088/088.obj
        random_urdfs/104/104.obj
        random_urdfs/133/133.obj
        random_urdfs/150/150.obj
        random_urdfs/177/177.obj
        """,
    ),
    "pymeshlab": (
        "pymeshlab/tests/sample_meshes",
        """
        airplane.obj
        bone.ply
        bunny.obj
        bunny10k_textured.obj
        cow.obj
        cube.obj
        rangemaps/face000.ply
        """,
    ),
    "pyvista": (
        "pyvista/examples",
        """
        airplane.ply
        ant.ply
        nut.ply
        """,
    ),
    "meshcat": (
        "meshcat",
        """
        tests/data/slotted_disk.stl
        viewer/data/head_multisense.obj
        """,
    ),
    "dm_control": (
        "dm_control",
        """
        suite/dog_assets/BONECa_11.stl
        suite/dog_assets/BONECa_12.stl
        suite/dog_assets/BONEPhalanges_B_2_R_2.stl
        suite/dog_assets/BONEPhalanges_B_3_L_4.stl
        suite/dog_assets/BONETarsus_R_II.stl
        third_party/kinova/meshes_decimated/wrist.stl
        """,
    ),
    "gymnasium-robotics": (
        "gymnasium_robotics/envs/assets",
        """
        adroit_hand/resources/meshes/distal_ellipsoid.stl
        adroit_hand/resources/meshes/elbow_flex.stl
        adroit_hand/resources/meshes/forearm_simple_cvx.stl
        adroit_hand/resources/meshes/lfmetacarpal.stl
        kitchen_franka/franka_assets/meshes/visual/hand.stl
        kitchen_franka/kitchen_assets/meshes/cabinethandle.stl
        stls/fetch/l_wheel_link_collision.stl
        stls/hand/forearm_electric_cvx.stl
        """,
    ),
    "metaworld": (
        "metaworld/assets/objects/meshes",
        """
        basketball/basketballouter.stl
        box/boxtop.stl
        coffeemachine/spout.stl
        dial/dial.stl
        doorlock/handle_base.stl
        handle_press/handle_press_base.stl
        laptop/laptop_top.stl
        lever/lever_axis.stl
        lever/lever_handle.stl
        stick/stick.stl
        thermos/therm_body.stl
        window/windowb_h_frame.stl
        xyz_base/l5.stl
        xyz_base/l6.stl
        """,
    ),
    "robosuite": (
        "robosuite/models/assets",
        """
        objects/meshes/bottle.obj
        objects/meshes/bread.obj
        objects/meshes/bread.stl
        objects/meshes/can.stl
        objects/meshes/cereal.obj
        objects/meshes/cylinder.obj
        objects/meshes/handles.stl
        objects/meshes/milk.stl
        grippers/meshes/fourier_hands/L_pinky_intermediate_link.STL
        grippers/meshes/robotiq_140_gripper/robotiq_arg2f_140_inner_finger.stl
        grippers/meshes/robotiq_140_gripper/robotiq_arg2f_base_link.stl
        grippers/meshes/xarm7_gripper/left_outer_knuckle.stl
        grippers/meshes/xarm7_gripper/right_inner_knuckle.stl
        grippers/obj_meshes/rethink_gripper/electric_gripper_base.obj
        """,
    ),
    "example-robot-data": (
        "cmeel.prefix/share/example-robot-data/robots",
        """
        alex_description/meshes/cycloidal_arm/LeftWristYawLink.obj
        alex_description/meshes/cycloidal_arm/RightShoulderYawLink.obj
        bolt_description/meshes/stl/upper_leg_200mm_right_side.stl
        centauro_description/meshes/simple/pelvis_reduced.stl
        centauro_description/meshes/simple/wrist_pitch_right.stl
        centauro_description/meshes/v2/collision/hip-pitch.stl
        g1_description/meshes/left_shoulder_roll_link.STL
        g1_description/meshes/pelvis.STL
        g1_description/meshes/right_hand_thumb_1_link.STL
        g1_description/meshes/right_shoulder_yaw_link.STL
        g1_description/meshes/right_wrist_roll_link.STL
        panda_description/meshes/collision/link1.stl
        pr2_description/meshes/head_v0/head_pan.stl
        solo_description/meshes/obj/without_foot/solo_lower_leg_left_side.obj
        solo_description/meshes/obj/without_foot/solo_upper_leg_left_side.obj
        talos_data/meshes/arm/arm_4.stl
        talos_data/meshes/gripper/base_link_collision.STL
        talos_data/meshes/gripper/gripper_motor_double_collision.STL
        talos_data/meshes/head/head_1_collision.stl
        tiago_description/meshes/head/head_1.stl
        tiago_pro_description/meshes/arm_tiago_pro/arm_7_link_collision.stl
        ur_description/meshes/ur10/collision/wrist1.stl
        ur_description/meshes/ur5/collision/upperarm.stl
        ur_description/meshes/ur5/collision/wrist2.stl
        """,
    ),
    "myosuite": (
        "myosuite/envs/myo/assets/MPL_sim/meshes/mplL",
        """
        forearm_link-cvx.stl
        humerus_lower_bottom_link-cvx.stl
        middle2_left.stl
        thumb0_left.stl
        """,
    ),
}
"""For each package on PyPI the folder below site-packages, and the files in it."""


@dataclass(frozen=True)
class Source:
    """A mesh in a package. package: Its name on PyPI. path: Below site-packages."""

    package: str
    path: str

    @property
    def name(self) -> str:
        """Package and file."""
        return f"{self.package}: {Path(self.path).name}"

    @property
    def file(self) -> Path | None:
        """Where it is, if the package is installed."""
        return next((p for base in sys.path if (p := Path(base or ".") / self.path).is_file()), None)

    def triangles(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Vertices [m], with the longest side scaled to `SIZE`, and faces."""
        if self.file is None:
            raise FileNotFoundError(f"{self.path}: install {self.package}")
        vertices, faces = read_triangles(self.file)
        return vertices * (SIZE / np.ptp(vertices[np.unique(faces)], axis=0).max()), faces


SOURCES = tuple(
    Source(package, f"{folder}/{name}")
    for package, (folder, names) in PACKAGES.items()
    for name in names.split()
)


def installed() -> Iterator[Source]:
    """The meshes whose packages are there."""
    return (source for source in SOURCES if source.file is not None)


def measured(source: Source) -> dict[str, Any]:
    """A row of the table."""
    import trimesh

    vertices, faces = source.triangles()
    shape = Mesh(vertices, faces)
    wall, cpu = time.perf_counter(), time.process_time()
    # Not from the cache.
    field = shape._made()[0]
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    surface = shape.triangles()
    # The tables are compared with the depth that they stand for: the same surface, asked afresh.
    cells = round(shape.size / field.spacing)
    exact = ExactDepth(shape._scaled(cells), shape.sheet_thickness / field.spacing)
    random = np.random.default_rng(7)
    points, _ = shape._probes()
    points = points + random.uniform(-1.0, 1.0, points.shape) * field.spacing
    found = evaluated(field, points)[0]
    errors = np.abs(found - field.spacing * exact((points - shape._middle) / field.spacing))
    return {
        "name": source.name,
        "triangles": len(faces),
        "watertight": bool(trimesh.Trimesh(vertices, faces).is_watertight),
        "cells": cells,
        "build_s": wall,
        "build_cpu_s": cpu,
        "megabytes": field.fine.nbytes / 1e6,
        "median_mm": 1e3 * float(np.median(errors)),
        "most_mm": 1e3 * float(np.percentile(errors, 99)),
        "surface": len(surface.faces),
        "volume": shape.volume,
        "notes": shape.notes,
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", default="", help="part of the name")
    parser.add_argument("--output", type=Path, help="JSON file for the rows")
    chosen = parser.parse_args()
    rows = []
    head = (
        "mesh",
        "triangles",
        "closed",
        "cells",
        "build s",
        "cpu s",
        "MB",
        "median mm",
        "99 % mm",
        "surface",
    )
    print("{:52} {:>9} {:>6} {:>5} {:>7} {:>6} {:>5} {:>9} {:>8} {:>7}".format(*head))
    for source in installed():
        if chosen.only not in source.name:
            continue
        try:
            row = measured(source)
        except BellcrankError as error:
            rows.append({"name": source.name, "error": str(error)})
            print(f"{source.name:52} {error}")
            continue
        rows.append(row)
        print(
            f"{row['name'][:52]:52} {row['triangles']:9} {'yes' if row['watertight'] else 'no':>6} {row['cells']:5} "
            f"{row['build_s']:7.2f} {row['build_cpu_s']:6.2f} {row['megabytes']:5.1f} {row['median_mm']:9.3f} "
            f"{row['most_mm']:8.2f} {row['surface']:7}",
            flush=True,
        )
    if chosen.output:
        chosen.output.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
