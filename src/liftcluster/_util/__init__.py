"""Arrays, memory, threads, progress, files and validation, used by every package."""
