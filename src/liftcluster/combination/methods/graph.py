"""Consensus by cutting graphs of points, of clusters, or of both, into parts of similar weight."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._util.extras import how_to_install, needs
from ..._util.typing import FloatArray, IntArray, RngLike, Sparse
from ..._util.validation import check_choice, check_count, check_positive, make_rng
from .spectral import factor_cut, normalised_cut, transfer_cut
from .tuples import LabelTuples, Profiles, cluster_labelled, fill_empty, gather

__all__ = ["cspa", "hbgf", "hgpa", "mcla"]

# METIS wants seconds for a full graph of this many vertices, and four times as long for twice.
LIMIT = 3000
PARTITIONERS = ("metis", "spectral")


def cspa(
    tuples: LabelTuples,
    k: int,
    *,
    partitioner: str | None = None,
    rng: RngLike = None,
    limit: int = LIMIT,
) -> IntArray:
    r"""Cluster-based similarity partitioning: cut the graph of co-associations.

    Vertices are the tuples, with the weight of their points; the edge between two of them weighs
    as much as those between their points together,

    .. math:: w_a w_b S_{ab}, \quad S_{ab} = \text{share of the partitions that agree},

    and METIS cuts the graph into k parts. **The parts are of similar weight**, whatever the inputs
    say: METIS keeps them within a few per cent of each other, and where a tuple is heavier than
    that, :func:`liftcluster.consensus` hands it over in pieces, so that points with equal labels
    can part as they do in the original, which has a vertex for each point. With
    ``whole_tuples=True`` it does not: often better, but not what the authors describe. Do not use
    this, or any method of this module on METIS, for clusters of very different sizes.

    Parameters
    ----------
    tuples : LabelTuples
        Partitions of the same points. Soft ones are hardened; noise is a missing label: S is over
        the partitions that label both. Points without any label go to the heaviest cluster.
    k : int
        Number of clusters; fewer, with a warning, where there are fewer different tuples.
    partitioner : "metis", "spectral" or None
        "spectral" stands in for METIS: the normalised cut by eigenvectors of size s, which
        balances nothing and wants no extra; a missing label is then a disagreement. None takes
        METIS where it is installed, else the other with a warning.
    rng : int, Generator or None
        Seeds METIS, or k-means on the eigenvectors.
    limit : int
        Largest number of different tuples that are vertices of their own. Above it the heaviest
        ``limit`` tuples lead groups that the others join by similarity (see
        ``gather``). METIS begins by contracting heavy edges
        too; this contracts before the edges are made, and the weights between groups are exact.

    Returns
    -------
    (t,) int array
        Cluster of each tuple, from 0 to k - 1.

    Notes
    -----
    O(t · limit · m) time and O(limit²) memory on METIS; O(t m² + s³) and O(t m + s²) without.

    References
    ----------
    Strehl, Ghosh: Cluster ensembles (JMLR 2002). Karypis, Kumar: A fast and high quality
    multilevel scheme for partitioning irregular graphs (SIAM J. Sci. Comput. 1998), for METIS.
    """
    rng = make_rng(rng)
    partitioner = _available(partitioner)

    def cut(part: LabelTuples, k: int) -> IntArray:
        if partitioner == "spectral":
            return factor_cut(part.indicator(), part.weights, k, rng=rng)
        at_most = max(check_count(limit, "limit", least=2), k)
        profiles, groups = gather(Profiles.of(part), at_most)
        edges = profiles.co_association(profiles)
        edges *= profiles.weights[:, None]
        edges *= profiles.weights
        return _metis(edges, profiles.weights, k, rng)[groups]

    return cluster_labelled(tuples, k, cut)


def mcla(
    tuples: LabelTuples, k: int, *, partitioner: str | None = None, rng: RngLike = None
) -> IntArray:
    r"""Meta-clustering: cut the graph of clusters, then let points vote for a part.

    Vertices are the clusters of all partitions, with their weight, and the edge between two of them
    is their Jaccard index

    .. math:: J(C, C') = \frac{w(C ∩ C')}{w(C ∪ C')}

    METIS cuts the graph into k meta-clusters, and a point goes to the one it is in most on average:
    :math:`\max_M \operatorname{mean}_{C ∈ M} [x ∈ C]`. Meta-clusters are of similar weight (METIS
    balances, see :func:`cspa`), the clusters of points less strictly so. One that no point prefers
    gets the heaviest tuple of the heaviest cluster.

    The spectral stand-in cuts the graph of cosines w(C ∩ C')/√(w(C) w(C')) and lets points vote by
    the number of their clusters in a meta-cluster: nothing keeps it from making a meta-cluster of
    one tiny cluster, whose mean would draw all its points.

    Parameters
    ----------
    tuples, k, partitioner, rng
        As for :func:`cspa`; a missing label is a vote less.

    Returns
    -------
    (t,) int array
        Cluster of each tuple, from 0 to k - 1.

    Notes
    -----
    O(t m² + s²) time and O(t m + s²) memory: linear in the points.

    References
    ----------
    Strehl, Ghosh: Cluster ensembles (JMLR 2002).
    """
    rng = make_rng(rng)
    partitioner = _available(partitioner)

    def cut(part: LabelTuples, k: int) -> IntArray:
        shared = part.overlaps()
        sizes = np.diag(shared).copy()
        n_parts = min(k, part.s)
        if partitioner == "spectral":
            cosines = shared / np.sqrt(np.outer(sizes, sizes))
            votes = np.eye(n_parts)[normalised_cut(cosines, sizes, n_parts, rng=rng)]
        else:
            jaccard = shared / (np.add.outer(sizes, sizes) - shared)
            # Vertices weigh what their clusters do, as Strehl and Ghosh have it. Other libraries
            # let METIS balance the number of clusters, which suits uneven clusters better.
            meta = _metis(jaccard, sizes, n_parts, rng)
            votes = np.eye(n_parts)[meta] / np.bincount(meta)  # (s, parts)
        return np.asarray((part.indicator() @ votes).argmax(axis=1))

    return cluster_labelled(tuples, k, cut)


def hbgf(
    tuples: LabelTuples, k: int, *, partitioner: str | None = None, rng: RngLike = None
) -> IntArray:
    """Hybrid bipartite graph: cut the graph of points and clusters at once.

    Vertices are the tuples, with their weight, and the clusters; a tuple is joined to each of its
    clusters by an edge of its weight. METIS cuts the graph into k parts of similar weight (see
    :func:`cspa`); the clusters count as one average point each.

    Parameters
    ----------
    tuples, k, partitioner, rng
        As for :func:`cspa`; a missing label is an edge less. "spectral" is the authors' other
        way to cut this graph.

    Returns
    -------
    (t,) int array
        Cluster of each tuple, from 0 to k - 1.

    Notes
    -----
    O(t m) memory and about as much time.

    References
    ----------
    Fern, Brodley: Solving cluster ensemble problems by bipartite graph partitioning (ICML 2004).
    """
    rng = make_rng(rng)
    partitioner = _available(partitioner)

    def cut(part: LabelTuples, k: int) -> IntArray:
        if partitioner == "spectral":
            return transfer_cut(part.indicator(), part.weights, k, rng=rng)
        B = sp.diags_array(part.weights) @ part.indicator()
        graph = sp.block_array([[None, B], [B.T, None]], format="csr")
        vertices = np.concatenate([part.weights, np.full(part.s, part.weights.mean())])
        return _metis(graph, vertices, k, rng)[: part.t]

    return cluster_labelled(tuples, k, cut)


def hgpa(tuples: LabelTuples, k: int, *, imbalance: float = 0.05, rng: RngLike = None) -> IntArray:
    r"""Hypergraph partitioning: cut as few of the clusters as possible.

    Vertices are the tuples, with their weight, and every cluster is a hyperedge. Mt-KaHyPar cuts
    the hypergraph into k parts whose weights exceed the mean by at most ``imbalance``, so that

    .. math:: \sum_C (\text{number of parts that } C \text{ touches} - 1)

    is small. A cluster that is cut a little costs as much as one that is cut in half, and parts
    must be of similar weight: the weakest of the classical methods, here for comparison.

    Parameters
    ----------
    tuples, k
        As for :func:`cspa`; a missing label is a pin less.
    imbalance : float
        How far parts may exceed the mean weight.
    rng : int, Generator or None
        Seeds Mt-KaHyPar, which runs in its deterministic mode.

    Returns
    -------
    (t,) int array
        Cluster of each tuple, from 0 to k - 1.

    References
    ----------
    Strehl, Ghosh: Cluster ensembles (JMLR 2002). Gottesbüren, Heuer, Maas, Sanders, Schlag:
    Scalable high-quality hypergraph partitioning (ACM Trans. Algorithms 2024), for Mt-KaHyPar.
    """
    check_positive(imbalance, "imbalance")
    rng = make_rng(rng)
    return cluster_labelled(tuples, k, lambda part, k: _mtkahypar(part, k, imbalance, rng))


def _available(partitioner: str | None) -> str:
    """METIS if nothing else is asked for, and its stand-in, with a warning, where it is missing."""
    if partitioner is not None:
        return check_choice(partitioner, PARTITIONERS, "partitioner")
    try:
        import_module("pymetis")
    except ImportError:
        warnings.warn(
            "pymetis is not installed, so the graph is cut by eigenvectors, which does not balance "
            'the parts: say partitioner="spectral" if that is what you want, or install METIS with '
            + how_to_install("pymetis"),
            UserWarning,
            stacklevel=3,
        )
        return "spectral"
    return "metis"


def _metis(
    edges: FloatArray | Sparse, weights: FloatArray, k: int, rng: np.random.Generator
) -> IntArray:
    """k non-empty parts of an undirected graph, given as a symmetric matrix."""
    pymetis = _require("pymetis")
    graph = sp.csr_array(edges)
    graph.setdiag(0)
    graph.eliminate_zeros()
    whole = np.dtype(getattr(pymetis, "zero_copy_dtype", lambda: np.int32)())
    # Older wheels count in 32 bits, and METIS adds up all weights of each kind.
    most = 2.0**30 if whole.itemsize == 4 else 2.0**50
    xadj, adjncy = graph.indptr.astype(whole), graph.indices.astype(whole)
    options: dict[str, Any] = {
        "vweights": _whole(weights, 1e8, whole),
        "eweights": _whole(graph.data, most, whole),
        "options": pymetis.Options(seed=int(rng.integers(2**31 - 1))),
    }
    if hasattr(pymetis, "CSRAdjacency"):
        options["adjacency"] = pymetis.CSRAdjacency(xadj, adjncy)
    else:
        options |= {"xadj": xadj, "adjncy": adjncy}
    codes: IntArray = np.zeros(len(weights), dtype=np.int64)
    for recursive in (False, True):  # bisection leaves fewer parts empty than k-way refinement
        codes = np.asarray(pymetis.part_graph(k, recursive=recursive, **options)[1])
        if len(np.unique(codes)) == k:
            break
    return fill_empty(codes, weights, k)


def _mtkahypar(tuples: LabelTuples, k: int, imbalance: float, rng: np.random.Generator) -> IntArray:
    kahypar = _require("mtkahypar")
    solver = kahypar.initialize(1, print_warnings=False)
    context = solver.context_from_preset(kahypar.PresetType.DETERMINISTIC)
    context.set_partitioning_parameters(k, imbalance, kahypar.Objective.KM1)
    context.logging = False
    kahypar.set_seed(int(rng.integers(2**31 - 1)))
    clusters = sp.csc_array(tuples.indicator())
    pins = np.split(clusters.indices, clusters.indptr[1:-1])
    hypergraph = solver.create_hypergraph(
        context,
        tuples.t,
        tuples.s,
        [p.tolist() for p in pins],
        _whole(tuples.weights, 1e8, np.dtype(np.int32)).tolist(),
        [1] * tuples.s,
    )
    return np.asarray(hypergraph.partition(context).get_partition())


def _whole(weights: FloatArray, total: float, dtype: np.dtype[Any]) -> IntArray:
    """Weights as whole numbers, none below one, whose sum is about `total`."""
    scaled = np.rint(weights * (total / (float(weights.sum()) or 1.0)))  # there may be no edges
    return np.maximum(scaled, 1).astype(dtype)


def _require(module: str) -> Any:
    """A module of the extra `graph`."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(needs(module, "this method")) from error
