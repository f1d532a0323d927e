"""What is measured of a run: from its trace to its row, and to its twin in the baseline."""
