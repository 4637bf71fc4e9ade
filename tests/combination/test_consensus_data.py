"""Consensus on the paper's data sets, if the folder LIFTCLUSTER_DATA is available."""

import os
from pathlib import Path

import numpy as np
import pytest

import liftcluster as lc

FOLDER = Path(os.environ.get("LIFTCLUSTER_DATA", "missing"))
pytestmark = pytest.mark.skipif(
    not (FOLDER / "iris.csv").exists(), reason="needs LIFTCLUSTER_DATA, a folder of data sets"
)

# Rand distance to the classes: the paper's LiftKm and LiftHAC, section 6.
PAPER = {
    "iris": (0.114, 0.125),
    "glass": (0.425, 0.430),
    "ionosphere": (0.420, 0.410),
    "soybean_small": (0.150, 0.154),
    "wine": (0.320, 0.310),
}


@pytest.mark.parametrize("method", ["lift_km", "lift_hac"])
@pytest.mark.parametrize("name", PAPER)
@pytest.mark.filterwarnings(
    "ignore:the consensus is farther", r"ignore:\d+ clusters were asked for"
)
def test_rand_distances_are_not_worse_than_in_the_paper(name, method):
    rows = np.genfromtxt(FOLDER / f"{name}.csv", delimiter=",", skip_header=1, dtype=str)
    X, classes = rows[:, :-1].astype(float), rows[:, -1]  # raw features, as in the paper
    k = len(set(classes))
    found = lc.consensus(lc.base_partitions(X, k, rng=0), k, X, method=method, rng=0)
    distance = lc.distance(found.labels, classes, measure="rand")
    assert distance <= PAPER[name][method == "lift_hac"] + 0.02
