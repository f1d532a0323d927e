"""What may be said of the rows of an experiment: statistics, verdicts, and the sentences that tell them."""
