"""The work behind tables 3 and 4: five clusterings of a set, what every method makes of them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from importlib import import_module

import numpy as np

from liftcluster.combination.combining import Consensus, consensus
from liftcluster.combination.methods.registry import METHODS
from liftcluster.comparison.comparing import distance
from liftcluster.comparison.measures.lifted import lift_emd
from liftcluster.partitions.partition import Partition
from liftcluster.representation.samples import represent

from .data import Labelled, Located
from .ledger import Piece
from .section import Settings, Values

__all__ = ["INPUTS", "combine_inputs", "consensus_pieces", "kmeans_piece", "link"]

LINKAGES = ("single", "average", "complete", "ward")
INPUTS = ("k-means", *LINKAGES)
# LiftEMD is measured at the library's usual bandwidth, and at that of its consensus methods.
BANDWIDTHS = {"lift_emd": "median", "lift_emd_narrow": "median/4"}


def link(points: Labelled) -> dict[str, list[int]]:
    """The four linkages, which no seed changes; they share one matrix of distances."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import pdist

    distances = pdist(points.X.astype(np.float64))
    return {
        how: fcluster(linkage(distances, how), points.k, "maxclust").tolist() for how in LINKAGES
    }


def cluster_by_kmeans(points: Labelled, seed: int) -> list[int]:
    """MATLAB's k-means with the defaults of its day: one start, from k of the points."""
    from sklearn.cluster import KMeans

    model = KMeans(points.k, init="random", n_init=1, random_state=seed)
    found: list[int] = model.fit(points.X).labels_.tolist()
    return found


def installed_partitioners() -> list[str]:
    """Those of the extra "graph", without which the methods on graphs are others, or none."""
    return [name for name in ("pymetis", "mtkahypar") if _is_there(name)]


def _is_there(module: str) -> bool:
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
    """The inputs, and the consensus of them by every method, beside the classes."""
    inputs = {
        name: Partition.from_labels(labels)
        for name, labels in {"k-means": kmeans, **linkages}.items()
    }
    combined: dict[str, Partition] = {}
    seconds: dict[str, float] = {}
    left_out: dict[str, str] = {}
    for name, method in METHODS.items():
        # Labels are all that some methods look at; the points would only cost them time.
        X = None if method.needs == "labels" else points.X
        begun = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                found = consensus(inputs, points.k, X, method=name, rng=seed)
            assert isinstance(found, Consensus)  # what is in memory stays there
            combined[name] = found.partition
        except ImportError as error:  # of the extra "graph"
            left_out[name] = str(error)
            continue
        seconds[name] = time.perf_counter() - begun
    scores = score(points, {**inputs, **combined})
    return {
        "inputs": {name: scores[name] for name in inputs},
        "methods": {
            name: scores[name] | {"seconds": seconds[name], "labels": found.labels.tolist()}
            for name, found in combined.items()
        },
        "left_out": left_out,
        "graphs_cut_by": "METIS" if "pymetis" in partitioners else "eigenvectors, without pymetis",
    }


def score(points: Labelled, partitions: Mapping[str, Partition]) -> dict[str, dict[str, float]]:
    """How far each partition is from the classes, by the paper's measures."""
    classes = Partition.from_labels(points.classes)
    scores = {
        name: {
            "rand": distance(p, classes, measure="rand"),
            # The measure is a distance; the paper's accuracy is the share that is matched.
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
            rng=0,  # which points the median is of: the same in every run
        )
        for i, name in enumerate(partitions, start=1):
            scores[name][measure] = lift_emd(rep[i], rep[0])
    return scores


def kmeans_piece(where: Located, seed: int) -> Piece:
    return Piece(f"k-means-{where.name}-seed-{seed:02d}", cluster_by_kmeans, {"seed": seed}, where)


def consensus_pieces(settings: Settings, located: Mapping[str, Located]) -> dict[str, Piece]:
    """A piece for each set and seed, called "set seed"."""
    pieces = {}
    partitioners = installed_partitioners()
    for name, where in located.items():
        linkages = Piece(f"linkages-{name}", link, {}, where)
        for seed in range(settings.seeds_of(name)):
            pieces[f"{name} {seed}"] = Piece(
                f"consensus-{name}-seed-{seed:02d}",
                combine_inputs,
                {"seed": seed, "partitioners": partitioners},
                where,
                needs=(linkages, kmeans_piece(where, seed)),
            )
    return pieces
