"""What each cluster is like: the features and columns that set it apart from all other points."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._util.typing import FloatArray, IntArray, Sparse
from ...partitions.labels import one_hot
from ...partitions.partition import Partition
from .columns import Column, PointTable, colour_range
from .summary import isolated

MAX_CELLS = 5_000_000  # points times features that are ranked; more points are sampled
MAX_CLUSTERS = 1500  # of all clusterings together: the largest of each
MAX_ENTRIES = 3000  # features of clusters
MAX_EFFECTS = 10_000_000  # clusters times features
_PER_CLUSTER = 6  # features at most
_BINS = 24  # of a histogram
_NOTED = 0.25  # size of an effect from which it is shown
_LARGE = 0.5  # ... and from which it is said without "rather"
_BLOCK = 200_000  # cells at a time, which stay in the cache
_SHARES = 3  # values of a category


@dataclass(frozen=True, eq=False)
class Effects:
    r"""How far each cluster differs from all other points in each of some columns of numbers.

    Attributes
    ----------
    level : (s, d) array
        Cliff's delta: :math:`\delta = P(a > b) - P(a < b)` for a random point a of the cluster and
        a random point b that is not in it. In [-1, 1], 0 for a constant column, the same for any
        increasing transformation; it needs no standard deviation, and outliers do not dominate it.
    spread : (s, d) array
        The same for the distance of a point's rank from the middle rank: negative for a cluster in
        the middle of the others, which need not differ in level.
    shift : (s, d) array
        Difference of the means over the standard deviation of all points, which orders features
        that separate a cluster completely.
    """

    level: FloatArray
    spread: FloatArray
    shift: FloatArray

    @property
    def sizes(self) -> FloatArray:
        return np.maximum(np.abs(self.level), np.abs(self.spread))


def column_effects(values: FloatArray, R: Sparse, weights: FloatArray) -> Effects:
    r"""Effects of d columns (n, d) for s clusters with weighted memberships (n, s).

    The mean over all b of sign(a - b) is the centred rank :math:`g(a) = 2F(a) - 1`, with ties in
    the middle. Pairs within the cluster cancel, so that :math:`\delta` is the mean of g in the
    cluster over the share of the weight outside. Missing values (NaN) are left out.

    References
    ----------
    Cliff (1993), Dominance statistics, https://doi.org/10.1037/0033-2909.114.3.494.

    Examples
    --------
    >>> x, R = np.array([[1.0], [2.0], [2.0], [3.0]]), np.array([[0.0], [1], [0], [1]])
    >>> column_effects(x, R, np.ones(4)).level.tolist()  # 3 of 4 pairs are above, 1 is equal
    [[0.75]]
    """
    known = ~np.isnan(values)
    ranks = _centred_ranks(values, weights)
    middle = np.where(known, np.round(np.abs(ranks), 12), np.nan)
    inside = R.T @ known  # (s, d) weights
    total = weights @ known
    outside = 1 - inside / np.maximum(total, np.finfo(float).tiny)

    def contrast(scores: FloatArray) -> FloatArray:
        sums = R.T @ np.where(known, scores, 0.0)
        usable = (inside > 0) & (outside > 1e-12)
        means = np.divide(sums, inside, out=np.zeros_like(sums), where=usable)
        return np.divide(means, outside, out=np.zeros_like(sums), where=usable)

    return Effects(
        np.clip(contrast(ranks), -1, 1),
        np.clip(contrast(_centred_ranks(middle, weights)), -1, 1),
        contrast(_standardised(values, weights)),
    )


def _centred_ranks(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Weighted share of the points below minus that above, in each column; 0 where missing."""
    rows = np.ascontiguousarray(values.T)  # sorted along the fast axis
    order = np.argsort(rows, axis=1)  # NaN last; ties in any order
    x = np.take_along_axis(rows, order, axis=1)
    w = np.where(np.isnan(x), 0.0, weights[order])
    up_to = np.cumsum(w, axis=1)
    total = np.maximum(up_to[:, -1:], np.finfo(float).tiny)
    edge = x[:, 1:] != x[:, :-1]
    ends = np.ones((len(x), 1), dtype=bool)
    first, last = np.hstack([ends, edge]), np.hstack([edge, ends])
    below = np.maximum.accumulate(np.where(first, up_to - w, 0.0), axis=1)
    until = np.minimum.accumulate(np.where(last, up_to, np.inf)[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty_like(rows)
    np.put_along_axis(ranks, order, (below + until) / total - 1, axis=1)
    ranks[np.isnan(rows)] = 0.0
    return ranks.T


def _standardised(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Columns with mean 0 and variance 1; constant ones are 0, as are missing values."""
    known = ~np.isnan(values)
    largest = np.max(np.abs(values), axis=0, where=known, initial=0.0)
    z = np.where(known, values, 0.0) / np.where(largest > 0, largest, 1.0)  # squares overflow
    total = np.maximum(weights @ known, np.finfo(float).tiny)
    z = np.where(known, z - (weights @ z) / total, 0.0)
    sd = np.sqrt(weights @ z**2 / total)
    return np.where(sd > 1e-12, z / np.where(sd > 1e-12, sd, 1.0), 0.0)


@dataclass(frozen=True, eq=False)
class Profiles:
    """The profiles as plain values, and how much each feature separates the clusters."""

    data: dict[str, Any]
    separation: FloatArray  # (number of features,)


def cluster_profiles(partitions: Mapping[str, Partition], table: PointTable, seed: int) -> Profiles:
    """Profiles of the clusters of all clusterings, from all points unless these are too many."""
    numeric = [*table.features, *(c for c in table.columns if c.kind == "number")]
    categories = [c for c in table.columns if c.kind == "category"]
    parts = list(partitions.values())
    n, d, m = parts[0].n, max(len(numeric), 1), len(parts)
    rows = _sampled_rows(n, d, m, seed)
    most = max(1, min(MAX_CLUSTERS, MAX_EFFECTS // d) // m)
    chosen = [np.sort(np.argsort(-p.masses, kind="stable")[:most]) for p in parts]
    R = sp.csc_array(
        sp.hstack([_memberships(p, rows)[:, own] for p, own in zip(parts, chosen, strict=True)])
    )
    weights = np.asarray(parts[0].weights, dtype=np.float64)[rows]
    weights = weights / weights.max()
    R = sp.csc_array(R.multiply(weights[:, None]))
    effects = _all_effects(numeric, rows, R, weights)
    per_cluster = int(np.clip(MAX_ENTRIES // R.shape[1], 2, _PER_CLUSTER))
    describe = _Describer([*numeric, *categories], rows, R, weights)
    entries = describe.entries(effects, len(numeric), per_cluster)
    bounds = np.cumsum([0, *map(len, chosen)])
    masses = np.concatenate([p.masses[own] for p, own in zip(parts, chosen, strict=True)])
    share = masses / masses.sum()
    data = {
        "n_points": len(rows),
        "columns": describe.used,
        "clusterings": [
            [
                {"cluster": int(c), "size": int(size), **entries[start + i]}
                for i, (c, size) in enumerate(zip(own, _sizes(p)[own], strict=True))
            ]
            for p, own, start in zip(parts, chosen, bounds, strict=False)
        ],
    }
    return Profiles(data, share @ effects.sizes[:, : len(table.features)])


def _sampled_rows(n: int, d: int, m: int, seed: int) -> IntArray:
    most = int(max(500, MAX_CELLS / d / max(1, m / 20)))
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).permutation(n)[:most])


def _memberships(partition: Partition, rows: IntArray) -> Sparse:
    if partition.is_hard:
        return sp.csc_array(one_hot(partition.labels[rows], partition.k))
    return sp.csc_array(partition.memberships[rows])


def _sizes(partition: Partition) -> IntArray:
    """Points of each cluster; of a soft clustering those with their largest membership there."""
    labels = partition.labels
    return np.bincount(labels[labels >= 0], minlength=partition.k)


def _all_effects(
    numeric: Sequence[Column], rows: IntArray, R: Sparse, weights: FloatArray
) -> Effects:
    """Effects of all columns of numbers, a block of them at a time."""
    step = max(1, _BLOCK // max(len(rows), 1))
    found = []
    for start in range(0, len(numeric), step):
        block = [column.numbers[rows] for column in numeric[start : start + step]]
        found.append(column_effects(np.column_stack(block), R, weights))
    none = np.zeros((R.shape[1], 0))
    return Effects(
        np.hstack([none, *(e.level for e in found)]),
        np.hstack([none, *(e.spread for e in found)]),
        np.hstack([none, *(e.shift for e in found)]),
    )


class _Describer:
    """Makes the entries of all clusters, and collects the columns that these mention."""

    def __init__(
        self, columns: Sequence[Column], rows: IntArray, R: Sparse, weights: FloatArray
    ) -> None:
        self.columns, self.rows, self.R, self.weights = columns, rows, R, weights
        self.used: list[dict[str, Any]] = []
        self._place: dict[int, int] = {}
        self._binned: dict[int, tuple[FloatArray, IntArray, int]] = {}

    def entries(self, effects: Effects, n_numeric: int, most: int) -> list[dict[str, Any]]:
        shares = {j: self._shares(j) for j in range(n_numeric, len(self.columns))}
        return [self._of_cluster(c, effects, shares, most) for c in range(self.R.shape[1])]

    def _of_cluster(
        self, c: int, effects: Effects, shares: Mapping[int, Any], most: int
    ) -> dict[str, Any]:
        size, shift = effects.sizes[c], np.abs(effects.shift[c])
        order = np.lexsort((-shift, -np.round(size, 2)))[:most]
        found = [(float(size[j]), int(j)) for j in order if size[j] >= _NOTED]
        for j, (inside, rest) in shares.items():
            excess = float(np.max(inside[c] - rest[c]))
            if excess >= _NOTED:
                found.append((excess, j))
        found.sort(key=lambda item: -round(item[0], 2))  # stable: ties stay as they are
        entries, words = [], []
        for _, j in found[:most]:
            if j in shares:
                entry, word = self._category(c, j, *(part[c] for part in shares[j]))
            else:
                entry, word = self._number(c, j, effects)
            entries.append({"column": self._number_of(j), **entry})
            words.append((abs(entry["effect"]), word))
        return {"in_words": _sentence(words), "entries": entries}

    def _number(self, c: int, j: int, effects: Effects) -> tuple[dict[str, Any], str]:
        level, spread = float(effects.level[c, j]), float(effects.spread[c, j])
        if abs(level) >= abs(spread):
            effect, kind = level, "high" if level > 0 else "low"
        else:
            effect, kind = spread, "extreme" if spread > 0 else "medium"
        values, bins, count = self._bins(j)
        mine, w = self._members(c)
        known = bins[mine] >= 0
        mine, w = mine[known], w[known]
        entry = {
            "effect": round(effect, 3),
            "kind": kind,
            "median": weighted_median(values[mine], w),
            **_histogram(bins[mine], w, count),
        }
        rather = "" if abs(effect) >= _LARGE else "rather "
        return entry, f"{rather}{kind} {isolated([self.columns[j].name])[0]}"

    def _category(
        self, c: int, j: int, inside: FloatArray, rest: FloatArray
    ) -> tuple[dict[str, Any], str]:
        order = np.argsort(-np.round(inside - rest, 6), kind="stable")[:_SHARES]
        column = self.columns[j]
        shown = [v for v in order if inside[v] > rest[v]]
        entry = {
            "effect": round(float(inside[order[0]] - rest[order[0]]), 3),
            "kind": "often",
            "values": [
                [column.names[v], round(float(inside[v]), 4), round(float(rest[v]), 4)]
                for v in shown
            ],
        }
        often = "mostly" if inside[order[0]] > 0.5 else "often"
        name, value = isolated([column.name, column.names[order[0]]])
        return entry, f"{often} {value} ({name})"

    def _shares(self, j: int) -> tuple[FloatArray, FloatArray]:
        """Shares of the values of a category in each cluster, and among all other points."""
        column = self.columns[j]
        codes = np.asarray(column.values, dtype=np.int64)[self.rows]
        V = one_hot(codes, len(column.names), self.weights)
        inside = np.asarray((self.R.T @ one_hot(codes, len(column.names))).todense())  # (s, v)
        rest = np.asarray(V.sum(axis=0)) - inside
        sums = [np.maximum(part.sum(axis=1, keepdims=True), 1e-300) for part in (inside, rest)]
        empty = rest.sum(axis=1) <= 1e-12 * self.weights.sum()
        rest = np.where(empty[:, None], inside, rest)  # there is no other point: no difference
        return inside / sums[0], rest / np.where(empty[:, None], sums[0], sums[1])

    def _members(self, c: int) -> tuple[IntArray, FloatArray]:
        part = slice(self.R.indptr[c], self.R.indptr[c + 1])
        return self.R.indices[part], self.R.data[part]

    def _bins(self, j: int) -> tuple[FloatArray, IntArray, int]:
        """Values of a column, their bins (-1 where missing), and the number of bins."""
        if j not in self._binned:
            values = self.columns[j].numbers[self.rows]
            known = ~np.isnan(values)
            low, high = colour_range(values[known])
            count = _BINS
            if high - low < _BINS and (values[known] == np.floor(values[known])).all():
                low, high = np.floor(low) - 0.5, np.floor(high) + 0.5
                count = round(high - low)
            share = (values / 2 - low / 2) / (high / 2 - low / 2)
            bins = np.full(len(values), -1)
            bins[known] = np.clip(np.floor(share[known] * count), 0, count - 1)
            self._binned[j] = values, bins, count
        return self._binned[j]

    def _number_of(self, j: int) -> int:
        """The place of a column among those that are mentioned; described at first."""
        if j not in self._place:
            self._place[j] = len(self.used)
            column = self.columns[j]
            about: dict[str, Any] = {"name": column.name, "group": column.group}
            about["kind"] = column.kind
            if column.kind == "number":
                values, bins, count = self._bins(j)
                known = bins >= 0
                low, high = colour_range(values[known])
                about |= {
                    "from": low,
                    "to": high,
                    **_histogram(bins[known], self.weights[known], count),
                }
                about["median"] = weighted_median(values[known], self.weights[known])
            self.used.append(about)
        return self._place[j]


def weighted_median(values: FloatArray, weights: FloatArray) -> float:
    """The value with half of the weight on each side; the middle of two where both are.

    >>> weighted_median(np.array([3.0, 1.0, 2.0, 9.0]), np.ones(4))
    2.5
    """
    order = np.argsort(values, kind="stable")
    x, up_to = values[order], np.cumsum(weights[order])
    half = up_to[-1] / 2
    tolerance = 1e-9 * up_to[-1]
    low = int(np.searchsorted(up_to, half - tolerance))
    high = min(int(np.searchsorted(up_to, half + tolerance)), len(x) - 1)
    return float(x[low] / 2 + x[high] / 2)


def _histogram(bins: IntArray, weights: FloatArray, count: int) -> dict[str, Any]:
    """Shares of the bins as bytes, 255 for the largest of them, ``peak``."""
    sums = np.bincount(bins, weights=weights, minlength=count)
    shares = sums / sums.sum()
    peak = float(shares.max())
    levels = np.rint(255 * shares / peak).astype(np.uint8)
    return {"bins": base64.b64encode(levels.tobytes()).decode(), "peak": round(peak, 4)}


def _sentence(words: Sequence[tuple[float, str]]) -> str:
    """The largest effects in words; smaller ones only if there are no others."""
    large = [word for size, word in words if size >= _LARGE][:3]
    return ", ".join(large or [word for _, word in words[:2]])
