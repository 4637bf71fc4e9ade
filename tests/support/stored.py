"""The same rows in every storage format that is read in blocks."""

from __future__ import annotations

import itertools

import dask.array as da
import dask.dataframe as dd
import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import zarr

import liftcluster as lc


def as_memmap(folder, name, rows):
    stored = np.memmap(folder / f"{name}.bin", dtype=rows.dtype, mode="w+", shape=rows.shape)
    stored[...] = rows
    return stored


def as_hdf5(folder, name, rows):
    """In chunks that do not align with the blocks."""
    file = h5py.File(folder / f"{name}.h5", "w")
    if rows.dtype.kind in "OU":
        return file.create_dataset("rows", data=list(rows), chunks=(5,))
    return file.create_dataset("rows", data=rows, chunks=(5, *rows.shape[1:]))


def as_zarr(folder, name, rows):
    stored = zarr.create_array(
        store=folder / f"{name}.zarr",
        shape=rows.shape,
        chunks=(6, *rows.shape[1:]),
        dtype=str if rows.dtype.kind in "OU" else rows.dtype,
    )
    stored[...] = rows
    return stored


def as_blocks(folder, name, rows):
    """In blocks of different lengths, some of them empty."""
    edges = np.unique([0, 1, 1, 4, 4, len(rows) // 2, len(rows)])
    pieces = [rows[i:j] for i, j in itertools.pairwise(edges)]
    return lc.Blocks(lambda: iter([rows[:0], *pieces, rows[:0]]))


def as_parquet(folder, name, rows):
    columns = {"c": rows} if rows.ndim == 1 else {f"c{i}": rows[:, i] for i in range(rows.shape[1])}
    table = pa.table(columns)
    half = len(rows) // 2
    pq.write_table(table.slice(0, half), folder / f"{name}-0.parquet", row_group_size=4)
    pq.write_table(table.slice(half), folder / f"{name}-1.parquet", row_group_size=9)
    scanned = lc.scan_table(folder / f"{name}-*.parquet")
    return scanned["c"] if rows.ndim == 1 else scanned[list(columns)]


def as_csv(folder, name, rows):
    flat = rows[:, None] if rows.ndim == 1 else rows
    names = [f"c{i}" for i in range(flat.shape[1])]
    lines = [",".join(names), *(",".join(map(_cell, row)) for row in flat.tolist())]
    (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    scanned = lc.scan_table(folder / f"{name}.csv")
    return scanned["c0"] if rows.ndim == 1 else scanned[names]


def _cell(value):
    return "" if value is None else value if isinstance(value, str) else repr(value)


def as_dask_array(folder, name, rows):
    """In chunks of different lengths; the columns of points are chunked too."""
    cuts = {"X": (50, 7, 93), "weights": (60, 30, 60)}.get(name, (50, 40, 60))
    scale = len(rows) / sum(cuts)
    edges = [round(scale * edge) for edge in np.cumsum([0, *cuts])]
    chunks = (tuple(np.diff(edges).tolist()), *((1,) * width for width in rows.shape[1:]))
    return da.from_array(rows, chunks=chunks)


def as_dask_frame(folder, name, rows):
    """In partitions of unknown length, one of them empty."""
    frame = pd.DataFrame(rows) if rows.ndim > 1 else pd.Series(rows)
    third = len(rows) // 3
    edges = [0, third, third, len(rows) - 3, len(rows)]
    pieces = [frame.iloc[i:j] for i, j in itertools.pairwise(edges)]
    return dd.from_map(lambda i: pieces[i], range(4), meta=frame.iloc[:0])


FORMS = {
    "memmap": as_memmap,
    "HDF5": as_hdf5,
    "zarr": as_zarr,
    "blocks": as_blocks,
    "Parquet": as_parquet,
    "CSV": as_csv,
    "dask array": as_dask_array,
    "dask frame": as_dask_frame,
}
