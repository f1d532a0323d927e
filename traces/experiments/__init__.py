"""The ablation laboratory: take one thing away from a run, run it often enough, and say what that did.

A design (:mod:`~traces.experiments.design.experiment`) names subjects, models, conditions and repeats. Each combination
is a cell (:mod:`~traces.experiments.cells`) and gives one run, one trace and one row (:mod:`~traces.experiments.rows`).
The rows are all that the analysis looks at.
"""
