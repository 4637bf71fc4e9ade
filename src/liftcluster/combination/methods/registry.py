"""Every consensus method by name: what it needs and what it promises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from .bipartite import lwgp
from .evidence import evidence, lwea
from .graph import cspa, hbgf, hgpa, mcla
from .lifted import lift_evidence, lift_graph, lift_hac, lift_km
from .voting import majority

__all__ = ["METHODS", "Method"]

Needs = Literal["vectors", "labels", "labels and vectors", "distances"]


@dataclass(frozen=True)
class Method:
    """A way to combine partitions into one.

    Attributes
    ----------
    name, title : str
    needs : str
        "vectors": groups lifted clusters and assigns points by their similarity to the groups;
        "labels": sees only which points share labels; "labels and vectors": both;
        "distances": chooses among the inputs.
    function : callable or None
    soft : bool
        Soft memberships count as they are; otherwise each point goes to its largest first.
    chooses_k : bool
        The number of clusters is not asked for.
    balanced : bool
        Cuts into parts of similar weight; points with equal labels may part.
    bandwidth : str
        The rule that bandwidth="auto" stands for: by evidence, see benchmarks/consensus.py.
    extra : str or None
        The extra of liftcluster that has the packages it needs.
    reference : str
    """

    name: str
    title: str
    needs: Needs
    function: Callable[..., Any] | None
    soft: bool = False
    chooses_k: bool = False
    balanced: bool = False
    bandwidth: str = "median/4"
    extra: str | None = None
    reference: str = ""


_PAPER = "Raman, Phillips, Venkatasubramanian (SDM 2011)"
_STREHL = "Strehl, Ghosh (2002)"
_HUANG = "Huang, Wang, Lai (2018)"


def _label_only(name: str, title: str, function: Any, reference: str, **traits: Any) -> Method:
    return Method(name, title, "labels", function, reference=reference, **traits)


_BALANCED = {"balanced": True, "extra": "graph"}
_ALL = [
    Method("lift_km", "k-means on lifted clusters", "vectors", lift_km, True, reference=_PAPER),
    Method("lift_hac", "Ward on lifted clusters", "vectors", lift_hac, True, reference=_PAPER),
    Method(
        "lift_graph",
        "graph cut, lifted clusters linked by place",
        "labels and vectors",
        lift_graph,
        reference=f"ours, after {_HUANG}",
    ),
    Method(
        "lift_evidence",
        "evidence graded by lifted similarity",
        "labels and vectors",
        lift_evidence,
        bandwidth="median/8",
        reference="ours, after Fred, Jain (2005)",
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
    _label_only(
        "majority", "pairs that most partitions join", majority, "Fred (2001)", chooses_k=True
    ),
    Method(
        "medoid",
        "the input nearest to all, under any measure",
        "distances",
        None,
        soft=True,
        chooses_k=True,
        reference="with cdistance: Ansari, Fillmore, Coen (2010)",
    ),
]

METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _ALL})
