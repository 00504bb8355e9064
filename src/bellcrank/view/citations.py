"""Who is to be credited for a run: the sources of the methods it used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bellcrank.integrate.methods import METHODS, sources
from bellcrank.integrate.sources import AHN_LEE
from bellcrank.result.result import STEPS

if TYPE_CHECKING:
    from bellcrank.result.result import Result

BELLCRANK = "The Bellcrank authors: Bellcrank, a compiler for mechanisms (software)."

KANG_YOON = (
    "S.-G. Kang, Y.-S. Yoon: An efficient multibody dynamic algorithm using independent coordinates set and "
    "modified velocity transformation method (about 2001)."
)
WEHAGE_HAUG = (
    "R. A. Wehage, E. J. Haug: Generalized coordinate partitioning for dimension reduction in analysis of "
    "constrained dynamic systems. J. Mechanical Design 104 (1982), 247-255."
)
FEATHERSTONE = "R. Featherstone: Rigid Body Dynamics Algorithms. Springer, 2008."
MOREAU = (
    "J. J. Moreau: Unilateral contact and dry friction in finite freedom dynamics. In: Nonsmooth Mechanics and "
    "Applications, CISM 302, Springer, 1988, 1-82."
)
JEAN = (
    "M. Jean: The non-smooth contact dynamics method. Computer Methods in Applied Mechanics and Engineering 177 "
    "(1999), 235-257."
)

_FORMULATIONS: dict[str, tuple[str, ...]] = {
    "independent": (KANG_YOON,),
    "partitioning": (WEHAGE_HAUG,),
    "recursive": (FEATHERSTONE,),
    "reduced_lagrange": (KANG_YOON,),
}


def cite(result: Result) -> list[str]:
    """The sources of the methods a run used, Bellcrank itself first."""
    run, mechanism = result.run, result.mechanism
    found = [BELLCRANK, *_FORMULATIONS.get(run.formulation, ())]
    if mechanism.kept:
        found += [KANG_YOON, WEHAGE_HAUG, AHN_LEE]
    if any(j.has_quaternion for j in mechanism.system.joints.values()):
        found.append(FEATHERSTONE)
    for method in [run.method, *(name for _, name in run.switches)]:
        if method in METHODS:
            found += sources(method)
    if run.method == STEPS or run.stepped:
        found += [MOREAU, JEAN]
    return list(dict.fromkeys(found))
