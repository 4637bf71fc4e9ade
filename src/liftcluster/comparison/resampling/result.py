"""The result of a stability analysis: values of clusters and points, and a summary in words."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..._util.extras import needs
from ..._util.html import paragraph, table
from ..._util.typing import FloatArray
from ...partitions.partition import Partition
from .outcomes import Outcome, mean_of_known

STABLE, UNSTABLE = 0.5, 0.2  # from which a cluster is called stable; below which unstable
_SHARED = 0.1  # share of a cluster together with another one that is worth naming
_DIVIDED = 1.5  # pieces from which a cluster counts as divided
_MOST_SHOWN = 10  # unstable clusters in a summary
_RESOLUTION = 0.001  # difference of stabilities that is not noise where both are almost one


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    r"""How far each cluster, each point and the whole of a clustering is found again.

    Made by :func:`liftcluster.stability`. Stabilities are in units in which one means "found in its
    place in every replicate" and zero "as stable as clusters of data without structure": with s the
    mean stability in units of chance (``outcome``) and s₀ that of the null (``level``), they are
    (s − s₀)/(1 − s₀) above s₀, and (s − s₀)/s₀ below.

    Attributes
    ----------
    reference : Partition
        The clustering in question.
    clusters : (k,) array
        Stability of each of its clusters.
    replicates : (B, k) array
        The same in every single replicate; NaN where a cluster has no point.
    points : (n,) array
        For each point the mean share of the cluster it is in, in a replicate, that comes from its
        own cluster; NaN for noise and for points that no replicate has.
    score : float
        Stability of the whole: 1 − LiftEMD to the replicates in units of chance, above that of
        structureless data.
    null : (N,) array
        Stability of the whole, in units of chance, of N structureless data sets (or of random
        regions in place of given runs); empty without a null.
    level : float or (k,) array
        s₀ of the clusters: that of the most stable clusters of structureless data.
    jaccard : (k,) array or None
        Hennig's stability: mean over replicates of the largest Jaccard index.
    outcome : Outcome
        Values in units of chance, distances, and what becomes of the clusters.
    how : str
        What the replicates and the null are, in words.
    name : hashable
        Which of the given runs is the reference; None if it is none of them.

    See Also
    --------
    stability : The function that returns it.
    plot.stability : A picture of it.

    Examples
    --------
    >>> import liftcluster as lc
    >>> X = [[0.0], [1.0], [8.0], [9.0]]
    >>> lc.stability(X, [[0, 0, 1, 1], [1, 1, 0, 0], list("aabb")], rng=0)
    Stability(1.00, 2 clusters, 2 replicates)
    """

    reference: Partition
    outcome: Outcome
    null: FloatArray
    level: float | FloatArray
    how: str
    name: Hashable = None

    @cached_property
    def replicates(self) -> FloatArray:
        return adjusted(self.outcome.values, self.level)

    @cached_property
    def clusters(self) -> FloatArray:
        return adjusted(self.outcome.means, self.level)

    @cached_property
    def intervals(self) -> FloatArray:
        """(k, 2) range of the middle 95 % of the replicates, for each cluster."""
        found = np.full((self.reference.k, 2), np.nan)
        for row, values in zip(found, self.replicates.T, strict=True):
            known = values[~np.isnan(values)]
            if len(known):
                row[:] = np.quantile(known, [0.025, 0.975])
        return found

    @property
    def points(self) -> FloatArray:
        return self.outcome.points

    @property
    def scores(self) -> FloatArray:
        """(B,) stability of the whole in every replicate."""
        return adjusted(self.outcome.whole, self._whole_level)

    @property
    def score(self) -> float:
        return float(adjusted(self.outcome.whole.mean(), self._whole_level))

    @property
    def p_value(self) -> float | None:
        """Share of structureless data sets whose whole is as stable; None without a null."""
        if not len(self.null):
            return None
        reached = (self.null >= self.outcome.whole.mean()).sum()
        return float((1 + reached) / (1 + len(self.null)))

    @property
    def _whole_level(self) -> float:
        return float(self.null.mean()) if len(self.null) else 0.0

    @property
    def standard_error(self) -> float:
        """Of the score, over replicates."""
        return (
            float(self.scores.std(ddof=1) / np.sqrt(len(self.scores)))
            if self.n_replicates > 1
            else np.nan
        )

    @property
    def n_replicates(self) -> int:
        """Number of replicates B."""
        return len(self.outcome.whole)

    @property
    def jaccard(self) -> FloatArray | None:
        found = self.outcome.jaccard
        return None if found is None else mean_of_known(found)

    @property
    def unstable(self) -> list[Hashable]:
        """Names of the clusters with a stability below 0.2, which structureless data may have."""
        return [self.reference.names[i] for i in np.flatnonzero(self.clusters < UNSTABLE)]

    def fate(self, cluster: Hashable) -> str:
        """What becomes of a cluster in the replicates, in words.

        Parameters
        ----------
        cluster : hashable
            Name of the cluster.
        """
        names = self.reference.names
        if cluster not in names:
            raise ValueError(f"there is no cluster {cluster!r}; the clusters are {list(names)}")
        return self.fates()[names.index(cluster)]

    def fates(self, names: Sequence[Any] | None = None) -> list[str]:
        """What becomes of each cluster in the replicates, in words.

        Parameters
        ----------
        names : sequence, optional
            Other names for the clusters.
        """
        names = self.reference.names if names is None else names
        return [self._fate(i, names) for i in range(self.reference.k)]

    def _fate(self, i: int, names: Sequence[Any]) -> str:
        shares = self.outcome.flows[i].copy()
        own, shares[i] = shares[i], 0
        order = [j for j in np.argsort(-shares, kind="stable") if shares[j] >= _SHARED][:3]
        others = ", ".join(f"{names[j]} ({shares[j]:.0%})" for j in order)
        pieces = self.outcome.pieces[i]
        if self.clusters[i] >= STABLE:
            divided = f"; on average in {pieces:.1f} parts" if pieces >= _DIVIDED else ""
            return f"is found again in its place{divided}"
        if not order:
            return f"is found again in parts, {own:.0%} of it with its own points"
        if pieces < _DIVIDED:
            return f"is in one cluster with {others}"
        return f"is divided among {pieces:.1f} clusters and mixes with {others}"

    def rows(self) -> list[dict[str, Any]]:
        """One record for each cluster."""
        masses, fates = self.reference.masses, self.fates()
        return [
            {
                "cluster": name,
                "mass": float(masses[i]),
                "stability": float(self.clusters[i]),
                "low": float(self.intervals[i, 0]),
                "high": float(self.intervals[i, 1]),
                "jaccard": None if self.jaccard is None else float(self.jaccard[i]),
                "verdict": verdict(float(self.clusters[i])),
                "fate": fates[i],
            }
            for i, name in enumerate(self.reference.names)
        ]

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each cluster."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(needs("pandas", "to_frame")) from None
        return pd.DataFrame(self.rows()).set_index("cluster")

    def to_dict(self) -> dict[str, Any]:
        """Everything but the points, as values that JSON can hold if names of clusters are."""
        return {
            "how": self.how,
            "reference": None if self.name is None else str(self.name),
            "replicates": self.n_replicates,
            "score": self.score,
            "standard_error": self.standard_error if self.n_replicates > 1 else None,
            "null": self.null.tolist(),
            "clusters": self.rows(),
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the clusters with their replicates, by :func:`liftcluster.plot.stability`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        """
        from ...viz.plot import stability as draw

        return draw(self, ax=ax)

    def summary(self) -> list[str]:
        """The main findings, one sentence each."""
        k = self.reference.k
        spread = f" ± {self.standard_error:.2f}" if self.n_replicates > 1 else ""
        lines = [f"the whole{self._of_which}: {self.score:.2f}{spread} ({self.how})"]
        counted = {"stable": 0, "doubtful": 0, "unstable": 0}
        for value in self.clusters:
            counted[verdict(float(value))] += 1
        lines.append(f"{k} clusters: " + ", ".join(f"{n} {word}" for word, n in counted.items()))
        lines += [f"{name} {self.fate(name)}" for name in self.unstable[:_MOST_SHOWN]]
        return lines

    @property
    def _of_which(self) -> str:
        if self.name is None:
            return ""
        return f" of {self.name}" if isinstance(self.name, str) else f" of run {self.name}"

    def __str__(self) -> str:
        width = max(len(str(name)) for name in self.reference.names)
        shown = [
            f"  {row['cluster']!s:{width}}  {row['stability']:5.2f}  "
            f"[{row['low']:5.2f}, {row['high']:5.2f}]  {row['verdict']}: {row['fate']}"
            for row in self.rows()
        ]
        return "\n".join([*self.summary()[:2], *shown])

    def __repr__(self) -> str:
        clusters, count = self.reference.k, self.n_replicates
        return f"Stability({self.score:.2f}, {clusters} clusters, {count} replicates)"

    def _repr_html_(self) -> str:
        headings = ("cluster", "mass", "stability", "95 % of replicates", "", "what becomes of it")
        rows = [
            (
                row["cluster"],
                f"{row['mass']:.1%}",
                f"{row['stability']:.2f}",
                f"{row['low']:.2f} … {row['high']:.2f}",
                row["verdict"],
                row["fate"],
            )
            for row in self.rows()
        ]
        return paragraph(self.summary()[0], strong=True) + table(headings, rows)


def verdict(value: float) -> str:
    """A word for the stability of a cluster above that of structureless data."""
    return "stable" if value >= STABLE else "unstable" if value < UNSTABLE else "doubtful"


def adjusted(values: FloatArray, level: float | FloatArray) -> FloatArray:
    """Stabilities relative to that of structureless data: s₀ becomes zero, one stays one.

    Linear from s₀ to one, and from zero (which becomes −1) to s₀.
    """
    level = np.maximum(level, 0)
    above = np.maximum(np.where(values >= level, 1 - level, level), _RESOLUTION)
    return np.asarray(np.clip((values - level) / above, -1, 1))
