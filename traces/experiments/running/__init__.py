"""How an experiment runs: its folder and ledger, one run after the other by threads or a cluster, paused, resumed."""
