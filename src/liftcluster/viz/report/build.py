"""The function make_report: validate the input, compute the results, make the page."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..._util.checks import check_choice, check_count, checked_keywords
from ..._util.names import MethodName
from ..._util.progress import busy
from ..._util.typing import BandwidthLike, Points, RngLike
from ..._util.validation import as_points, check_same_length, make_rng
from ...combination import combining
from ...combination.judging import JUDGED_AT
from ...combination.methods.registry import METHODS
from ...combination.result import Consensus
from ...comparison.comparing import check_measures, compare_all, distance_matrices
from ...comparison.resampling.assessing import has_coordinates
from ...comparison.resampling.result import Stability
from ...kernels.kernel import KernelLike
from ...lifts.choice import Lifting, LiftLike
from ...partitions.frames import columns_as_partitions
from ...partitions.partition import Partition, as_partition
from ..layout import project_points
from .columns import point_table
from .page import Report
from .page_data import page_data
from .profiles import cluster_profiles
from .summary import Results, summary_sentences
from .trust import assess_trust

if TYPE_CHECKING:
    from ...comparison.drifting import Drift

MAX_POINTS = 200_000  # larger data are sampled for the plots
_SAME = 1e-9  # difference of memberships up to which clusterings are the same


@checked_keywords
def make_report(
    partitions: Mapping[str, Any],
    X: Points,
    *,
    measures: Any = None,
    consensus: int | Literal["auto"] | Consensus | None = None,
    columns: Any = None,
    kernel: KernelLike = "gaussian",
    bandwidth: BandwidthLike = "median",
    lift: LiftLike = "auto",
    weights: Any = None,
    view: Any = None,
    title: str | None = None,
    rng: RngLike = 0,
) -> Report:
    """Make an HTML report about several clusterings: how they differ, where, and their consensus.

    It describes each cluster by the features and columns that set it apart from all other points:
    by Cliff's delta, :math:`P(a > b) - P(a < b)` for a point a of the cluster and another point b,
    which outliers, ties and constant columns leave well-defined; by the same for the distance from
    the middle, which finds clusters between others; and by the shares of categories. Points can be
    coloured by features and columns, and selected with a loop, to be listed and saved.

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
        The points. The columns of a data frame name the features; its index, or that of
        ``columns``, the points, unless it only counts them.
    measures : sequence of str, optional
        Names in :data:`~liftcluster.MEASURES`; by default every one that applies and is not slow.
        "lift_emd" is always included.
    consensus : int, "auto" or Consensus, optional
        The number of clusters of a consensus, which is then compared as well; or a finished one
        of the same points, by any method: ``lc.consensus(partitions, 3, X, method="lift_hac")``.
        By default there is none.
    columns : data frame or mapping from str to n values, optional
        What else is known about the points: numbers, categories or text, some of which may be
        missing. They are shown, and never used for distances. One with the name of a feature is
        shown in its place, such as the values before they were standardised. At most 30; a column
        without any value is left out, as the page says.
    kernel : str, kernel or callable, default "gaussian"
        How similar two points are: "gaussian", "laplace", "cauchy", "matern" or "discrete"; an
        instance such as ``Matern(2.5)``; or a function K(X, Y) that returns a matrix.
    bandwidth : float, sequence of floats or str, default "median"
        The distance at which two points count as near, or a rule that computes it from the points,
        such as "median/4": see :func:`~liftcluster.bandwidth`. Several numbers give a mixture of
        kernels. It also applies to the consensus, but "median" leaves that to its default: it is
        made at a quarter of the median, and judged, like all clusterings here, at the median.
    lift : str, settings, Lift or transformer, default "auto"
        How clusters become vectors: "exact", "fourier", "structured", "grid" or "nystroem";
        settings such as ``Fourier(4000)``; a fitted :class:`~liftcluster.Lift`; or a scikit-learn
        transformer. "auto" is exact up to 5,000 points, and uses features beyond.
    weights : (n,) array-like, optional
        Weights of the points, in place of any that partitions carry; one each by default.
    view : "pca", "neighbours" or (n, 2) array-like, optional
        The plane of the plots of points: two principal components, an embedding that keeps
        neighbours together, or coordinates such as those of UMAP. By default X if d ≤ 2; the
        neighbour embedding if two components explain less than 80 % of the variance of 100 to
        20,000 points; else two principal components. The page says which.
    title : str, optional
        Title of the page.
    rng : int, Generator or None, default 0
        Seed of random numbers: the same answer from call to call. None draws others each time. The
        page names the seed.

    Returns
    -------
    Report
        ``save("page.html")`` writes one file that works offline, without a server.

    See Also
    --------
    compare, consensus, stability
    plot.flow : One of its views as a matplotlib picture.

    Examples
    --------
    >>> import liftcluster as lc
    >>> X = [[0.0], [1.0], [5.0], [6.0]]
    >>> page = lc.make_report({"mine": [0, 0, 1, 1], "yours": [0, 0, 1, 2]}, X, rng=0)
    >>> print(page.summary[1])
    The largest change from mine to yours: cluster 1 is split into 1 and 2 (50% of the points).
    >>> page.to_dict()["measures"]["rand"]["values"][0][1]
    0.16666666666666666
    """
    return report_about(
        None,
        partitions,
        X,
        measures=measures,
        consensus=consensus,
        columns=columns,
        lifting={"kernel": kernel, "bandwidth": bandwidth, "lift": lift},
        weights=weights,
        view=view,
        title=title,
        rng=rng,
    )


def report_about(
    about: Stability | Drift | None,
    partitions: Mapping[str, Any],
    X: Points,
    *,
    measures: Any = None,
    consensus: int | Literal["auto"] | Consensus | None = None,
    method: MethodName = "auto",
    columns: Any = None,
    features: Sequence[str] | None = None,
    ids: Any = None,
    lifting: Mapping[str, Any],
    weights: Any = None,
    view: Any = None,
    title: str | None = None,
    rng: RngLike = None,
    run: Sequence[tuple[str, str]] = (),
) -> Report:
    """The page of :func:`make_report`, with the stability of one of the clusterings if given.

    With a :class:`~liftcluster.comparison.drifting.Drift` the two clusterings are of two samples:
    X are all points, each in no cluster of the other sample.
    ``method`` makes the consensus; ``features`` are the names of the columns of X, ``ids`` those
    of the points, where X is no data frame. ``run`` says what was run, as names and values for the
    table of settings.
    """
    lift_by = Lifting.of(**lifting)
    named = _named_partitions(partitions, weights)
    first, n = next((f"the clustering {name!r}", p.n) for name, p in named.items())
    projected = project_points(X, view)  # before as_points, which drops column names
    from_points = view is None or isinstance(view, str)
    check_same_length(n, len(projected.coordinates), first, "X" if from_points else "view")
    given = X
    if from_points or hasattr(X, "columns"):
        X = as_points(X)
    if X is not None:
        check_same_length(n, len(X), first, "X")
    coordinates = given if has_coordinates(lift_by) else None
    table = point_table(coordinates, columns, n, names=features, ids=ids)
    if title is not None and not isinstance(title, str):
        raise TypeError(f"title must be a string, got {type(title).__name__}")
    if isinstance(consensus, Consensus):
        _check_consensus(consensus, named)
    elif consensus is not None and not (isinstance(consensus, str) and consensus == "auto"):
        consensus = check_count(consensus, "consensus")
    check_choice(method, METHODS, "method")
    names = check_measures(measures)
    if names is not None:  # the plans and the map need LiftEMD
        names = list(dict.fromkeys(["lift_emd", *names]))
    seed = _seed(rng)
    compared, combined = dict(named), None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        if isinstance(consensus, Consensus):
            combined = consensus
        elif consensus is not None:
            # The default bandwidth of consensus is finer, but it is judged at this one.
            default = isinstance(lifting["bandwidth"], str) and lifting["bandwidth"] == JUDGED_AT
            combined = busy("combining the clusterings")(combining.consensus)(
                named,
                consensus,
                X,
                method=method,
                kernel=lifting["kernel"],
                bandwidth="auto" if default else lifting["bandwidth"],
                lift=lifting["lift"],
                rng=seed,
            )
        if combined is not None:
            free = (f"consensus {i}" if i > 1 else "consensus" for i in itertools.count(1))
            compared[next(name for name in free if name not in named)] = _with_weights(
                combined, named
            )
        found, rep = compare_all(compared, X, measures=names, lifting=lift_by, rng=seed)
        matrices = distance_matrices(found, compared, X)
        apart = matrices["lift_emd"].values[: len(named), : len(named)]
        stable, drift = (about, None) if isinstance(about, Stability) else (None, about)
        trust = None if drift else assess_trust(named, X, apart, lifting, seed, stable)
    for warning in caught:
        warnings.warn(warning.message, warning.category, stacklevel=3)
    assert rep is not None
    pairs = dict(zip(itertools.combinations(range(rep.m), 2), found.values(), strict=True))
    shown = np.random.default_rng(seed).permutation(n)[:MAX_POINTS]
    results = Results(
        X=X,
        n_inputs=len(named),
        n_clusters=consensus.n_clusters if isinstance(consensus, Consensus) else consensus,
        lifting=lifting,
        lift=rep.lift,
        view=projected,
        seed=seed,
        partitions=compared,
        pairs=pairs,
        matrices=matrices,
        consensus=combined,
        shown=shown,
        trust=trust,
        drift=drift,
        run=run,
        table=table,
        profiles=cluster_profiles(compared, table, seed),
        notes=[str(w.message) for w in caught if issubclass(w.category, UserWarning)],
    )
    title = title or f"{len(named)} clusterings compared"
    return Report(title, summary_sentences(results), page_data(results))


def _check_consensus(consensus: Consensus, named: Mapping[str, Partition]) -> None:
    """Whether a finished consensus is one of the same points."""
    first, partition = next(iter(named.items()))
    if not consensus.is_in_memory:
        raise ValueError(
            "consensus has no clusters of the points: it was made from points that are read in "
            "blocks, or from a Representation; make it from the partitions and X"
        )
    if consensus.partition.n != partition.n:
        raise ValueError(
            f"consensus has {consensus.partition.n} points but the clustering {first!r} has "
            f"{partition.n}; make it from the same points"
        )
    for name, given in named.items():
        own = consensus.inputs.get(name)
        if isinstance(own, Partition) and not _are_equal(own, given):
            raise ValueError(
                f"consensus was made from another clustering called {name!r}; make it from the "
                "clusterings of this report, or rename that one"
            )


def _are_equal(a: Partition, b: Partition) -> bool:
    if (a.n, a.k, a.is_hard) != (b.n, b.k, b.is_hard):
        return False
    if a.is_hard:
        return np.array_equal(a.labels, b.labels)
    return bool(abs(a.memberships - b.memberships).max() <= _SAME)


def _with_weights(consensus: Consensus, named: Mapping[str, Partition]) -> Partition:
    """The clusters of a consensus, with the weights of the points in the report."""
    weights, own = next(iter(named.values())).weights, consensus.partition
    return own if np.array_equal(own.weights, weights) else own.with_weights(weights)


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
