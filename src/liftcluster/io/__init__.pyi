"""The names of this package, for type checkers and for lazy loading at run time."""

from . import anndata as anndata
from .clusterings import Clusterings as Clusterings
from .clusterings import read_clusterings as read_clusterings
from .formats import open_table as open_table
from .input_checks import InputError as InputError
from .input_checks import check_file as check_file
from .input_checks import split_names as split_names
from .write import check_target as check_target
from .write import write_columns as write_columns
from .write import write_csv as write_csv
