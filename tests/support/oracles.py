"""Slow literal formulas, written from the paper only."""

from __future__ import annotations

import itertools
import math

import numpy as np


def kernel_value(kernel, x, y):
    """κ(x, y) from the formula of its name, one pair at a time."""
    from scipy.special import gamma, kv

    def single(h):
        l2 = math.dist(x, y) / h
        match kernel.name:
            case "gaussian":
                return math.exp(-(l2**2) / 2)
            case "laplace":
                return math.exp(-sum(abs(a - b) for a, b in zip(x, y, strict=True)) / h)
            case "cauchy":
                return 1 / (1 + l2**2)
            case "matern":
                z = math.sqrt(2 * kernel.nu) * l2
                return (
                    1.0
                    if z == 0
                    else 2 ** (1 - kernel.nu) / gamma(kernel.nu) * z**kernel.nu * kv(kernel.nu, z)
                )

    weights = kernel.weights
    return sum(a * single(h) for a, h in zip(weights, kernel.bandwidths, strict=True))


def gram(kernel, X):
    return np.array([[kernel_value(kernel, x, y) for y in X] for x in X])


def cluster_products(K, R):
    """⟨Φ(C), Φ(C′)⟩ by four nested loops."""
    n, s = R.shape
    G = np.zeros((s, s))
    for a, b in itertools.product(range(s), repeat=2):
        for i, j in itertools.product(range(n), repeat=2):
            G[a, b] += R[i, a] * R[j, b] * K[i, j]
    return G


def distance_from_products(G, a, b, *, normalise):
    if normalise:
        return math.sqrt(max(2 - 2 * G[a, b] / math.sqrt(G[a, a] * G[b, b]), 0))
    return math.sqrt(max(G[a, a] + G[b, b] - 2 * G[a, b], 0))


def mmd_objective(K, labels, weights, lam):
    """Σ_{i<j} m_i m_j ‖μ_i − μ_j‖² + λ Σ ‖μ_i‖² by loops over pairs of points."""
    w = weights / weights.sum()
    clusters = [np.flatnonzero(labels == c) for c in np.unique(labels)]

    def mean_product(a, b):
        total = sum(w[i] * w[j] * K[i, j] for i in a for j in b)
        return total / w[a].sum() / w[b].sum()

    value = lam * sum(mean_product(c, c) for c in clusters)
    for a, b in itertools.combinations(clusters, 2):
        apart = mean_product(a, a) + mean_product(b, b) - 2 * mean_product(a, b)
        value += w[a].sum() * w[b].sum() * apart
    return value
