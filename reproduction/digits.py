"""Figure 7: clusters of MNIST test as mean images, and the digits among them, counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from liftcluster._util.typing import Array, IntArray

from . import printed
from .agreement import label
from .combining import consensus_pieces
from .data import Labelled, Located
from .ledger import Piece
from .section import Claim, Settings, Values, markdown_table

__all__ = ["digit_title", "find_digits", "gather_digits", "plan_digits", "tell_digits"]

SHOWN = tuple(printed.DIGITS)  # three inputs and two consensus partitions


def plan_digits(settings: Settings, located: Mapping[str, Located]) -> dict[str, Piece]:
    pieces = {}
    for called, combined in consensus_pieces(settings, located).items():
        seed = int(called.split()[1])
        pieces[str(seed)] = Piece(
            f"figure-7-seed-{seed:02d}",
            count_digits,
            {},
            combined.points,
            needs=(combined, *combined.needs),
        )
    return pieces


def count_digits(
    points: Labelled, combined: Values, linkages: Mapping[str, list[int]], kmeans: list[int]
) -> Values:
    """Centroids of the five partitions, and which digits they stand for."""
    partitions = {"k-means": kmeans, **linkages} | {
        name: found["labels"] for name, found in combined["methods"].items()
    }
    found = {}
    for name in SHOWN:
        codes = np.unique(np.asarray(partitions[name]), return_inverse=True)[1]
        clusters = find_digits(codes, points.classes)
        centroids = np.array([points.X[codes == c].mean(axis=0) for c in range(codes.max() + 1)])
        found[name] = {"clusters": clusters, "centroids": np.rint(centroids).astype(int).tolist()}
    return found


def find_digits(codes: IntArray, classes: Array) -> list[Values]:
    """For each cluster its digit by the best one-to-one matching, and how well it stands for it.

    ``seen``: most of the cluster's points are that digit, so that its mean image looks like it.
    ``recovered``: and most of the digit's points are in that cluster.

    Examples
    --------
    Two of three zeros and a one; a one and a zero, which is no majority:

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


def gather_digits(results: Mapping[str, Any]) -> Values:
    """How many digits in each partition, for every seed; the first seed is drawn."""
    counts = {
        name: {
            kind: [sum(c[kind] for c in run[name]["clusters"]) for run in results.values()]
            for kind in ("seen", "recovered")
        }
        for name in SHOWN
    }
    first = next(iter(results.values()))
    found = {
        name: sorted(c["digit"] for c in first[name]["clusters"] if c["recovered"])
        for name in SHOWN
    }
    values = {"counts": counts, "digits": found, "seeds": len(results)}
    return values | {"claims": [claim.as_dict() for claim in check_digits(counts)]}


def check_digits(counts: Mapping[str, Mapping[str, list[int]]]) -> list[Claim]:
    recovered = {name: float(np.mean(found["recovered"])) for name, found in counts.items()}
    behind = [name for name in recovered if name != "lift_km"]
    most = max(recovered[name] for name in behind)
    words = [
        f"{digit_title(name)} {number:g} (paper, by eye: {len(printed.DIGITS[name])})"
        for name, number in recovered.items()
    ]
    nine = len(printed.DIGITS["lift_km"])
    return [
        Claim(
            "LiftKm shows more digits than CSPA and the three inputs",
            recovered["lift_km"] > most,
            "digits recovered, mean over seeds: " + ", ".join(words),
        ),
        Claim(
            f"{nine} digits can be identified in the output of LiftKm",
            recovered["lift_km"] >= nine,
            f"{recovered['lift_km']:g} are recovered, and "
            f"{np.mean(counts['lift_km']['seen']):g} are seen, by counting",
        ),
    ]


def tell_digits(values: Values) -> str:
    rows = []
    for name in SHOWN:
        counts = values["counts"][name]
        rows.append(
            [
                digit_title(name),
                f"{np.mean(counts['recovered']):g}",
                " ".join(values["digits"][name]),
                f"{np.mean(counts['seen']):g}",
                str(len(printed.DIGITS[name])),
                " ".join(map(str, printed.DIGITS[name])),
            ]
        )
    header = ["", "recovered", "which (first seed)", "seen", "paper, by eye", "which"]
    return (
        "Digits counted by matching clusters to classes one to one, mean over "
        f"{values['seeds']} seeds. A digit is *seen* if it is the majority of its cluster, so that "
        "the mean image looks like it (a cluster of a single image passes), and *recovered* if the "
        "cluster also has the majority of the digit's images.\n\n" + markdown_table(header, rows)
    )


def digit_title(name: str) -> str:
    return {"complete": "complete linkage", "average": "average linkage", "k-means": name}.get(
        name, label(name)
    )
