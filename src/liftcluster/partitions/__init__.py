"""Partitions of points, and what is computed from labels and memberships alone."""
