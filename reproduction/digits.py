"""Figure 7: clusters of MNIST test as mean images, and the digits that they recover."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from liftcluster._util.typing import Array, IntArray

from . import published
from .consensus_claims import method_title
from .consensus_tasks import plan_consensus
from .data import Labelled, Located
from .plots import plot_digits
from .section import Claim, Section, Settings, Values, markdown_table
from .tasks import Task

__all__ = ["FIGURE_7", "check_digits", "find_digits"]

_TITLES = {  # of three inputs and two consensus partitions
    "k-means": "k-means",
    "complete": "complete linkage",
    "average": "average linkage",
    "cspa": method_title("cspa"),
    "lift_km": method_title("lift_km"),
}


def _plan(settings: Settings, located: Mapping[str, Located]) -> dict[str, Task]:
    return {
        seed: Task(
            f"figure-7-seed-{int(seed):02d}",
            count_digits,
            {},
            combined.points,
            dependencies=(combined, *combined.dependencies),
        )
        for key, combined in plan_consensus(settings, located).items()
        for seed in [key.split()[1]]
    }


def count_digits(
    points: Labelled, combined: Values, linkages: Mapping[str, list[int]], kmeans: list[int]
) -> Values:
    """The centroids of the five partitions, and the digits that the clusters match."""
    partitions = {"k-means": kmeans, **linkages} | {
        name: found["labels"] for name, found in combined["methods"].items()
    }
    found = {}
    for name, title in _TITLES.items():
        codes = np.unique(np.asarray(partitions[name]), return_inverse=True)[1]
        clusters = find_digits(codes, points.classes)
        centroids = np.array([points.X[codes == c].mean(axis=0) for c in range(codes.max() + 1)])
        centroids = np.rint(centroids).astype(int)
        found[name] = {"title": title, "clusters": clusters, "centroids": centroids.tolist()}
    return found


def find_digits(codes: IntArray, classes: Array) -> list[Values]:
    """The digit of each cluster by the best one-to-one matching, and whether it is recovered.

    ``seen``: most points of the cluster are that digit, so its mean image looks like the digit.
    ``recovered``: additionally, most points of the digit are in that cluster.

    Examples
    --------
    The second cluster has a one and a zero, so there is no majority:

    >>> found = find_digits(np.array([0, 0, 0, 1, 1]), np.array(["0", "0", "1", "1", "0"]))
    >>> [(cluster["digit"], cluster["seen"], cluster["recovered"]) for cluster in found]
    [('0', True, True), ('1', False, False)]
    """
    names, digits = np.unique(classes, return_inverse=True)
    table = np.zeros((codes.max() + 1, len(names)), dtype=np.int64)
    np.add.at(table, (codes, digits), 1)
    matched = dict(zip(*linear_sum_assignment(table, maximize=True), strict=True))
    found = []
    for cluster, counts in enumerate(table):
        digit = matched.get(cluster)
        own = 0 if digit is None else int(counts[digit])
        seen = 2 * own > counts.sum()
        found.append(
            {
                "digit": None if digit is None else str(names[digit]),
                "size": int(counts.sum()),
                "own": own,
                "seen": bool(seen),
                "recovered": bool(seen and 2 * own > table[:, digit].sum()),
            }
        )
    return found


def _collect(results: Mapping[str, Any]) -> Values:
    """The number of digits in each partition for every seed; the first seed is plotted."""
    counts = {
        name: {
            kind: [sum(c[kind] for c in run[name]["clusters"]) for run in results.values()]
            for kind in ("seen", "recovered")
        }
        for name in _TITLES
    }
    first = next(iter(results.values()))
    digits = {
        name: sorted(c["digit"] for c in first[name]["clusters"] if c["recovered"])
        for name in _TITLES
    }
    return {"counts": counts, "digits": digits, "seeds": len(results)}


def check_digits(counts: Mapping[str, Mapping[str, list[int]]]) -> list[Claim]:
    recovered = {name: float(np.mean(found["recovered"])) for name, found in counts.items()}
    others = [number for name, number in recovered.items() if name != "lift_km"]
    numbers = [
        f"{_TITLES[name]} {number:g} (paper, by eye: {len(published.DIGITS[name])})"
        for name, number in recovered.items()
    ]
    nine = len(published.DIGITS["lift_km"])
    return [
        Claim(
            "LiftKm shows more digits than CSPA and the three inputs",
            recovered["lift_km"] > max(others),
            "digits recovered, mean over seeds: " + ", ".join(numbers),
        ),
        Claim(
            f"{nine} digits can be identified in the output of LiftKm",
            recovered["lift_km"] >= nine,
            f"{recovered['lift_km']:g} are recovered, and "
            f"{np.mean(counts['lift_km']['seen']):g} are seen, by counting",
        ),
    ]


def _describe(values: Values) -> str:
    rows = [
        [
            title,
            f"{np.mean(values['counts'][name]['recovered']):g}",
            " ".join(values["digits"][name]),
            f"{np.mean(values['counts'][name]['seen']):g}",
            str(len(published.DIGITS[name])),
            " ".join(map(str, published.DIGITS[name])),
        ]
        for name, title in _TITLES.items()
    ]
    header = ["", "recovered", "which (first seed)", "seen", "paper, by eye", "which"]
    return (
        "Digits counted by a one-to-one matching of clusters and classes, mean over "
        f"{values['seeds']} seeds. A digit is *seen* if it is the majority of its cluster, so that "
        "the mean image looks like it (also in a cluster of a single image), and *recovered* if "
        "the cluster also has the majority of the digit's images.\n\n"
        + markdown_table(header, rows)
    )


FIGURE_7 = Section(
    "figure-7",
    "Figure 7: digits in the centroids of MNIST test",
    ("mnist-test",),
    _plan,
    _collect,
    lambda values: check_digits(values["counts"]),
    _describe,
    plot_digits,
)
