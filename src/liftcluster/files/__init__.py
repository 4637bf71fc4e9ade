"""Tables on disk: points and clusterings in, results out."""

from .clusterings import Clusterings as Clusterings
from .clusterings import read_clusterings as read_clusterings
from .clusterings import split_names as split_names
from .opening import open_table as open_table
from .table import InputError as InputError
from .writing import check_target as check_target
from .writing import write_columns as write_columns
from .writing import write_csv as write_csv
