"""The tree of resolutions: what becomes of each cluster as clusterings become finer."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from scipy.spatial.distance import cdist

from ..._util.checks import checked_keywords
from ..._util.extras import needs
from ..._util.html import paragraph, table
from ..._util.typing import BandwidthLike, FloatArray, Points, RngLike
from ..._util.validation import make_rng
from ...kernels.kernel import KernelLike
from ...lifts.base import Lift
from ...lifts.choice import Lifting, LiftLike, lift_for_any_points
from ...partitions.partition import Partition, as_partitions
from ...partitions.stack import Stack
from .assessing import BANDWIDTH, COMPONENTS, has_coordinates
from .matching import match
from .outcomes import as_lifted
from .result import STABLE, adjusted
from .runs import lift_runs, null_of_runs

Name = TypeVar("Name", bound=Hashable)
_NO_FLOW = 1e-12  # mass of a plan that is rounding


@dataclass(frozen=True)
class Node:
    """A cluster of one run; its stability is NaN if no neighbouring run says anything of it."""

    run: Hashable
    cluster: Hashable
    mass: float
    stability: float


@dataclass(frozen=True)
class Edge:
    """Mass that the transport plan moves from a cluster of one run to one of the next run."""

    run: Hashable
    cluster: Hashable
    next_run: Hashable
    next_cluster: Hashable
    mass: float
    share: float  # of the cluster
    next_share: float  # of the cluster in the next run
    distance: float


@dataclass(frozen=True, eq=False, repr=False)
class ResolutionTree:
    """Clusters of several runs in order, and the transport between consecutive runs.

    Made by :func:`liftcluster.resolution_tree`. In all that follows m is the number of runs and k,
    k′ are the numbers of clusters of a run and of the next one.

    Attributes
    ----------
    runs : mapping from names to Partition
        The m clusterings, in order.
    stabilities : m arrays (k,)
        Stability of the clusters of each run.
    plans : m − 1 arrays (k, k′)
        Mass that goes from each cluster of a run to each one of the next run.
    distances : m − 1 arrays (k, k′)
        ‖Φ̄(C) − Φ̄(C′)‖ between the clusters of a run and of the next one.
    nodes : list of Node
        One for each cluster: ``run``, ``cluster``, ``mass``, ``stability``.
    edges : list of Edge
        One for each pair of clusters between which mass goes: ``run``, ``cluster``, ``next_run``,
        ``next_cluster``, ``mass``, ``share`` of the cluster, ``next_share`` of the cluster in the
        next run, ``distance``.

    See Also
    --------
    resolution_tree : The function that returns it.
    plot.resolution_tree : A picture of it.

    Examples
    --------
    >>> import liftcluster as lc
    >>> X = [[0.0], [1.0], [8.0], [9.0]]
    >>> lc.resolution_tree(X, {"coarse": [0, 0, 1, 1], "fine": [0, 1, 2, 3]}, rng=0)
    ResolutionTree(2 runs of 2, 4 clusters)
    """

    runs: Mapping[Hashable, Partition]
    stabilities: tuple[FloatArray, ...]
    plans: tuple[FloatArray, ...]
    distances: tuple[FloatArray, ...]

    @cached_property
    def nodes(self) -> list[Node]:
        return [
            Node(run, name, float(mass), float(value))
            for (run, p), values in zip(self.runs.items(), self.stabilities, strict=True)
            for name, mass, value in zip(p.names, p.masses, values, strict=True)
        ]

    @cached_property
    def edges(self) -> list[Edge]:
        found = []
        steps = zip(pairwise(self.runs.items()), self.plans, self.distances, strict=True)
        for ((run, p), (next_run, q)), plan, D in steps:
            share, next_share = plan / p.masses[:, None], plan / q.masses
            for i, j in np.argwhere(plan > _NO_FLOW):
                numbers = (float(M[i, j]) for M in (plan, share, next_share, D))
                found.append(Edge(run, p.names[i], next_run, q.names[j], *numbers))
        return found

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each edge; ``DataFrame(tree.nodes)`` has the nodes."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(needs("pandas", "to_frame")) from None
        return pd.DataFrame([asdict(edge) for edge in self.edges])

    def plot(self, ax: Any = None) -> Any:
        """Draw the tree, by :func:`liftcluster.plot.resolution_tree`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        """
        from ...viz.plot import resolution_tree as draw

        return draw(self, ax=ax)

    def rows(self) -> list[dict[str, Any]]:
        """One record for each run; ``distance`` is LiftEMD to the next run, None for the last."""
        costs = [float((P * D).sum()) for P, D in zip(self.plans, self.distances, strict=True)]
        return [
            {
                "run": run,
                "n_clusters": p.k,
                "stable": int((values >= STABLE).sum()),
                "distance": cost,
            }
            for (run, p), values, cost in zip(
                self.runs.items(), self.stabilities, [*costs, None], strict=True
            )
        ]

    def to_dict(self) -> dict[str, Any]:
        """Runs, nodes and edges, as values that JSON can hold if names of clusters are."""
        return {
            "runs": self.rows(),
            "nodes": [asdict(node) for node in self.nodes],
            "edges": [asdict(edge) for edge in self.edges],
        }

    def __str__(self) -> str:
        lines = []
        for row in self.rows():
            line = f"{row['run']}: {row['n_clusters']} clusters, {row['stable']} stable"
            if row["distance"] is not None:
                line += f", {row['distance']:.2f} to the next run"
            lines.append(line)
        return "\n".join(lines)

    def __repr__(self) -> str:
        sizes = ", ".join(str(p.k) for p in self.runs.values())
        return f"ResolutionTree({len(self.runs)} runs of {sizes} clusters)"

    def _repr_html_(self) -> str:
        headings = ("run", "clusters", "stable", "distance to the next run")
        rows = [
            (
                row["run"],
                row["n_clusters"],
                row["stable"],
                "" if row["distance"] is None else f"{row['distance']:.2f}",
            )
            for row in self.rows()
        ]
        return paragraph(f"{len(self.runs)} runs", strong=True) + table(headings, rows)


@checked_keywords
def resolution_tree(
    X: Points,
    runs: Any,
    *,
    kernel: KernelLike = "gaussian",
    bandwidth: BandwidthLike = "auto",
    lift: LiftLike = "auto",
    rng: RngLike = 0,
) -> ResolutionTree:
    """Follow the clusters through clusterings of the same points, from coarse to fine.

    Clusterings with 2, 3, 4, … clusters, or of rising resolution, make a tree if each divides the
    clusters of the one before, and something less tidy if it does not. Its nodes are the clusters,
    each with its mass and stability. Its edges are the transport plan of LiftEMD between
    consecutive runs: the mass that goes from cluster to cluster, and how far apart these are.

    The stability of a cluster is that of :func:`liftcluster.stability` with the previous and the
    next run as replicates: one if it is found again there, or divided further in the next run;
    zero if it is found no better than in random regions. Noise belongs to no node, and mass that
    goes to or comes from it to no edge.

    Parameters
    ----------
    X : (n, d) array-like
        The points.
    runs : mapping, sequence or data frame of labels or partitions
        At least two clusterings, in the order of their resolution, such as
        ``{k: KMeans(k).fit(X).labels_ for k in range(2, 10)}``. The order is that of the mapping.
        A soft partition counts by the largest membership of each point. A run of a single cluster
        may be the root; it has no stability, and is no evidence for that of others.
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

    Returns
    -------
    ResolutionTree
        Clusters with their stability, and the transport between consecutive runs.

    See Also
    --------
    stability : The stability of one clustering.
    choose : Which of the runs is most stable.
    plot.resolution_tree : A picture of the tree.

    Examples
    --------
    >>> import liftcluster as lc
    >>> X = [[0.0], [1.0], [20.0], [21.0], [40.0], [41.0]]
    >>> runs = {"coarse": list("aaaabb"), "fine": list("ccddbb")}
    >>> for edge in lc.resolution_tree(X, runs, rng=0).edges:
    ...     print(edge.cluster, "to", edge.next_cluster, round(edge.mass, 2), round(edge.share, 2))
    a to c 0.33 0.5
    a to d 0.33 0.5
    b to b 0.33 1.0
    """
    lifting = Lifting.of(kernel, bandwidth, lift, rule_for_auto=BANDWIDTH)
    rng = make_rng(rng)
    named = {name: p.harden() for name, p in as_partitions(runs).items()}
    Stack(named)  # checks that they are of the same points
    if len(named) < 2:
        raise ValueError(
            "a tree needs at least two partitions of the points, in the order of their resolution, "
            "got one"
        )
    points = lifting.kernel.points(X) if lifting.needs_points else X
    fitted = lift_for_any_points(lifting, points, rng, default_components=COMPONENTS)
    return _grow(fitted, points, named, rng, with_null=has_coordinates(lifting))


def from_coarse_to_fine(named: Mapping[Name, Partition]) -> dict[Name, Partition]:
    """Clusterings from few to many clusters; those with equally many keep their order."""
    return dict(sorted(named.items(), key=lambda item: item[1].k))


def _grow(
    lift: Lift,
    X: Points,
    named: dict[Hashable, Partition],
    rng: np.random.Generator,
    *,
    with_null: bool,
) -> ResolutionTree:
    rep = lift_runs(lift, X, named)
    parts = list(named.values())
    rows = np.split(np.arange(rep.s), np.cumsum([p.k for p in parts])[:-1])
    lifted = [as_lifted(rep.sums[r], p, p.total_weight) for r, p in zip(rows, parts, strict=True)]
    forward = [match(a, b) for a, b in pairwise(lifted)]
    stabilities = []
    for i, (p, own) in enumerate(zip(parts, lifted, strict=True)):
        near = [j for j in (i - 1, i + 1) if 0 <= j < len(parts) and parts[j].k > 1]
        if p.k < 2 or not near:
            stabilities.append(np.full(p.k, np.nan))
            continue
        found = [forward[i] if j > i else match(own, lifted[j]) for j in near]
        level = np.zeros(p.k)
        if with_null:
            level = null_of_runs(lift, X, p, [parts[j].k for j in near], rng)[1]
        stabilities.append(adjusted(np.mean([m.values for m in found], axis=0), level))
    return ResolutionTree(
        named,
        tuple(stabilities),
        tuple(m.plan for m in forward),
        tuple(cdist(rep.vectors[r], rep.vectors[s]) for r, s in pairwise(rows)),
    )
