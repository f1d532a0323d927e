"""The pages of the app, and what they share.

This file makes it an ordinary package. Of a folder without one Streamlit watches what is in it, and takes the compiled
files that Python writes at the first start for changes of ours: it would offer to run the page again.
"""
