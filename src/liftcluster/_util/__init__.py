"""Arrays, memory, threads, progress, files, validation: what every package uses."""
