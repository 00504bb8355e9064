"""The mechanism as a text: tree, cuts, loops and groups."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.topology.groups import Group
from bellcrank.topology.loops import loops
from bellcrank.topology.tree import Tree


def describe(tree: Tree, groups: Sequence[Group] | None = None) -> str:
    """A table of the tree and its cuts, with loops, and with the groups of links where given."""
    lines = [
        f"{_count(len(tree.links), 'body', 'bodies')}, {_count(tree.dof, 'coordinate')}, "
        f"{_count(tree.equations, 'cut equation')}",
        "",
        "tree",
        tree.ground.name,
    ]
    drawn = _branches(tree)
    width = max((len(text) for text in drawn), default=0)
    for text, link in zip(drawn, tree.links, strict=True):
        lines.append(f"{text.ljust(width)}  {link.joint.kind} {link.joint.name!r} ({link.joint.dof})")
    if tree.cuts:
        lines += ["", "cuts"]
        for loop in loops(tree):
            cut = loop.cut
            around = [
                *(link.body.name for link in reversed(loop.path_a)),
                f"[{loop.common.name}]",
                *(link.body.name for link in loop.path_b),
            ]
            lines.append(
                f"{cut.kind} {cut.name!r} ({_count(cut.constraints, 'equation')}): {' - '.join(around)}"
            )
    if tree.idle:
        lines += ["", "free joints without effect: " + ", ".join(repr(j.name) for j in tree.idle)]
    if groups is not None:
        lines += ["", "groups"]
        lines += [_group_line(tree, number, group) for number, group in enumerate(groups, 1)]
    return "\n".join(lines)


def _group_line(tree: Tree, number: int, group: Group) -> str:
    text = f"{number}: {', '.join(tree.links[i].body.name for i in group.links)}"
    if group.constraints:
        text += f"; {_count(len(group.constraints), 'constraint')}"
    if group.inputs:
        text += f"; moved by {', '.join(tree.links[i].body.name for i in group.inputs)}"
    return text


def _branches(tree: Tree) -> list[str]:
    """The body names with the lines of the tree in front."""
    last = {parent: i for i, parent in enumerate(tree.parents)}
    prefix: dict[int, str] = {-1: ""}
    result: list[str] = []
    for i, (link, parent) in enumerate(zip(tree.links, tree.parents, strict=True)):
        ends = last[parent] == i
        result.append(f"{prefix[parent]}{'└─ ' if ends else '├─ '}{link.body.name}")
        prefix[i] = prefix[parent] + ("   " if ends else "│  ")
    return result


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
