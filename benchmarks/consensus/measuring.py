"""Scores of every consensus method and reference on one data set."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np

import liftcluster as lc

from .ensembles import ENSEMBLES, make_inputs
from .references import INPUTS, POINTS_ONLY, Score, score, score_inputs
from .sets import DataSet

__all__ = ["METHOD_ROWS", "ROWS", "find_consensus", "label_only", "measure_set", "unavailable"]

Call = tuple[str, Mapping[str, Any]]  # a method and its options
_SPECTRAL = [name for name in ("cspa", "mcla", "hbgf") if name in lc.METHODS]
METHOD_ROWS: dict[str, Call] = {name: (name, {}) for name in lc.METHODS} | {
    f"{name}, spectral": (name, {"partitioner": "spectral"}) for name in _SPECTRAL
}
ROWS = (*METHOD_ROWS, *POINTS_ONLY, *INPUTS)
_PACKAGES = {"graph": ("pymetis", "mtkahypar")}  # of the extras of liftcluster


def measure_set(data: DataSet, rows: list[str], seeds: int) -> dict[str, dict[str, list[Score]]]:
    """Scores of each row under each kind of inputs, one for each seed.

    The number of clusters is that of the classes. No class reaches a method, except through the
    inputs of annotators.
    """
    found = {row: {kind: [] for kind in ENSEMBLES} for row in rows}
    for seed in range(seeds):
        fixed = {
            row: score(data.classes, POINTS_ONLY[row](data.X, data.k, seed))
            for row in rows
            if row in POINTS_ONLY
        }
        for kind in ENSEMBLES:
            inputs = make_inputs(kind, data.X, data.classes, seed)
            scores = fixed | score_inputs(data.classes, inputs)
            for row in rows:
                if row in METHOD_ROWS:
                    scores[row] = _score_method(row, data, kind, inputs, seed)
                found[row][kind].append(scores[row])
    return found


def _score_method(row: str, data: DataSet, kind: str, inputs: list[np.ndarray], seed: int) -> Score:
    try:
        return score(data.classes, find_consensus(row, data, inputs, seed))
    except Exception as error:
        error.add_note(f"{row} on {data.name} with the inputs {kind!r} and seed {seed}")
        raise


def find_consensus(row: str, data: DataSet, inputs: list[np.ndarray], seed: int) -> np.ndarray:
    """Labels of the consensus of the inputs by a row of the benchmark."""
    method, options = METHOD_ROWS[row]
    # Methods that use labels alone get no points: lifting would take most of the time.
    points = None if label_only(row) else data.X
    found = lc.consensus(
        inputs, data.k, points, method=method, method_options=dict(options), rng=seed
    )
    return found.labels


def label_only(row: str) -> bool:
    """Whether a row is a consensus method that uses nothing but the labels of the inputs."""
    return row in METHOD_ROWS and lc.METHODS[METHOD_ROWS[row][0]].needs == "labels"


def unavailable(row: str) -> str | None:
    """The package that a row needs and that is not installed.

    Without METIS its methods would cut by eigenvectors, as the rows called spectral do.
    """
    if row not in METHOD_ROWS or "partitioner" in METHOD_ROWS[row][1]:
        return None
    extra = lc.METHODS[METHOD_ROWS[row][0]].extra
    return next((name for name in _PACKAGES.get(extra, ()) if find_spec(name) is None), None)
