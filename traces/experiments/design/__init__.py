"""What an experiment is, and the file that people write of it. ``FORMAT.md`` beside this package tells every key."""
