"""The paper's data sets: read from a folder, or downloaded from OpenML and cached."""

from __future__ import annotations

import gzip
import hashlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from liftcluster._util.files import atomic_write
from liftcluster._util.typing import Array

__all__ = ["SETS", "ChangedData", "DataSet", "Labelled", "Located", "MissingData", "load", "locate"]


@dataclass(frozen=True)
class DataSet:
    """Name, files and size of one of the paper's data sets."""

    name: str
    title: str
    files: tuple[str, ...]  # relative to the data folder
    shape: tuple[int, int]
    k: int
    openml: int | None  # identifier at OpenML
    rows: tuple[int | None, int | None] = (None, None)  # from, to; of the data set at OpenML


_MNIST = "mnist/{}-images-idx3-ubyte.gz", "mnist/{}-labels-idx1-ubyte.gz"
_MNIST_TEST = tuple(name.format("t10k") for name in _MNIST)
_MNIST_TRAIN = tuple(name.format("train") for name in _MNIST)
_ALL = [
    DataSet("iris", "Iris", ("iris.csv",), (150, 4), 3, 61),
    DataSet("glass", "Glass", ("glass.csv",), (214, 9), 6, 41),
    DataSet("ionosphere", "Ionosphere", ("ionosphere.csv",), (351, 34), 2, 59),
    # OpenML's "soybean" is the large version; the paper uses the small one.
    DataSet("soybean", "Soybean", ("soybean_small.csv",), (47, 35), 4, None),
    DataSet("wine", "Wine", ("wine.csv",), (178, 13), 3, 187),
    DataSet("mnist-test", "MNIST test", _MNIST_TEST, (10_000, 784), 10, 554, (60_000, None)),
    DataSet("mnist-train", "MNIST train", _MNIST_TRAIN, (60_000, 784), 10, 554, (None, 60_000)),
]
SETS: Mapping[str, DataSet] = {dataset.name: dataset for dataset in _ALL}


class ChangedData(ValueError):
    """The files of a data set changed after it was located."""


class MissingData(Exception):
    """A data set that is neither in a folder nor at OpenML; the message says how to get it."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """Points with their true classes."""

    X: Array  # (n, d)
    classes: Array  # (n,)

    @property
    def k(self) -> int:
        return len(np.unique(self.classes))

    def digest(self) -> str:
        """Hash of the points and classes."""
        content = hashlib.sha256(np.ascontiguousarray(self.X).tobytes())
        content.update("\n".join(self.classes.astype(str).tolist()).encode())
        return content.hexdigest()[:16]


@dataclass(frozen=True)
class Located:
    """The folder where a data set was found, and a digest of its content."""

    name: str
    folder: str
    digest: str


def locate(name: str, folder: Path | None, cache: Path) -> Located:
    """Find a data set in the user's folder or the cache, or download it into the cache."""
    dataset = SETS[name]
    for place in (folder, cache):
        if place is not None and (_has_files(dataset, place) or _npz(dataset, place).exists()):
            return Located(name, str(place), _read(dataset, place).digest())
    _download(dataset, folder, cache)
    return Located(name, str(cache), _read(dataset, cache).digest())


@lru_cache(maxsize=2)
def load(located: Located) -> Labelled:
    """Read a data set that was located; its content must still be the same."""
    found = _read(SETS[located.name], Path(located.folder))
    if found.digest() != located.digest:  # otherwise results would be stored under a wrong key
        raise ChangedData(
            f"the files of {SETS[located.name].title} changed during the run; run again, finished "
            "tasks are kept"
        )
    return found


def _has_files(dataset: DataSet, folder: Path) -> bool:
    return all((folder / name).is_file() for name in dataset.files)


def _npz(dataset: DataSet, folder: Path) -> Path:
    """Where a downloaded data set is stored."""
    return folder / f"{dataset.name}.npz"


def _read(dataset: DataSet, folder: Path) -> Labelled:
    try:
        if not _has_files(dataset, folder):
            with np.load(_npz(dataset, folder), allow_pickle=False) as arrays:
                found = Labelled(arrays["X"], arrays["classes"])
        elif len(dataset.files) == 2:
            found = _read_images(*(folder / name for name in dataset.files))
        else:
            found = _read_table(folder / dataset.files[0])
    except (ValueError, KeyError, EOFError, BadZipFile, gzip.BadGzipFile) as error:
        raise MissingData(
            f"{dataset.title}: {' or '.join(dataset.files)} cannot be read ({error}); "
            f"{_how_to_get(dataset)}"
        ) from error
    if found.X.shape != dataset.shape or found.k != dataset.k:
        (n, d), (m, e) = dataset.shape, found.X.shape
        raise MissingData(
            f"{dataset.title} should have {n:,} × {d} numbers in {dataset.k} classes, but "
            f"{dataset.files[0]} has {m:,} × {e} in {found.k}; {_how_to_get(dataset)}"
        )
    return found


def _read_table(path: Path) -> Labelled:
    """A CSV file with a header, whose last column is the class."""
    cells = np.loadtxt(path, dtype=str, delimiter=",", skiprows=1, ndmin=2)
    return Labelled(cells[:, :-1].astype(np.float64), cells[:, -1])


def _read_images(images: Path, labels: Path) -> Labelled:
    """The idx files of MNIST, with headers of 16 and 8 bytes."""
    pixels = np.frombuffer(gzip.decompress(images.read_bytes()), np.uint8, offset=16)
    digits = np.frombuffer(gzip.decompress(labels.read_bytes()), np.uint8, offset=8)
    # float32 represents integers up to 255 exactly, in half the memory of float64.
    return Labelled(pixels.reshape(len(digits), -1).astype(np.float32), digits.astype(str))


def _download(dataset: DataSet, folder: Path | None, cache: Path) -> None:
    """Download from OpenML, and store all data sets that are parts of the download."""
    # The message goes on a page for others, so it does not name the folder.
    where = "no data folder was given" if folder is None else "not in the data folder"
    if dataset.openml is None:
        raise MissingData(f"{dataset.title}: {where}; {_how_to_get(dataset)}")
    try:
        X, classes = _from_openml(dataset.openml)
    except Exception as error:  # of any kind: the sections on other data sets still run
        reason = " ".join(str(error).split()) or type(error).__name__
        raise MissingData(
            f"{dataset.title}: {where}, and the download from OpenML failed ({reason}); "
            f"{_how_to_get(dataset)}"
        ) from error
    dtype = np.float32 if dataset.shape[1] == 784 else np.float64
    X, classes = np.asarray(X, dtype=dtype), np.asarray(classes).astype(str)
    cache.mkdir(parents=True, exist_ok=True)
    for part in SETS.values():
        if part.openml == dataset.openml:
            rows = slice(*part.rows)
            with atomic_write(_npz(part, cache)) as temporary, open(temporary, "wb") as file:
                np.savez_compressed(file, X=X[rows], classes=classes[rows])


def _from_openml(identifier: int) -> tuple[Any, Any]:
    from sklearn.datasets import fetch_openml

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about retries; a final failure raises
        found = fetch_openml(
            data_id=identifier, as_frame=False, return_X_y=True, cache=False, parser="liac-arff"
        )
    return found[0], found[1]


def _how_to_get(dataset: DataSet) -> str:
    files = " and ".join(dataset.files)
    source = "idx files of MNIST" if len(dataset.files) == 2 else "from UCI, class in last column"
    return f"put {files} ({source}) into a folder and pass it as --data or LIFTCLUSTER_DATA"
