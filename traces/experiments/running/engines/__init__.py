"""Engines: what performs the runs of an experiment. One module each, with ``run(job)``.

The same design gives the same rows with each of them. ``run`` returns when nothing is left to do, or when the gate of
the job is closed.
"""
