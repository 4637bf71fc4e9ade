"""Slow literal formulas of the label-only consensus methods, on points and not on tuples."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score


def co_association(labels, u=None):
    """(n, n) share of agreeing partitions among those that label both; labels are (n, m).

    Agreement in partition i counts u[i][c] for cluster c. Points with equal labels are one point.
    """
    n, m = labels.shape
    S = np.zeros((n, n))
    for x, y in itertools.product(range(n), repeat=2):
        if (labels[x] == labels[y]).all():
            S[x, y] = 1.0
            continue
        both = [i for i in range(m) if labels[x, i] >= 0 and labels[y, i] >= 0]
        agree = sum(
            1.0 if u is None else u[i][labels[x, i]] for i in both if labels[x, i] == labels[y, i]
        )
        S[x, y] = agree / len(both) if both else 0.0
    return S


def reliability(labels, theta, weights=None):
    """One list for each partition: exp of minus the mean binary entropy of each cluster, over θ."""
    n, m = labels.shape
    w = np.ones(n) if weights is None else weights
    result = []
    for j in range(m):
        values = []
        for c in range(labels[:, j].max() + 1):
            inside = labels[:, j] == c
            entropies = []
            for i in range(m):
                total = w[inside & (labels[:, i] >= 0)].sum()
                if total == 0:
                    continue
                entropy = 0.0
                for d in range(labels[:, i].max() + 1):
                    p = w[inside & (labels[:, i] == d)].sum() / total
                    entropy -= p * math.log2(p) if p > 0 else 0.0
                entropies.append(entropy)
            values.append(math.exp(-sum(entropies) / (theta * len(entropies))))
        result.append(values)
    return result


def average_linkage(S, k):
    """SciPy's average linkage on an (n, n) matrix of similarities."""
    D = 1 - S
    np.fill_diagonal(D, 0)
    return fcluster(linkage(squareform(D, checks=False), "average"), k, "maxclust") - 1


def average_linkage_if_unique(S, k, rng, tries=50):
    """The same, or None where the order of the points decides between equal similarities."""
    result = average_linkage(S, k)
    for _ in range(tries):
        order = rng.permutation(len(S))
        other = average_linkage(S[np.ix_(order, order)], k)
        if not same_clusters(result[order], other):
            return None
    return result if len(set(result)) == k else None


def transfer_cut(labels, u, k):
    """LWGP on the points with dense matrices, every weight one."""
    m = labels.shape[1]
    columns = []
    for i in range(m):
        for c in range(labels[:, i].max() + 1):
            columns.append(u[i][c] * (labels[:, i] == c))
    B = np.array(columns).T
    D = np.diag(1 / B.sum(axis=1))
    A = B.T @ D @ B
    d = np.diag(A.sum(axis=1) ** -0.5)
    values, vectors = np.linalg.eigh(d @ A @ d)
    U = vectors[:, np.argsort(values)[::-1][:k]]
    Y = D @ B @ d @ U
    Y /= np.linalg.norm(Y, axis=1, keepdims=True)
    return KMeans(k, n_init=50, random_state=0).fit(Y).labels_


def clusters_of(labels):
    """The clusters of all partitions as sets of points, numbered consecutively."""
    return [
        set(np.flatnonzero(column == c).tolist())
        for column in labels.T
        for c in range(column.max() + 1)
    ]


def jaccard(clusters):
    return np.array([[len(a & b) / len(a | b) for b in clusters] for a in clusters])


def largest_mean_association(clusters, meta, k):
    """The meta-cluster that each point is in most on average, the first of several."""
    n = 1 + max(map(max, clusters))
    votes = np.zeros((n, k))
    for x, j in itertools.product(range(n), range(k)):
        members = [c for c, part in zip(clusters, meta, strict=True) if part == j]
        votes[x, j] = round(np.mean([x in c for c in members]), 12)
    return votes.argmax(axis=1)


def majority(labels):
    """Components of the graph of majorities, by flood fill."""
    n, m = labels.shape
    linked = np.zeros((n, n), dtype=bool)
    for x, y in itertools.product(range(n), repeat=2):
        both = [i for i in range(m) if labels[x, i] >= 0 and labels[y, i] >= 0]
        linked[x, y] = 2 * sum(labels[x, i] == labels[y, i] for i in both) > len(both)
    found = np.full(n, -1)
    for start in range(n):
        if found[start] < 0:
            reached = {start}
            while more := {int(y) for x in reached for y in np.flatnonzero(linked[x])} - reached:
                reached |= more
            found[list(reached)] = start
    return found


def same_clusters(a, b):
    return adjusted_rand_score(a, b) == 1.0


# clustering aggregation: costs of pairs of points, one at a time


def disagreement(labels, found, weights=None):
    """Weight of the pairs that each input and the clusters judge differently, mean over inputs."""
    n, m = labels.shape
    w = np.ones(n) if weights is None else weights
    total = 0.0
    for u, v in itertools.combinations(range(n), 2):
        for i in range(m):
            if labels[u, i] >= 0 and labels[v, i] >= 0:
                differ = (labels[u, i] == labels[v, i]) != (found[u] == found[v])
                total += w[u] * w[v] * differ
    return total / m


def separation(labels):
    """(n, n) share of the inputs that separate two points; half where one has no label."""
    n, m = labels.shape
    X = np.zeros((n, n))
    for u, v in itertools.product(range(n), repeat=2):
        for i in range(m):
            known = labels[u, i] >= 0 and labels[v, i] >= 0
            X[u, v] += (labels[u, i] != labels[v, i]) if known else 0.5
    return X / m


def least_disagreement(labels, weights=None):
    """Σ of the smaller of the shares of inputs that join and that separate a pair."""
    n, m = labels.shape
    w = np.ones(n) if weights is None else weights
    total = 0.0
    for u, v in itertools.combinations(range(n), 2):
        known = [i for i in range(m) if labels[u, i] >= 0 and labels[v, i] >= 0]
        joined = sum(labels[u, i] == labels[v, i] for i in known)
        total += w[u] * w[v] * min(joined, len(known) - joined)
    return total / m


def all_partitions(n):
    """Every partition of n points: codes that start with 0 and grow by at most one."""
    rows = [[0]]
    for _ in range(n - 1):
        rows = [[*row, c] for row in rows for c in range(max(row) + 2)]
    return np.array(rows)


def balls(labels, alpha):
    """The balls algorithm on points that all have different labels."""
    X = separation(labels)
    found = np.full(len(X), -1)
    for u in sorted(range(len(X)), key=lambda u: round(X[u].sum(), 9)):
        if found[u] >= 0:
            continue
        ball = [v for v in range(len(X)) if v != u and found[v] < 0 and X[u, v] <= 0.5]
        found[u] = u
        if ball and round(sum(X[u, v] for v in ball) / len(ball), 9) <= alpha:
            found[ball] = u
    return found


def furthest(labels):
    """The furthest algorithm on points that all have different labels, the first of ties."""
    n, X = len(labels), separation(labels)
    np.fill_diagonal(X, 0)
    found, centres = np.zeros(n, dtype=int), list(np.unravel_index(X.argmax(), X.shape))
    while True:
        tried = np.array(
            [min(range(len(centres)), key=lambda c: X[v, centres[c]]) for v in range(n)]
        )
        tried[centres] = range(len(centres))
        if disagreement(labels, tried) >= disagreement(labels, found) - 1e-9:
            return found
        found = tried
        if len(centres) == n:
            return found
        left = [v for v in range(n) if v not in centres]
        centres.append(max(left, key=lambda v: round(X[v, centres].min(), 9)))
