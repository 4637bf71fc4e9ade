"""Slow literal formulas of other spatial measures, written from their definitions only.

Clusters come as dense (n, k) matrices of w(x) p(C|x); rows of zeros are noise.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.optimize import linprog


def transport(a, b, C):
    """Optimal transport cost from masses a to b, by linear programming."""
    k, m = C.shape
    rows = np.kron(np.eye(k), np.ones(m))
    columns = np.kron(np.ones(k), np.eye(m))
    # The last constraint follows from the others; rounding must not make them contradict it.
    A, target = np.vstack([rows, columns])[:-1], np.concatenate([a, b])[:-1]
    solution = linprog(C.ravel(), A_eq=A, b_eq=target)
    assert solution.success
    return solution.fun


def without_noise(X, R):
    inside = R.sum(axis=1) > 0
    return X[inside], R[inside] / R[inside].sum()


def centroid(X, R, Y, S):
    (X, R), (Y, S) = without_noise(X, R), without_noise(Y, S)

    def means(Z, T):
        return [sum(t * z for t, z in zip(column, Z, strict=True)) / sum(column) for column in T.T]

    C = np.array([[math.dist(u, v) for v in means(Y, S)] for u in means(X, R)])
    return transport(R.sum(axis=0), S.sum(axis=0), C)


def adco_similarity(X, R, Y, S, bins):
    (X, R), (Y, S) = without_noise(X, R), without_noise(Y, S)
    low = np.vstack([X, Y]).min(axis=0)
    high = np.vstack([X, Y]).max(axis=0)

    def profile(Z, weights):
        counts = np.zeros((Z.shape[1], bins))
        for z, weight in zip(Z, weights, strict=True):
            for axis in range(Z.shape[1]):
                extent = high[axis] - low[axis]
                place = (z[axis] - low[axis]) / extent * bins if extent else 0
                counts[axis, min(int(place), bins - 1)] += weight
        return counts.ravel()

    P, Q = [profile(X, r) for r in R.T], [profile(Y, s) for s in S.T]
    few, many = (P, Q) if len(P) <= len(Q) else (Q, P)
    best = max(
        sum(u @ v for u, v in zip(few, chosen, strict=True))
        for chosen in itertools.permutations(many, len(few))
    )
    return best / max(sum(p @ p for p in P), sum(q @ q for q in Q))


def cdistance(X, R, Y, S):
    (X, R), (Y, S) = without_noise(X, R), without_noise(Y, S)
    D = np.zeros((R.shape[1], S.shape[1]))
    C = np.array([[math.dist(x, y) for y in Y] for x in X])
    for i, j in np.ndindex(D.shape):
        D[i, j] = transport(R[:, i] / R[:, i].sum(), S[:, j] / S[:, j].sum(), C)
    a, b = R.sum(axis=0), S.sum(axis=0)
    spread = sum(a[i] * b[j] * D[i, j] for i, j in np.ndindex(D.shape))
    return transport(a, b, D) / spread


def spri_and_spari(X, reference, clustering, alpha, copies=None):
    """The indices themselves (similarities), by a loop over all pairs of copies."""
    if copies is not None:
        X, reference, clustering = (
            np.repeat(Z, copies, axis=0) for Z in (X, reference, clustering)
        )
    inside = (reference >= 0) & (clustering >= 0)
    X, reference, clustering = X[inside], reference[inside], clustering[inside]
    extent = X.max(axis=0) - X.min(axis=0)
    U = (X - X.min(axis=0)) / np.where(extent == 0, 1, extent)
    pairs = list(itertools.combinations(range(len(U)), 2))
    N = len(pairs)
    total = F = H = together_reference = together_clustering = 0
    for i, j in pairs:
        t = math.dist(U[i], U[j])
        f, h = alpha * math.exp(-(t**2)), alpha * (1 - math.exp(-(t**2)))
        in_reference, in_clustering = reference[i] == reference[j], clustering[i] == clustering[j]
        together_reference += in_reference
        together_clustering += in_clustering
        F, H = F + f, H + h
        if in_reference == in_clustering:
            total += 1
        else:
            total += f if in_clustering else h
    p, q = together_reference / N, together_clustering / N
    E = p * q + (1 - p) * (1 - q) + (1 - p) * q * F / N + p * (1 - q) * H / N
    spri = total / N
    return spri, (spri - E) / (1 - E)
