"""LWGP and MCLA in plain SciPy and scikit-learn, as baselines of speed: one row for each point."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans

__all__ = ["plain_lwgp", "plain_mcla"]


def incidence(inputs: list[np.ndarray]) -> sp.csr_array:
    """(n, s) whether a point is in a cluster."""
    n, m = len(inputs[0]), len(inputs)
    codes = np.column_stack([np.unique(labels, return_inverse=True)[1] for labels in inputs])
    sizes = codes.max(axis=0) + 1
    columns = codes + np.concatenate([[0], np.cumsum(sizes)[:-1]])
    parts = (np.ones(n * m), columns.ravel(), np.arange(n + 1) * m)
    return sp.csr_array(parts, shape=(n, int(sizes.sum())))


def plain_lwgp(inputs: list[np.ndarray], k: int) -> np.ndarray:
    """Transfer cut of the bipartite graph with clusters weighted by their reliability (θ = 0.4)."""
    Z = incidence(inputs)
    shared = (Z.T @ Z).toarray()
    shares = shared / np.diag(shared)[:, None]
    entropy = -np.sum(shares * np.log2(shares, where=shares > 0, out=np.zeros_like(shares)), axis=1)
    B = Z @ sp.diags_array(np.exp(-entropy / (0.4 * len(inputs))))
    W = (B.T @ sp.diags_array(1 / B.sum(axis=1)) @ B).toarray()
    root = 1 / np.sqrt(W.sum(axis=1))
    vectors = np.linalg.eigh(root[:, None] * W * root)[1]
    rows = (sp.diags_array(1 / B.sum(axis=1)) @ B) @ (root[:, None] * vectors[:, -k:])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return KMeans(k, n_init=10, random_state=0).fit(rows).labels_


def plain_mcla(inputs: list[np.ndarray], k: int) -> np.ndarray:
    """METIS on the Jaccard graph of the clusters, then votes."""
    import pymetis

    Z = incidence(inputs)
    shared = (Z.T @ Z).toarray()
    sizes = np.diag(shared)
    jaccard = sp.csr_array(shared / (sizes[:, None] + sizes - shared))
    jaccard.setdiag(0)
    jaccard.eliminate_zeros()
    meta = pymetis.part_graph(
        k,
        pymetis.CSRAdjacency(jaccard.indptr, jaccard.indices),
        vweights=sizes.astype(int),
        eweights=np.maximum(1e4 * jaccard.data, 1).astype(int),
    )[1]
    votes = np.eye(k)[meta]
    return np.asarray((Z @ (votes / votes.sum(axis=0))).argmax(axis=1))
