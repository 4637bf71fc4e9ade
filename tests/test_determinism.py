"""Reproducibility: the same seed gives the same results for any threads, process and block size."""

import os
import subprocess
import sys

import numpy as np
import pytest

import liftcluster as lc
from liftcluster._util import arrays as _arrays
from liftcluster.lifts.settings import LIFTS


def fingerprint(**environment):
    """The lines of `python -m benchmarks fingerprint` as {name: (digest, digits)}."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "fingerprint"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    return {name: (digest, tuple(map(float, digits))) for name, digest, *digits in lines}


def threads(count):
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return {name: str(count) for name in names}


@pytest.fixture(scope="module")
def plain():
    return fingerprint(**threads(1), PYTHONHASHSEED="1")


def test_threads_processes_and_hash_seeds_change_no_bit(plain):
    other = fingerprint(**threads(3), PYTHONHASHSEED="2")
    assert {name for name in plain if plain[name][0] != other[name][0]} == set()


@pytest.mark.long
def test_results_without_compiled_kernels_agree(plain):
    other = fingerprint(**threads(2), LIFTCLUSTER_NATIVE="off")
    for name, (_, digits) in plain.items():
        assert other[name][1] == pytest.approx(digits, rel=2e-5), name


@pytest.mark.parametrize("lift", [lift for lift in LIFTS if lift != "auto"])
def test_block_size_changes_only_rounding(lift, monkeypatch):
    rng = np.random.default_rng(0)
    X, parts = rng.standard_normal((700, 2)), list(rng.integers(3, size=(2, 700)))
    whole = lc.represent(X, parts, kernel=lc.Gaussian(1.0), lift=lift, rng=0)
    monkeypatch.setattr(_arrays.row_blocks, "__kwdefaults__", {"block_bytes": 8 * 64 * 16})
    blocks = lc.represent(X, parts, kernel=lc.Gaussian(1.0), lift=lift, rng=0)
    np.testing.assert_allclose(blocks.inner_products(), whole.inner_products(), atol=1e-12)
