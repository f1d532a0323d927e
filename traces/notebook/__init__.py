"""A run as a sequence of cells for a learner: messages, states, pictures and own notes; with what it is exported as."""
