"""`python -m liftcluster` is the command line."""

from liftcluster_start import main

main()
