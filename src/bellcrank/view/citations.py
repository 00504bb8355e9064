"""Who is to be credited for a run: the sources of the methods it used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bellcrank.model.joint_kinds import JointKind

if TYPE_CHECKING:
    from bellcrank.result.result import Result

BELLCRANK = "The Bellcrank authors: Bellcrank, a compiler for mechanisms (software)."

KANG_YOON = (
    "S.-G. Kang, Y.-S. Yoon: An efficient multibody dynamic algorithm using independent coordinates set and "
    "modified velocity transformation method (about 2001)."
)
AHN_LEE = "D. H. Ahn, B. H. Lee: Dynamic analysis of flexible mechanical systems with closed loops (1994)."
WEHAGE_HAUG = (
    "R. A. Wehage, E. J. Haug: Generalized coordinate partitioning for dimension reduction in analysis of "
    "constrained dynamic systems. J. Mechanical Design 104 (1982), 247-255."
)
FEATHERSTONE = "R. Featherstone: Rigid Body Dynamics Algorithms. Springer, 2008."
HAIRER_1 = (
    "E. Hairer, S. P. Norsett, G. Wanner: Solving Ordinary Differential Equations I: Nonstiff Problems. "
    "Springer, 2nd edition, 1993."
)
HAIRER_2 = (
    "E. Hairer, G. Wanner: Solving Ordinary Differential Equations II: Stiff and Differential-Algebraic Problems. "
    "Springer, 2nd edition, 1996."
)
DORMAND_PRINCE = (
    "J. R. Dormand, P. J. Prince: A family of embedded Runge-Kutta formulae. J. Computational and Applied "
    "Mathematics 6 (1980), 19-26."
)
HAMMING = (
    "R. W. Hamming: Stable predictor-corrector methods for ordinary differential equations. "
    "J. ACM 6 (1959), 37-47."
)
KUTTA = "W. Kutta: Beitrag zur näherungsweisen Integration totaler Differentialgleichungen. Z. Math. Phys. 46 (1901)."
ALPHA = (
    "K. E. Jansen, C. H. Whiting, G. M. Hulbert: A generalized-alpha method for integrating the filtered "
    "Navier-Stokes equations with a stabilized finite element method. Comput. Methods Appl. Mech. Engrg. 190 "
    "(2000), 305-319."
)

_METHODS: dict[str, tuple[str, ...]] = {
    "dop853": (HAIRER_1, DORMAND_PRINCE),
    "dormand_prince5": (DORMAND_PRINCE, HAIRER_1),
    "runge_kutta5": (HAIRER_1, HAIRER_2),
    "radau": (HAIRER_2,),
    "generalised_alpha": (ALPHA,),
    "milne_hamming": (HAMMING, AHN_LEE),
    "runge_kutta4": (KUTTA,),
}
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
    if any(j.kind in (JointKind.SPHERICAL, JointKind.FREE) for j in mechanism.system.joints.values()):
        found.append(FEATHERSTONE)
    for method in [run.method, *(name for _, name in run.switches)]:
        found += _METHODS.get(method, ())
    return list(dict.fromkeys(found))
