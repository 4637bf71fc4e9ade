"""Cluster vectors of partitions: represent, storage and checkpoints."""
