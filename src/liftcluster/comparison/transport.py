"""Exact optimal transport between two discrete distributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._util.typing import FloatArray
from .._util.validation import as_numbers

_MAX_ITERATIONS = 10_000_000  # POT's default of 100,000 is not always enough for k = 500
_UNNEEDED = {"center_dual": False, "check_marginals": False}  # sums are checked here


@dataclass(frozen=True, eq=False)
class Transport:
    """A solved transport problem.

    Attributes
    ----------
    cost : float
        The minimal total cost.
    plan : (k, k') array
        The mass that is moved from i to j.
    costs : (k, k') array
        The cost of moving one unit of mass from i to j, as given.

    See Also
    --------
    emd : The function that returns it.

    Examples
    --------
    >>> import liftcluster as lc
    >>> lc.emd([0.5, 0.5], [0.75, 0.25], [[0.0, 1.0], [1.0, 0.0]]).plan.tolist()
    [[0.5, 0.0], [0.25, 0.25]]
    """

    cost: float
    plan: FloatArray
    costs: FloatArray


def emd(a: Any, b: Any, C: Any) -> Transport:
    r"""Earth mover's distance: the minimal cost of moving masses a onto masses b.

    .. math:: \min_{π \ge 0} \sum_{ij} π_{ij} C_{ij} \quad \text{with} \quad
              \sum_j π_{ij} = a_i, \ \sum_i π_{ij} = b_j

    Solved exactly by POT's network simplex.

    Parameters
    ----------
    a, b : (k,) and (k',) array-like
        Masses ≥ 0 with equal positive sums (to a relative 1e-9).
    C : (k, k') array-like
        Cost of moving one unit of mass.

    Returns
    -------
    Transport
        The minimal cost and the plan that has it.

    See Also
    --------
    distance : LiftEMD between partitions, which is solved by this.

    Examples
    --------
    >>> import liftcluster as lc
    >>> lc.emd([0.5, 0.5], [0.75, 0.25], [[0.0, 1.0], [1.0, 0.0]]).cost
    0.25
    """
    a, b = _masses(a, "a"), _masses(b, "b")
    C = np.ascontiguousarray(as_numbers(C, "C"))
    if C.shape != (len(a), len(b)):
        raise ValueError(f"C must have shape ({len(a)}, {len(b)}), got {C.shape}")
    if not np.isfinite(C).all():
        raise ValueError("C must be finite")
    if abs(a.sum() - b.sum()) > 1e-9 * a.sum():
        raise ValueError(
            f"masses must have equal sums, got {a.sum():.12g} and {b.sum():.12g}; divide each by "
            "its sum"
        )
    return solve_transport(a, b, C)


def solve_transport(a: FloatArray, b: FloatArray, C: FloatArray) -> Transport:
    """The same for contiguous arrays that are known to be valid."""
    from ot import emd as solve  # takes half a second to import

    # Scaled to total mass and maximal cost one: the solver fails for numbers like 1e-200.
    total, max_cost = float(a.sum()), float(np.abs(C).max()) or 1.0
    shares, scaled = (a / total, b / b.sum()), C / max_cost
    plan, log = solve(*shares, scaled, _MAX_ITERATIONS, log=True, **_UNNEEDED)
    if log["warning"] is not None:
        raise RuntimeError(f"the transport problem was not solved: {log['warning']}")
    cost = float((plan * scaled).sum()) * max_cost * total
    return Transport(cost, np.asarray(plan) * total, C)


def _masses(masses: Any, name: str) -> FloatArray:
    m = np.ascontiguousarray(as_numbers(masses, name))
    if m.ndim != 1 or not len(m):
        raise ValueError(f"{name} must be a non-empty array of masses, got shape {m.shape}")
    with np.errstate(over="ignore"):
        total = m.sum()
    if not (np.isfinite(total) and (m >= 0).all() and total > 0):
        raise ValueError(f"{name} must be finite masses, none negative and not all zero")
    return m
