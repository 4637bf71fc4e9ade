"""Rows in blocks, from memory maps, HDF5, zarr, Parquet, iterables and Dask."""
