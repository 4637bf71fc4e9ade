"""Consensus of several clusterings, by any method of the registry."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from .._util.checks import check_choice, check_count, check_options, checked_keywords
from .._util.memory import check_pairs
from .._util.names import MeasureName, MethodName
from .._util.typing import BandwidthLike, Clusterer, Points, RngLike
from .._util.validation import make_rng
from .._util.warning import warn
from ..comparison.distances import distance_matrix
from ..comparison.measures.lifted import lift_emd_matrix
from ..comparison.measures.registry import MEASURES
from ..kernels.kernel import Discrete, KernelLike
from ..kernels.summary import n_points
from ..lifts.choice import Lifting, LiftLike
from ..partitions.partition import Partition, as_partitions
from ..partitions.stack import Stack
from ..representation.representation import Representation
from ..representation.samples import represent_points
from ..streaming.passes import check_holds_labels, check_one_row_each
from ..streaming.streams import Stream, as_stream, needs_stream
from .by_labels import aggregation, combine_labels
from .by_vectors import combine_vectors, update_by_sums
from .choice_of_k import Curve, choose_k
from .deciding import SAMPLED, decide, decide_by_sums, lift_sample
from .evaluation import LiftOnRequest, check_linked, finish, fit_before_sums, hardened
from .grouping import lifting_for_consensus
from .judging import COMBINED_AT, judging_lifting, warn_if_worse
from .methods.lifted import group_by
from .methods.places import Places
from .methods.registry import METHODS, Method, Task
from .result import Consensus
from .streamed import consensus_of_representation, consensus_of_stream, is_read_into_memory


@checked_keywords
def consensus(
    partitions: Any,
    n_clusters: int | Literal["auto"],
    X: Points = None,
    *,
    method: MethodName | Clusterer = "auto",
    method_options: Mapping[str, Any] | None = None,
    kernel: KernelLike = "gaussian",
    bandwidth: BandwidthLike = "auto",
    lift: LiftLike = "auto",
    weights: Any = None,
    rng: RngLike = 0,
    out: Any = None,
    progress: bool | None = None,
) -> Consensus:
    """Combine several partitions of the same points into one.

    Where all inputs are the same hard partition into ``n_clusters`` clusters (whatever their
    names, and no point is noise), every method returns that partition.

    Parameters
    ----------
    partitions : sequence, mapping or data frame of labels, memberships or Partition
        The inputs, of any numbers of clusters, hard and soft mixed; a point may lack a label in
        some. A data frame (pandas, polars) holds a clustering in each column, with its name. Or a
        :class:`~liftcluster.Representation` of them: then X is needed only for the labels.
    n_clusters : int or "auto"
        Number of clusters k. "auto" chooses it by where the neighbour graph of the points, weighted
        by the labels, falls apart (needs points); the curve is in the result. For methods that
        choose the number themselves "auto" leaves it to them, and a number is only compared with
        theirs.
    X : (n, d) array-like or source of blocks, optional
        The points. Methods that use only labels do without, and then cannot predict. Points and
        labels that are not in memory (memory maps, HDF5 and zarr arrays,
        :class:`~liftcluster.Blocks`, tables) are read in two passes, by lift_km, lift_hac,
        lift_barycentre or a clusterer, unless they are few.
    method : str or scikit-learn clusterer, default "auto"
        How to combine them. "auto" chooses from the data between lift_places, which cuts the
        neighbour graph of the points, lift_km and lift_walk, which average the inputs over places,
        and lwgp, which uses labels alone; ``decision`` of the result says which and why. Out of
        core it is lift_km, without points lwgp. Or a name in :data:`~liftcluster.METHODS`, or a
        clusterer of vectors to replace the k-means of lift_km.
        "majority", "medoid" and the four of clustering aggregation ("balls", "agglomerative",
        "furthest", "local_search": few disagreements with the inputs, with a bound in
        ``aggregation``) choose the number of clusters themselves and warn if it is another;
        "medoid" is one of the inputs as it is, with its noise.
    method_options : mapping, optional
        Options of the method: ``n_neighbours`` of lift_places and lift_walk, ``linkage`` of
        lift_hac, ``n_init`` of lift_km, ``max_iter`` of lift_barycentre, ``alpha`` of balls,
        ``measure`` and ``measure_options`` of medoid, ``steps`` of ecpcs_hc and ecpcs_mc, ``theta``
        of lwea and lwgp (smaller values give unreliable clusters less weight), ``alpha``, ``lam``,
        ``eta`` and ``theta`` of ec_cms and sdgca (the parameters of their authors), ``limit`` of
        cspa, evidence, lwea, ec_cms, sdgca and ecpcs_hc (how many tuples of labels are compared in
        all pairs; more are grouped first), ``partitioner`` of cspa, mcla and hbgf ("metis" or
        "spectral"), ``imbalance`` of hgpa (largest relative excess of a part over the mean).
        ``whole_tuples=True`` for cspa, hbgf and hgpa never separates points that have equal labels
        in all inputs, which their authors do where balance requires it.
    kernel : str, kernel or callable, default "gaussian"
        How similar two points are: "gaussian", "laplace", "cauchy", "matern" or "discrete"; an
        instance such as ``Matern(2.5)``; or a function K(X, Y) that returns a matrix.
    bandwidth : float, sequence of floats or str, default "auto"
        The distance at which two points count as near, or a rule that computes it from the points,
        such as "median/4": see :func:`~liftcluster.bandwidth`. Several numbers give a mixture of
        kernels. "auto" is "median/4", and "median" for the distances to the inputs; one that is
        given is that of both. lift_places and lift_walk have local bandwidths of their own; with
        them it is only that of ``predict`` and of the distances.
    lift : str, settings, Lift or transformer, default "auto"
        How clusters become vectors: "exact", "fourier", "structured", "grid" or "nystroem";
        settings such as ``Fourier(4000)``; a fitted :class:`~liftcluster.Lift`; or a scikit-learn
        transformer. "auto" is exact up to 5,000 points, and ``Nystroem(500)`` beyond: Fourier
        features are too noisy to tell points apart. Up to 256 MiB of similarities with the
        landmarks are kept during the call.
    weights : (n,) array-like, optional
        Weights of the points, in place of any that partitions carry; one each by default.
    rng : int, Generator or None, default 0
        Seed of random numbers: the same answer from call to call. None draws others each time.
    out : array of n integers, optional
        Where the labels are written, such as a memory map or an array of HDF5 or zarr.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal, after two seconds.

    Returns
    -------
    Consensus
        Labels, memberships, confidence, what each cluster is made of, and ``predict``.

    See Also
    --------
    LiftedConsensus : The same as a scikit-learn estimator.
    METHODS : All methods by name.
    base_partitions : Clusterings to combine.
    compare : How two of them differ.

    References
    ----------
    Raman, Phillips, Venkatasubramanian, Spatially-Aware Comparison and Consensus for Clusterings
    (SDM 2011), section 5; the references of other methods are in ``METHODS``.

    Examples
    --------
    >>> import liftcluster as lc
    >>> X = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]
    >>> inputs = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [2, 2, 2, 2, 0, 0]]
    >>> found = lc.consensus(inputs, 2, X, bandwidth=3.0, rng=0)
    >>> (found.labels == found.labels[0]).tolist()
    [True, True, True, False, False, False]
    """
    task = _check_method(method, method_options, rng)
    k: int | Literal["auto"] = "auto"
    if not (isinstance(n_clusters, str) and n_clusters == "auto"):
        k = check_count(n_clusters, "n_clusters")
    lifting = Lifting.of(kernel, bandwidth, lift, rule_for_auto=COMBINED_AT)
    is_lifted = isinstance(partitions, Representation)
    if lifting.given and (is_lifted or X is None):
        why, advice = "without the points X nothing is lifted", "give X, or leave that out"
        if is_lifted:
            why, advice = "the partitions are lifted already", "leave that out"
        raise ValueError(f"{why}, so {', '.join(lifting.given)} cannot apply; {advice}")
    if is_lifted:
        task, decision = decide_by_sums(task, "the clusters are lifted already")
        found = consensus_of_representation(task, k, partitions, X, weights, out, progress)
        found = replace(found, decision=decision)
    elif out is None and not needs_stream(X, partitions, weights):
        found = _combine_in_memory(task, k, X, as_partitions(partitions, weights), lifting)
    else:
        stream = as_stream(X, partitions, weights)
        found = _combine_stream(task, k, stream, lifting, out, progress)
    if found.decision is None:  # which has weighed the agreement with the inputs
        warn_if_worse(found)
    return found


def _check_method(method: Any, options: Mapping[str, Any] | None, rng: RngLike) -> Task:
    """The task; a clusterer takes the place of k-means."""
    if isinstance(method, str):
        chosen = METHODS[check_choice(method, METHODS, "method")]
        check_options(options, chosen.options, f"the method {method}")
        if options and chosen.needs == "distances":
            _check_measure(**options)
    elif not hasattr(method, "fit"):
        raise TypeError(f"method must be a name in METHODS or a clusterer, got {method!r}")
    elif options:
        raise ValueError(f"a clusterer has its own settings; got {', '.join(options)}")
    else:
        chosen = replace(METHODS["lift_km"], function=partial(group_by, method))
    return Task(chosen, dict(options or {}), make_rng(rng))


def _check_measure(measure: Any = None, measure_options: Mapping[str, Any] | None = None) -> None:
    """The measure of medoid; the default one has no options."""
    if measure is None:
        return check_options(measure_options, (), "the default measure")
    accepted = MEASURES[check_choice(measure, MEASURES, "measure")].options
    return check_options(measure_options, accepted, f"the measure {measure}")


def _combine_stream(
    task: Task,
    k: int | Literal["auto"],
    stream: Stream,
    lifting: Lifting,
    out: Any,
    progress: bool | None,
) -> Consensus:
    """In two passes over what is read in blocks; few points are read into memory."""
    if not is_read_into_memory(stream, lifting):
        task, decision = decide_by_sums(task, "the points are read in blocks")
        found = consensus_of_stream(task, k, stream, lifting, out, progress)
        return replace(found, decision=decision)
    X, named = stream.gather()
    found = _combine_in_memory(task, k, X, named, lifting)
    if out is not None:
        check_one_row_each(out, len(found.labels))
        check_holds_labels(out, found.n_clusters)
        out[:] = found.labels
    return found


def _combine_in_memory(
    task: Task,
    k: int | Literal["auto"],
    X: Points,
    named: dict[Hashable, Partition],
    lifting: Lifting,
) -> Consensus:
    method, rep, points, curve, seen = task.method, None, None, None, named
    judged_by = None
    wanted = None if k == "auto" and method.chooses_k else k  # None: left to the method
    if X is not None:
        seen = named if method.soft else {name: hardened(p) for name, p in named.items()}
        s = sum(p.k for p in seen.values())
        check_pairs(s, s)
        n = next(iter(named.values())).n
        lifting = lifting_for_consensus(lifting, n)
        if not lifting.is_fitted:
            X = lifting.kernel.points(X, n)
        if wanted != "auto":
            found = _combine_before_lifting(task, wanted, X, named, seen, lifting)
            if found is not None:
                return found
        rep, points = represent_points(lifting, X, seen, task.rng)
        judged_by = judging_lifting(rep.lift, lifting)
    elif method.needs in ("vectors", "labels and points") or wanted == "auto":
        others = [m for m in METHODS.values() if m.needs in ("labels", "distances")]
        raise ValueError(
            "this needs the points X; with labels alone give n_clusters as a number and one of "
            f"the methods {', '.join(m.name for m in others)}, or take one that chooses the "
            f"number itself: {', '.join(m.name for m in others if m.chooses_k)}"
        )
    else:
        check_linked(named, method)
    if wanted == "auto":
        assert rep is not None
        curve = _choose_k(rep, X, seen, task.rng)
        wanted = curve.k
    decision, places, centres = None, None, None
    if method.needs == "any":
        assert wanted is not None
        decision, places, centres, _ = decide(named, X, rep, wanted, task.rng)
        method = METHODS[decision.method]
        task = task._replace(method=method)
    if method.needs == "vectors":
        assert rep is not None
        assert points is not None
        assert wanted is not None
        found = combine_vectors(
            task, wanted, rep, points, named, centres=centres, judged_by=judged_by
        )
    else:
        if method.needs == "distances":
            partition = _medoid(named, X, rep, **task.options)
        else:
            kernel = None if rep is None else getattr(rep.lift, "kernel", None)
            partition = combine_labels(task, wanted, X, named, kernel=kernel, places=places)
        found = finish(method.name, partition, named, rep, points, judged_by=judged_by)
        if method.aggregates:
            found = replace(found, aggregation=aggregation(named, partition))
    _warn_of_other_k(method, wanted, found)
    found = replace(found, curve=curve, decision=decision)
    return found if rep is None else _with_update(found, task)


def _combine_before_lifting(
    task: Task,
    k: int | None,
    X: Points,
    named: dict[Hashable, Partition],
    seen: dict[Hashable, Partition],
    lifting: Lifting,
) -> Consensus | None:
    """By a method that uses no vectors of clusters, which are lifted on request.

    None for other methods, and where the random numbers of the method follow a lift that needs the
    sums of clusters. Many points are not lifted before a method is chosen, but a sample of them.
    """
    needs, rng, lift = task.method.needs, task.rng, None
    decision, places = None, None
    if needs == "labels":
        rng = deepcopy(rng)  # what is asked for later does not depend on the method
    else:
        few = needs == "any" and n_points(X) <= SAMPLED
        if not (few or needs in ("vectors", "distances")):
            lift = fit_before_sums(lifting, X, rng)
        if lift is None:
            return None
    if needs == "any":
        assert k is not None
        assert lift is not None
        by = Lifting.of(lift=lift)
        rep = lift_sample(lift, X, seen) or represent_points(by, X, seen, rng)[0]
        decision, places, _, before = decide(named, X, rep, k, rng)
        task = task._replace(method=METHODS[decision.method])
        if task.method.needs == "vectors":
            rep, points = represent_points(by, X, seen, rng)
            task = task._replace(rng=before or rng)
            judged_by = judging_lifting(lift, lifting)
            found = combine_vectors(task, k, rep, points, named, judged_by=judged_by)
            return replace(found, decision=decision)
    kernel = getattr(lift, "kernel", None)
    partition = combine_labels(task, k, X, named, kernel=kernel, places=places)
    on_request = LiftOnRequest(lifting, X, seen, partition, rng, lift)
    found = finish(task.method.name, partition, named, None, None, on_request=on_request)
    if task.method.aggregates:
        found = replace(found, aggregation=aggregation(named, partition))
    _warn_of_other_k(task.method, k, found)
    return _with_update(replace(found, decision=decision), task)


def _with_update(found: Consensus, task: Task) -> Consensus:
    """The consensus by a method that was chosen, with updates if the method itself has none."""
    if found.decision is None or found._update is not None:
        return found
    return replace(found, _update=update_by_sums(task))


def _warn_of_other_k(method: Method, k: int | None, found: Consensus) -> None:
    if method.chooses_k and k not in (None, found.n_clusters):
        warn(
            f"{method.name} chooses the number of clusters itself: {found.n_clusters}, not "
            f'{k}; n_clusters="auto" leaves it to the method'
        )


def _choose_k(
    rep: Representation, X: Points, named: dict[Hashable, Partition], rng: np.random.Generator
) -> Curve:
    kernel = getattr(rep.lift, "kernel", None)
    if isinstance(kernel, Discrete):  # no point has neighbours
        return choose_k(rep, criterion="silhouette")
    return choose_k(rep, Places.of(Stack(named), X, 1, rng=rng, kernel=kernel))


def _medoid(
    named: dict[Hashable, Partition],
    X: Points,
    rep: Representation | None,
    measure: MeasureName | None = None,
    measure_options: Mapping[str, Any] | None = None,
) -> Partition:
    """The input with the least sum of distances to the others."""
    if rep is not None and measure in (None, "lift_emd"):
        D = lift_emd_matrix(rep)
    elif rep is not None and measure is not None and MEASURES[measure].needs == "vectors":
        D = distance_matrix(rep, measure=measure, measure_options=measure_options)
    else:
        D = distance_matrix(named, X, measure=measure or "rand", measure_options=measure_options)
    return hardened(list(named.values())[int(D.sum(axis=1).argmin())])
