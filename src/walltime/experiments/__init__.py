"""Many simulations: an experiment's file, the store of its runs, and the processes that run them."""
