"""How many models that nobody here wrote are imported: their mass matrix and bias forces beside MuJoCo and pinocchio.

    pip install --no-deps --target SITE gymnasium gymnasium-robotics dm_control example-robot-data
    python -m benchmarks.imports SITE [--only humanoid] [--seconds 60] [--list]

Every URDF file that pinocchio reads and every MJCF file that MuJoCo reads counts; others are parts of models. A model
agrees where both differ by less than 1e-9 in a random state, springs and dampers of fixed tendons included, where
limits of joints stand at the same places, and where equality constraints leave the same motions in the pose of the
file. A model that is refused counts by the reason. Contacts, actuators and tendons between sites are left out on both
sides.
"""

from __future__ import annotations

import argparse
import re
import signal
import sys
import time
import warnings
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from bellcrank.errors import ModelError, SingularMechanism
from bellcrank.files.imported import Imported
from bellcrank.files.mjcf import load_mjcf
from bellcrank.files.urdf import load_urdf
from files.foreign import (
    against_mujoco,
    against_pinocchio,
    equalities_against_mujoco,
    limits_against_mujoco,
)

AGREE = 1e-9
MESHED = 6e-8
"""Where meshes give mass: MuJoCo keeps their vertices in single precision."""
HELD = 1e-7
"""For motions left by equalities: the pose of a file closes loops by its digits."""
ALLOW = ("friction", "fluid", "gravcomp", "tendons", "equalities")
"""What is left out of the comparison on both sides; what else changes the motion is refused."""
GIVEN = re.compile(r"'[^']*'|[0-9][0-9.e+-]*")
"""Names and numbers of a message, which differ from file to file."""


class Late(Exception):
    """A model took too long."""


def _late(*_: object) -> None:
    raise Late


def peer_mjcf(path: Path) -> Any:
    """MuJoCo's model, None where MuJoCo does not read the file."""
    import mujoco

    try:
        return mujoco.MjModel.from_xml_path(str(path))
    except (ValueError, OSError):
        return None


def peer_urdf(path: Path) -> Any:
    """Pinocchio's model on a free base, but for roots called world; None where pinocchio does not read the file."""
    import pinocchio as pin

    try:
        return pin.buildModelFromUrdf(str(path), *(() if rooted(path) else (pin.JointModelFreeFlyer(),)))
    except Exception:
        return None


def rooted(path: Path) -> bool:
    """Whether the root link of a URDF file is the ground: one called world that has no mass."""
    root = ElementTree.parse(path).getroot()
    world = root.find("link[@name='world']")
    carried = {child.get("link") for child in root.findall("joint/child")}
    return world is not None and world.find("inertial") is None and "world" not in carried


def judged(path: Path, root: Path) -> tuple[str, str] | None:
    """How a model fares, and the number or reason; None where it is no model by itself."""
    urdf = path.suffix == ".urdf"
    peer = peer_urdf(path) if urdf else peer_mjcf(path)
    if peer is None or peer.nv == 0:
        return None
    try:
        found: Imported
        if urdf:
            found = load_urdf(path, base="free", allow=ALLOW)
        else:
            found = load_mjcf(path, include_root=root, allow=ALLOW)
            held = load_mjcf(path, include_root=root, allow=ALLOW)
    except ModelError as error:
        return "refused", str(error).splitlines()[0].split(": ", 1)[-1]
    try:
        if urdf:
            import pinocchio as pin

            miss = against_pinocchio(pin, peer, found)
        else:
            import mujoco

            stops = limits_against_mujoco(peer, found)
            miss = against_mujoco(mujoco, peer, found)
            equal = equalities_against_mujoco(mujoco, peer_mjcf(path), held)
            if stops > AGREE:
                return "differs", f"limits: {stops:.1e}"
            if equal is not None and equal > HELD:
                return "differs", f"equalities: {equal:.1e}"
    except SingularMechanism as error:
        return "refused", str(error).split(": ", 1)[-1]
    worst, bound = max(miss[1:]), MESHED if found.meshes and not urdf else AGREE
    return ("agrees" if worst < bound else "differs"), f"{worst:.1e}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("site", type=Path, help="folder into which the packages were installed")
    parser.add_argument("--only", default="", help="files whose path contains this")
    parser.add_argument("--seconds", type=int, default=60, help="time for each model")
    parser.add_argument("--list", action="store_true", help="name every model that does not agree")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, _late)
    counts: Counter[tuple[str, str]] = Counter()
    reasons: Counter[str] = Counter()
    began = time.time()
    for path in sorted([*given.site.rglob("*.urdf"), *given.site.rglob("*.xml")]):
        where = path.relative_to(given.site)
        if given.only not in str(where):
            continue
        signal.alarm(given.seconds)
        try:
            found = judged(path, given.site / where.parts[0])
        except Late:
            found = "late", f"more than {given.seconds} s"
        except Exception as error:
            found = "fails", f"{type(error).__name__}: {error}".splitlines()[0]
        finally:
            signal.alarm(0)
        if found is None:
            continue
        counts[where.parts[0], found[0]] += 1
        if found[0] != "agrees":
            reasons[f"{found[0]}: {re.sub(GIVEN, '...', found[1])[:100]}"] += 1
            if given.list:
                print(f"{found[0]:8}{where}: {found[1][:160]}", flush=True)
    words = ("agrees", "refused", "differs", "fails", "late")
    print(f"{'package':24}" + "".join(f"{word:>9}" for word in words))
    for package in sorted({package for package, _ in counts}):
        print(f"{package:24}" + "".join(f"{counts[package, word]:9}" for word in words))
    total = {word: sum(n for (_, w), n in counts.items() if w == word) for word in words}
    print(f"{'all':24}" + "".join(f"{total[word]:9}" for word in words))
    for reason, n in reasons.most_common():
        print(f"{n:5} {reason}")
    print(f"{time.time() - began:.0f} s")


if __name__ == "__main__":
    main()
