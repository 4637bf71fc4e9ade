"""Consensus of several partitions."""
