"""Table 1: two clusterings as far from a third by labels, one of them nearer in space."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from liftcluster.comparison.comparing import distance
from liftcluster.comparison.measures.registry import MEASURES
from liftcluster.comparison.measures.spatial import adco
from liftcluster.datasets import Triple, make_2d2c, make_2d3c
from liftcluster.partitions.partition import as_partition

from . import printed
from .data import Located
from .ledger import Piece
from .section import Claim, Section, Settings, Values, markdown_table

__all__ = ["CONSTRUCTED", "TABLE_1", "measure_triple"]

CONSTRUCTED: Mapping[str, Callable[[], Triple]] = {"2d2c": make_2d2c, "2d3c": make_2d3c}
_TITLES = {
    "adco": "ADCO",
    "cdistance": "CDistance",
    "lift_emd": "LiftEMD",
    "lift_kd": "LiftKD",
    "lift_hausdorff": "LiftH",
    "rand": "Rand",
    "jaccard": "Jaccard",
    "nmi": "NMI",
    "nvi": "NVI",
}
# Section 6: two measures of pairs and two of information.
LABEL_MEASURES = ("rand", "jaccard", "nmi", "nvi")
_BINS = (5, 10, 20, 40)
_BANDWIDTHS = ("median/4", "median/2", "median", "median*2")


def measure_triple(name: str, components: int) -> Values:
    """Distances from the reference to both others, by every measure of the table."""
    data = CONSTRUCTED[name]()
    others = (data.first, data.second)

    def both(**options: Any) -> list[float]:
        return [distance(data.reference, other, data.X, **options) for other in others]

    lifted = [m for m in printed.TABLE_1 if MEASURES[m].needs == "vectors"]
    a, b, c = (as_partition(p) for p in (data.reference, *others))
    return {
        "spatial": {m: both(measure=m) for m in printed.TABLE_1},
        "labels": {m: both(measure=m) for m in LABEL_MEASURES},
        "by_random_features": {
            m: both(measure=m, lift="fourier", sampling="iid", n_components=components, rng=0)
            for m in lifted
        },
        "adco_by_bins": {
            str(bins): [adco(data.X, a, data.X, other, bins=bins) for other in (b, c)]
            for bins in _BINS
        },
        "lift_emd_by_bandwidth": {rule: both(bandwidth=rule) for rule in _BANDWIDTHS},
    }


def _plan(settings: Settings, located: Mapping[str, Located]) -> dict[str, Piece]:
    # ρ = 200, as in the paper.
    return {
        name: Piece(f"table-1-{name}", measure_triple, {"name": name, "components": 200})
        for name in CONSTRUCTED
    }


def _gather(results: Mapping[str, Any]) -> Values:
    return {"sets": dict(results), "claims": [claim.as_dict() for claim in check_table_1(results)]}


def check_table_1(sets: Mapping[str, Any]) -> list[Claim]:
    """Whether space tells the two apart, and labels do not."""
    wrong = [
        f"{_TITLES[m]} on {name.upper()} ({near:.3f} and {far:.3f})"
        for name, found in sets.items()
        for m, (near, far) in found["spatial"].items()
        if not near < far
    ]
    unequal = [
        f"{_TITLES[m]} on {name.upper()} ({near!r} and {far!r})"
        for name, found in sets.items()
        for m, (near, far) in found["labels"].items()
        if near != far
    ]
    return [
        Claim(
            "d(RP, FP) < d(RP, SP) for all five spatial measures, on both sets",
            not wrong,
            "in every cell" if not wrong else "not for " + ", ".join(wrong),
        ),
        Claim(
            "Rand, Jaccard, NMI and NVI find FP and SP exactly as far from RP",
            not unequal,
            "to the last bit" if not unequal else "not for " + ", ".join(unequal),
        ),
        _whatever(sets, "adco_by_bins", "ADCO", "its bins", "{} bins"),
        _whatever(sets, "lift_emd_by_bandwidth", "LiftEMD", "the bandwidth", "bandwidth {}"),
    ]


def _whatever(sets: Mapping[str, Any], group: str, title: str, what: str, choice: str) -> Claim:
    """Not a sentence of the paper: whether the order hangs on what it leaves open."""
    wrong = [
        f"{choice.format(key)} on {name.upper()} ({near:.3f} and {far:.3f})"
        for name, found in sets.items()
        for key, (near, far) in found[group].items()
        if not near < far
    ]
    tried = ", ".join(next(iter(sets.values()))[group])
    return Claim(
        f"(Ours.) {title} finds FP nearer whatever {what}",
        not wrong,
        f"with each of {tried}" if not wrong else f"tried {tried}; not with {', '.join(wrong)}",
    )


def _tell(values: Values) -> str:
    sets = values["sets"]
    header = ["measure"]
    for name in sets:
        header += [f"{name.upper()} d(RP, FP)", "d(RP, SP)", "paper's"]
    rows = []
    for m in (*printed.TABLE_1, *LABEL_MEASURES):
        row = [_TITLES[m]]
        for name, found in sets.items():
            near, far = (found["spatial"] | found["labels"])[m]
            paper = printed.TABLE_1[m][name] if m in printed.TABLE_1 else None
            row += [f"{near:.3f}", f"{far:.3f}"]
            row += ["equal" if paper is None else f"{paper[0]:.3f}, {paper[1]:.3f}"]
        rows.append(row)
    return (
        f"{markdown_table(header, rows)}\n\n"
        "Exact lifts at the median distance of points. The paper does not give its points, its "
        "bandwidth or the bins of ADCO, so only the order within a set can be compared. What the "
        "last two do to the numbers, d(RP, FP) and d(RP, SP):\n\n"
        f"{_sensitivity_table(sets)}\n\n{_about_adco(sets)}"
    )


def _about_adco(sets: Mapping[str, Any]) -> str:
    """Whether bins alone can explain the paper's ADCO."""
    ours = [v for found in sets.values() for pair in found["adco_by_bins"].values() for v in pair]
    theirs = [v for pair in printed.TABLE_1["adco"].values() for v in pair]
    text = (
        f"With {_BINS[0]} to {_BINS[-1]} bins ADCO lies between {min(ours):.2f} and "
        f"{max(ours):.2f} here, the paper's between {min(theirs):.2f} and {max(theirs):.2f}"
    )
    if min(theirs) <= max(ours):
        return f"{text}."
    return f"{text}: more than bins explain, so its points or its normalisation are others."


def _sensitivity_table(sets: Mapping[str, Any]) -> str:
    """The same distances under other choices of what the paper leaves open."""
    lifted = next(iter(sets.values()))["by_random_features"]
    choices = [
        *((f"ADCO, {b} bins on each axis", "adco_by_bins", str(b)) for b in _BINS),
        *((f"LiftEMD, bandwidth {r}", "lift_emd_by_bandwidth", r) for r in _BANDWIDTHS),
        *((f"{_TITLES[m]}, 200 random features", "by_random_features", m) for m in lifted),
    ]
    rows = [
        [title, *("{:.3f}, {:.3f}".format(*found[group][key]) for found in sets.values())]
        for title, group, key in choices
    ]
    return markdown_table(["", *(name.upper() for name in sets)], rows)


TABLE_1 = Section("table-1", "Table 1: spatial sensitivity", (), _plan, _gather, _tell)
