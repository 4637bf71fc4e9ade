"""Lifts of points on a GPU."""
