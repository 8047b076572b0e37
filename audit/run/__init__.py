"""Processes that run what the judge never loads: claimed code and the references.

`pool` is the judge's side. The fork server has imported torch and forks supervisors; a supervisor is a trusted parent
that forks one fresh child for each session. The child (`session`, `oracle`, `timing`) does the work, sends its events
line by line over a private pipe, and ends.
"""
