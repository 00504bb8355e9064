"""The graph of a mechanism as a picture: bodies as a tree from the ground, loops as arcs beside it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bellcrank.mechanism import Mechanism

ROW, INDENT, CHARACTER, BOX = 44, 44, 7.2, 24
FAINT, LOOP = "#57606a", "#bc4c00"
_STYLE = (
    "text{font:13px sans-serif;fill:#24292f} .joint{font-size:11px;fill:#57606a} .cut{font-size:11px;fill:#bc4c00} "
    ".body{fill:#ddf4ff;stroke:#0969da} .ground{fill:#eaeef2;stroke:#8c959f}"
)


def graph(mechanism: Mechanism) -> str:
    """An SVG text: one row a body, the joint it hangs on beside its line, cut joints dashed on the right."""
    tree = mechanism.tree
    names = [tree.ground.name, *(link.body.name for link in tree.links)]
    row = {name: k for k, name in enumerate(names)}
    joints = {link.body.name: f"{link.joint.kind} '{link.joint.name}'" for link in tree.links}
    # A child's box stands to the right of its joint's text, which stands to the right of its parent's line.
    x = {tree.ground.name: 16.0}
    for link in tree.links:
        x[link.body.name] = x[link.parent.name] + INDENT
    right = {n: x[n] + CHARACTER * len(n) + 20 for n in names}
    edge = max(right[n] + 5.6 * len(joints.get(n, "")) + 24 for n in names)
    out: list[str] = []
    for link in tree.links:
        parent, name = link.parent.name, link.body.name
        line, top = x[parent] + 12, _y(row[parent]) + BOX / 2
        out.append(
            f'<path d="M{line:.1f} {top:.1f} V{_y(row[name]):.1f} H{x[name]:.1f}" fill="none" stroke="{FAINT}"/>'
        )
    for name in names:
        kind = "ground" if name == tree.ground.name else "body"
        width = right[name] - x[name]
        out.append(
            f'<rect class="{kind}" x="{x[name]:.1f}" y="{_y(row[name]) - BOX / 2:.1f}" width="{width:.1f}" '
            f'height="{BOX}" rx="5"/>'
        )
        out.append(f'<text x="{x[name] + 10:.1f}" y="{_y(row[name]) + 4.5:.1f}">{escape(name)}</text>')
        if name in joints:
            place = f'x="{right[name] + 8:.1f}" y="{_y(row[name]) + 4:.1f}"'
            out.append(f'<text class="joint" {place}>{escape(joints[name])}</text>')
    widest = edge
    for k, cut in enumerate(tree.cuts):
        a, b = sorted((cut.a.body.name, cut.b.body.name), key=row.__getitem__)
        reach = edge + 30 + 22 * (k % 8)
        ends = [right[n] + (5.6 * len(joints[n]) + 14 if n in joints else 4) for n in (a, b)]
        out.append(
            f'<path d="M{ends[0]:.1f} {_y(row[a]):.1f} H{edge:.1f} C{reach:.1f} {_y(row[a]):.1f} {reach:.1f} '
            f'{_y(row[b]):.1f} {edge:.1f} {_y(row[b]):.1f} H{ends[1]:.1f}" fill="none" stroke="{LOOP}" '
            'stroke-dasharray="5 3"/>'
        )
        label = f"{cut.kind} '{cut.name}'"
        at = edge + 0.75 * (reach - edge) + 6
        middle = 0.5 * (_y(row[a]) + _y(row[b])) + 4
        out.append(f'<text class="cut" x="{at:.1f}" y="{middle:.1f}">{escape(label)}</text>')
        widest = max(widest, at + 6.4 * len(label))
    height = _y(len(names) - 1) + ROW
    title = escape(
        f"{mechanism.system.name}: {mechanism.degrees_of_freedom} degrees of freedom, {len(tree.cuts)} loops"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{widest + 16:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {widest + 16:.0f} {height:.0f}" role="img"><title>{title}</title><style>{_STYLE}</style>'
        f'<rect width="100%" height="100%" fill="white"/><text x="16" y="20" font-weight="bold">{title}</text>'
        + "".join(out)
        + "</svg>\n"
    )


def _y(row: int) -> float:
    return 52.0 + ROW * row
