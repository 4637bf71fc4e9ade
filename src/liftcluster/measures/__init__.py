"""Distances between partitions."""
