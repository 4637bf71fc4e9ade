"""Consensus by the graph of places: cut into pieces, or as a kernel for lifted clusters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from ..._util.arrays import from_device, namespace, on_device
from ..._util.checks import check_count
from ..._util.typing import FloatArray, IntArray, Points, Sparse
from ..._util.warning import warn
from ...kernels.shift_invariant import Kernel
from ...kernels.summary import take_rows
from ...partitions.stack import Stack
from ...representation.assembling import assemble
from .lifted import group_centres, lift_km
from .neighbours import NEIGHBOURS, PlaceGraph
from .places_on_device import largest_scores, nearest_centres, sums_around
from .spectral import relative_eigengaps, spectrum_of_graph, unit_kmeans, unit_rows
from .tuples import by_first_appearance

_POWER = 4  # of the agreement of labels, and of the coherence of clusters
_LEAST = 0.05  # share of an edge that stays where the labels of its ends differ
_TIE = 1e-3  # weight of the edges between points with equal labels
_WEAKER_TIE = 1e-5  # weight of edges between all places: more than k pieces are then ordered
_STEPS = 4  # of the random walk from a point and from a cluster until they meet
_TINY = 1e-300


def lift_places(places: Places) -> IntArray:
    r"""Cut the graph of places, whose edges are weighted by how well the labels agree there.

    .. math:: F(x, C) = \frac{⟨φ(x), Φ(C)⟩}{\sum_{C'} ⟨φ(x), Φ(C')⟩}, \quad
              u(C) = \Bigl(\frac{⟨Φ(C), Φ(C)⟩}{⟨Φ(C), Φ(X)⟩}\Bigr)^4, \quad
              g(x, y) = \frac{\sum_C u F(x, C) F(y, C)}
                             {\sqrt{\sum_C u F(x, C)^2 \sum_C u F(y, C)^2}}

    .. math:: A = κ ∘ (ε + (1 - ε) g^4) + \frac{τ}{m} \sum_C u(C) \frac{1_C 1_C^\top}{|C|}

    with κ the kernel of the neighbour graph (:class:`PlaceGraph`), φ its lift, F the share of a
    cluster among the labels around x (C' are the clusters of the same partition), u the coherence
    of a cluster and g the co-association of two places, one where the labels around both are the
    same. In F, a place counts as its own neighbour, as near as its nearest; a tie of 10⁻⁵ between
    all places orders pieces that nothing else joins. ε = 0.05 and τ = 0.001: the points decide
    where their neighbour graph falls into pieces, the labels weigh its edges and join what has no
    edges. The normalised cut is by k eigenvectors of D⁻¹ᐟ²AD⁻¹ᐟ², rows of unit length, and k-means.

    Above 2,000 places, so many are drawn as landmarks. The labels of all points count in F, and
    a point takes the mean of the eigenvectors at its nearest landmarks, weighted by κ and g. Linear
    in the number of points; no n × n and no dense p × p matrix.

    Fewer than k clusters are found, with a warning, where there are fewer places.

    Parameters
    ----------
    places : Places

    Returns
    -------
    (n,) int array

    Examples
    --------
    Two rows of points, and inputs that divide both; the gap between the rows decides.

    >>> import liftcluster as lc
    >>> X = [[x, y] for y in (0.0, 30.0) for x in range(20)]
    >>> inputs = [[2 * (y > 0) + (x < limit) for x, y in X] for limit in (4, 10, 16)]
    >>> found = lc.consensus(inputs, 2, X, rng=0)
    >>> found.decision.method, found.decision.eigengap
    ('lift_places', 1.0)
    >>> set(found.labels[:20].tolist()), set(found.labels[20:].tolist())
    ({0}, {1})
    """
    graph, k = places.graph, places.k
    if graph.p <= k:
        if graph.p < k:
            warn(
                f"{k} clusters were asked for, but the points are in {graph.p} different places, "
                "which are the clusters of the consensus"
            )
        return np.asarray(graph.near[:, 0], dtype=np.int64)
    codes, Y = places.pieces
    if graph.is_whole:
        return codes[graph.near[:, 0]]
    centres = np.eye(k)[codes].T @ Y / np.bincount(codes, minlength=k)[:, None]
    if on_device(graph.near):
        return nearest_centres(places, Y, centres, _gate)

    def assign(rows: slice, steps: Sparse) -> IntArray:
        steps.data *= places.gates(rows).ravel()
        return cdist(unit_rows(steps @ Y), centres).argmin(axis=1)

    return np.concatenate(list(graph.map_blocks(assign)))


def lift_walk(places: Places) -> IntArray:
    r"""LiftKm with the kernel of random walks on the graph of places.

    .. math:: K = D^{-1/2} S^{2t} D^{-1/2}, \quad S = D^{-1/2} (κ + \max κ) D^{-1/2}, \quad t = 4

    In place of a Gaussian, two points are similar if walks of t steps from both often meet
    (:class:`PlaceGraph`; a walk stays where it is as often as it takes its strongest edge). The
    kernel follows curved clusters, in which many local labels are averaged: errors that annotators
    make at random cancel. Clusters are grouped by :func:`lift_km`, and points are assigned to the
    group of largest ⟨φ(x), v⟩. Linear in the number of points.

    Parameters
    ----------
    places : Places

    Returns
    -------
    (n,) int array

    Examples
    --------
    >>> import liftcluster as lc
    >>> X = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]
    >>> inputs = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [2, 2, 2, 2, 0, 0]]
    >>> lc.consensus(inputs, 2, X, method="lift_walk", rng=0).labels.tolist()
    [0, 0, 0, 1, 1, 1]
    """
    graph, scores = places.graph, places.walk_scores
    if graph.is_whole:
        return scores.argmax(axis=1)[graph.near[:, 0]]
    if on_device(graph.near):
        return largest_scores(graph, scores)
    assigned = graph.map_blocks(lambda _, steps: np.asarray(steps @ scores).argmax(axis=1))
    return np.concatenate(list(assigned))


@dataclass(frozen=True, eq=False)
class Places:
    """The graph of places with the labels of m partitions, to be combined into k clusters."""

    graph: PlaceGraph
    stack: Stack
    k: int
    rng: np.random.Generator

    @classmethod
    def of(
        cls,
        stack: Stack,
        X: Points,
        k: int,
        *,
        rng: np.random.Generator,
        kernel: Kernel | None = None,
        n_neighbours: int = NEIGHBOURS,
    ) -> Places:
        """The places of X; a kernel compares objects without coordinates."""
        K = check_count(n_neighbours, "n_neighbours")
        weights = next(iter(stack.partitions.values())).weights
        graph = PlaceGraph.of(X, weights, rng, kernel=kernel, n_neighbours=K)
        return cls(graph, stack, k, rng)

    @property
    def m(self) -> int:
        return len(self.stack.partitions)

    @cached_property
    def around(self) -> FloatArray:
        """(p, s) weight of each cluster among the points nearest to each place."""
        if on_device(self.graph.near):
            return sums_around(self.graph, self.stack)
        total = np.zeros((self.graph.p, self.stack.shape[1]))
        for part in self.graph.map_blocks(lambda rows, steps: steps.T @ self.stack.rows(rows)):
            total += part.toarray()
        return total

    @cached_property
    def own(self) -> Sparse:
        """(p, s) memberships of the places themselves, Σ_C over each partition at most 1."""
        if self.graph.is_whole:
            return sp.csr_array(_shares(self.around, self.stack.owner))
        rows = self.stack.rows(self.graph.rows)
        return sp.csr_array(_shares(rows.toarray(), self.stack.owner))

    @cached_property
    def walk_matrix(self) -> Sparse:
        """κ with a loop at each place as strong as its strongest edge."""
        edges = self.graph.edges
        loops = np.maximum(edges.max(axis=1).toarray().ravel(), 1e-12)
        return sp.csr_array(edges + sp.diags_array(loops))

    @cached_property
    def coherence(self) -> FloatArray:
        """(s,) u: share of the edges of a cluster that end in it, to the fourth power."""
        edges, own = self.graph.edges, self.own
        inside = np.asarray(own.multiply(edges @ own).sum(axis=0)).ravel()
        return np.maximum((inside / np.maximum(edges.sum(axis=1) @ own, _TINY)) ** _POWER, 1e-12)

    @cached_property
    def profiles(self) -> FloatArray:
        """(p, s) √u F, rows of unit length."""
        around = self.walk_matrix @ self.around if self.graph.is_whole else self.around
        return unit_rows(_shares(around, self.stack.owner) * np.sqrt(self.coherence))

    @cached_property
    def weighted_edges(self) -> Sparse:
        """κ ∘ (ε + (1 − ε) g⁴)."""
        edges = sp.coo_array(self.graph.edges)
        (a, b), F = edges.coords, self.profiles
        agreement = np.einsum("ij,ij->i", F[a], F[b])
        return sp.csr_array((edges.data * _gate(agreement), (a, b)), shape=edges.shape)

    @cached_property
    def pieces(self) -> tuple[IntArray, FloatArray]:
        """(p,) clusters of the places by a normalised cut of A, and (p, k) unit rows."""
        found = spectrum_of_graph(self.weighted_edges, self.k, self.rng, self.ties)
        Y = unit_rows(found.vectors)
        return unit_kmeans(Y, np.ones(len(Y)), self.k, self.rng), Y

    @cached_property
    def eigengap(self) -> float:
        """γ: how clearly κ falls into k pieces; one where it has k or more separate pieces."""
        if connected_components(self.graph.edges, directed=False)[0] >= self.k:
            return 1.0
        values = spectrum_of_graph(self.graph.edges, self.k + 1, self.rng).values
        return float(relative_eigengaps(values)[-1])

    @cached_property
    def smoothness(self) -> float:
        """Share of the labels that the labels around a place predict, mean over the partitions."""
        own, votes = self.own.toarray(), self._votes_of_others()
        shares = []
        for number in range(self.m):
            clusters = np.flatnonzero(self.stack.owner == number)
            labelled = own[:, clusters].any(axis=1)
            if labelled.any():
                predicted = votes[labelled][:, clusters].argmax(axis=1)
                shares.append(predicted == own[labelled][:, clusters].argmax(axis=1))
        return float(np.mean([share.mean() for share in shares]))

    def _votes_of_others(self) -> FloatArray:
        """(p, s) weight of each cluster around a place, without the place itself."""
        graph = self.graph
        if graph.is_whole:
            return np.asarray(graph.edges @ self.own.toarray())
        steps, near = (
            from_device(take_rows(part, graph.rows)) for part in (graph.steps, graph.near)
        )
        itself = near == np.arange(graph.p)[:, None]
        share = (steps * itself).sum(axis=1) / steps.sum(axis=1)
        return self.around - share[:, None] * self.stack.rows(graph.rows).toarray()

    def eigengaps(self, most: int) -> FloatArray:
        """Relative eigengaps of A for 1, …, ``most`` clusters; zero from the number of places."""
        values = spectrum_of_graph(self.weighted_edges, most + 1, self.rng, self.ties).values
        found = np.zeros(most)
        found[: len(values) - 1] = relative_eigengaps(values)
        return found

    @cached_property
    def ties(self) -> Sparse:
        """(p, s + 1) factor of the edges between equal labels, and between all places."""
        size = np.maximum(np.asarray(self.own.sum(axis=0)).ravel(), 1)
        share = np.sqrt(_TIE / self.m * self.coherence / size)
        everywhere = tie(self.graph.p, _WEAKER_TIE)
        return sp.csr_array(sp.hstack([self.own @ sp.diags_array(share), everywhere]))

    @cached_property
    def walk_scores(self) -> FloatArray:
        """(p, groups) ⟨φ(x), v⟩ of the places by the kernel of random walks."""
        walk = self.walk_matrix
        root = 1 / np.sqrt(walk.sum(axis=1))
        S = sp.csr_array(sp.diags_array(root) @ walk @ sp.diags_array(root))

        def spread(V: FloatArray) -> FloatArray:
            for _ in range(_STEPS):
                V = S @ V
            return V

        sums = spread(root[:, None] * self.around).T
        rep = assemble([self.stack], None, sums)
        first, codes = by_first_appearance(lift_km(rep, min(self.k, rep.s), rng=self.rng))
        return np.asarray(root[:, None] * spread(group_centres(rep, codes, len(first)).T))

    def gates(self, rows: slice) -> FloatArray:
        """(b, q) ε + (1 − ε) g⁴ between some points, by their own labels, and nearest places."""
        own = sp.csr_array(self.stack.rows(rows) @ sp.diags_array(np.sqrt(self.coherence)))
        own = sp.csr_array(sp.diags_array(1 / np.maximum(sp.linalg.norm(own, axis=1), _TINY)) @ own)
        near, counts = self.graph.near[rows], np.diff(own.indptr)
        inside = np.arange(counts.max(initial=0)) < counts[:, None]
        columns, values = np.zeros(inside.shape, np.int64), np.zeros(inside.shape)
        columns[inside], values[inside] = own.indices, own.data
        agreement = np.zeros(near.shape)
        for column, value in zip(columns.T, values.T, strict=True):
            agreement += value[:, None] * self.profiles[near, column[:, None]]
        return _gate(agreement)


def cut_points(
    X: Points, k: int, rng: np.random.Generator, *, n_neighbours: int = NEIGHBOURS
) -> IntArray:
    """(n,) clusters by a normalised cut of the graph of places, without any input."""
    graph = PlaceGraph.of(X, np.ones(len(X)), rng, n_neighbours=n_neighbours)
    codes = _cut(graph, k, rng)
    if graph.is_whole:
        return codes[graph.near[:, 0]]
    votes = np.eye(int(codes.max()) + 1)[codes]
    assigned = graph.map_blocks(lambda _, steps: np.asarray(steps @ votes).argmax(axis=1))
    return np.concatenate(list(assigned))


def _cut(graph: PlaceGraph, k: int, rng: np.random.Generator) -> IntArray:
    """(p,) clusters of the places; a weak tie between all of them orders separate pieces."""
    if graph.p <= k:
        return np.arange(graph.p)
    Y = spectrum_of_graph(graph.edges, k, rng, tie(graph.p)).vectors
    return unit_kmeans(Y, np.ones(graph.p), k, rng)


def tie(p: int, weight: float = _TIE) -> Sparse:
    """The factor of edges of equal weight between all places, which add ``weight`` to a degree."""
    return sp.csr_array(np.full((p, 1), np.sqrt(weight / p)))


def _gate(agreement: Any) -> Any:
    return _LEAST + (1 - _LEAST) * namespace(agreement).clip(agreement, 0.0, 1.0) ** _POWER


def _shares(values: FloatArray, owner: IntArray) -> FloatArray:
    """Values divided by their sum over the clusters of each partition."""
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    totals = np.add.reduceat(values, first, axis=1)[:, owner]
    return np.divide(values, totals, out=np.zeros_like(values), where=totals > 0)
