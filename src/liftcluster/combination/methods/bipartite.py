"""Points and clusters as the two sides of one graph, clusters weighted by reliability."""

from __future__ import annotations

import scipy.sparse as sp

from ..._util.typing import IntArray, RngLike
from ..._util.validation import check_positive, make_rng
from .evidence import cluster_reliability
from .spectral import transfer_cut
from .tuples import LabelTuples, cluster_labelled

__all__ = ["lwgp"]


def lwgp(tuples: LabelTuples, k: int, *, theta: float = 0.4, rng: RngLike = None) -> IntArray:
    r"""Locally weighted graph partitioning: cut the graph of points and clusters into k parts.

    A point is joined to each of its clusters by an edge of weight u, the cluster's reliability
    (``cluster_reliability``): B = H diag(u). The graph is cut by
    ``transfer_cut``. Unlike the methods on METIS it does not
    force clusters to be of similar size.

    Parameters
    ----------
    tuples : LabelTuples
        Partitions of the same points. Soft ones are hardened; noise is a missing label, an edge
        less. Points without any label go to the heaviest cluster.
    k : int
        Number of clusters; fewer, with a warning, where there are fewer different tuples.
    theta : float
        As in ``lwea``.
    rng : int, Generator or None
        Seeds k-means.

    Returns
    -------
    (t,) int array
        Cluster of each tuple, from 0 to k - 1.

    Notes
    -----
    O(t m² + s³ + t k² · iterations) time, O(t (m + k) + s²) memory: linear in the points.

    References
    ----------
    Huang, Wang, Lai: Locally weighted ensemble clustering (IEEE Trans. Cybernetics 2018).

    Examples
    --------
    >>> from liftcluster import Partition
    >>> inputs = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]]
    >>> tuples = LabelTuples.from_partitions(Partition.from_labels(p) for p in inputs)
    >>> labels = lwgp(tuples, 2, rng=0)[tuples.inverse]
    >>> (labels == labels[0]).tolist()
    [True, True, True, False, False]
    """
    theta = check_positive(theta, "theta")
    rng = make_rng(rng)

    def cut(part: LabelTuples, k: int) -> IntArray:
        B = part.indicator() @ sp.diags_array(cluster_reliability(part, theta))
        return transfer_cut(B, part.weights, k, rng=rng)

    return cluster_labelled(tuples, k, cut)
