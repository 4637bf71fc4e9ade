"""Clustering aggregation by moving points: contingency tables suffice, and no pairs of points."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..._util.arrays import row_blocks
from ..._util.memory import check_memory
from ..._util.typing import FloatArray, IntArray
from ..._util.warning import warn
from .agreements import by_inputs
from .disagreements import cost_of, joined_by_most
from .tuples import LabelTuples

_MOST_SWEEPS = 200
_ROUNDING = 1e-10  # a move lowers the cost if it does so by this share of its terms
_MOST_CELLS = 1e8  # tuples times clusters: where there are more, only near clusters are tried
_LITTLE = 1e-4  # fall of the cost by a sweep, as a share of it, at which that ends
_MOST_MERGED = 4000  # clusters of which all pairs are compared


def best_input(tuples: LabelTuples) -> IntArray:
    """The input of the smallest cost, its missing labels as one more cluster."""
    inputs = [np.unique(column, return_inverse=True)[1] for column in tuples.codes.T]
    return inputs[int(np.argmin([cost_of(tuples, codes) for codes in inputs]))]


def total_separation(tuples: LabelTuples) -> FloatArray:
    """(t,) mean X of each tuple to all points, from the weights of the clusters."""
    rows, factors = rows_of_table(tuples)
    total = float(tuples.weights.sum())
    # The sum of X − ½, twice: an input that lacks a label of either counts half.
    return 0.5 + (rows @ (factors * (rows.T @ tuples.weights))) / (2 * tuples.m * total)


def improve(tuples: LabelTuples, found: IntArray) -> IntArray:
    """Clusters of a smaller cost, by moving tuples and merging clusters.

    In the end no such step lowers the cost, or, of many tuples in many clusters, a sweep over all
    of them lowers it by less than a ten-thousandth. Never of a larger cost than those given. Each
    sweep takes O(t m k) time.
    """
    search = _Search(tuples, found)
    cost = cost_of(tuples, found)
    for _ in range(_MOST_SWEEPS):
        if not search.sweep() and not search.merge():
            break
        if search.near is not None:
            before, cost = cost, cost_of(tuples, search.codes)
            if before - cost <= _LITTLE * cost:
                break
    else:
        warn(f"local_search stopped after {_MOST_SWEEPS} sweeps; the cost could still fall")
    return np.unique(search.codes, return_inverse=True)[1]


class _Search:
    """Clusters of tuples, and a table from which the cost of every move follows.

    A tuple v in a cluster C costs, apart from what it costs in every cluster,

        M(v, C) = Σ_i w_i(C) − 2 w(C ∩ C_i(v))    over the inputs i that label v,

    with w_i(C) the weight of C that input i labels. M is 0 for an empty cluster, and one is kept
    for tuples that cost more than that everywhere.
    """

    def __init__(self, tuples: LabelTuples, found: IntArray) -> None:
        self.tuples, self.weights = tuples, tuples.weights
        self.codes: IntArray = np.array(found, dtype=np.int64)
        self.rows, self.factors = rows_of_table(tuples)
        self.terms = self.rows @ sp.diags_array(self.factors)
        # A tuple is not separated from itself, so its own weight in M(v, C) does not count.
        self.own_weight = tuples.weights * (tuples.codes >= 0).sum(axis=1)
        self.tolerance = _ROUNDING * tuples.m * float(tuples.weights.sum())
        self.near: sp.csr_array | None = None  # pairs of tuples that most inputs join, if needed
        self._tabulate()

    def _tabulate(self) -> None:
        """Number the clusters consecutively, with an empty one, and add up their rows."""
        self.codes = np.unique(self.codes, return_inverse=True)[1]
        self.counts = np.append(np.bincount(self.codes), 0)  # tuples in each cluster
        t, k = len(self.codes), len(self.counts)
        check_table_fits(self.rows.shape[1], k)
        Z = sp.csr_array((self.weights, (np.arange(t), self.codes)), shape=(t, k))
        self.table = np.asarray((self.rows.T @ Z).toarray())

    def sweep(self) -> bool:
        """Offer every tuple the cluster in which it costs least; whether any was moved."""
        moved, start, t = False, 0, len(self.codes)
        while start < t:  # clusters are added on the way, and blocks get shorter
            if self.near is None and t * len(self.counts) > _MOST_CELLS:
                self._find_near()
                moved, start = True, 0
            width = len(self.counts) if self.near is None else self.rows.shape[1]
            block = next(row_blocks(t - start, width))
            rows = slice(start, start + block.stop)
            wanted, gain = self._best_of_all(rows) if self.near is None else self._best_near(rows)
            is_new = self.counts[wanted] == 0
            for row in np.flatnonzero(gain > self.tolerance):
                target = int(self.counts.argmin()) if is_new[row] else int(wanted[row])
                moved |= self._move(start + int(row), target)
            start = rows.stop
        return moved

    def _find_near(self) -> None:
        """Find which tuples are near, and start again from groups of them if these cost less."""
        self.near = _neighbours(self.tuples)
        groups = _groups(self.near, total_separation(self.tuples))
        if cost_of(self.tuples, groups) < cost_of(self.tuples, self.codes):
            self.codes = groups
            self._tabulate()
        # (t, m + …) rows of the table of each tuple; a tuple that lacks labels has fewer.
        widths = np.diff(self.rows.indptr)
        self.index = np.full((len(widths), int(widths.max())), -1, dtype=np.int32)
        self.index[np.arange(widths.max()) < widths[:, None]] = self.rows.indices

    def _best_of_all(self, rows: slice) -> tuple[IntArray, FloatArray]:
        """The best cluster of each tuple, and how much less it costs than its own."""
        M = np.asarray(self.terms[rows] @ self.table)
        each, own = np.arange(len(M)), self.codes[rows]
        M[each, own] += self.own_weight[rows]
        wanted = M.argmin(axis=1)
        return np.asarray(wanted, dtype=np.int64), M[each, own] - M[each, wanted]

    def _best_near(self, rows: slice) -> tuple[IntArray, FloatArray]:
        """The same, from the clusters of near tuples: M(v, C) < 0 only if C has one of them."""
        assert self.near is not None
        near, own = self.near[rows], self.codes[rows]
        each = np.arange(len(own))
        v = np.concatenate([each, each, np.repeat(each, np.diff(near.indptr))])
        empty = np.full(len(own), self.counts.argmin())
        keys = np.unique(
            v * len(self.counts) + np.concatenate([own, empty, self.codes[near.indices]])
        )
        v, c = np.divmod(keys, len(self.counts))
        M = np.zeros(len(keys))
        for part in row_blocks(len(keys), self.tuples.m + 1):
            M[part] = self._costs(rows.start + v[part], c[part])
        M += np.where(c == own[v], self.own_weight[rows][v], 0.0)
        before = M[c == own[v]]  # one of each tuple, in order
        first = np.lexsort([M, v])[np.searchsorted(v, each)]
        return c[first], before - M[first]

    def _costs(self, v: IntArray, c: IntArray) -> FloatArray:
        """M(v, c) of pairs of a tuple and a cluster."""
        M = np.zeros(len(v))
        for place in self.index[v].T:
            M += np.where(place < 0, 0.0, self.factors[place] * self.table[place, c])
        return M

    def _move(self, v: int, target: int) -> bool:
        """Move a tuple if that lowers the cost, after the other moves of its block."""
        source = int(self.codes[v])
        at = self.rows.indices[self.rows.indptr[v] : self.rows.indptr[v + 1]]
        before, after = self.factors[at] @ self.table[at[:, None], [source, target]]
        if before + self.own_weight[v] - after <= self.tolerance:
            return False
        self.table[at, source] -= self.weights[v]
        self.table[at, target] += self.weights[v]
        self.codes[v] = target
        self.counts[source] -= 1
        self.counts[target] += 1
        if self.counts[source] == 0:
            self.table[:, source] = 0.0  # no rounding errors
        if self.counts.all():
            more = len(self.counts)
            check_table_fits(len(self.table), 2 * more)
            self.counts = np.append(self.counts, np.zeros(more, dtype=np.int64))
            self.table = np.hstack([self.table, np.zeros_like(self.table)])
        return True

    def merge(self) -> bool:
        """Merge clusters while that lowers the cost; whether any were merged."""
        self._tabulate()
        k = len(self.counts) - 1
        if k > _MOST_MERGED:
            return False
        table = self.table[:, :k]
        between = (table.T * self.factors) @ table  # (k, k), m times what a merge costs
        np.fill_diagonal(between, np.inf)
        target = np.arange(k)
        for c in range(k):
            other = int(between[c].argmin())
            # In terms of the tolerance of a move of the lighter one.
            if between[c, other] < -self.tolerance * float(self.weights.min()):
                between[other] += between[c]
                between[:, other] += between[:, c]
                between[c], between[:, c] = np.inf, np.inf
                target[target == c] = other
        self.codes = target[self.codes]
        self._tabulate()
        return len(self.counts) - 1 < k


def rows_of_table(tuples: LabelTuples) -> tuple[sp.csr_array, FloatArray]:
    """(t, r) which rows of the table a tuple adds to, and the factors of those rows in M.

    One row for each cluster of an input, one for each input that lacks labels, and one for all
    others together.
    """
    inside = tuples.codes >= 0
    is_partial = ~inside.all(axis=0)
    labelled = np.column_stack([inside[:, is_partial], np.ones(tuples.t)]).astype(np.float64)
    rows = sp.hstack([tuples.indicator(), sp.csr_array(labelled)], format="csr")
    ones = np.ones(int(is_partial.sum()))
    factors = np.concatenate([np.full(tuples.s, -2.0), ones, [(~is_partial).sum()]])
    return rows, factors


def _neighbours(tuples: LabelTuples) -> sp.csr_array:
    """(t, t) pairs of tuples that most inputs join, in O(t² m) time."""
    codes, t = by_inputs(tuples.codes), tuples.t
    pairs, count = [], 0
    for rows in row_blocks(t, t):
        i, j = np.nonzero(joined_by_most(codes[:, rows], codes[:, rows.start :]))
        later = j > i
        pairs.append(np.array([i[later], j[later]], dtype=np.int32) + rows.start)
        count += len(pairs[-1][0])
        check_memory(
            50 * count,
            f"pairs of the {t:,} tuples of labels that most inputs join",
            'take method="furthest", or inputs that differ less',
        )
    i, j = np.concatenate(pairs, axis=1)
    one = np.ones(2 * len(i), dtype=bool)
    return sp.csr_array((one, (np.append(i, j), np.append(j, i))), shape=(t, t))


def _groups(near: sp.csr_array, separation: FloatArray) -> IntArray:
    """Tuples by increasing mean X to all, each with those near it that are left."""
    found = np.full(near.shape[0], -1)
    for u in np.argsort(np.round(separation, 12), kind="stable"):
        if found[u] < 0:
            others = near.indices[near.indptr[u] : near.indptr[u + 1]]
            found[others[found[others] < 0]] = u
            found[u] = u
    return np.unique(found, return_inverse=True)[1]


def check_table_fits(r: int, k: int) -> None:
    check_memory(
        3 * 8 * r * k,
        f"contingency tables of {k:,} clusters with {r:,} clusters of the inputs",
        "give inputs with fewer clusters",
    )
