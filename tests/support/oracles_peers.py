"""Literal n × n formulas of EC-CMS, SDGCA, ECPCS and k-HyperEdge Medoids, point by point."""

from __future__ import annotations

import itertools
import math

import numpy as np

from .oracles_consensus import clusters_of, co_association, jaccard, reliability


def weighted_co_association(labels, u):
    """As ``co_association``, also for different points with equal labels, whose S is below one."""
    n, m = labels.shape
    S = np.eye(n)
    for x, y in itertools.permutations(range(n), 2):
        both = [i for i in range(m) if labels[x, i] >= 0 and labels[y, i] >= 0]
        agree = sum(u[i][labels[x, i]] for i in both if labels[x, i] == labels[y, i])
        S[x, y] = agree / len(both) if both else 0.0
    return S


def high(S, least):
    """Entries of at least so much, without the diagonal, and their Laplacian."""
    H = np.where(least - 1e-9 <= S, S, 0.0)
    np.fill_diagonal(H, 0.0)
    return H, np.diag(H.sum(axis=1)) - H


def ec_cms(labels, alpha=0.75, lam=0.01):
    """(n, n) C of EC-CMS."""
    n = len(labels)
    B = weighted_co_association(labels, reliability(labels, 0.4))
    H, Phi = high(co_association(labels), alpha)
    C, E, F, Y2 = (np.zeros((n, n)) for _ in range(4))
    Y1 = B.copy()
    for _ in range(100):
        old = [C.copy(), E.copy(), F.copy(), Y1.copy(), Y2.copy()]
        C = np.linalg.inv(2 * Phi + 2 * np.eye(n)) @ (B - E + Y1 + F - Y2)
        E = (B - C + Y1) / (lam + 1)
        E[H > 0] = 0
        F = C + Y2
        F = np.minimum(np.maximum((F + F.T) / 2, 0), 1)
        Y1 = Y1 + B - C - E
        Y2 = Y2 + C - F
        changes = [
            (np.linalg.norm(new - was), np.linalg.norm(was))
            for new, was in zip([C, E, F, Y1, Y2], old, strict=True)
        ]
        if all(change <= 0.01 * size for change, size in changes):
            break
    return C


def walks(J, steps):
    """Cosines of the trajectories of random walks, laid end to end."""
    s = len(J)
    P = np.zeros((s, s))
    for i, j in itertools.permutations(range(s), 2):
        total = sum(J[i, q] for q in range(s) if q != i)
        P[i, j] = J[i, j] / total if total > 0 else 0.0
    rows = np.hstack([np.linalg.matrix_power(P, step) for step in range(1, steps + 1)])
    Z = np.eye(s)
    for i, j in itertools.permutations(range(s), 2):
        lengths = np.linalg.norm(rows[i]) * np.linalg.norm(rows[j])
        Z[i, j] = rows[i] @ rows[j] / lengths if lengths > 0 else 0.0
    return Z


def enhanced_co_association(labels, steps=20):
    """(n, n) mean similarity of the clusters of two points, and whether any partition knows it."""
    n, m = labels.shape
    Z = walks(jaccard(clusters_of(labels)), steps)
    first = np.concatenate([[0], np.cumsum(labels.max(axis=0) + 1)])
    S, known = np.eye(n), np.eye(n, dtype=bool)
    for x, y in itertools.permutations(range(n), 2):
        both = [i for i in range(m) if labels[x, i] >= 0 and labels[y, i] >= 0]
        if both:
            S[x, y] = np.mean([Z[first[i] + labels[x, i], first[i] + labels[y, i]] for i in both])
            known[x, y] = True
    return S, known


def sdgca(labels, lam=0.09, eta=0.75, theta=0.65):
    """(n, n) W' of SDGCA."""
    n = len(labels)
    CA = co_association(labels)
    u = reliability(labels, lam)
    for i, row in enumerate(u):  # divide the entropies by those of as many equal clusters
        u[i] = [math.exp(math.log(value) / math.log2(len(row))) for value in row]
    W = weighted_co_association(labels, u)
    for x, row in enumerate(labels):
        W[x, x] = np.mean([u[i][c] for i, c in enumerate(row) if c >= 0])
    W = W / W.max()
    np.fill_diagonal(W, 1)
    L = high(CA, eta)[1]
    CL, known = enhanced_co_association(labels)
    CL = np.where(known, 1 - CL, 0)
    CL[CL < 0.8 - 1e-9] = 0
    ML = np.where(theta - 1e-9 <= CA, W, 0)
    ML = ML - ML.min()
    ML = ML / ML.max()
    ML = np.where(ML > 1e-15, ML / 5 + 0.8, 0)
    ML[CL > 0] = 0
    S, D, F1, F2, Y1, Y2 = (np.zeros((n, n)) for _ in range(6))
    mu = 1.0
    for _ in range(300):
        was = S, D
        right = np.linalg.inv(2 * L + 2 * mu * np.eye(n))
        S = (2 * mu * F1 - D.T - Y1) @ right
        F1 = np.minimum(np.maximum(Y1 / (2 * mu) + S, 0), 1)
        F1[ML > 0] = 0
        F1 = F1 + ML
        F1 = (F1 + F1.T) / 2
        D = (2 * mu * F2 - S.T - Y2) @ right
        F2 = np.minimum(np.maximum(Y2 / (2 * mu) + D, 0), 1)
        F2[CL > 0] = 0
        F2 = F2 + CL
        F2 = (F2 + F2.T) / 2
        Y1 = Y1 + mu * (S - F1)
        Y2 = Y2 + mu * (D - F2)
        mu = min(1.1 * mu, 1e6)
        if max(np.linalg.norm(x) for x in (S - was[0], D - was[1], S - F1, D - F2)) < 1e-3:
            break
    S, D = (np.clip((x + x.T) / 2, 0, 1) for x in (S, D))
    return np.where(S >= D, 1 - (1 - S + D) * (1 - W), (1 + S - D) * W)


def hyperedge_medoids(labels, medoids):
    """Groups that grow from some of the clusters, for points that all have different labels."""
    clusters = [np.isin(np.arange(len(labels)), list(c)) for c in clusters_of(labels)]
    n, k = len(labels), len(medoids)
    groups = np.array([clusters[j] for j in medoids]).T.astype(float)  # (n, k)
    groups[groups.sum(axis=1) > 1] = 0
    assigned = int(groups.sum())
    step = (n - assigned) / k

    def costs():
        result = np.zeros((n, k))
        for cluster in clusters:
            result[cluster] += 1 - cluster @ groups / cluster.sum()
        return np.round(result, 9)

    for turn in range(1, k + 1):
        cost = costs()
        ordered = np.sort(cost, axis=1)
        sure = np.argsort(np.round(ordered[:, 0] - ordered[:, 1], 9), kind="stable")
        chosen = sure[: math.ceil(assigned + turn * step - 1e-9)]
        groups = np.zeros((n, k))
        groups[chosen, cost[chosen].argmin(axis=1)] = 1
    while True:
        new = np.zeros((n, k))
        new[np.arange(n), costs().argmin(axis=1)] = 1
        if (new == groups).all():
            return groups.argmax(axis=1)
        groups = new
