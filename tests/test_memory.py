"""Insufficient memory: an estimate before the work, and an error that names an alternative."""

import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp

import liftcluster as lc
import liftcluster.io.anndata
from liftcluster._util import memory as _memory
from liftcluster._util.memory import available_memory, check_memory, gibibytes
from liftcluster.cli import main
from liftcluster.estimators import ClusterLifter, checks
from liftcluster.io import InputError, read_clusterings
from liftcluster.viz.layout import project_points

RNG = np.random.default_rng(0)
X = RNG.standard_normal((2000, 3))
U, V = RNG.integers(4, size=(2, 2000))


@pytest.fixture
def little_memory(monkeypatch):
    """Simulate a machine with 1 MiB of memory, where small estimates are checked too."""
    monkeypatch.setattr(_memory, "_LITTLE", 2**10)
    monkeypatch.setenv("LIFTCLUSTER_MEMORY_GIB", str(2**20 / 2**30))


IDS = np.arange(2000)  # row numbers used as a clustering by mistake


class Cells:
    obs, n_vars = {"u": np.zeros(5)}, 3 * 10**4
    X = sp.csr_array((10**7, 3 * 10**4), dtype=np.float32)
    obsm = {}  # noqa: RUF012


# Calls that need terabytes, and the alternative that the error names.
HUGE = {
    "features": (lambda: lc.represent(X, U, lift=lc.Fourier(10**12)), "n_components"),
    "features of wide points": (lambda: lc.represent(X[:, [0] * 60], U, lift=lc.Fourier(10**11)), "structured"),
    "structured features": (lambda: lc.make_lift(X, lift=lc.Structured(10**12)), "n_components"),
    "features of points": (lambda: lift_all(np.broadcast_to(X[:1], (2 * 10**9, 3))), "block by block"),
    "sparse cells": (lambda: lc.anndata.compare(Cells(), "u", "u", use_rep="X"), "X_pca"),
}  # fmt: skip


def lift_all(points):
    lifter = ClusterLifter(n_components=2000).fit(X)
    lifter.lift_ = lc.make_lift(X, lift=lc.Fourier(2000), rng=0)
    checks.validate_data, original = lambda *args, **kwargs: points, checks.validate_data
    try:
        lifter.transform(points)
    finally:
        checks.validate_data = original


@pytest.mark.parametrize("name", HUGE)
def test_terabytes_are_refused_early_with_an_alternative(name):
    call, alternative = HUGE[name]
    start = time.monotonic()
    with pytest.raises(MemoryError, match="GiB are available") as error:
        call()
    assert alternative in str(error.value)
    assert time.monotonic() - start < 10


def small_representation():
    return lc.represent(X, IDS, lift=lc.Structured(2))


# Calls that need more than 1 MiB, and the alternative that the error names.
LARGE = {
    "lift_emd": (lambda: lc.distance(IDS, IDS[::-1], X, lift="grid"), "adjusted_rand"),
    "comparison": (lambda: lc.compare(IDS, U, X, lift="exact"), "adjusted_rand"),
    "hausdorff": (lambda: lc.distance(IDS, IDS[::-1], X, measure="lift_hausdorff"), "adjusted_rand"),
    "exact": (lambda: lc.represent(X, IDS, lift="exact"), "adjusted_rand"),
    "vectors": (lambda: lc.represent(X, IDS, lift=lc.Structured(200)), "n_components"),
    "nystroem": (lambda: lc.represent(X, U, lift=lc.Nystroem(1000)), "n_components"),
    "centroid": (lambda: lc.distance(IDS, IDS[::-1], X, measure="centroid"), "adjusted_rand"),
    "adco": (lambda: lc.distance(IDS, IDS[::-1], X, measure="adco"), "adjusted_rand"),
    "adco with bins": (lambda: lc.distance(U, V, X, measure="adco", measure_options={"bins": 10**6}), "fewer bins"),
    "cdistance": (lambda: lc.distance(U, V, X, measure="cdistance"), "lift_emd"),
    "lwea": (lambda: lc.consensus([IDS, U], 3, method="lwea"), "adjusted_rand"),
    "lwgp": (lambda: lc.consensus([IDS, U], 3, method="lwgp"), "adjusted_rand"),
    "hbgf": (lambda: lc.consensus([IDS, U], 3, method="hbgf", method_options={"partitioner": "spectral"}), "adjusted_rand"),
    "memberships": (lambda: lc.consensus([IDS // 8, IDS // 8], 250, method="hbgf", method_options={"partitioner": "spectral"}), "fewer clusters"),
    "scores": (lambda: lc.consensus([IDS // 34, (IDS + 17) // 34], 60, X), "fewer clusters"),
    "linkages": (lambda: lc.base_partitions(X, 3), "kmeans"),
    "plane": (lambda: project_points(np.repeat(X, 10, axis=0)), "view"),
    "distances": (lambda: small_representation().distances(), "adjusted_rand"),
    "products": (lambda: small_representation().inner_products(), "adjusted_rand"),
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_work_that_does_not_fit_in_memory_is_refused_with_an_alternative(name, little_memory):
    call, alternative = LARGE[name]
    with pytest.raises(MemoryError, match=r"GiB of memory, and 0\.0 GiB are available") as error:
        call()
    assert alternative in str(error.value)


def test_too_large_file_is_refused_by_an_estimate_of_its_size(tmp_path, monkeypatch, little_memory):
    path = tmp_path / "mine.csv"
    path.write_text("x,y,u\n" + "1.5,2,a\n" * 100_000)
    with pytest.raises(
        MemoryError, match=r"mine\.csv would take .*split it, or take fewer columns"
    ):
        read_clusterings(path, labels=["u"])
    monkeypatch.setenv("LIFTCLUSTER_MEMORY_GIB", "1")
    assert read_clusterings(path, labels=["u"]).X.shape == (100_000, 2)


def test_command_line_shows_a_memory_error_in_one_line_with_its_own_option(tmp_path, capsys):
    path = tmp_path / "mine.csv"
    path.write_text("x,y,u,v\n0,1,a,b\n1,0,b,b\n2,2,a,a\n")
    command = f"compare {path} -l u,v --lift fourier --n-components 1000000000000"
    with pytest.raises(SystemExit) as stopped:
        main([*command.split(), "--quiet"])
    stderr = capsys.readouterr().err
    assert stopped.value.code == 2
    assert "1,000,000,000,000 features in 2 dimensions would take" in stderr
    assert "take a smaller --n-components" in stderr
    assert len(stderr.splitlines()) == 1


def test_command_line_shows_an_unexpected_memory_error_in_one_line(tmp_path, capsys, monkeypatch):
    path = tmp_path / "mine.csv"
    path.write_text("x,u,v\n0,a,b\n1,b,b\n")
    monkeypatch.setattr(
        "liftcluster.cli.work.compare_two", lambda *args: np.empty(2**60, dtype=np.uint8)
    )
    with pytest.raises(SystemExit) as stopped:
        main(["compare", str(path), "-l", "u,v", "-q"])
    assert stopped.value.code == 2
    assert capsys.readouterr().err.startswith("liftcluster: there is not enough memory; take fewer")


@pytest.mark.parametrize(
    "call",
    [
        lambda: lc.distance(IDS, IDS[::-1], X),
        lambda: lc.distance(IDS, IDS[::-1], X, Y=X),
        lambda: lc.distance_matrix([IDS, IDS[::-1], U], X),
        lambda: lc.compare(IDS, IDS[::-1], X),
        lambda: lc.consensus([IDS, IDS[::-1]], 3, X),
        lambda: lc.make_report({"u": IDS, "v": IDS[::-1]}, X, rng=0),
    ],
)
def test_ids_used_as_clusterings_are_refused_before_lifting(call, little_memory, monkeypatch):
    for package in ("comparison.inputs", "comparison.comparing", "comparison.distances"):
        monkeypatch.setattr(
            f"liftcluster.{package}.represent_in_memory", lambda *a, **k: pytest.fail("lifted")
        )
    monkeypatch.setattr(
        "liftcluster.combination.combining.represent_points",
        lambda *a, **k: pytest.fail("lifted"),
    )
    with pytest.raises(MemoryError, match="so many are rarely a clustering"):
        call()


def test_small_work_does_not_query_the_available_memory(monkeypatch):
    monkeypatch.setattr(_memory, "available_memory", lambda: pytest.fail("queried"))
    check_memory(2**28, "this", "take less")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"proc/meminfo": "MemTotal: 9 kB\nMemAvailable:    2048 kB\n"}, 2048 * 1024),
        ({"proc/self/cgroup": "0::/job\n", "group/job/memory.max": "5000\n", "group/job/memory.current": "3000\n", "group/job/memory.stat": "anon 1\ninactive_file 500\n"}, 2500),
        ({"proc/self/cgroup": "0::/a/b\n", "group/a/memory.max": "700\n", "group/a/memory.current": "600\n", "group/a/b/memory.max": "max\n", "group/a/b/memory.current": "6\n"}, 100),
        ({"proc/self/cgroup": "7:memory:/job\n", "group/memory/job/memory.limit_in_bytes": "900\n", "group/memory/job/memory.usage_in_bytes": "1000\n"}, 0),
    ],
    ids=["system", "group", "group above", "older group"],
)  # fmt: skip
def test_available_memory_respects_system_and_cgroup_limits(files, expected, tmp_path, monkeypatch):
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(_memory, "_PROC", tmp_path / "proc")
    monkeypatch.setattr(_memory, "_GROUPS", tmp_path / "group")
    assert available_memory() == expected


def test_available_memory_is_unlimited_if_unknown(tmp_path, monkeypatch):
    monkeypatch.setattr(_memory, "_PROC", tmp_path)
    monkeypatch.setattr(_memory, "_GROUPS", tmp_path)
    assert available_memory() > 2**28
    monkeypatch.setattr("os.sysconf", lambda name: 1 / 0 if name == "" else int("x"))
    assert available_memory() == 2**63
    monkeypatch.setitem(sys.modules, "resource", None)
    assert available_memory() == 2**63


def test_limits_can_be_set_and_invalid_limits_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("LIFTCLUSTER_MEMORY_GIB", "3.5")
    assert available_memory() == 3.5 * 2**30
    for text in ("much", "-1", "nan", "inf"):
        monkeypatch.setenv("LIFTCLUSTER_MEMORY_GIB", text)
        with pytest.raises(ValueError, match="LIFTCLUSTER_MEMORY_GIB must be a positive number"):
            gibibytes("LIFTCLUSTER_MEMORY_GIB", 1)
    path = tmp_path / "mine.csv"
    path.write_text("x,u\n" + "1.5,a\n" * 1000)
    monkeypatch.setenv("LIFTCLUSTER_MEMORY_GIB", "1")
    monkeypatch.setenv("LIFTCLUSTER_FILE_GIB", "1e-6")
    with pytest.raises(InputError, match="set LIFTCLUSTER_FILE_GIB"):
        read_clusterings(path, labels=["u"])
    monkeypatch.setenv("LIFTCLUSTER_FILE_GIB", "1")
    assert len(read_clusterings(path, labels=["u"]).X) == 1000
