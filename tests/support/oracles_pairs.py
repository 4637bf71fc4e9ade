"""Measures of labels alone, by loops over points, pairs, permutations and partitions."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np


def all_partitions(n):
    """Every partition of n points, as labels in order of appearance."""

    def extend(labels, k):
        if len(labels) == n:
            yield tuple(labels)
            return
        for label in range(k + 1):
            yield from extend([*labels, label], max(k, label + 1))

    yield from extend([], 0)


def pair_counts(a, b):
    """Pairs together in both, in a, in b, and all pairs, by a loop over all pairs."""
    counts = [0, 0, 0, 0]
    for x, y in itertools.combinations(range(len(a)), 2):
        in_a, in_b = a[x] == a[y], b[x] == b[y]
        for i, holds in enumerate([in_a and in_b, in_a, in_b, True]):
            counts[i] += holds
    return tuple(counts)


def expected_pair_counts(P, Q):
    """The same when point x is in cluster i with probability P[x, i], and in j with Q[x, j]."""
    counts = [0.0, 0.0, 0.0, 0]
    for x, y in itertools.combinations(range(len(P)), 2):
        in_a = sum(P[x, i] * P[y, i] for i in range(P.shape[1]))
        in_b = sum(Q[x, j] * Q[y, j] for j in range(Q.shape[1]))
        for i, chance in enumerate([in_a * in_b, in_a, in_b, 1]):
            counts[i] += chance
    return tuple(counts)


def exact_pair_counts(table):
    """Pair counts of a table of Python integers."""
    cells = [m for row in table for m in row]
    rows, columns = [sum(row) for row in table], [sum(c) for c in zip(*table, strict=True)]
    return tuple(sum(m * (m - 1) // 2 for m in ms) for ms in (cells, rows, columns, [sum(cells)]))


def adjusted_rand(both, in_a, in_b, pairs):
    """1 − (index − expected) / (mean − expected), in fractions."""
    expected = Fraction(in_a * in_b, pairs)
    return 1 - (both - expected) / (Fraction(in_a + in_b, 2) - expected)


def fewest_moves(table):
    """Share of points outside the best of all one-to-one matchings."""
    table = np.asarray(table)
    table = table if len(table) <= table.shape[1] else table.T
    k, columns = table.shape
    best = max(
        sum(table[i, j] for i, j in enumerate(choice))
        for choice in itertools.permutations(range(columns), k)
    )
    return 1 - best / table.sum()


def entropy(labels):
    n = len(labels)
    return -sum(m / n * math.log(m / n) for m in Counter(labels).values())


def variation_of_information(a, b):
    """2 H(A, B) − H(A) − H(B)."""
    return 2 * entropy(list(zip(a, b, strict=True))) - entropy(a) - entropy(b)


def mutual_information(a, b):
    return entropy(a) + entropy(b) - entropy(list(zip(a, b, strict=True)))


def adjusted_mutual_information(a, b):
    """1 − AMI with the expectation over all orders of the labels of b."""
    expected = np.mean([mutual_information(a, order) for order in itertools.permutations(b)])
    mean = (entropy(a) + entropy(b)) / 2
    return 1 - (mutual_information(a, b) - expected) / (mean - expected)


def worst_triangle(D):
    """The largest d(a, c) − d(a, b) − d(b, c), and its a, b, c."""
    excess = D[:, None, :] - D[:, :, None] - D[None, :, :]
    a, b, c = np.unravel_index(excess.argmax(), excess.shape)
    return excess[a, b, c], (int(a), int(b), int(c))
