"""Tasks of tables 3 and 4: five input clusterings, combined by every consensus method."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from importlib import import_module

import numpy as np

from liftcluster import METHODS, Partition, consensus, distance, represent
from liftcluster.comparison.measures.lifted import lift_emd

from . import published
from .data import Labelled, Located
from .section import Settings, Values
from .tasks import Task

__all__ = ["INPUTS", "combine_inputs", "kmeans_task", "linkage_labels", "plan_consensus"]

LINKAGES = ("single", "average", "complete", "ward")
INPUTS = ("k-means", *LINKAGES)
# Methods of the literature that the paper does not compare.
OTHERS = ("hbgf", "lwea", "lwgp", "evidence", "majority", "medoid")
# The default bandwidth of distances, and that of the consensus methods.
BANDWIDTHS = {"lift_emd": "median", "lift_emd_narrow": "median/4"}


def linkage_labels(points: Labelled) -> dict[str, list[int]]:
    """Labels by the four linkages; deterministic, and computed from one distance matrix."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import pdist

    distances = pdist(points.X.astype(np.float64))
    return {
        method: fcluster(linkage(distances, method), points.k, "maxclust").tolist()
        for method in LINKAGES
    }


def kmeans_labels(points: Labelled, seed: int) -> list[int]:
    """Labels by k-means with the defaults of MATLAB in 2011: one start, from k of the points."""
    from sklearn.cluster import KMeans

    model = KMeans(points.k, init="random", n_init=1, random_state=seed)
    labels: list[int] = model.fit(points.X).labels_.tolist()
    return labels


def installed_partitioners() -> list[str]:
    """The installed packages of the extra "graph", on which the graph methods depend."""
    return [name for name in ("pymetis", "mtkahypar") if _is_installed(name)]


def _is_installed(module: str) -> bool:
    try:
        import_module(module)
    except ImportError:
        return False
    return True


def combine_inputs(
    points: Labelled,
    linkages: Mapping[str, list[int]],
    kmeans: list[int],
    seed: int,
    partitioners: list[str],
) -> Values:
    """Scores of the inputs, and of their consensus by the methods of the literature."""
    inputs = {
        name: Partition.from_labels(labels)
        for name, labels in {"k-means": kmeans, **linkages}.items()
    }
    combined: dict[str, Partition] = {}
    seconds: dict[str, float] = {}
    left_out: dict[str, str] = {}
    for name in (*published.METHODS_COMPARED, *OTHERS):
        # Points would only add to the run time of methods that use labels alone.
        X = None if METHODS[name].needs == "labels" else points.X
        start = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                found = consensus(inputs, points.k, X, method=name, rng=seed)  # type: ignore[arg-type]
            combined[name] = found.partition
        except ImportError as error:  # of the extra "graph"
            left_out[name] = str(error)
            continue
        seconds[name] = time.perf_counter() - start
    scores = score(points, {**inputs, **combined})
    return {
        "inputs": {name: scores[name] for name in inputs},
        "methods": {
            name: scores[name] | {"seconds": seconds[name], "labels": found.labels.tolist()}
            for name, found in combined.items()
        },
        "left_out": left_out,
        "partitioner": "METIS" if "pymetis" in partitioners else "eigenvectors, without pymetis",
    }


def score(points: Labelled, partitions: Mapping[str, Partition]) -> dict[str, dict[str, float]]:
    """Distance of each partition to the classes, by the paper's measures."""
    classes = Partition.from_labels(points.classes)
    scores = {
        name: {
            "rand": distance(p, classes, measure="rand"),
            # The measure is a distance, the paper's accuracy the share of matched points.
            "accuracy": 1 - distance(p, classes, measure="accuracy"),
            "clusters": p.k,
        }
        for name, p in partitions.items()
    }
    for measure, bandwidth in BANDWIDTHS.items():
        rep = represent(
            points.X,
            [classes, *partitions.values()],
            lift="exact",
            bandwidth=bandwidth,
            rng=0,  # the same sample for the median in every run
        )
        for i, name in enumerate(partitions, start=1):
            scores[name][measure] = lift_emd(rep[i], rep[0])
    return scores


def kmeans_task(where: Located, seed: int) -> Task:
    return Task(f"k-means-{where.name}-seed-{seed:02d}", kmeans_labels, {"seed": seed}, where)


def plan_consensus(settings: Settings, located: Mapping[str, Located]) -> dict[str, Task]:
    """One task per data set and seed, with the key "set seed"."""
    tasks = {}
    options = {"partitioners": installed_partitioners()}
    for name, where in located.items():
        linkages = Task(f"linkages-{name}", linkage_labels, {}, where)
        for seed in range(settings.seeds_of(name)):
            tasks[f"{name} {seed}"] = Task(
                f"consensus-{name}-seed-{seed:02d}",
                combine_inputs,
                {"seed": seed, **options},
                where,
                dependencies=(linkages, kmeans_task(where, seed)),
            )
    return tasks
