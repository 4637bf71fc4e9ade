"""Reproduction of the paper's evaluation: every table and figure, compared with the paper."""

from .data import SETS as SETS
from .page import format_claims as format_claims
from .pipeline import Reproduction as Reproduction
from .pipeline import reproduce_paper as reproduce_paper
from .registry import SECTIONS as SECTIONS
from .section import Settings as Settings
