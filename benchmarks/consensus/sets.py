"""The data sets of the benchmark: the labelled ones of a folder, and 50 generated ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..generated import generated_sets
from ..labelled import IMAGES, in_units, labelled_sets

__all__ = ["FAMILIES", "HALVES", "DataSet", "all_sets"]

FAMILIES = ("shape", "image", "table")
HALVES = ("chosen", "reported")
_SHUFFLING = 7  # seed


@dataclass(frozen=True, eq=False)
class DataSet:
    """Points with known classes.

    Attributes
    ----------
    name : str
        "made" or "real", family and name, joined by underscores.
    family : "shape", "image" or "table"
        Points in two or three dimensions; pixels or curves; anything else.
    half : "chosen" or "reported"
        Defaults of liftcluster may be chosen on the first, and are then tested on the second.
    X : (n, d) array
        Columns of variance one; of images, variance one in all.
    classes : (n,) array of str
    """

    name: str
    family: str
    half: str
    X: np.ndarray
    classes: np.ndarray

    @property
    def k(self) -> int:
        return len(np.unique(self.classes))


def all_sets(folder: Path | None, most: int = 1000) -> list[DataSet]:
    """All data sets by name, in alternating halves; the generated ones alone without a folder.

    A labelled set of more than ``most`` points is subsampled. Rows are shuffled, because some
    published methods depend on their order. Generated sets come first by name, so that their
    halves and orders do not depend on the folder.
    """
    found = [] if folder is None else _of_folder(folder, most)
    found += [
        (f"made_{name}", in_units(X, one_unit=name.startswith("image")), classes)
        for name, X, classes in generated_sets()
    ]
    rng = np.random.default_rng(_SHUFFLING)
    sets = []
    for number, (name, X, classes) in enumerate(sorted(found, key=lambda each: each[0])):
        order = rng.permutation(len(X))
        family = name.split("_")[1]
        sets.append(DataSet(name, family, HALVES[number % 2], X[order], classes[order]))
    return sets


def _of_folder(folder: Path, most: int) -> list[tuple[str, np.ndarray, np.ndarray]]:
    return [
        (f"real_{_family(name, X)}_{name}", X, classes)
        for name, X, classes in labelled_sets(folder, most)
    ]


def _family(name: str, X: np.ndarray) -> str:
    if name in IMAGES:
        return "image"
    return "shape" if X.shape[1] <= 3 else "table"
