"""What becomes of each cluster of a partition in another one, by where the points are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._util.typing import FloatArray
from ..transport import solve_transport

_TINY = 1e-12
_SAME = 1e-7  # distance of unit vectors that differ by rounding


@dataclass(frozen=True, eq=False)
class Lifted:
    """The clusters of one partition as vectors.

    Attributes
    ----------
    sums : (k, ρ) array
        Φ(C); zero for a cluster without points.
    weights : (k,) array
    noise : float
        Weight of the points in no cluster.
    noise_of_norm : (k,) array or None
        By how much ‖Φ(C)‖² is too large because the points are a sample; None if they are not.
    """

    sums: FloatArray
    weights: FloatArray
    noise: float
    noise_of_norm: FloatArray | None = None

    @property
    def total(self) -> float:
        return float(self.weights.sum()) + self.noise


@dataclass(frozen=True, eq=False)
class Match:
    """The transport from the clusters of a reference to those of a replicate.

    Attributes
    ----------
    values : (k,) array
        For each cluster C of the reference 1 − ‖Φ̄(C) − T̄(C)‖ / ‖Φ̄(C) − Φ̄(X)‖, where T(C) is what
        C becomes: the clusters of the replicate, each in the share that it receives from C. NaN
        for a cluster without points here.
    whole : float
        1 − LiftEMD / LiftEMD to a partition at random, whose clusters all lie at Φ̄(X).
    distance : float
        LiftEMD.
    plan : (k, k') array
        Mass that goes from cluster to cluster.
    received : (k, k') array
        Share of each cluster of the replicate that comes from each cluster of the reference.
    """

    values: FloatArray
    whole: float
    distance: float
    plan: FloatArray
    received: FloatArray


def match(reference: Lifted, replicate: Lifted) -> Match:
    r"""Solve the transport problem of LiftEMD, and compare each cluster with what it becomes.

    With the plan π and the masses m′ of the replicate, T(C) = Σ_j π_{Cj} / m′_j Φ(C′_j). A cluster
    that is only divided further becomes itself; one that is merged with others, or that shares its
    points with others in each replicate anew, does not. Noise is treated as one more cluster with
    the vector of all points, so that mass lost to it counts as mass that went anywhere.
    """
    k, mean = len(reference.sums), reference.sums.sum(axis=0)
    mean = mean / max(float(reference.weights.sum()), _TINY)
    V, a, u = _with_noise(reference, mean)
    W, b, w = _with_noise(replicate, mean)
    rows, columns = np.flatnonzero(a > 0), np.flatnonzero(b > 0)
    units, others = _units(V, u), _units(W, w)
    D = _distance(units[rows] @ others[columns].T)
    chance = _distance(units @ _units(mean[None], np.zeros(1))[0])
    solved = solve_transport(a[rows] / a.sum(), b[columns] / b.sum(), D)
    plan = np.zeros((len(a), len(b)))
    plan[np.ix_(rows, columns)] = solved.plan
    received = plan / np.maximum(b / b.sum(), _TINY)
    becomes = _units(received @ W, received**2 @ w)
    distances = _distance(np.einsum("ij,ij->i", units, becomes))
    # Where all points are in one place, no distance is larger than another.
    values = 1 - np.where(distances <= _SAME, 0, distances) / np.maximum(chance, _SAME)
    values[a == 0] = np.nan
    by_chance = float(a / a.sum() @ chance)
    whole = 1 - (0 if solved.cost <= _SAME else solved.cost) / max(by_chance, _SAME)
    kept = slice(0, len(replicate.sums))
    return Match(
        np.clip(values[:k], -1, 1),
        float(np.clip(whole, -1, 1)),
        solved.cost,
        plan[:k, kept],
        received[:k, kept],
    )


def _with_noise(lifted: Lifted, mean: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Vectors, masses and corrections of the clusters, and of noise in the place of all points."""
    k = len(lifted.sums)
    corrections = np.zeros(k) if lifted.noise_of_norm is None else lifted.noise_of_norm
    if lifted.noise == 0 and k:
        return lifted.sums, lifted.weights, corrections
    return (
        np.vstack([lifted.sums, lifted.noise * mean]),
        np.append(lifted.weights, lifted.noise),
        np.append(corrections, 0.0),
    )


def _distance(cosine: FloatArray) -> FloatArray:
    """Distance of unit vectors with these inner products."""
    return np.asarray(np.sqrt(np.maximum(2 - 2 * cosine, 0)))


def _units(V: FloatArray, noise_of_norm: FloatArray) -> FloatArray:
    """Vectors divided by their lengths, from which the part that sampling adds is taken away."""
    squared = np.einsum("ij,ij->i", V, V)
    length = np.sqrt(np.maximum(squared - noise_of_norm, _TINY * np.maximum(squared, _TINY)))
    return np.asarray(V / length[:, None])
