"""Sessions without a clock: the steps of a variant, the right results, and launches that are recorded, not run."""
