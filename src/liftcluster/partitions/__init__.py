"""Partitions of points, and what can be computed from labels and memberships alone."""
