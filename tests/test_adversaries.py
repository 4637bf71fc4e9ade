"""Every public function gives a correct result or a clear error for every unusual input.

The table is in `adversaries.py`. The correct result is that of the plain twin of an input, if it
has one; in any case it consists of finite numbers. A clear error is a ValueError or TypeError that
this library (or scikit-learn, for its estimators) raises on purpose, and that names the argument.
Only warnings of this library are allowed.
"""

from __future__ import annotations

import signal
import traceback
import warnings
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import liftcluster as lc
from liftcluster.kernels.bandwidths import _RULES
from liftcluster.lifts.settings import LIFTS
from support.adversaries import ADVERSARIES, ALL, A, B, N, R, W, X
from support.amount import IS_LONG, examples

_TIMEOUT = 60  # seconds; the slowest call takes less than one


@dataclass(frozen=True)
class Call:
    """A public function with one argument left open."""

    name: str
    function: Callable[[Any], Any]
    by_length: bool = False  # the result is in units of length of the points
    takes: Callable[[str], bool] = field(default=lambda name: True)


def _measures(argument: str, **traits: Any) -> list[Call]:
    """distance under every measure, with one argument of it left open."""

    def call(name: str) -> Callable[[Any], float]:
        given = {"a": A, "b": B, "X": X}
        options = {"rng": 0} if lc.MEASURES[name].needs == "vectors" else {}
        return lambda value: lc.distance(**{**given, argument: value}, measure=name, **options)

    return [
        Call(
            f"distance by {name}",
            call(name),
            by_length="scaling" not in measure.invariances or name == "adco",  # edges of its bins
        )
        for name, measure in lc.MEASURES.items()
        if all(getattr(measure, trait) == value for trait, value in traits.items())
    ]


def _methods(argument: str) -> list[Call]:
    def call(name: str) -> Callable[[Any], Any]:
        given = {"partitions": [A, B, A], "n_clusters": 3, "X": X}
        options = {"n_init": 2} if name == "lift_km" else {}
        return lambda value: lc.consensus(
            **{**given, argument: value}, method=name, rng=0, method_options=options
        )

    without_points = [m.name for m in lc.METHODS.values() if m.needs in ("labels", "distances")]
    return [
        Call(
            f"consensus by {name}",
            call(name),
            takes=lambda given, name=name: (
                not (
                    argument == "X"
                    and (
                        (name in without_points and given in ("nothing", "moved by 3.51844e+13"))
                        or (name == "auto" and given == "nothing")
                    )
                )
            ),
        )
        for name in lc.METHODS
    ]


def _in_ensemble(call: Call) -> Call:
    return Call(call.name, lambda value: call.function([value, B, B]), call.by_length)


def _fitted(X: Any, partitions: Any = (A, B)) -> list[Any]:
    model = lc.LiftedConsensus(3, method="lift_hac", random_state=0)
    model.fit(X, partitions=None if partitions is None else list(partitions))
    shares = np.asarray(model.predict_proba(X))  # also of a dask array
    return [model.consensus_, co_membership(model.predict(X)), np.sort(shares, axis=1)]


@cache
def _combined() -> lc.Consensus:
    return lc.consensus([A, B], 3, X, rng=0)


def co_membership(labels: Any) -> Any:
    """Indicator matrix of pairs of points with the same label."""
    return np.equal.outer(np.asarray(labels), np.asarray(labels)).astype(float)


def _lift_of(X: Any, lift: str, **options: Any) -> list[Any]:
    made = lc.make_lift(X, A, lift=lift, rng=0, **options)
    return [made.sums(X, np.eye(3)[A]), made.scores(X, np.ones((1, made.n_components)))]


def _thirds(X: Any) -> Any:
    """A clusterer: thirds of the points by their first coordinate."""
    ranks = np.argsort(np.argsort(np.asarray(X)[:, 0], kind="stable"))
    return ranks * 3 // len(ranks)


def _tree(X: Any, runs: Any, rng: Any = 0) -> list[Any]:
    """Costs and distances of a tree of resolutions, and stabilities (NaN for a single cluster)."""
    found = lc.resolution_tree(X, runs, lift=lc.Fourier(8), rng=rng)
    costs = [(plan * D).sum() for plan, D in zip(found.plans, found.distances, strict=True)]
    return [
        np.array(costs),
        np.concatenate([D.ravel() for D in found.distances]),
        *found.stabilities,
    ]


KERNELS = ("gaussian", "laplace", "cauchy", "matern")
_FEW = ("one point", "two points")
CALLS: dict[str, list[Call]] = {
    "points": [
        *_measures("X", needs="vectors"),
        *_measures("X", needs="points"),
        *_methods("X"),
        *(Call(f"represent by {lift}", lambda X, lift=lift: lc.represent(X, [A, B], lift=lift, rng=0)) for lift in LIFTS),
        *(Call(f"represent by {kernel}", lambda X, kernel=kernel: lc.represent(X, [A, B], kernel=kernel)) for kernel in KERNELS),
        Call("represent by discrete", lambda X: lc.represent(X, [A, B], kernel="discrete"), takes=lambda name: name != "nothing"),
        *(Call(f"make_lift by {lift}", lambda X, lift=lift: _lift_of(X, lift), by_length=True) for lift in LIFTS if lift not in ("exact", "auto")),
        *(Call(f"bandwidth by {rule}", lambda X, rule=rule: lc.bandwidth(X, rule), by_length=True) for rule in _RULES),
        Call("distance to other points", lambda X: lc.distance(A, B, X, Y=X)),
        Call("distance_matrix", lambda X: lc.distance_matrix([A, B], X)),
        Call("compare", lambda X: lc.compare(A, B, X, rng=0), by_length=True, takes=lambda name: name != "nothing"),
        Call("represent_samples", lambda X: lc.represent_samples([(X, A), (X, B)])),
        Call("represent to a tolerance", lambda X: lc.represent(X, A, lift=lc.Fourier(tol=0.2), rng=0)),
        Call("bandwidth_profile", lambda X: lc.bandwidth_profile(A, B, X, bandwidths=3, rng=0).values),
        Call("cluster_distance", lambda X: lc.cluster_distance(A == 0, B == 0, X)),
        Call("significance", lambda X: lc.significance(A, B, X, n_permutations=3, lift=lc.Fourier(8), rng=0).null),
        Call("stability of runs", lambda X: lc.stability(X, [A, B], reference=A, lift=lc.Fourier(8), rng=0).clusters),
        Call("stability of a function", lambda X: lc.stability(X, _thirds, n_replicates=2, lift=lc.Fourier(8), rng=0).clusters, by_length=True, takes=lambda name: name not in _FEW),
        Call("choose", lambda X: lc.choose(X, {"a": A, "b": B}, lift=lc.Fourier(8), rng=0).curve),
        Call("resolution_tree", lambda X: _tree(X, [A, B, A])),
        Call("drift", lambda X: lc.drift(X, X, (A, B), measures="lift_emd", n_splits=3, lift=lc.Fourier(8), rng=0).null["lift_emd"]),
        Call("sample_partitions", lambda X: [co_membership(p.labels) for p in lc.sample_partitions(X, 3, 2, burn_in=1, rng=0)]),
        Call("affinities", lambda X: lc.affinities(X, A, n_samples=200, rng=0).own.round(1)),
        Call("Consensus.affinities", lambda X: _combined().affinities(X, n_samples=50, rng=0).values, by_length=True),
        Call("alternative", lambda X: co_membership(lc.alternative(X, B, 3, rng=0).labels)),
        Call("diverse_subset", lambda X: lc.diverse_subset([A, B, A], 2, X).distances),
        Call("make_report", lambda X: lc.make_report({"a": A, "b": B}, X, rng=0), by_length=True),
        Call("base_partitions", lambda X: lc.base_partitions(X, 3, rng=0)),
        Call("base_partitions by k-means", lambda X: lc.base_partitions(X, 3, "kmeans", rng=0, n_partitions=2)),
        Call("LiftedConsensus", _fitted),
        Call("LiftedConsensus without partitions", lambda X: _fitted(X, None)),
        Call("NeighbourCut", lambda X: co_membership(lc.NeighbourCut(3, random_state=0).fit(X).labels_)),
        Call("ClusterLifter", lambda X: lc.ClusterLifter(8, random_state=0).fit_transform(X), by_length=True),
        Call("MaxMMDClustering", lambda X: co_membership(lc.MaxMMDClustering(3, n_init=1, random_state=0).fit(X).labels_)),
        Call("Consensus.predict", lambda X: _combined().predict_proba(X), by_length=True),
    ],
    "labels": [
        *_measures("a"),
        *_measures("b", needs="table"),
        *(_in_ensemble(call) for call in _methods("partitions")),
        Call("Partition.from_labels", lc.Partition.from_labels),
        Call("as_partition", lc.as_partition),
        Call("represent", lambda a: lc.represent(X, {"a": a})),
        Call("represent_samples", lambda a: lc.represent_samples([(X, {"a": a})])),
        Call("make_lift", lambda a: lc.make_lift(X, {"a": a}, lift="exact")),
        Call("compare", lambda a: lc.compare(a, B, X)),
        Call("distance_matrix", lambda a: lc.distance_matrix({"a": a, "b": B}, X)),
        Call("significance", lambda b: lc.significance(A, b, X, n_permutations=3, lift=lc.Fourier(8), rng=0).null),
        Call("significance by rand", lambda b: lc.significance(A, b, measure="rand", n_permutations=3, rng=0).null),
        Call("stability", lambda a: lc.stability(X, [a, B], reference=A, lift=lc.Fourier(8), rng=0).clusters),
        Call("reference of stability", lambda a: lc.stability(X, [A, B], reference=lc.as_partition(a), lift=lc.Fourier(8), rng=0).clusters),
        Call("resolution_tree", lambda a: _tree(X, [a, B])[:2]),
        Call("drift", lambda a: lc.drift(X, X, (a, a), measures="lift_emd", n_splits=3, lift=lc.Fourier(8), rng=0).null["lift_emd"]),
        Call("affinities", lambda a: lc.affinities(X, a, n_samples=50, rng=0).values),
        Call("alternative", lambda a: lc.alternative(X, {"a": a, "b": B}, 3, rng=0).distance),
        Call("diverse_subset", lambda a: lc.diverse_subset({"a": a, "b": B}, 1, X).matrix),
        Call("bandwidth_profile", lambda a: lc.bandwidth_profile(a, B, X, bandwidths=3).values),
        Call("make_report", lambda a: lc.make_report({"a": a, "b": B}, X, rng=0)),
        Call("LiftedConsensus", lambda a: _fitted(X, [a, B])),
    ],
    "memberships": [
        *_measures("a", soft=True),
        *(_in_ensemble(call) for call in _methods("partitions")),
        Call("Partition.from_memberships", lc.Partition.from_memberships),
        Call("as_partition", lc.as_partition),
        Call("represent", lambda a: lc.represent(X, {"a": a})),
        Call("represent by fourier", lambda a: lc.represent(X, {"a": a}, lift="fourier", rng=0)),
        Call("compare", lambda a: lc.compare(a, B, X)),
        Call("resolution_tree", lambda a: _tree(X, [a, B])[:2]),
        Call("affinities", lambda a: lc.affinities(X, a, n_samples=50, rng=0).values),
        Call("alternative", lambda a: lc.alternative(X, {"a": a}, 3, rng=0).distance),
        Call("diverse_subset", lambda a: lc.diverse_subset({"a": a, "b": B}, 1, X).matrix),
        Call("make_report", lambda a: lc.make_report({"a": a, "b": B}, X, rng=0)),
        Call("LiftedConsensus", lambda a: _fitted(X, [a, B])),
        Call("Lift.sums", lambda R: lc.make_lift(X, lift="fourier", rng=0).sums(X, R), takes=lambda name: not name.startswith(("sums of", "all zero", "negative", "infinite", "one column of labels", "sparse negative", "largest"))),
    ],
    "weights": [
        *_measures("weights"),
        *_methods("weights"),
        Call("Partition.from_labels", lambda w: lc.Partition.from_labels(A, w)),
        Call("Partition.from_memberships", lambda w: lc.Partition.from_memberships(R, w)),
        Call("Partition.with_weights", lambda w: lc.as_partition(A).with_weights(w)),
        Call("as_partition", lambda w: lc.as_partition(A, W if w is None else w), takes=lambda name: name != "none"),
        *(Call(f"represent by {lift}", lambda w, lift=lift: lc.represent(X, A, lift=lift, weights=w, rng=0)) for lift in LIFTS),
        Call("compare", lambda w: lc.compare(A, B, X, weights=w)),
        Call("distance_matrix", lambda w: lc.distance_matrix([A, B], X, weights=w)),
        Call("affinities", lambda w: lc.affinities(X, lc.as_partition(A, W if w is None else w), n_samples=50, rng=0).values, takes=lambda name: name != "none"),
        Call("diverse_subset", lambda w: lc.diverse_subset([A, B], 1, X, weights=w).matrix),
        Call("significance", lambda w: lc.significance(lc.as_partition(A, w), lc.as_partition(B, w), X, n_permutations=3, lift=lc.Fourier(8), rng=0).null),
        Call("drift", lambda w: lc.drift(X, X, (lc.as_partition(A, w), lc.as_partition(A, w)), measures="lift_emd", n_splits=3, lift=lc.Fourier(8), rng=0).null["lift_emd"]),
        Call("bandwidth_profile", lambda w: lc.bandwidth_profile(A, B, X, weights=w, bandwidths=3).values),
        Call("cluster_distance", lambda w: lc.cluster_distance(A == 0, B == 0, X, weights=w)),
        Call("make_report", lambda w: lc.make_report({"a": A, "b": B}, X, weights=w, rng=0)),
        Call("represent_samples", lambda w: lc.represent_samples([(X, A)], weights=[w])),
        Call("MaxMMDClustering", lambda w: lc.MaxMMDClustering(2, random_state=0).fit(X, sample_weight=w).labels_, takes=lambda name: name not in ("too few", "a single number", "tiny", "huge")),
    ],
    "count": [
        *_methods("n_clusters"),
        *(Call(f"n_components of {kind.__name__}", lambda k, kind=kind: lc.represent(X, A, lift=kind(n_components=k), rng=0)) for kind in (lc.Fourier, lc.Structured, lc.Grid, lc.Nystroem)),
        Call("base_partitions", lambda k: lc.base_partitions(X, k, rng=0)),
        Call("n_partitions", lambda k: lc.base_partitions(X, 2, "kmeans", rng=0, n_partitions=k)),
        Call("n_permutations", lambda k: lc.significance(A, B, X, n_permutations=k, lift=lc.Fourier(8), rng=0).null),
        Call("n_replicates", lambda k: lc.stability(X, _thirds, n_replicates=k, null=False, lift=lc.Fourier(8), rng=0).clusters),
        Call("n_splits", lambda k: lc.drift(X, X, (A, B), n_splits=k, lift=lc.Fourier(8), rng=0).null["lift_emd"]),
        Call("bandwidths", lambda k: lc.bandwidth_profile(A, B, X, bandwidths=k).values, takes=lambda name: name not in ("a list", "an array")),
        Call("n_partitions of sample_partitions", lambda k: len(lc.sample_partitions(X, 2, k, burn_in=1, rng=0))),
        Call("n_clusters of sample_partitions", lambda k: [co_membership(p.labels) for p in lc.sample_partitions(X, k, 2, burn_in=1, rng=0)]),
        Call("thin", lambda k: len(lc.sample_partitions(X, 2, 2, burn_in=1, thin=k, rng=0)), takes=lambda name: "huge" not in name),
        Call("n_samples", lambda k: lc.affinities(X, A, n_samples=k, rng=0).values),
        Call("n_clusters of alternative", lambda k: lc.alternative(X, A, k, rng=0).distance),
        Call("n_representatives", lambda k: lc.diverse_subset([A, B, A], k, X).distances),
        Call("n_components_for points", lambda n: lc.n_components_for(0.1, 0.1, n)),
        Call("n_sample", lambda k: lc.bandwidth(X, n_sample=k)),
        Call("bins", lambda k: lc.distance(A, B, X, measure="adco", measure_options={"bins": k})),
        Call("n_init", lambda k: lc.consensus([A, B], 3, X, method="lift_km", rng=0, method_options={"n_init": k})),
        Call("n_neighbours", lambda k: lc.consensus([A, B], 3, X, method="lift_places", rng=0, method_options={"n_neighbours": k})),
        Call("consensus of make_report", lambda k: lc.make_report({"a": A, "b": B}, X, consensus=k, rng=0)),
        Call("LiftedConsensus", lambda k: lc.LiftedConsensus(k, random_state=0).fit(X).labels_),
        Call("MaxMMDClustering", lambda k: lc.MaxMMDClustering(k, random_state=0).fit(X).labels_),
        Call("NeighbourCut", lambda k: lc.NeighbourCut(k, random_state=0).fit(X).labels_),
        Call("neighbours of NeighbourCut", lambda k: lc.NeighbourCut(2, n_neighbours=k, random_state=0).fit(X).labels_),
        Call("ClusterLifter", lambda k: lc.ClusterLifter(k, random_state=0).fit_transform(X)),
    ],
    "number": [
        *(Call(f"bandwidth of {kernel}", lambda h, kernel=kernel: lc.represent(X, [A, B], kernel=kernel, bandwidth=h)) for kernel in KERNELS),
        *(Call(f"bandwidth of {lift}", lambda h, lift=lift: lc.represent(X, [A, B], lift=lift, bandwidth=h, rng=0)) for lift in LIFTS),
        *(Call(f"{kernel.__name__} of", lambda h, kernel=kernel: kernel(bandwidth=h)(X, X)) for kernel in (lc.Gaussian, lc.Laplace, lc.Cauchy, lc.Matern)),
        Call("tol", lambda tol: lc.represent(X, A, lift=lc.Fourier(tol=tol), rng=0), takes=lambda name: name not in ("least", "tiny", "small")),
        Call("error of a grid", lambda error: lc.represent(X, A, lift=lc.Grid(error))),
        Call("several bandwidths", lambda h: lc.Gaussian([1.0, h])(X, X)),
        Call("weights of bandwidths", lambda h: lc.Gaussian([1.0, 2.0], weights=[1.0, h])(X, X)),
        Call("nu", lambda nu: lc.Matern(nu, 3.0)(X, X)),
        Call("bandwidth_profile", lambda h: lc.bandwidth_profile(A, B, X, bandwidths=[1.0, h]).values),
        Call("n_components_for within", lambda eps: lc.n_components_for(eps, 0.1, 100)),
        Call("n_components_for surely", lambda delta: lc.n_components_for(0.1, delta, 100)),
        Call("trade_off", lambda h: lc.alternative(X, A, 2, trade_off=h, rng=0).distance),
        Call("beta", lambda beta: len(lc.sample_partitions(X, 2, 2, beta=beta, burn_in=1, rng=0))),
        Call("outer kernel", lambda h: lc.distance(A, B, X, measure="lift_kd", measure_options={"outer_kernel": lc.Gaussian(h)})),
        *(Call(f"consensus by {name}", lambda h, name=name: lc.consensus([A, B], 3, X, method=name, bandwidth=h, rng=0)) for name in ("auto", "lift_km", "lift_hac", "lift_places", "lift_walk")),
        Call("MaxMMDClustering", lambda h: lc.MaxMMDClustering(3, bandwidth=h, random_state=0).fit(X).labels_),
    ],
    "choice": [
        Call("measure", lambda v: lc.distance(A, B, X, measure=v)),
        Call("measure of a matrix", lambda v: lc.distance_matrix([A, B], X, measure=v)),
        Call("measure of diverse_subset", lambda v: lc.diverse_subset([A, B], 1, X, measure=v)),
        Call("method of diverse_subset", lambda v: lc.diverse_subset([A, B], 1, X, method=v)),
        Call("measure of significance", lambda v: lc.significance(A, B, X, measure=v, n_permutations=3)),
        Call("measures", lambda v: lc.compare(A, B, X, measures=v), takes=lambda name: name not in ("a list", "an array", "a mapping")),
        Call("measures of drift", lambda v: lc.drift(X, X, (A, B), measures=v, n_splits=3), takes=lambda name: name not in ("a list", "an array", "a mapping")),
        Call("source of drift", lambda v: lc.drift(X, X, v, n_splits=3)),
        Call("method", lambda v: lc.consensus([A, B], 3, X, method=v)),
        Call("kernel", lambda v: lc.represent(X, A, kernel=v)),
        Call("lift", lambda v: lc.represent(X, A, lift=v)),
        Call("lift of make_lift", lambda v: lc.make_lift(X, lift=v)),
        Call("lift of a profile", lambda v: lc.bandwidth_profile(A, B, X, lift=v)),
        Call("sampling", lambda v: lc.represent(X, A, lift=lc.Fourier(sampling=v))),
        Call("bandwidth", lambda v: lc.represent(X, A, bandwidth=v), takes=lambda name: name != "a number"),
        Call("rule", lambda v: lc.bandwidth(X, v)),
        Call("metric", lambda v: lc.bandwidth(X, metric=v)),
        Call("resample", lambda v: lc.stability(X, _thirds, resample=v, n_replicates=2)),
        Call("kind", lambda v: lc.base_partitions(X, 3, v)),
        Call("linkage", lambda v: lc.consensus([A, B], 3, X, method="lift_hac", method_options={"linkage": v})),
        Call("columns of a report", lambda v: lc.make_report({"a": A, "b": B}, X, columns=v)),
        Call("method of LiftedConsensus", lambda v: lc.LiftedConsensus(3, method=v).fit(X, partitions=[A, B])),
        Call("base", lambda v: lc.LiftedConsensus(3, base=v).fit(X)),
        Call("lift of ClusterLifter", lambda v: lc.ClusterLifter(3, lift=v).fit(X)),
    ],
    "seed": [
        Call("represent", lambda rng: lc.represent(X, A, lift="fourier", rng=rng)),
        Call("make_lift", lambda rng: lc.make_lift(X, lift="nystroem", rng=rng)),
        Call("distance", lambda rng: lc.distance(A, B, X, lift="structured", rng=rng)),
        Call("distance_matrix", lambda rng: lc.distance_matrix([A, B], X, lift="fourier", rng=rng)),
        Call("compare", lambda rng: lc.compare(A, B, X, lift="fourier", rng=rng)),
        Call("consensus", lambda rng: lc.consensus([A, B], 3, X, rng=rng)),
        Call("significance", lambda rng: lc.significance(A, B, X, n_permutations=3, lift=lc.Fourier(8), rng=rng).null),
        Call("stability", lambda rng: lc.stability(X, [A, B], lift=lc.Fourier(8), rng=rng).clusters),
        Call("resolution_tree", lambda rng: _tree(X, [A, B], rng)),
        Call("affinities", lambda rng: lc.affinities(X, A, n_samples=50, rng=rng).values),
        Call("alternative", lambda rng: lc.alternative(X, A, 3, lift="fourier", rng=rng).distance),
        Call("sample_partitions", lambda rng: [co_membership(p.labels) for p in lc.sample_partitions(X, 3, 2, burn_in=1, rng=rng)]),
        Call("diverse_subset", lambda rng: lc.diverse_subset([A, B], 1, X, lift="fourier", rng=rng).matrix),
        Call("drift", lambda rng: lc.drift(X, X, (A, B), measures="lift_emd", n_splits=3, lift=lc.Fourier(8), rng=rng).null["lift_emd"]),
        Call("base_partitions", lambda rng: lc.base_partitions(X, 3, rng=rng)),
        Call("bandwidth_profile", lambda rng: lc.bandwidth_profile(A, B, X, bandwidths=3, rng=rng).values),
        Call("make_report", lambda rng: lc.make_report({"a": A, "b": B}, X, rng=rng), takes=lambda name: name != "none"),
    ],
    "partitions": [
        *_methods("partitions"),
        Call("represent", lambda p: lc.represent(X, p)),
        Call("represent_samples", lambda p: lc.represent_samples([(X, p)])),
        Call("make_lift", lambda p: lc.make_lift(X, p, lift="exact")),
        Call("distance_matrix", lambda p: lc.distance_matrix(p, X)),
        Call("distance_matrix by vi", lambda p: lc.distance_matrix(p, measure="vi")),
        Call("alternative", lambda p: lc.alternative(X, p, 2, rng=0).distance),
        Call("diverse_subset", lambda p: lc.diverse_subset(p, 1, X).matrix),
        Call("stability", lambda p: lc.stability(X, p, reference=A, lift=lc.Fourier(8), rng=0).clusters),
        Call("resolution_tree", lambda p: _tree(X, p)[:2]),
        Call("LiftedConsensus", lambda p: lc.LiftedConsensus(3, method="lift_hac").fit(X, partitions=p).consensus_, takes=lambda name: name != "nothing"),
    ],
    "masses": [
        Call("emd from", lambda a: lc.emd(a, [2.0, 2.0], [[0.0, 1.0], [2.0, 0.0]])),
        Call("emd to", lambda b: lc.emd([2.0, 2.0], b, [[0.0, 1.0], [2.0, 0.0]])),
    ],
    "costs": [Call("emd", lambda C: lc.emd([1.0, 3.0], [2.0, 2.0], C))],
    "matrix": [
        Call("represent", lambda K: lc.represent(None, [A, B], kernel=lc.Precomputed(K))),
        Call("distance", lambda K: lc.distance(A, B, kernel=lc.Precomputed(K))),
        Call("consensus", lambda K: lc.consensus([A, B], 3, np.arange(N), kernel=lc.Precomputed(K), rng=0)),
        Call("nystroem", lambda K: lc.make_lift(None, kernel=lc.Precomputed(K), lift="nystroem", rng=0), takes=lambda name: name not in ("another size", "zero")),
        Call("function", lambda K: lc.represent(list(range(N)), [A, B], kernel=lambda U, V: np.asarray(K)[np.ix_(U, V)]), takes=lambda name: name in ("not a number", "words", "complex ", "indefinite", "huge", "tiny", "zero")),
    ],
    "cluster": [
        Call("cluster_distance from", lambda a: lc.cluster_distance(a, B == 0, X)),
        Call("cluster_distance to", lambda b: lc.cluster_distance(B == 0, b, X)),
        Call("cluster_distance of unit vectors", lambda a: lc.cluster_distance(a, B == 0, X, normalise=True)),
        Call("cluster_distance by features", lambda a: lc.cluster_distance(a, B == 0, X, lift="fourier", rng=0)),
    ],
}  # fmt: skip

# An error about a role contains at least one of its words.
WORDS = {
    "points": ("X", "Y", "points", "coordinates", "bandwidth", "kernel", "features", "phases", "n_samples"),
    "labels": ("label", "points", "partition", "noise", "cluster", "one column", "frame", "memberships"),
    "memberships": ("membership", "ragged", "partition", "cluster", "names", "points"),
    "weights": ("weight",),
    "count": ("n_", "bandwidths", "bins", "consensus", "clusters", "integer", "n must be", "thin"),
    "number": ("bandwidth", "eps", "delta", "nu", "weights", "zero vector", "apart", "tol", "error", "beta", "trade_off"),
    "choice": ("must be", "rule", "kernel", "clusterer"),
    "seed": ("rng", "seed"),
    "partitions": ("partition", "labels", "frame", "memberships", "column"),
    "masses": ("a ", "b ", "mass", "C "),
    "costs": ("C ",),
    "matrix": ("kernel", "points", "zero vector", "entries"),
    "cluster": ("cluster", "a ", "b "),
}  # fmt: skip


EVERY = 16 // examples(4)  # 4 of 16 functions, and 1 of 16 if few examples are requested


@pytest.mark.parametrize("adversary", ADVERSARIES, ids=str)
def test_every_function_gives_a_correct_result_or_a_clear_error(adversary):
    problems = []
    calls = [call for call in CALLS[adversary.role] if call.takes(adversary.name)]
    if not (IS_LONG or adversary.twin is ALL):  # refusing is fast
        first = ADVERSARIES.index(adversary) % min(EVERY, len(calls))  # at least one function
        calls = calls[first::EVERY]
    for call in calls:
        with time_limit(_TIMEOUT):
            problem = find_problem(call, adversary)
        if problem:
            problems.append(f"{call.name}: {problem}")
    assert not problems, "\n".join(problems)


def test_every_public_function_is_tested_with_adversaries():
    values = {"MEASURES", "METHODS", "Measure", "Method", "Lift", "Comparison", "Consensus"}
    values |= {"Affinities", "Alternative", "Choice", "DiverseSubset", "Drift", "TradeOff"}
    values |= {"ResolutionTree", "Stability"}
    values |= {"Profile", "Report", "Representation", "Significance", "Transport", "Discrete"}
    values |= {"Blocks", "TableScan", "Tally", "Exact"}
    elsewhere = {
        "load_representation": "files",
        "scan_table": "files",
        "mmd_objective": "takes a Representation",
    }
    text = Path(__file__).read_text()
    for name in set(lc.__all__) - values - set(elsewhere):
        assert f"lc.{name}" in text, name


def find_problem(call: Call, adversary: Any) -> str | None:
    """Describe a wrong result, warning or error of a call; None if there is none."""
    value = adversary.make()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = numbers(call.function(value))
        except Exception as error:
            if unexpected := _unexpected_warning(caught):
                return unexpected
            has_twin = adversary.twin is not None and adversary.twin is not ALL
            if has_twin and not adversary.rescaled and expected(call, adversary) is not None:
                return f"refused, unlike its plain twin: {type(error).__name__}: {error}"
            return _why_unclear(error, WORDS[adversary.role])
    if unexpected := _unexpected_warning(caught):
        return unexpected
    if not all(np.isfinite(part).all() for part in result):
        return f"a result that is not finite: {result}"
    if adversary.twin is ALL:
        return "not refused"
    if adversary.twin is None or (adversary.rescaled and call.by_length):
        return None
    right = expected(call, adversary)
    if right is None:
        return "accepted, though its plain twin is refused"
    return _difference(result, right, adversary.tolerance)


_known: dict[tuple[int, int], list[Any] | None] = {}


def expected(call: Call, adversary: Any) -> list[Any] | None:
    """The result for the plain twin; None if it is refused."""
    key = id(call), id(adversary.twin)
    if key not in _known:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                _known[key] = numbers(call.function(adversary.twin))
            except (TypeError, ValueError):
                _known[key] = None
    return _known[key]


def _difference(result: list[Any], right: list[Any], tolerance: float) -> str | None:
    if [part.shape for part in result] != [part.shape for part in right]:
        return "a result of another shape"
    for got, expected_part in zip(result, right, strict=True):
        scale = max(float(np.abs(expected_part).max(initial=0.0)), 1.0)
        if np.abs(got - expected_part).max(initial=0.0) > tolerance * scale:
            return f"{got} instead of {expected_part}"
    return None


def _unexpected_warning(caught: list[Any]) -> str | None:
    """The first warning that is not of this library, if any."""
    unexpected = [w for w in caught if w.category is not UserWarning]
    unexpected = [w for w in unexpected if "max_iter=" not in str(w.message)]
    return (
        f"warned: {unexpected[0].category.__name__}: {unexpected[0].message}"
        if unexpected
        else None
    )


def _why_unclear(error: Exception, words: tuple[str, ...]) -> str | None:
    """Why an error is unclear; None if it is clear."""
    ours = type(error).__module__.startswith("liftcluster") and isinstance(error, ValueError)
    if not ours and type(error) not in (ValueError, TypeError):
        return f"{type(error).__name__}: {error}"
    raised_in = traceback.extract_tb(error.__traceback__)[-1].filename
    if not any(place in raised_in for place in ("liftcluster/", "sklearn/")):
        return f"by chance, in {raised_in}: {error}"
    message = str(error)
    if len(message.split()) < 4 or len(message) > 1500:
        return f"not a sentence: {message!r}"
    if "sklearn/" not in raised_in and not any(word in message for word in words):
        return f"does not name the argument: {message}"
    return None


def numbers(result: Any) -> list[Any]:
    """The numbers in a result, in an order that does not depend on names."""
    if result is None or isinstance(result, str | bytes):
        return []
    if isinstance(result, bool | int | float | np.number):
        return [np.asarray(result, dtype=np.float64)]
    if isinstance(result, np.ndarray) or hasattr(result, "__array_namespace__"):
        return [np.asarray(result, dtype=np.float64)]
    if sp.issparse(result):
        return [result.toarray()]
    if isinstance(result, lc.Partition):
        return [result.labels.astype(float), result.memberships.toarray(), result.masses]
    if isinstance(result, lc.Representation):
        # The error of a single frequency is infinite by design.
        errors = result.distance_errors() if result.n_components > 2 else None
        return [result.inner_products(), result.masses, *numbers(errors)]
    if isinstance(result, lc.Consensus):
        parts = (
            co_membership(result.labels),
            np.sort(result.memberships, axis=1),
            result.confidence,
            result.mean_distance,
            result.score,
        )
        return [number for part in parts for number in numbers(part)]
    if isinstance(result, lc.Comparison):
        return [number for e in result.values.values() for number in numbers([e.value, e.error])]
    if isinstance(result, lc.Transport):
        return numbers([result.cost, result.plan])
    if isinstance(result, lc.Report):
        return numbers(result.to_dict())
    if isinstance(result, lc.Lift):
        return numbers(result.n_components)
    if hasattr(result, "compute"):  # a dask collection
        return numbers(result.compute(scheduler="synchronous"))
    if isinstance(result, Mapping):
        return [number for part in result.values() for number in numbers(part)]
    if isinstance(result, list | tuple):
        return [number for part in result for number in numbers(part)]
    raise TypeError(f"no numbers in {type(result).__name__}")


@contextmanager
def time_limit(seconds: int):
    def stop(*_: Any) -> None:
        raise AssertionError(f"still running after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
