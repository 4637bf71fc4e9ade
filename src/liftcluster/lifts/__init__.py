"""Lifting maps: each turns points into vectors whose inner products are kernel values."""
