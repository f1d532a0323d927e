"""What an experiment is tried on, and with which models: what a design names becomes tasks that can be begun."""
