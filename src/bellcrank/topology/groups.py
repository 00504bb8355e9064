"""Body groups: the smallest sets of links whose constraints can be solved by themselves.

Source: Kang and Yoon, independent coordinates by body groups, section 3.3, steps 1 to 4.
Differs in: the trials of all 2^(n-1) bipartitions and all subsets are replaced by connected components
and articulation points (Tarjan) of the bipartite graph of links and constraints. Separators of several
links at once are not looked for; that costs operations, not correctness.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Group:
    """Links solved together.

    links, constraints: Their numbers, increasing. inputs: Links of other groups that enter the group's
    constraints; they move independently and drive this group.
    """

    links: tuple[int, ...]
    constraints: tuple[int, ...]
    inputs: tuple[int, ...]


@dataclass(frozen=True)
class Grouping:
    """Groups in an order in which inputs come first, and how many edges the search looked at."""

    groups: tuple[Group, ...]
    edge_visits: int


def body_groups(
    coordinates: Sequence[int], constraints: Sequence[tuple[int, frozenset[int]]]
) -> tuple[Group, ...]:
    """The groups of links with `coordinates` each under `constraints` (equations, links)."""
    return find_groups(coordinates, constraints).groups


def find_groups(coordinates: Sequence[int], constraints: Sequence[tuple[int, frozenset[int]]]) -> Grouping:
    """The groups and the effort to find them; see :func:`body_groups`."""
    graph = _Bipartite(coordinates, constraints)
    alone: list[int] = []
    together: list[list[int]] = []
    pending = list(graph.components())
    while pending:
        search = pending.pop()
        if search.preorder == [search.root] and graph.is_link(search.root):
            alone.append(search.root)
            continue
        taken = graph.removable(search)
        if taken:
            alone.extend(taken)
            pending.extend(_DepthFirst(graph, part[0], set(part)) for part in search.parts(taken))
        else:
            together.append(search.preorder)

    groups = [Group((link,), (), ()) for link in sorted(alone)]
    solved = [_group(piece, graph) for piece in together]
    groups.extend(sorted(solved, key=lambda group: (group.links, group.constraints)))
    return Grouping(tuple(groups), graph.visits)


def _group(piece: list[int], graph: _Bipartite) -> Group:
    links = tuple(sorted(node for node in piece if graph.is_link(node)))
    rows = tuple(sorted(node - graph.links for node in piece if not graph.is_link(node)))
    touched = {link for row in rows for link in graph.neighbours[row + graph.links]}
    return Group(links, rows, tuple(sorted(touched.difference(links))))


class _Bipartite:
    """Links are nodes 0 ... n-1, constraints follow; an edge where a link enters a constraint.

    `surplus` of a link is its coordinates, of a constraint minus its equations, so that a part of the
    graph has more coordinates than equations where its surplus is positive.
    """

    def __init__(self, coordinates: Sequence[int], constraints: Sequence[tuple[int, frozenset[int]]]) -> None:
        self.links = len(coordinates)
        self.size = self.links + len(constraints)
        self.surplus = [*coordinates, *(-equations for equations, _ in constraints)]
        self.neighbours: list[list[int]] = [[] for _ in range(self.size)]
        for row, (_, links) in enumerate(constraints):
            for link in sorted(links):
                self.neighbours[link].append(self.links + row)
                self.neighbours[self.links + row].append(link)
        self.visits = 0

    def is_link(self, node: int) -> bool:
        return node < self.links

    def components(self) -> Iterator[_DepthFirst]:
        """A search of each connected component."""
        left = set(range(self.size))
        for start in range(self.size):
            if start in left:
                search = _DepthFirst(self, start, left)
                left.difference_update(search.preorder)
                yield search

    def removable(self, search: _DepthFirst) -> list[int]:
        """Links that may be taken out together: every part left has more coordinates than equations.

        From the leaves of the search tree up, so that one search finds many. A link with a branch that is
        tied past it to links above changes what those separate; it is taken by itself, where nothing else
        can be.
        """
        taken: list[int] = []
        tied: int | None = None
        below = {node: self.surplus[node] for node in search.preorder}
        rest = sum(below.values())
        for node in reversed(search.preorder):
            detached = search.separated.get(node, [])
            if detached and self.is_link(node):
                above = rest - self.surplus[node] - sum(below[child] for child in detached)
                parts = [below[child] for child in detached]
                if node != search.root:
                    parts.append(above)
                if len(parts) > 1 and min(parts) > 0:
                    if len(detached) < search.children[node]:
                        tied = node
                    else:
                        taken.append(node)
                        rest = above
                        continue
            if node != search.root:
                below[search.parent[node]] += below[node]
        return taken or ([] if tied is None else [tied])


class _DepthFirst:
    """Tarjan's search for articulation points from `root` over the nodes `inside`, without recursion.

    preorder: The nodes reached. separated[v]: Children of v in the search tree whose subtrees hang on the
    rest by v alone. children: How many each node has.
    """

    def __init__(self, graph: _Bipartite, root: int, inside: set[int]) -> None:
        self.root = root
        self.preorder: list[int] = []
        self.separated: dict[int, list[int]] = {}
        self.parent = parent = {self.root: -1}
        self.place: dict[int, int] = {}
        low: dict[int, int] = {}
        stack = [(self.root, iter(graph.neighbours[self.root]))]
        self._enter(self.root, low)
        while stack:
            node, others = stack[-1]
            for other in others:
                graph.visits += 1
                if other not in inside or other == parent[node]:
                    continue
                if other in self.place:
                    low[node] = min(low[node], self.place[other])
                else:
                    parent[other] = node
                    self._enter(other, low)
                    stack.append((other, iter(graph.neighbours[other])))
                    break
            else:
                stack.pop()
                above = parent[node]
                if above >= 0:
                    low[above] = min(low[above], low[node])
                    if low[node] >= self.place[above]:
                        self.separated.setdefault(above, []).append(node)
        self.children = dict.fromkeys(self.preorder, 0)
        for node in reversed(self.preorder[1:]):
            self.children[parent[node]] += 1

    def _enter(self, node: int, low: dict[int, int]) -> None:
        self.place[node] = low[node] = len(self.preorder)
        self.preorder.append(node)

    def parts(self, taken: Sequence[int]) -> list[list[int]]:
        """What remains connected without the links `taken`, the part of the root first."""
        gone = set(taken)
        cut_off = {child for node in taken for child in self.separated[node]}
        part_of: dict[int, int] = {-1: 0}
        result: list[list[int]] = [[]]
        for node in self.preorder:
            if node in cut_off:
                part_of[node] = len(result)
                result.append([])
            else:
                part_of[node] = part_of[self.parent[node]]
            if node not in gone:
                result[part_of[node]].append(node)
        return [part for part in result if part]
