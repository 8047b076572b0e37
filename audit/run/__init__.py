"""Processes that run what the judge never loads: claimed code and the references.

`pool` is the judge's side. A `zygote` is a trusted parent that has imported torch and forks one fresh child for each
session; the child (`session`, `oracle`) does the work, tells it line by line over a private pipe, and dies.
"""
