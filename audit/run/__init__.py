"""Processes that run claimed code and the references, which the judge never loads.

`pool` runs in the judge's process. The fork server has imported torch and forks supervisors; a supervisor is a trusted
parent that forks a child for each session. The child (`session`, `oracle`, `timing`) does the work and sends events.
"""
