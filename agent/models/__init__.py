"""Models: anything that answers a message list with one assistant message."""
