"""Kernels, bandwidth rules and distances between points."""
