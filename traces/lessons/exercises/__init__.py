"""Exercises that check themselves: what is to be done, the check, hints, and the answer. One module an exercise."""
