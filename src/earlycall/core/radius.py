"""How far the mean of τ draws may be from the truth, at every τ at once.

C(σ, τ, δ') = 2σ·√((a·ln(1 + log_c τ) + β)/τ) with β = (c/2)·ln(2ζ(2a/c)/δ'), a = 0.6, c = 1.1 (Lemma 1, after Zhao
et al. 2016). The factor 2 is missing in print: the bound's source states it for ½-sub-Gaussian draws, and a
σ-sub-Gaussian draw divided by 2σ is one. `widen` is that 2, or 1 for the comparison with the print.

The stopping argument behind the bound only needs the accumulated variance, so τ may be any real number ≥ 1.
"""

import math

A_LIL = 0.6  # the paper's a: any a > c/2 is valid; 0.6 and 1.1 are Zhao et al.'s choice
C_LIL = 1.1  # the paper's c
HALF_C = C_LIL / 2.0
LOG_C = math.log(C_LIL)


def zeta(s: float) -> float:
    """Riemann's ζ(s) for real s > 1, by Euler and Maclaurin after ten terms.

    >>> abs(zeta(2.0) - math.pi**2 / 6) < 4e-14
    True
    """
    n = 10
    total = 0.0
    for m in range(1, n):
        total += math.exp(-s * math.log(m))
    power = math.exp(-s * math.log(n))  # n^−s
    total += n * power / (s - 1.0) + 0.5 * power
    # Σ B_2j/(2j)!·s(s+1)…(s+2j−2)·n^(−s−2j+1); the next term is below 1e-17 of the sum on s ≤ 50
    term = s * power / n
    total += term / 12.0
    term *= (s + 1.0) * (s + 2.0) / (n * n)
    total -= term / 720.0
    term *= (s + 3.0) * (s + 4.0) / (n * n)
    total += term / 30240.0
    term *= (s + 5.0) * (s + 6.0) / (n * n)
    total -= term / 1209600.0
    term *= (s + 7.0) * (s + 8.0) / (n * n)
    total += term / 47900160.0
    term *= (s + 9.0) * (s + 10.0) / (n * n)
    return total - term * 691.0 / 1307674368000.0


ZETA = zeta(2.0 * A_LIL / C_LIL)


def growth(tau: float) -> float:
    """The slowly growing part a·ln(1 + log_c τ), 0 for τ ≤ 1."""
    if tau <= 1.0:
        return 0.0
    return A_LIL * math.log(1.0 + math.log(tau) / LOG_C)


def radius(scale: float, tau: float, beta: float) -> float:
    """C at τ draws of scale `scale` (widened already) and at β; infinite below one draw.

    >>> round(radius(2.0 * 1.0, 1.0, HALF_C * math.log(2.0 * ZETA / 0.05)), 4)
    3.6749
    """
    if tau < 1.0 - 1e-9:  # a sum of fractions P/D may fall an ulp short of one
        return math.inf
    return scale * math.sqrt((growth(tau) + beta) / tau)
