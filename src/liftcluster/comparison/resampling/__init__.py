"""Stability of clusterings under resampling, and the choice of a setting by it."""
