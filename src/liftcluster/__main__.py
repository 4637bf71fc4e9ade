"""`python -m liftcluster` is the command line."""

from .cli import main

main()
