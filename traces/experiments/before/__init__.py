"""What is told before an experiment runs: the requests that result, what it will take, and what may not be meant."""
