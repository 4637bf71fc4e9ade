"""The labelled data sets of a folder, standardised and subsampled."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np

__all__ = ["IMAGES", "in_units", "labelled_sets", "mnist"]

Labelled = tuple[str, np.ndarray, np.ndarray]
IMAGES = ("mnist", "optdigits")  # whose columns are pixels


def labelled_sets(folder: Path, most: int = 1000) -> Iterator[Labelled]:
    """(name, X, classes) with at most `most` points, without constant columns."""
    for name, X, classes in sorted(_raw(folder), key=lambda found: found[0]):
        if len(X) > most:
            rows = np.random.default_rng(0).choice(len(X), most, replace=False)
            X, classes = X[rows], classes[rows]
        yield name, in_units(X, one_unit=name in IMAGES), classes


def in_units(X: np.ndarray, *, one_unit: bool) -> np.ndarray:
    """Columns of variance one, or the whole of variance one where all are in one unit."""
    X = X[:, X.std(axis=0) > 0]
    centred = X - X.mean(axis=0)
    return centred / (centred.std() if one_unit else centred.std(axis=0))


def _raw(folder: Path) -> Iterator[Labelled]:
    import pandas as pd

    kinds = ("*.csv", "*.csv.gz")
    parts = (folder, folder / "extra", folder / "shapes", folder / "single_cell_spatial")
    tables = [path for part in parts for kind in kinds for path in part.glob(kind)]
    for path in tables:
        name = path.name.split(".")[0]
        if name in ("soybean_large_train", "mob_spots"):  # part of another set, and positions only
            continue
        frame = pd.read_csv(path, na_values="?")
        if frame.columns[-1] == "class":
            frame = frame.dropna()
            yield name, frame.iloc[:, :-1].to_numpy(float), frame["class"].astype(str).to_numpy()
    counts = folder / "single_cell_spatial" / "mob_counts.npz"
    if counts.exists():
        classes = pd.read_csv(counts.parent / "mob_spots.csv.gz")["class"].astype(str).to_numpy()
        yield "mob", _expression(np.load(counts)["counts"]), classes
    if (folder / "mnist").exists():
        yield "mnist", *mnist(folder, "t10k")


def _expression(counts: np.ndarray, n_components: int = 20) -> np.ndarray:
    """Principal components of the logarithms of counts per ten thousand."""
    Z = np.log1p(counts / counts.sum(axis=1, keepdims=True) * 1e4)
    U, s, _ = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)
    return U[:, :n_components] * s[:n_components]


def mnist(folder: Path, part: str) -> tuple[np.ndarray, np.ndarray]:
    """Images as rows of single-precision numbers, and their digits; part is "train" or "t10k"."""
    images = gzip.decompress((folder / "mnist" / f"{part}-images-idx3-ubyte.gz").read_bytes())
    digits = gzip.decompress((folder / "mnist" / f"{part}-labels-idx1-ubyte.gz").read_bytes())
    X = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784).astype(np.float32)
    return X, np.frombuffer(digits, np.uint8, offset=8).astype(str)
