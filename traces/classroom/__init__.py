"""Classes of this server: their seats, where each one is, and the model that a teacher lends to them."""
