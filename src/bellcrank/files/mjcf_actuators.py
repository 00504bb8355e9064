"""Actuators of MJCF on joints and fixed tendons, where they are linear: motors, servos, general ones alike.

Source: MuJoCo documentation, computation, actuation model: force = gear (gain u + b0 + b1 l + b2 l-dot) with the length
l = gear q and the control u. The control becomes a parameter named as the actuator, zero until ``parameters=`` or a
controller sets it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bellcrank.files.elements import Element
from bellcrank.files.imported import Builder

if TYPE_CHECKING:
    from bellcrank.program.trace import Scalar


def actuator(
    build: Builder,
    element: Element,
    joints: Mapping[str, str],
    tendons: Mapping[str, str],
    refs: Mapping[str, float],
) -> str | None:
    """An actuator on a joint with one coordinate, or on a fixed tendon: the parameter it goes by; others are listed.

    joints, tendons: Labels of joints by their names in the file. refs: Value of each joint of the file in its pose.
    """
    found = _law(element)
    name, tendon = element.text("joint"), element.text("tendon")
    if found is None or (name is None and tendon not in tendons):
        why = "only linear actuators on joints and fixed tendons are imported; use drivers or joint forces"
        build.ignore(element, why)
        return None
    if name is None:
        assert tendon is not None
        joints, name = tendons, tendon
        refs = {tendon: refs[f"tendon {tendons[tendon]}"]}
    if name not in joints or len(build.system.joints[joints[name]].scalar_coordinates) != 1:
        build.ignore(element, "its joint has no single coordinate to act on")
        return None
    gear = element.numbers("gear", (1, 2, 3, 4, 5, 6), (1.0,))[0]
    gain, b0, b1, b2 = found
    ref = refs.get(name, 0.0)
    label = build.name(element.text("name") or f"{joints[name]} actuator", "actuator", element)
    # Constant of the file: MuJoCo's coordinate is ours and what the joint has in the pose of the file.
    offset = gear * (b0 + b1 * gear * ref)
    control = build.system.parameter(label, 0.0)
    force = build.name(f"{label} force", "force")

    def law(coordinate: Scalar, rate: Scalar) -> Scalar:
        return gear * gain * control + offset + gear * gear * (b1 * coordinate + b2 * rate)

    build.blamed(element, build.system.joint_force, force, joints[name], law)
    for key in ("ctrlrange", "forcerange", "ctrllimited", "forcelimited", "actrange"):
        build.skip(element, key, "bounds of controls and forces are not enforced")
    return label


def _law(element: Element) -> tuple[float, float, float, float] | None:
    """Gain and the three biases, None where it is not linear without states."""
    kind = element.tag
    if kind == "motor":
        return 1.0, 0.0, 0.0, 0.0
    if kind == "position":
        kp, kv = element.number("kp", 1.0), element.number("kv", 0.0)
        if element.number("timeconst", 0.0) or element.number("dampratio", 0.0):
            return None
        return kp, 0.0, -kp, -kv
    if kind == "velocity":
        kv = element.number("kv", 1.0)
        return kv, 0.0, 0.0, -kv
    if kind == "general":
        plain = (element.text("dyntype", "none"), element.text("gaintype", "fixed"))
        bias = element.text("biastype", "none")
        if plain != ("none", "fixed") or bias not in ("none", "affine"):
            return None
        gain = element.numbers("gainprm", (), (1.0,))[0]
        b = [*element.numbers("biasprm", (), (0.0,)), 0.0, 0.0, 0.0] if bias == "affine" else [0.0] * 3
        return gain, b[0], b[1], b[2]
    return None


__all__ = ["actuator"]
