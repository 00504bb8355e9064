"""Where the methods come from, as papers are cited."""

from __future__ import annotations

AHN_LEE = "D. H. Ahn, B. H. Lee: Dynamic analysis of flexible mechanical systems with closed loops (1994)."
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
