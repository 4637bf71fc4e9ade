"""Slow literal formulas of the consensus by the graph of places, with dense matrices."""

from __future__ import annotations

import itertools
import math

import numpy as np


def kappa(P, n_neighbours):
    """(p, p) κ between the places P; pairs of which only one is near the other count half."""
    p = len(P)
    K = min(n_neighbours, p - 1)
    D = [[math.dist(a, b) for b in P] for a in P]
    near = [sorted(set(range(p)) - {x}, key=lambda y: D[x][y])[:K] for x in range(p)]
    s = [D[x][near[x][min(7, K) - 1]] for x in range(p)]
    sigma = [max(v, np.median(s) / 1000) ** 0.8 * np.median(s) ** 0.2 for v in s]
    found = np.zeros((p, p))
    for x, y in itertools.product(range(p), repeat=2):
        joined = ((y in near[x]) + (x in near[y])) / 2
        found[x, y] = joined * math.exp(-(D[x][y] ** 2) / (sigma[x] * sigma[y]))
    return found


def with_loops(K):
    """κ + max κ: a walk stays where it is as often as it takes its strongest edge."""
    return K + np.diag(K.max(axis=1))


def weights_at(P, X, memberships, weights):
    """(p, s) weight of each cluster of all partitions in each place, and (s,) their partition."""
    columns, owner = [], []
    for i, R in enumerate(memberships):
        for column in R.T:
            inside = [[math.dist(x, place) == 0 for x in X] for place in P]
            columns.append(np.array(inside) @ (weights * column))
            owner.append(i)
    return np.array(columns).T, np.array(owner)


def shares(B, owner):
    """Each row divided by its sum over the clusters of the same partition; zero stays zero."""
    found = np.zeros(B.shape)
    for x, c in itertools.product(*map(range, B.shape)):
        total = B[x, owner == owner[c]].sum()
        found[x, c] = B[x, c] / total if total > 0 else 0
    return found


def coherence(K, own):
    """u: the share of the edges of a cluster that end in it, to the fourth power."""
    everything = np.ones(len(K))
    return np.array([(c @ K @ c / (c @ K @ everything)) ** 4 for c in own.T])


def co_association(F, u):
    """(p, p) g, for F the shares of the clusters around each place."""
    found = np.zeros((len(F), len(F)))
    for x, y in itertools.product(range(len(F)), repeat=2):
        norms = (u * F[x] ** 2).sum() * (u * F[y] ** 2).sum()
        found[x, y] = (u * F[x] * F[y]).sum() / math.sqrt(norms) if norms > 0 else 0
    return found


def weighted_graph(K, B, owner):
    """(p, p) κ ∘ (ε + (1 − ε) g⁴) and A: with the edges between equal labels.

    The last term of A, edges between all places, orders pieces that neither κ nor labels join.
    """
    own, p, m = shares(B, owner), len(K), owner.max() + 1
    u = coherence(K, own)
    g = co_association(shares(with_loops(K) @ B, owner), u)
    edges = K * (0.05 + 0.95 * g**4)
    ties = sum(u[c] * np.outer(v, v) / max(v.sum(), 1) for c, v in enumerate(own.T))
    return edges, edges + 0.001 / m * ties + 1e-5 / p


def embedding(A, k):
    """(p, k) first eigenvectors of D⁻¹ᐟ²AD⁻¹ᐟ², rows of unit length."""
    root = np.diag(A.sum(axis=1) ** -0.5)
    values, U = np.linalg.eigh(root @ A @ root)
    Y = U[:, np.argsort(-values)[:k]]
    return Y / np.linalg.norm(Y, axis=1, keepdims=True)


def walk_kernel(K, t=4):
    """(p, p) D⁻¹ᐟ² S²ᵗ D⁻¹ᐟ²."""
    M = with_loops(K)
    root = np.diag(M.sum(axis=1) ** -0.5)
    return root @ np.linalg.matrix_power(root @ M @ root, 2 * t) @ root


def best_scores(K, B, masses, k):
    """liftSSD of the best of all groupings of the clusters B, and (p, k) ⟨φ(x), v⟩ of its means."""
    lengths = np.sqrt(np.diag(B.T @ K @ B))
    G = (B.T @ K @ B) / np.outer(lengths, lengths)
    best = (np.inf, None)
    for codes in itertools.product(range(k), repeat=len(masses)):
        groups = [np.flatnonzero(np.array(codes) == c) for c in range(k)]
        if all(map(len, groups)):
            cost = 0.0
            for c in groups:
                mean = masses[c] @ G[np.ix_(c, c)] @ masses[c] / masses[c].sum() ** 2
                cross = G[np.ix_(c, c)] @ masses[c] / masses[c].sum()
                cost += masses[c] @ (1 - 2 * cross + mean)
            best = min(best, (cost, codes))
    cost, codes = best
    parts = [
        K @ (B[:, c] / lengths[c]) @ masses[c] / masses[c].sum()
        for c in (np.flatnonzero(np.array(codes) == j) for j in range(k))
    ]
    return cost, np.array(parts).T
