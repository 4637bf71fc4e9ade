"""The paper's evaluation, made again: every table and figure, with ours beside the paper's."""

from .contents import SECTIONS as SECTIONS
from .data import SETS as SETS
from .making import Made as Made
from .making import make_paper as make_paper
from .page import claims_in_words as claims_in_words
from .section import Settings as Settings
