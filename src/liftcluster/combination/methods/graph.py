"""Consensus by graph and hypergraph partitioning with METIS and Mt-KaHyPar.

All methods return the (t,) cluster of each tuple, from 0 to k - 1.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp

from ..._util.checks import check_choice, check_count, check_positive
from ..._util.extras import how_to_install, needs
from ..._util.typing import FloatArray, IntArray, RngLike, Sparse
from ..._util.validation import make_rng
from ..._util.warning import warn
from .spectral import factor_cut, normalised_cut, transfer_cut
from .tuples import LabelTuples, Profiles, cluster_labelled, fill_empty, gather

LIMIT = 3000  # METIS takes seconds for a complete graph of this many vertices
Partitioner = Literal["metis", "spectral"]


def cspa(
    tuples: LabelTuples,
    k: int,
    *,
    partitioner: Partitioner | None = None,
    rng: RngLike = None,
    limit: int = LIMIT,
) -> IntArray:
    r"""Cluster-based similarity partitioning: cut the co-association graph.

    Vertices are the tuples, with the weight of their points; the weight of an edge is the sum over
    the pairs of their points,

    .. math:: w_a w_b S_{ab}, \quad S_{ab} = \text{share of the partitions that agree},

    and METIS cuts the graph into k parts **of similar weight**, within a few per cent. Unless
    ``whole_tuples=True``, :func:`liftcluster.consensus` splits heavier tuples, as in the original,
    which has one vertex per point. Do not use METIS for clusters of very different sizes.

    O(t · limit · m) time and O(limit²) memory with METIS; O(t m² + s³) and O(t m + s²) without.

    Parameters
    ----------
    tuples, k
        As for ``evidence``; S is over the partitions that label both.
    partitioner : "metis", "spectral" or None
        "spectral" is the normalised cut by eigenvectors of size s, which does not balance the
        parts and needs no extra package; a missing label then counts as a disagreement. None is
        METIS where it is installed, else "spectral" with a warning.
    rng : int, Generator or None
        Seeds METIS, or k-means on the eigenvectors.
    limit : int
        Largest number of tuples that are vertices. Above it the tuples are first grouped around
        the heaviest ``limit`` of them (see ``gather``), with exact weights between the groups.

    References
    ----------
    Strehl, Ghosh: Cluster ensembles (JMLR 2002). Karypis, Kumar: A fast and high quality
    multilevel scheme for partitioning irregular graphs (SIAM J. Sci. Comput. 1998), for METIS,
    doi:10.1137/S1064827595287997.
    """
    rng = make_rng(rng)
    chosen = _available(partitioner)

    def cut(part: LabelTuples, k: int) -> IntArray:
        if chosen == "spectral":
            return factor_cut(part, k, rng=rng)
        at_most = max(check_count(limit, "limit", least=2), k)
        profiles, groups = gather(Profiles.of(part), at_most)
        edges = profiles.co_association(profiles)
        edges *= profiles.weights[:, None]
        edges *= profiles.weights
        return _metis(edges, profiles.weights, k, rng)[groups]

    return cluster_labelled(tuples, k, cut)


def mcla(
    tuples: LabelTuples, k: int, *, partitioner: Partitioner | None = None, rng: RngLike = None
) -> IntArray:
    r"""Meta-clustering: cut the graph of clusters, then assign points to the parts by vote.

    Vertices are the clusters of all partitions, with their weight; edges are Jaccard indices

    .. math:: J(C, C') = \frac{w(C ∩ C')}{w(C ∪ C')}

    METIS cuts the graph into k meta-clusters M of similar weight (see :func:`cspa`), and a point is
    assigned to the M that maximises :math:`\operatorname{mean}_{C ∈ M} [x ∈ C]`. "spectral" cuts
    the graph of cosines w(C ∩ C')/√(w(C) w(C')) and votes by the number of clusters instead of the
    mean, since a meta-cluster may be a single small cluster, whose mean would attract all its
    points.

    O(t m² + s²) time and O(t m + s²) memory: linear in the number of points.

    Parameters
    ----------
    tuples, k, partitioner, rng
        As for :func:`cspa`; a missing label is a missing vote.

    References
    ----------
    Strehl, Ghosh: Cluster ensembles (JMLR 2002).
    """
    rng = make_rng(rng)
    chosen = _available(partitioner)

    def cut(part: LabelTuples, k: int) -> IntArray:
        shared = part.overlaps()
        sizes = np.diag(shared).copy()
        n_parts = min(k, part.s)
        if chosen == "spectral":
            cosines = shared / np.sqrt(np.outer(sizes, sizes))
            votes = np.eye(n_parts)[normalised_cut(cosines, sizes, n_parts, rng=rng)]
        else:
            jaccard = shared / (np.add.outer(sizes, sizes) - shared)
            # Vertex weights as in Strehl and Ghosh. Other libraries balance the number of
            # clusters instead, which suits clusters of different sizes better.
            meta = _metis(jaccard, sizes, n_parts, rng)
            votes = np.eye(n_parts)[meta] / np.bincount(meta)  # (s, parts)
        return np.asarray((part.indicator() @ votes).argmax(axis=1))

    return cluster_labelled(tuples, k, cut)


def hbgf(
    tuples: LabelTuples, k: int, *, partitioner: Partitioner | None = None, rng: RngLike = None
) -> IntArray:
    """Hybrid bipartite graph formulation: cut the graph of points and clusters.

    Vertices are the tuples, with their weight, and the clusters; a tuple is joined to each of its
    clusters by an edge of its weight. METIS cuts the graph into k parts of similar weight (see
    :func:`cspa`); each cluster has the weight of an average tuple. O(t m) memory and about as much
    time.

    Parameters
    ----------
    tuples, k, partitioner, rng
        As for :func:`cspa`; a missing label is a missing edge. "spectral" is the authors' other
        way to cut this graph.

    References
    ----------
    Fern, Brodley: Solving cluster ensemble problems by bipartite graph partitioning (ICML 2004),
    doi:10.1145/1015330.1015414.
    """
    rng = make_rng(rng)
    chosen = _available(partitioner)

    def cut(part: LabelTuples, k: int) -> IntArray:
        if chosen == "spectral":
            return transfer_cut(part, k, rng=rng)
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

    is small. Cutting a few points off a cluster costs as much as cutting it in half, and parts must
    be of similar weight: the weakest of the classical methods, included for comparison.

    Parameters
    ----------
    tuples, k
        As for :func:`cspa`; a missing label is a missing pin.
    imbalance : float
        Largest relative excess of a part over the mean weight.
    rng : int, Generator or None
        Seeds Mt-KaHyPar, which runs in its deterministic mode.

    References
    ----------
    Strehl, Ghosh: Cluster ensembles (JMLR 2002). Gottesbüren, Heuer, Maas, Sanders, Schlag:
    Scalable high-quality hypergraph partitioning (ACM Trans. Algorithms 2024), for Mt-KaHyPar,
    doi:10.1145/3626527.
    """
    check_positive(imbalance, "imbalance")
    rng = make_rng(rng)
    return cluster_labelled(tuples, k, lambda part, k: _mtkahypar(part, k, imbalance, rng))


def _available(partitioner: str | None) -> str:
    """The partitioner: by default METIS, or "spectral" with a warning where it is missing."""
    if partitioner is not None:
        return check_choice(partitioner, get_args(Partitioner), "partitioner")
    try:
        import_module("pymetis")
    except ImportError:
        warn(
            "pymetis is not installed, so the graph is cut by eigenvectors, which does not balance "
            'the parts: say partitioner="spectral" if that is what you want, or install METIS with '
            + how_to_install("pymetis")
        )
        return "spectral"
    return "metis"


def _metis(
    edges: FloatArray | Sparse, weights: FloatArray, k: int, rng: np.random.Generator
) -> IntArray:
    """k non-empty parts of an undirected graph with this symmetric weight matrix.

    A vertex that weighs at least a part's share is a part by itself: METIS, which balances the
    parts, would leave others without a vertex, and print that it cannot bisect them.
    """
    alone = _heavy_vertices(weights, k)
    others = np.setdiff1d(np.arange(len(weights)), alone)
    codes = np.empty(len(weights), dtype=np.int64)
    codes[alone] = np.arange(len(alone))
    n_parts = k - len(alone)
    if n_parts == 1:
        codes[others] = k - 1
    elif n_parts:
        graph = sp.csr_array(edges)
        if len(alone):
            graph = graph[others][:, others]
        codes[others] = len(alone) + _balanced_parts(graph, weights[others], n_parts, rng)
    return codes


def _heavy_vertices(weights: FloatArray, k: int) -> IntArray:
    """Vertices that weigh as much as an average part of all others and themselves, or more."""
    order = np.argsort(-weights, kind="stable")
    rest, count = float(weights.sum()), 0
    while count < k - 1 and weights[order[count]] * (k - count) >= rest:
        rest -= weights[order[count]]
        count += 1
    return order[:count]


def _balanced_parts(
    graph: Sparse, weights: FloatArray, k: int, rng: np.random.Generator
) -> IntArray:
    pymetis = _require("pymetis")
    graph.setdiag(0)
    graph.eliminate_zeros()
    integer = np.dtype(getattr(pymetis, "zero_copy_dtype", lambda: np.int32)())
    # Older wheels use 32-bit integers, in which the sum of all weights must fit.
    max_total = 2.0**30 if integer.itemsize == 4 else 2.0**50
    xadj, adjncy = graph.indptr.astype(integer), graph.indices.astype(integer)
    options: dict[str, Any] = {
        "vweights": _as_integers(weights, 1e8, integer),
        "eweights": _as_integers(graph.data, max_total, integer),
        "options": pymetis.Options(seed=int(rng.integers(2**31 - 1))),
    }
    if hasattr(pymetis, "CSRAdjacency"):
        options["adjacency"] = pymetis.CSRAdjacency(xadj, adjncy)
    else:
        options |= {"xadj": xadj, "adjncy": adjncy}
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
    pins = [p.tolist() for p in np.split(clusters.indices, clusters.indptr[1:-1])]
    weights = _as_integers(tuples.weights, 1e8, np.dtype(np.int32)).tolist()
    hypergraph = solver.create_hypergraph(
        context, tuples.t, tuples.s, pins, weights, [1] * tuples.s
    )
    return np.asarray(hypergraph.partition(context).get_partition())


def _as_integers(weights: FloatArray, total: float, dtype: np.dtype[Any]) -> IntArray:
    """Weights as integers ≥ 1 whose sum is about ``total``."""
    scaled = np.rint(weights * (total / (float(weights.sum()) or 1.0)))  # there may be no edges
    return np.maximum(scaled, 1).astype(dtype)


def _require(module: str) -> Any:
    """Import a module of the extra ``graph``."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(needs(module, "this method")) from error
