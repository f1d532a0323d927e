"""Spans of observability tools: what one is, what it says in the words of every convention, and how conversations grow
out of many of them. Readers of span formats make the spans; everything else is done here.
"""
