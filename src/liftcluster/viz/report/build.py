"""The function make_report: validate the input, compute the results, make the page."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from ..._util.arrays import from_device
from ..._util.checks import check_choice, check_count, checked_keywords
from ..._util.names import MethodName
from ..._util.typing import BandwidthLike, FloatArray, IntArray, Points, RngLike
from ..._util.validation import as_points, check_same_length, make_rng
from ...combination import combining
from ...combination.judging import JUDGED_AT
from ...combination.methods.registry import METHODS
from ...comparison.comparing import check_measures, compare_all, distance_matrices
from ...comparison.comparison import Comparison, witness_from_scores
from ...comparison.resampling.result import Stability
from ...kernels.kernel import KernelLike
from ...kernels.summary import take_rows
from ...lifts.choice import Lifting, LiftLike
from ...partitions.frames import columns_as_partitions
from ...partitions.partition import Partition, as_partition
from ...representation.representation import Representation
from ..layout import project_points
from .page import Report
from .page_data import page_data
from .summary import Results, summary_sentences
from .trust import assess_trust

MAX_POINTS = 200_000  # larger data are sampled for the plots
MAX_WITNESSES = 20_000_000  # pairs of clusterings times points, one byte each
_BLOCK = 20_000  # points per call of scores


@checked_keywords
def make_report(
    partitions: Mapping[str, Any],
    X: Points,
    *,
    measures: Any = None,
    consensus: int | Literal["auto"] | None = None,
    method: MethodName = "auto",
    kernel: KernelLike = "gaussian",
    bandwidth: BandwidthLike = "median",
    lift: LiftLike = "auto",
    weights: Any = None,
    view: Any = None,
    title: str | None = None,
    rng: RngLike = 0,
) -> Report:
    """Make an HTML report about several clusterings: how they differ, where, and their consensus.

    It also says how far to trust the clusters: the stability of those of the clustering that is
    nearest to the others, as by :func:`liftcluster.stability`, and the tree of all clusterings if
    most numbers of clusters differ, as by :func:`liftcluster.resolution_tree`. Both are computed
    from at most 10,000 points, and left out where they mean nothing: for points without
    coordinates, and for more than 300 clusters.

    Parameters
    ----------
    partitions : mapping from str to labels (n,), memberships (n, k) or Partition
        Two or more clusterings of the same points, by name; or a data frame of labels.
    X : (n, d) array-like
        The points.
    measures : sequence of str, optional
        Names in ``MEASURES``; by default every one that applies, as for
        :func:`liftcluster.compare`. "lift_emd" is always included.
    consensus : int, "auto" or None
        The number of clusters of a consensus, which is then compared as well; None for no
        consensus.
    method : str
        Consensus method, a name in ``METHODS``.
    kernel, bandwidth, lift, weights
        As for :func:`liftcluster.represent`. They also apply to the consensus, but
        ``bandwidth="median"`` leaves it to its default: it is made at a quarter of the median, and
        judged, like all clusterings here, at the median.
    view : "pca", "neighbours" or (n, 2) array-like, optional
        The plane of the plots of points: two principal components, an embedding that keeps
        neighbours together, or coordinates such as those of UMAP. By default X if d ≤ 2; the
        neighbour embedding if two components explain less than 80 % of the variance of 100 to
        20,000 points; else two principal components. The page says which.
    title : str, optional
        Title of the page.
    rng : int, Generator or None
        Seed, 0 by default: the same page from call to call, byte for byte. None draws another one
        each time, which the page names.

    Returns
    -------
    Report
        ``save("page.html")`` writes one file that works offline, without a server.

    Examples
    --------
    >>> X = [[0.0], [1.0], [5.0], [6.0]]
    >>> page = make_report({"mine": [0, 0, 1, 1], "yours": [0, 0, 1, 2]}, X, rng=0)
    >>> print(page.summary[1])
    mine and yours are 0.055 apart by LiftEMD, where 0 means that they lie in the same places.
    >>> page.to_dict()["measures"]["rand"]["values"][0][1]
    0.16666666666666666
    """
    return report_about(
        None,
        partitions,
        X,
        measures=measures,
        consensus=consensus,
        method=method,
        lifting={"kernel": kernel, "bandwidth": bandwidth, "lift": lift},
        weights=weights,
        view=view,
        title=title,
        rng=rng,
    )


def report_about(
    stability: Stability | None,
    partitions: Mapping[str, Any],
    X: Points,
    *,
    measures: Any = None,
    consensus: int | Literal["auto"] | None = None,
    method: MethodName = "auto",
    lifting: Mapping[str, Any],
    weights: Any = None,
    view: Any = None,
    title: str | None = None,
    rng: RngLike = None,
) -> Report:
    """The page of :func:`make_report`, with the stability of one of the clusterings if given."""
    lift_by = Lifting.of(**lifting)
    named = _named_partitions(partitions, weights)
    first, n = next((f"the clustering {name!r}", p.n) for name, p in named.items())
    projected = project_points(X, view)  # before as_points, which drops column names
    from_points = view is None or isinstance(view, str)
    check_same_length(n, len(projected.coordinates), first, "X" if from_points else "view")
    if from_points or hasattr(X, "columns"):
        X = as_points(X)
    if X is not None:
        check_same_length(n, len(X), first, "X")
    if title is not None and not isinstance(title, str):
        raise TypeError(f"title must be a string, got {type(title).__name__}")
    if consensus is not None and not (isinstance(consensus, str) and consensus == "auto"):
        consensus = check_count(consensus, "consensus")
    check_choice(method, METHODS, "method")
    names = check_measures(measures)
    if names is not None:  # the plans and the map need LiftEMD
        names = list(dict.fromkeys(["lift_emd", *names]))
    seed = _seed(rng)
    compared, combined = dict(named), None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        if consensus is not None:
            # The default bandwidth of consensus is finer, but it is judged at this one.
            default = isinstance(lifting["bandwidth"], str) and lifting["bandwidth"] == JUDGED_AT
            combined = combining.consensus(
                named,
                consensus,
                X,
                method=method,
                kernel=lifting["kernel"],
                bandwidth="auto" if default else lifting["bandwidth"],
                lift=lifting["lift"],
                rng=seed,
            )
            free = (f"consensus {i}" if i > 1 else "consensus" for i in itertools.count(1))
            compared[next(name for name in free if name not in named)] = combined.partition
        found, rep = compare_all(compared, X, measures=names, lifting=lift_by, rng=seed)
        matrices = distance_matrices(found, compared, X)
        apart = matrices["lift_emd"].values[: len(named), : len(named)]
        trust = assess_trust(named, X, apart, lifting, seed, stability)
    for warning in caught:
        warnings.warn(warning.message, warning.category, stacklevel=3)
    assert rep is not None
    pairs = dict(zip(itertools.combinations(range(rep.m), 2), found.values(), strict=True))
    shown = np.random.default_rng(seed).permutation(n)[:MAX_POINTS]
    results = Results(
        X=X,
        n_inputs=len(named),
        n_clusters=consensus,
        lifting=lifting,
        lift=rep.lift,
        view=projected,
        seed=seed,
        partitions=compared,
        pairs=pairs,
        matrices=matrices,
        consensus=combined,
        shown=shown,
        witnesses=_witnesses(pairs, rep, shown[: max(1, MAX_WITNESSES // len(pairs))]),
        trust=trust,
        notes=[str(w.message) for w in caught if issubclass(w.category, UserWarning)],
    )
    title = title or f"{len(named)} clusterings compared"
    return Report(title, summary_sentences(results), page_data(results))


def _witnesses(
    pairs: Mapping[tuple[int, int], Comparison], rep: Representation, rows: IntArray
) -> dict[tuple[int, int], FloatArray]:
    """Witness functions of all pairs at some of the points; every cluster is scored once."""
    witnesses = {pair: np.zeros(len(rows)) for pair in pairs}
    lift: Any = rep.lift
    parts = [rep[i] for i in range(rep.m)]
    V, edges = np.vstack([p.vectors for p in parts]), np.cumsum([p.s for p in parts[:-1]])
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        X = take_rows(pairs[0, 1].points, rows[block])
        scores = np.split(from_device(lift.scores(X, V)), edges, axis=1)
        for (i, j), comparison in pairs.items():
            plan = np.asarray(comparison.plan)
            witnesses[i, j][block] = witness_from_scores(plan, scores[i], scores[j])
    return witnesses


def _named_partitions(partitions: Any, weights: Any) -> dict[str, Partition]:
    partitions = columns_as_partitions(partitions)
    if not isinstance(partitions, Mapping):
        raise TypeError(
            "partitions must be a mapping from names to clusterings, such as "
            '{"k-means": labels, "Ward": labels2}, or a data frame with a clustering in each '
            f"column, got {type(partitions).__name__}"
        )
    if len(partitions) < 2:
        raise ValueError(f"a report needs at least two clusterings, got {len(partitions)}")
    named: dict[str, Partition] = {}
    original: dict[str, str] = {}  # names by how they look on the page
    for name, labels in partitions.items():
        if not isinstance(name, str):
            raise TypeError(f"names of clusterings must be strings, got {name!r}; use str(name)")
        shown = " ".join(name.split())
        if not shown:
            raise ValueError("a clustering has an empty name; give it a name with letters")
        if shown in original:
            raise ValueError(f"the names {original[shown]!r} and {name!r} look alike; rename one")
        original[shown] = name
        named[name] = as_partition(labels, weights)
        first = next(iter(named))
        if named[name].n != named[first].n:
            raise ValueError(
                f"the clusterings must have the same points: {first!r} has {named[first].n}, "
                f"{name!r} has {named[name].n}"
            )
    return named


def _seed(rng: RngLike) -> int:
    """An integer seed, which the page shows so that it can be reproduced."""
    generator = make_rng(rng)
    return int(rng) if isinstance(rng, int | np.integer) else int(generator.integers(2**32))
