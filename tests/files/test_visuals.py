"""Visuals of URDF and MJCF files: shapes, colours, meshes, and what is not read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from trimesh import creation

from bellcrank.contact import Box, Capsule, Cylinder, Mesh, Sphere
from bellcrank.files.mjcf import load_mjcf, loads_mjcf
from bellcrank.files.urdf import load_urdf, loads_urdf

URDF = """<robot name="arm">
  <material name="steel"><color rgba="0.5 0.6 1 0.5"/></material>
  <link name="base"><visual><geometry><box size="1 2 3"/></geometry><material name="steel"/></visual></link>
  <link name="tip"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <visual><origin xyz="0 0 1" rpy="0 1.5707963267948966 0"/>
      <geometry><cylinder radius="0.1" length="2"/></geometry></visual>
    <visual><geometry><mesh filename="{mesh}" scale="0.001 0.001 0.002"/></geometry></visual></link>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="tip"/></joint>
</robot>"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with a mesh beside the folder of its model, and a mesh outside of it."""
    (tmp_path / "arm" / "urdf").mkdir(parents=True)
    (tmp_path / "arm" / "meshes").mkdir()
    creation.box((10, 20, 30)).export(tmp_path / "arm" / "meshes" / "part.stl")
    creation.box((10, 20, 30)).export(tmp_path / "outside.stl")
    return tmp_path / "arm"


def test_urdf_shapes_colours_and_meshes(package: Path) -> None:
    path = package / "urdf" / "arm.urdf"
    path.write_text(URDF.format(mesh="package://arm/meshes/part.stl"))
    found = load_urdf(path)
    (block,) = found.system.bodies["base"].visuals
    assert isinstance(block.shape, Box)
    assert block.shape.half_lengths == (0.5, 1.0, 1.5)
    assert (block.colour, block.opacity) == ("#8099ff", 0.5)
    bar, part = found.system.bodies["tip"].visuals
    assert isinstance(bar.shape, Cylinder)
    assert bar.frame.position == (0.0, 0.0, 1.0)
    assert np.array(bar.frame.rotation, dtype=float)[:, 2] == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)
    assert isinstance(part.shape, Mesh)
    assert np.ptp(part.shape.vertices, axis=0) == pytest.approx([0.01, 0.02, 0.06])
    assert found.ignored == ()


PAINTED = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <library_effects><effect id="e"><profile_COMMON><technique sid="t"><phong>
    <ambient><color>0 0 0 1</color></ambient><diffuse><color>1 0.4 0 0</color></diffuse>
  </phong></technique></profile_COMMON></effect></library_effects>
  <library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
  <library_geometries><geometry id="g"><mesh>
    <source id="s"><float_array id="a" count="12">0 0 0 1 0 0 1 1 0 0 1 0</float_array>
      <technique_common><accessor source="#a" count="4" stride="3"/></technique_common></source>
    <vertices id="v"><input semantic="POSITION" source="#s"/></vertices>
    <triangles material="paint"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles>
    <triangles><input semantic="VERTEX" source="#v" offset="0"/><p>0 2 3</p></triangles>
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="w"><node><instance_geometry url="#g"><bind_material><technique_common>
    <instance_material symbol="paint" target="#m"/></technique_common></bind_material></instance_geometry></node>
  </visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#w"/></scene>
</COLLADA>"""


def test_a_mesh_file_brings_its_colours_where_the_robot_gives_none(package: Path) -> None:
    (package / "meshes" / "part.dae").write_text(PAINTED)
    path = package / "urdf" / "arm.urdf"
    path.write_text(URDF.format(mesh="package://arm/meshes/part.dae"))
    _, painted, plain = load_urdf(path).system.bodies["tip"].visuals
    assert (painted.colour, plain.colour) == ("#ff6600", None)
    for part, corners in ((painted, [[0, 0], [1, 0], [1, 1]]), (plain, [[0, 0], [1, 1], [0, 1]])):
        assert part.opacity == 1.0
        assert isinstance(part.shape, Mesh)
        found = np.array(part.shape.vertices)[np.array(part.shape.faces)[0], :2]
        np.testing.assert_allclose(found, 1e-3 * np.array(corners), atol=1e-15)
    steel = '</geometry><material name="steel"/></visual></link>'
    path.write_text(path.read_text().replace("</geometry></visual></link>", steel))
    _, whole = load_urdf(path).system.bodies["tip"].visuals
    assert (whole.colour, whole.opacity) == ("#8099ff", 0.5)


@pytest.mark.parametrize(
    "mesh",
    [
        "package://arm/../outside.stl",
        "../../outside.stl",
        "/etc/hostname",
        "package://arm/none.stl",
        "part.dae",
    ],
)
def test_meshes_outside_of_the_package_are_not_opened(package: Path, mesh: str) -> None:
    path = package / "urdf" / "arm.urdf"
    path.write_text(URDF.format(mesh=mesh))
    found = load_urdf(path)
    assert len(found.system.bodies["tip"].visuals) == 1
    assert [note.what for note in found.ignored] == ["<visual>"]
    assert found.meshes == (mesh,)
    assert len(loads_urdf(path.read_text()).system.bodies["tip"].visuals) == 1


MJCF = """<mujoco><asset><mesh name="part" file="meshes/part.stl" scale="0.001 0.001 0.001"/></asset><worldbody>
  <geom type="plane" size="1 1 1"/>
  <body name="arm" pos="0 0 1"><joint type="hinge" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 1 0 0" size="0.1" rgba="1 0 0 0.5"/>
    <geom type="sphere" size="0.2" pos="1 0 0"/>
    <geom type="mesh" mesh="part" mass="0"/>
    <geom type="box" size="1 1 1" group="3" mass="0"/>
  </body></worldbody></mujoco>"""


def test_mjcf_geoms_are_drawn(package: Path) -> None:
    arm = loads_mjcf(MJCF).system.bodies["arm"].visuals
    assert [type(v.shape) for v in arm] == [Capsule, Sphere]
    assert (arm[0].colour, arm[0].opacity) == ("#ff0000", 0.5)
    assert arm[0].frame.position == (0.5, 0.0, 0.0)
    path = package / "arm.xml"
    path.write_text(MJCF)
    found = load_mjcf(path).system
    assert [type(v.shape) for v in found.bodies["arm"].visuals] == [Capsule, Sphere, Mesh]
    assert len(found.ground.visuals) == 1
