r"""A test of several restrictions at once, after Wald (1943).

A quadratic form :math:`q = d^\top V^{-1} d` of :math:`k` Gaussian differences is chi-squared with :math:`k` degrees of freedom when
:math:`V` is their covariance; with an estimated variance on :math:`\nu` degrees of freedom, :math:`q / k` follows
Fisher's :math:`F(k, \nu)`. The upper tail is computed as such, so small p-values keep all their digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import special

from qed.base.visible import ShownAsText


@dataclass(frozen=True, repr=False)
class WaldTest(ShownAsText):
    """The outcome of a test of restrictions on coefficients.

    Attributes
    ----------
    statistic : float
        F, or chi-squared when the degrees of freedom are infinite.
    restrictions : int
        How many were tested together.
    degrees_of_freedom : float
        Those of the noise variance.
    p_value : float
        The probability of a statistic at least as large if the restrictions hold.
    """

    statistic: float
    restrictions: int
    degrees_of_freedom: float
    p_value: float

    @classmethod
    def of(cls, quadratic: float, restrictions: int, degrees_of_freedom: float) -> WaldTest:
        """Make the test of a quadratic form that is chi-squared but for the estimated variance."""
        if math.isinf(degrees_of_freedom):
            p_value = special.chdtrc(restrictions, quadratic)
            return cls(quadratic, restrictions, degrees_of_freedom, float(p_value))
        statistic = quadratic / restrictions
        p_value = special.fdtrc(restrictions, degrees_of_freedom, statistic)
        return cls(statistic, restrictions, degrees_of_freedom, float(p_value))

    def __str__(self) -> str:
        if math.isinf(self.degrees_of_freedom):
            return f"chi2({self.restrictions}) = {self.statistic:.5g}, p = {self.p_value:.3g}"
        return f"F({self.restrictions}, {self.degrees_of_freedom:g}) = {self.statistic:.5g}, p = {self.p_value:.3g}"
