"""The report page: one HTML file that compares clusterings."""
