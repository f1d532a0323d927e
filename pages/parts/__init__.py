"""What the pages share: widgets, words, and the address."""
