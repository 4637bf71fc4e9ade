"""A page that answers how different some clusterings are, where, and what their consensus is."""

from .making import make_report as make_report
from .page import Report as Report

__all__ = ["Report", "make_report"]
