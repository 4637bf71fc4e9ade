"""Choice of the number of clusters, or any other setting, by stability above structureless data."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from ..._util.checks import check_choice, check_count, checked_keywords
from ..._util.extras import needs
from ..._util.html import paragraph, table
from ..._util.progress import progress_bar
from ..._util.typing import BandwidthLike, FloatArray, Points, RngLike
from ..._util.validation import make_rng
from ...kernels.kernel import KernelLike
from ...lifts.choice import Lifting, LiftLike
from ...partitions.frames import columns_as_partitions
from .assessing import BANDWIDTH, Trial, stability
from .replicates import RESAMPLES, as_fit
from .result import Stability, adjusted

_REPLICATES = 20
_NULL_SETS, _NULL_REPLICATES = 5, 6  # of each kind, and of each set
_MOST_SUBTRACTED = 0.5  # of the null: beyond, the difference of two large numbers is noise
_FLAT = 0.05  # variation of the curve that means nothing


@dataclass(frozen=True, eq=False, repr=False)
class Choice:
    """Stability of a clustering for each of several settings; made by :func:`liftcluster.choose`.

    Attributes
    ----------
    settings : tuple
        What was tried: parameters of the clusterer, or names of runs.
    stabilities : tuple of Stability
        One for each setting.

    See Also
    --------
    choose : The function that returns it.
    plot.choice : A picture of it.

    Examples
    --------
    >>> import liftcluster as lc
    >>> X = [[0.0], [1.0], [8.0], [9.0]]
    >>> runs = {"coarse": [0, 0, 1, 1], "other": [0, 0, 1, 1], "fine": [0, 1, 2, 3]}
    >>> lc.choose(X, runs, rng=0).settings
    ('coarse', 'other', 'fine')
    """

    settings: tuple[Any, ...]
    stabilities: tuple[Stability, ...]

    @cached_property
    def curve(self) -> FloatArray:
        """(c,) stability of the whole above that of structureless data, for each setting.

        As ``score`` of each, except that a null above 0.5 counts as 0.5: the stability of few or of
        very many clusters would otherwise be a ratio of two small numbers.
        """
        return np.array([_value(each, each.outcome.whole.mean()) for each in self.stabilities])

    @cached_property
    def intervals(self) -> FloatArray:
        """(c, 2) about 95 % confidence: two standard errors over replicates on each side."""
        found = []
        for each in self.stabilities:
            whole = each.outcome.whole
            error = whole.std(ddof=1) / np.sqrt(len(whole)) if len(whole) > 1 else np.nan
            found.append([_value(each, whole.mean() + side * 2 * error) for side in (-1, 1)])
        return np.array(found)

    @property
    def position(self) -> int:
        """Position of the best setting."""
        near = np.flatnonzero(self.curve >= self.curve.max() - _FLAT)
        return int(max(near, key=lambda i: (self.stabilities[i].reference.k, self.curve[i])))

    @property
    def best(self) -> Any:
        """Of the settings at most 0.05 below the largest value, that with the most clusters.

        Where a coarse and a fine clustering are both found again, the fine one says more. Such as
        ``{"n_clusters": 4}``.
        """
        return self.settings[self.position]

    @property
    def stability(self) -> Stability:
        """That of the best setting."""
        return self.stabilities[self.position]

    @property
    def doubt(self) -> str | None:
        """A warning if no cluster of the best setting is stable above data without clusters.

        The curve says which setting is best, not whether there are clusters: k-means cuts a square
        into the same four quarters again and again. None if some cluster is stable.
        """
        if any(row["verdict"] == "stable" for row in self.stability.rows()):
            return None
        return (
            f"with {show(self.best)} no cluster is more stable than in data without clusters: "
            "there may be none"
        )

    @property
    def stretches(self) -> list[list[Any]]:
        """Flat stretches: two or more settings in a row between which the curve varies little."""
        found, start = [], 0
        values = self.curve
        for stop in range(1, len(values) + 1):
            if stop == len(values) or np.ptp(values[start : stop + 1]) > _FLAT:
                if stop - start > 1:
                    found.append(list(self.settings[start:stop]))
                start = stop
        return found

    def rows(self) -> list[dict[str, Any]]:
        """One record for each setting."""
        return [
            {
                "setting": setting,
                "n_clusters": each.reference.k,
                "stability": float(value),
                "low": float(low),
                "high": float(high),
            }
            for setting, each, value, (low, high) in zip(
                self.settings, self.stabilities, self.curve, self.intervals, strict=True
            )
        ]

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each setting."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(needs("pandas", "to_frame")) from None
        return pd.DataFrame(self.rows())

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve, by :func:`liftcluster.plot.choice`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        """
        from ...viz.plot import choice as draw

        return draw(self, ax=ax)

    def __str__(self) -> str:
        lines = [
            f"{'>' if i == self.position else ' '} {show(row['setting'])}: "
            f"{row['stability']:.2f} [{row['low']:.2f}, {row['high']:.2f}], "
            f"{row['n_clusters']} clusters"
            for i, row in enumerate(self.rows())
        ]
        return "\n".join(lines if self.doubt is None else [*lines, self.doubt])

    def __repr__(self) -> str:
        return f"Choice({show(self.best)}: {self.curve[self.position]:.2f})"

    def _repr_html_(self) -> str:
        headings = ("setting", "clusters", "stability", "interval")
        rows = [
            (
                show(row["setting"]),
                row["n_clusters"],
                f"{row['stability']:.2f}",
                f"{row['low']:.2f} … {row['high']:.2f}",
            )
            for row in self.rows()
        ]
        doubt = "" if self.doubt is None else paragraph(self.doubt)
        return paragraph(f"best: {show(self.best)}", strong=True) + table(headings, rows) + doubt


@checked_keywords
def choose(
    X: Points,
    source: Any,
    settings: Mapping[str, Iterable[Any]] | None = None,
    *,
    n_replicates: int | None = None,
    resample: str | None = None,
    kernel: KernelLike = "gaussian",
    bandwidth: BandwidthLike = "auto",
    lift: LiftLike = "auto",
    rng: RngLike = 0,
    progress: bool | None = None,
) -> Choice:
    """Choose a number of clusters, a resolution or any other setting by stability.

    For each setting the stability of the whole, in units of chance, is compared with that of
    structureless data with the same setting, as in :func:`liftcluster.stability`. Of the settings
    that exceed it most, up to 0.05, the one with the most clusters is the best. Without that
    comparison few large or very many small clusters would win, whatever the data. All settings see
    the same resamples and the same structureless data. Class labels are never needed.

    Parameters
    ----------
    X : (n, d) array-like
        The points.
    source : clusterer, function or mapping of runs
        A scikit-learn clusterer; a function ``f(X, **setting)`` that returns labels; or labels of
        the points by name, in the order of the settings: ``{"leiden_0.1": ..., "leiden_0.2": ...}``
        or a data frame (each run is compared with its neighbours in that order), or better several
        runs by each name as a list, which are compared with each other.
    settings : mapping from parameter to values, optional
        What to try, such as ``{"n_clusters": range(2, 16)}``; several parameters are combined
        with each other. Not for given runs.
    n_replicates : int, optional
        Number of resamples for each setting, 20 by default. Not for given runs.
    resample : "halves", "bootstrap", "subsample", "seeds" or "noise", optional
        Not for given runs. "halves", the default: disjoint halves of the points. "seeds": all
        points with other random states. "noise": a tenth of each feature's standard deviation.
    kernel : str, kernel or callable, default "gaussian"
        How similar two points are: "gaussian", "laplace", "cauchy", "matern" or "discrete"; an
        instance such as ``Matern(2.5)``; or a function K(X, Y) that returns a matrix.
    bandwidth : float, sequence of floats or str, default "auto"
        The distance at which two points count as near, or a rule that computes it from the points,
        such as "median/4": see :func:`~liftcluster.bandwidth`. Several numbers give a mixture of
        kernels. "auto" is "median/4".
    lift : str, settings, Lift or transformer, default "auto"
        How clusters become vectors: "exact", "fourier", "structured", "grid" or "nystroem";
        settings such as ``Fourier(4000)``; a fitted :class:`~liftcluster.Lift`; or a scikit-learn
        transformer. "auto" uses 1024 features; "exact" is not possible here.
    rng : int, Generator or None, default 0
        Seed of random numbers: the same answer from call to call. None draws others each time.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal, after two seconds.

    Returns
    -------
    Choice
        The stability for each setting, and the best one.

    See Also
    --------
    stability : The stability of one clustering.
    resolution_tree : What becomes of clusters from one resolution to the next.
    consensus : ``n_clusters="auto"`` chooses the number of clusters of a consensus.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> import liftcluster as lc
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 30, axis=0) + rng.normal(size=(90, 2))
    >>> lc.choose(X, KMeans(n_init=3), {"n_clusters": [2, 3, 4]}, n_replicates=6, rng=0).best
    {'n_clusters': 3}
    """
    rng = make_rng(rng)
    options: dict[str, Any] = {"kernel": kernel, "bandwidth": bandwidth, "lift": lift, "rng": rng}
    source = columns_as_partitions(source)
    if isinstance(source, Mapping):
        for name, value in (
            ("settings", settings),
            ("n_replicates", n_replicates),
            ("resample", resample),
        ):
            if value is not None:
                raise ValueError(f"{name} cannot apply: the runs are given; leave it out")
        return _from_runs(X, source, options, progress)
    as_fit(source)  # an error before any work
    tried = _combinations(settings)
    count = check_count(_REPLICATES if n_replicates is None else n_replicates, "n_replicates")
    how = check_choice("halves" if resample is None else resample, RESAMPLES, "resample")
    lifting = Lifting.of(kernel, bandwidth, lift, rule_for_auto=BANDWIDTH)
    trial = Trial.of(X, source, how, lifting, rng, _NULL_SETS, _NULL_REPLICATES)
    seed = int(rng.integers(2**63))
    fits = [as_fit(_with_setting(source, setting)) for setting in tried]
    with progress_bar("choice", trial.n_fits(count) * len(tried), show=progress) as advance:
        # The same resamples and structureless data for each setting: differences are less noisy.
        found = [
            replace(trial, rng=np.random.default_rng(seed)).run(fit, count, None, advance)
            for fit in fits
        ]
    return Choice(tuple(tried), tuple(found))


def show(setting: Any) -> str:
    """A setting in words."""
    if not isinstance(setting, Mapping):
        return str(setting)
    return ", ".join(f"{name} = {value}" for name, value in setting.items())


def _from_runs(
    X: Points, runs: Mapping[Hashable, Any], options: dict[str, Any], progress: bool | None
) -> Choice:
    names, groups = list(runs), list(runs.values())
    if len(names) < 2:
        raise ValueError("a choice needs at least two runs")
    found = []
    with progress_bar("choice", len(names), show=progress) as advance:
        for i, group in enumerate(groups):
            if isinstance(group, list | tuple) and len(group) and np.ndim(group[0]) == 1:
                found.append(stability(X, list(group), **options))
            else:
                near = [groups[j] for j in (i - 1, i + 1) if 0 <= j < len(groups)]
                found.append(stability(X, near, reference=group, **options))
            advance(1)
    return Choice(tuple(names), tuple(found))


def _value(found: Stability, whole: float) -> float:
    level = float(found.null.mean()) if len(found.null) else 0.0
    return float(adjusted(np.asarray(whole), min(level, _MOST_SUBTRACTED)))


def _combinations(settings: Mapping[str, Iterable[Any]] | None) -> list[dict[str, Any]]:
    if not isinstance(settings, Mapping) or not settings:
        raise ValueError(
            'settings must say what to try, such as {"n_clusters": range(2, 16)}, got '
            f"{settings!r}"
        )
    values = []
    for name, tried in settings.items():
        if isinstance(tried, str) or not isinstance(tried, Iterable):
            raise TypeError(f"the values of {name} must be a sequence, got {tried!r}")
        values.append(list(tried))
        if not values[-1]:
            raise ValueError(f"there are no values of {name} to try")
    return [dict(zip(settings, each, strict=True)) for each in product(*values)]


def _with_setting(source: Any, setting: dict[str, Any]) -> Any:
    if hasattr(source, "fit"):
        from sklearn.base import clone

        return clone(source).set_params(**setting)
    function: Callable[..., Any] = source
    return lambda X: function(X, **setting)
