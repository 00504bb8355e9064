"""Sines that are evaluated together, and calls of one subprogram that are made together, each in a lane of its own.

Both wait for what all of them need. The level of one is the number of others that its value depends on in a chain;
those of one level do not depend on each other. Nothing here changes a bit of the result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from bellcrank.program.program import Program
from bellcrank.program.step import Called, Step
from bellcrank.program.subprogram import Subprogram
from bellcrank.program.trace import Expr

_SINES = ("sin", "cos")


def call_widths(program: Program, most: int, copying: bool) -> dict[str, tuple[Subprogram, int]]:
    """The subprograms that a program itself calls, by their digests, and how many calls are made at once.

    A power of two up to `most`, as many as are there on one level. copying: Whether it pays to lay blocks side by side;
    in a subprogram, which calls others on the same blocks again and again, it does not.
    """
    if not any(node.op == "call" for node in program.operations):
        return {}
    level: dict[int, int] = {}
    alike: Counter[tuple[str, int]] = Counter()
    targets: dict[str, Subprogram] = {}
    for node in program.operations:
        here = max((level.get(a.id, 0) for a in node.args if isinstance(a, Expr)), default=0)
        if node.op == "call":
            target: Subprogram = node.args[0]
            targets[target.digest] = target
            alike[target.digest, here] += 1
        level[node.id] = here + (node.op == "call" or node.op in _SINES)
    largest: dict[str, int] = {}
    for (digest, _), count in alike.items():
        single = targets[digest].blocks and not copying
        largest[digest] = max(largest.get(digest, 1), 1 if single else min(count, most))
    return {digest: (targets[digest], 1 << (count - 1).bit_length()) for digest, count in largest.items()}


def gathered(
    steps: list[Step], sines: int, widths: Mapping[str, tuple[Subprogram, int]] | None = None
) -> list[Step]:
    """Join the sine and cosine of one argument, and up to `sines` arguments known equally early; likewise calls."""
    level: dict[int, int] = {}
    pairs: dict[int, list[int]] = {}
    calls: dict[tuple[str, int], list[Step]] = {}
    for step in steps:
        here = 0
        for a in step.args:
            if type(a) is int and (depth := level.get(a, 0)) > here:
                here = depth
        if step.op == "sin" or step.op == "cos":
            pairs.setdefault(step.args[0], [-1, -1])[step.op == "cos"] = step.outs[0]
            here += 1
        elif step.op == "call":
            calls.setdefault((step.args[0].target.digest, here), []).append(step)
            here += 1
        for o in step.outs:
            level[o] = here
    if not pairs and not calls:
        return steps
    waiting: dict[int, list[int]] = {}
    for argument in pairs:
        waiting.setdefault(level.get(argument, 0), []).append(argument)
    groups: list[Step] = []
    for arguments in waiting.values():
        for k in range(0, len(arguments), sines):
            group = tuple(arguments[k : k + sines])
            groups.append(Step("sincos", tuple(o for a in group for o in pairs[a]), group))
    for (digest, _), alike in calls.items():
        width = 1 if widths is None else widths[digest][1]
        groups += [_joined(alike[k : k + width], width) for k in range(0, len(alike), width)]
    return _in_order(steps, groups)


def _joined(calls: Sequence[Step], width: int) -> Step:
    """Calls of one subprogram as one step."""
    args = [a for one in calls for a in one.args[1:]]
    return Step(
        "call", tuple(o for one in calls for o in one.outs), (Called(calls[0].args[0].target, width), *args)
    )


def _in_order(steps: Sequence[Step], groups: Sequence[Step]) -> list[Step]:
    """Natural order, but what a group needs comes before the first of it."""
    single = [s for s in steps if s.op not in _SINES and s.op != "call"]
    units = [*groups, *single]
    maker = {o: k for k, s in enumerate(units) for o in s.outs if o >= 0}
    order: list[Step] = []
    done = [False] * len(units)
    later = len(groups)
    for step in steps:
        if step.op in _SINES or step.op == "call":
            root = maker[max(step.outs)]
        else:
            root = later
            later += 1
        pending = [root]
        while pending:
            k = pending[-1]
            if done[k]:
                pending.pop()
                continue
            missing = [
                m for a in units[k].args if type(a) is int and (m := maker.get(a, -1)) >= 0 and not done[m]
            ]
            if missing:
                pending.extend(sorted(set(missing), reverse=True))
                continue
            pending.pop()
            done[k] = True
            order.append(units[k])
    return order


__all__ = ["call_widths", "gathered"]
