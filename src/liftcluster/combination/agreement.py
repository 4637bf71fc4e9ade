"""How many of the inputs agree with a consensus at each point, and how clear its place is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._util.typing import Array, FloatArray, IntArray, Sparse
from ..partitions.contingency import PartialTable
from ..partitions.partition import Partition

_ROUNDING = 1e-9  # relative difference of sums of weights, or of memberships, that are the same
_SMALL_TABLE = 2**20  # cells that are looked up in a dense array


class Agreement(NamedTuple):
    """What the inputs say about the cluster of each point.

    Attributes
    ----------
    confidence : (n,) array
        Share of the inputs that label a point whose cluster there lies mostly in the point's
        consensus cluster.
    overruled : (r,) int array
        The points that all of these inputs put into one other cluster, ascending.
    """

    confidence: FloatArray
    overruled: IntArray


def agreement(partition: Partition, inputs: Iterable[Partition]) -> Agreement:
    r"""The agreement of all inputs with a hard consensus, point by point.

    .. math:: \frac{1}{|P_x|} \sum_{p \in P_x} \sum_{C \in p} p(C|x)\,
              [\,w(C \cap c_x) = \max_c w(C \cap c)\,]

    :math:`P_x` are the inputs that label x, :math:`c_x` its consensus cluster, and w weights. A
    cluster with equal shares in several consensus clusters lies mostly in each of them.
    """

    def main_of(p: Partition) -> Sparse:  # inputs may have weights of their own
        own = Partition(partition.assignment, partition.names, p.weights)
        return main_clusters(PartialTable.of(p, own).table)

    return agreement_by(((p, main_of(p)) for p in inputs), partition.labels)


def main_clusters(table: Any) -> Sparse:
    """(k, k') ones at the consensus clusters in which each cluster of an input mostly lies."""
    shares = sp.csr_array(table, dtype=np.float64)
    shares.eliminate_zeros()
    largest = np.asarray(shares.max(axis=1).todense()).ravel()
    cells = shares.tocoo()
    kept = cells.data >= largest[cells.row] * (1 - _ROUNDING)
    ones = np.ones(int(kept.sum()))
    return sp.csr_array((ones, (cells.row[kept], cells.col[kept])), shape=shares.shape)


def agreement_by(inputs: Iterable[tuple[Partition, Sparse]], labels: IntArray) -> Agreement:
    """The agreement of inputs, of which it is known where their clusters mostly lie."""
    inputs, inside = list(inputs), labels >= 0
    votes, voters = np.zeros(len(labels)), np.zeros(len(labels))
    for p, main in inputs:
        known = np.append(np.diff(main.indptr) > 0, False)  # the last is for the label -1
        voters += known[p.labels]
        votes += _votes(p, main, labels)
    confidence = np.divide(votes, voters, out=votes, where=voters > 0)
    confidence[~inside] = 0.0  # the medoid may have noise
    against = np.flatnonzero(inside & (voters > 0) & (confidence == 0))
    return Agreement(confidence, against[_are_unanimous(inputs, against, voters[against])])


def _votes(p: Partition, main: Sparse, labels: IntArray) -> FloatArray:
    """(n,) membership of each point in clusters that lie mostly in its consensus cluster."""
    if not p.is_hard:
        own = main.T.tocsr()[np.maximum(labels, 0)]
        return np.asarray(p.memberships.multiply(own).sum(axis=1)).ravel()
    k = main.shape[1]
    if (p.k + 1) * k <= _SMALL_TABLE:
        cells = np.vstack([main.toarray(), np.zeros((1, k))])  # the last row is for noise
        return np.asarray(cells[p.labels, labels])
    found, inside = np.zeros(len(labels)), (p.labels >= 0) & (labels >= 0)
    found[inside] = np.asarray(main[p.labels[inside], labels[inside]]).ravel()
    return found


def _are_unanimous(
    inputs: list[tuple[Partition, Sparse]], points: IntArray, voters: FloatArray
) -> Array:
    """Whether all inputs that label some of the points vote for the same cluster there."""
    if not len(points):
        return np.zeros(0, dtype=bool)
    parts = (Partition(p.assignment[points], p.names, p.weights[points]) for p, _ in inputs)
    votes = sum(p.memberships @ main for p, (_, main) in zip(parts, inputs, strict=True))
    most = np.asarray(sp.csr_array(votes).max(axis=1).todense()).ravel()
    return np.asarray(most >= voters * (1 - _ROUNDING))


def margins(memberships: FloatArray, labels: IntArray) -> FloatArray:
    """(n,) how far the membership in the own cluster is ahead of the largest other one, or 0."""
    n, k = memberships.shape
    if k == 1:
        return np.ones(n)
    top = np.partition(memberships, -2, axis=1)[:, -2:]
    own = np.where(labels >= 0, memberships[np.arange(n), labels], 0.0)
    return np.maximum(own - np.where(own >= top[:, 1], top[:, 0], top[:, 1]), 0.0)
