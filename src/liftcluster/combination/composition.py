"""What the clusters of a consensus are made of."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from .._util.typing import FloatArray, IntArray
from ..partitions.partition import Partition

# For each consensus cluster: (partition, cluster, share of that cluster), largest first.
Composition = list[list[tuple[Hashable, Hashable, float]]]

_MOST_PARTS = 8  # of a cluster, in a table


def composition_of(
    partition: Partition, labels: IntArray, inputs: Mapping[Hashable, Any], k: int
) -> Composition:
    """The composition of k clusters in memory, of which a small block of points may lack some."""
    R = partition.memberships
    numbers = np.unique(labels[labels >= 0])
    shares = {}
    for name, p in inputs.items():
        own = np.zeros((p.k, k))
        own[:, numbers] = (p.memberships.multiply(p.weights[:, None]).T @ R).toarray()
        shares[name] = p.names, own / p.cluster_weights[:, None]
    return compose(shares, k)


def compose(
    shares: Mapping[Hashable, tuple[tuple[Hashable, ...], FloatArray]], k: int
) -> Composition:
    """The composition from the (clusters of an input, k) shares that the k groups have of them."""
    made_of: Composition = [[] for _ in range(k)]
    for name, (clusters, matrix) in shares.items():
        for i, j in np.argwhere(matrix > 0):
            made_of[j].append((name, clusters[i], float(matrix[i, j])))
    return [sorted(parts, key=lambda part: -part[2]) for parts in made_of]


def list_parts(parts: list[tuple[Hashable, Hashable, float]]) -> str:
    shown = [f"{name}: {cluster} ({share:.0%})" for name, cluster, share in parts if share >= 0.1]
    shown = shown[:_MOST_PARTS]
    return ", ".join(shown) + (" …" if len(parts) > len(shown) else "")
