"""Explicit features of single points, and the quality of partitions by them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._util.arrays import from_device, row_blocks
from .._util.memory import check_memory
from .._util.typing import FloatArray, IntArray, Points
from ..kernels.summary import n_points
from ..lifts.base import FeatureLift
from ..lifts.choice import Lifting, lift_for_any_points
from ..lifts.settings import Exact, Nystroem
from ..partitions.labels import one_hot

LANDMARKS = 500  # so that up to as many points have exact features


def point_features(lifting: Lifting, X: Points, rng: np.random.Generator) -> FloatArray:
    """(n, ρ) features φ(x) of all points.

    "auto" stands for at most 500 landmarks, the exact lift for as many landmarks as points.
    """
    if lifting.is_fitted:
        lift = lifting.fitted_lift([X])
        points = lift.points(X)
    else:
        points = lifting.kernel.points(X)
        n = n_points(points)
        if isinstance(lifting.lift, Exact):
            lifting = replace(lifting, lift=Nystroem(n))
        elif lifting.lift == "auto":
            lifting = replace(lifting, lift=Nystroem(min(n, LANDMARKS)))
        lift = lift_for_any_points(lifting, points, rng)
    if not isinstance(lift, FeatureLift) or lift.is_exact:
        raise ValueError(
            f"single points need a lift with features, not {lift.describe()}; use "
            'lift="nystroem" or "fourier"'
        )
    points = from_device(points)
    n, rho = n_points(points), lift.n_components
    check_memory(
        2 * 8 * n * rho,
        f"{rho:,} features of {n:,} points",
        "take fewer features, such as lift=lc.Nystroem(100), or a sample of the points",
    )
    Z = np.empty((n, rho))
    for rows in row_blocks(n, lift.block_width):
        block = lift.features(points[rows])
        Z[rows] = block.toarray() if hasattr(block, "toarray") else np.asarray(block)
    return Z


def at_most_n_features(Z: FloatArray) -> FloatArray:
    """Features with the same inner products, not more of them than points."""
    n, rho = Z.shape
    return Z if rho <= n else np.linalg.qr(Z.T).R.T


def cluster_sums(Z: FloatArray, codes: IntArray, k: int) -> FloatArray:
    """(k, ρ) sums Φ(C) of the features by cluster."""
    return np.asarray(one_hot(codes, k).T @ Z)


def compactness(Z: FloatArray, codes: IntArray, k: int) -> float:
    r"""Lifted compactness Σ ‖Φ(C)‖² / |C| of a partition; empty clusters count nothing."""
    S = cluster_sums(Z, codes, k)
    sizes = np.bincount(codes, minlength=k)
    return float((np.einsum("ij,ij->i", S, S) / np.maximum(sizes, 1)).sum())
