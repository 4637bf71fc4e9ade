"""Distances between partitions, and how two partitions differ."""
