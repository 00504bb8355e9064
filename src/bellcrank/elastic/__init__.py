"""Elastic bodies of finite elements in dynamic contact, with all compatibility conditions and friction.

    from bellcrank import elastic

    steel = elastic.Material(young=500.0, poisson=0.3, density=1.0)
    ball = elastic.sphere(8.0, steel, grading=6, centre=(0, 8), velocity=(0, -1))
    run = elastic.simulate(ball, elastic.RigidPlane(), duration=3.6, step=0.01)
    run["contact.force"].max()

Strains and rotations must be small; bodies may fly any distance. In plane and solid problems a spinning body therefore
strains itself falsely after some degrees.

scikit-fem is needed: ``pip install bellcrank[elastic]``.
"""

from __future__ import annotations

from typing import Any

_HOMES = {
    "Material": ".fe.material",
    "Analysis": "material",
    "Mass": "material",
    "Element": "elements",
    "ElasticBody": "body",
    "Support": "body",
    "disc": "shapes",
    "sphere": "shapes",
    "block": "shapes",
    "cylinder": "shapes",
    "read_mesh": "mesh_files",
    "Obstacle": "obstacles",
    "RigidPlane": "obstacles",
    "RigidSphere": "obstacles",
    "RigidSurface": "obstacles",
    "rigid_shape": "obstacles",
    "Contact": "interface",
    "Scheme": "schemes",
    "newmark": "schemes",
    "generalised_alpha": "schemes",
    "DirectActiveSet": "active_set",
    "ContactFailure": "active_set",
    "AcceleratedIteration": "accelerated",
    "Compatibility": "stepping",
    "simulate": "run",
    "StepNote": "run",
    "PatchNote": "resolution",
    "ElasticResult": "result",
    "Stress": "stress",
    "press": "static",
    "Pressed": "static",
    "Setup": "setup",
    "load": "files",
    "loads": "files",
    "schema": "files",
    "flexible_model": "members",
    "kept_zone": "members",
    "touch": "members",
    "zone_nodes": "members",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    # scikit-fem and scipy's sparse solvers are only loaded by those who use them.
    if name not in _HOMES:
        raise AttributeError(f"module 'bellcrank.elastic' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_HOMES[name]}", "bellcrank.elastic"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
