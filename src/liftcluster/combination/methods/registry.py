"""The registry of consensus methods: what each needs and what it guarantees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from ...comparison.measures.registry import option_names
from .aggregation import agglomerative, balls, furthest, local_search
from .barycentre import lift_barycentre
from .enhancement import ec_cms, sdgca
from .evidence import evidence, lwea, lwgp
from .graph import cspa, hbgf, hgpa, mcla
from .hyperedges import hyperedge_medoids
from .lifted import lift_hac, lift_km
from .places import lift_places, lift_walk
from .propagation import ecpcs_hc, ecpcs_mc
from .voting import majority

Needs = Literal["vectors", "labels", "labels and points", "distances", "any"]


@dataclass(frozen=True)
class Method:
    """A method to combine partitions into one.

    Attributes
    ----------
    name, title : str
        Its name in ``METHODS``, and what it does in a few words.
    needs : str
        "vectors": groups lifted clusters and assigns points by their similarity to the groups;
        "labels": uses only the labels; "labels and points": the labels and the neighbours of
        each point; "distances": chooses one of the inputs; "any": chooses one of the methods.
    function : callable or None
        Computes the consensus; None where it is chosen among methods or inputs.
    soft : bool
        Uses soft memberships; otherwise partitions are hardened first.
    chooses_k : bool
        Finds the number of clusters itself.
    aggregates : bool
        Minimises the disagreements with the inputs; the result has ``aggregation``, its cost.
    balanced : bool
        Cuts into parts of similar weight; points with equal labels may be separated.
    extra : str or None
        The extra of liftcluster that installs the packages it needs.
    reference : str
        Authors and year of the publication.
    more_options : tuple of str
        Options besides those of ``function``.
    options : tuple of str
        Names of all options that users may set.

    See Also
    --------
    METHODS : All of them by name.
    consensus : Uses one of them.

    Examples
    --------
    >>> import liftcluster as lc
    >>> method = lc.METHODS["evidence"]
    >>> method.title, method.needs, method.reference
    ('evidence accumulation, average linkage', 'labels', 'Fred, Jain (2005)')
    """

    name: str
    title: str
    needs: Needs
    function: Callable[..., Any] | None
    soft: bool = False
    chooses_k: bool = False
    aggregates: bool = False
    balanced: bool = False
    extra: str | None = None
    reference: str = ""
    more_options: tuple[str, ...] = ()

    @cached_property
    def options(self) -> tuple[str, ...]:
        own = () if self.function is None else option_names(self.function)
        return (*own, *self.more_options)


class Task(NamedTuple):
    """A method with its options and its source of random numbers."""

    method: Method
    options: dict[str, Any]
    rng: np.random.Generator


_PAPER = "Raman, Phillips, Venkatasubramanian (SDM 2011)"
_STREHL = "Strehl, Ghosh (2002)"
_HUANG = "Huang, Wang, Lai (2018)"
_WALKS = "Huang, Wang, Peng, Lai, Kwoh (2021)"


def _label_only(name: str, title: str, function: Any, reference: str, **traits: Any) -> Method:
    return Method(name, title, "labels", function, reference=reference, **traits)


def _aggregating(name: str, title: str, function: Any) -> Method:
    reference = "Gionis, Mannila, Tsaparas (2007)"
    return _label_only(name, title, function, reference, chooses_k=True, aggregates=True)


_BALANCED = {"balanced": True, "extra": "graph", "more_options": ("whole_tuples",)}
_ALL = [
    Method("auto", "lift_places, lift_walk, lift_km or lwgp, by the data", "any", None, True),
    Method("lift_km", "k-means on lifted clusters", "vectors", lift_km, True, reference=_PAPER),
    Method("lift_hac", "Ward on lifted clusters", "vectors", lift_hac, True, reference=_PAPER),
    Method(
        "lift_barycentre",
        "vectors of the least mean LiftEMD to the inputs",
        "vectors",
        lift_barycentre,
        soft=True,
        reference=_PAPER,
    ),
    Method(
        "lift_places",
        "cut of the neighbour graph, edges weighted by labels",
        "labels and points",
        lift_places,
        soft=True,
        reference="ours, after Zelnik-Manor, Perona (2004)",
        more_options=("n_neighbours",),
    ),
    Method(
        "lift_walk",
        "k-means on clusters lifted by random walks",
        "labels and points",
        lift_walk,
        soft=True,
        reference="ours, after Coifman, Lafon (2006)",
        more_options=("n_neighbours",),
    ),
    _label_only("cspa", "similarity partitioning by METIS", cspa, _STREHL, **_BALANCED),
    _label_only("hgpa", "hypergraph partitioning by Mt-KaHyPar", hgpa, _STREHL, **_BALANCED),
    _label_only("mcla", "meta-clustering by METIS", mcla, _STREHL, extra="graph"),
    _label_only(
        "hbgf", "bipartite graph partitioning by METIS", hbgf, "Fern, Brodley (2004)", **_BALANCED
    ),
    _label_only("lwea", "evidence weighted by cluster reliability", lwea, _HUANG),
    _label_only("lwgp", "graph cut weighted by cluster reliability", lwgp, _HUANG),
    _label_only(
        "evidence", "evidence accumulation, average linkage", evidence, "Fred, Jain (2005)"
    ),
    _label_only("ec_cms", "co-association enhanced by itself", ec_cms, "Jia et al. (2024)"),
    _label_only(
        "sdgca",
        "co-association guided by dissimilarity, too",
        sdgca,
        "Zhang, Jia, Song, Wang (2025)",
    ),
    _label_only("ecpcs_hc", "evidence from walks between clusters", ecpcs_hc, _WALKS),
    _label_only("ecpcs_mc", "meta-clustering by walks between clusters", ecpcs_mc, _WALKS),
    _label_only(
        "hyperedge_medoids", "medoids of clusters that grow", hyperedge_medoids, "Li et al. (2025)"
    ),
    _label_only(
        "majority", "pairs that most partitions join", majority, "Fred (2001)", chooses_k=True
    ),
    _aggregating("balls", "aggregation by balls around points, factor 3 for α = ¼", balls),
    _aggregating("agglomerative", "aggregation by average linkage below ½", agglomerative),
    _aggregating("furthest", "aggregation by furthest-first traversal", furthest),
    _aggregating("local_search", "aggregation by moving points", local_search),
    Method(
        "medoid",
        "the input nearest to all others, by any measure",
        "distances",
        None,
        soft=True,
        chooses_k=True,
        reference="with cdistance: Ansari, Fillmore, Coen (2010)",
        more_options=("measure", "measure_options"),
    ),
]

METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _ALL})
