"""The agent loop: runs, and nothing else."""
