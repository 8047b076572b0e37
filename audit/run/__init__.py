"""Processes that run claimed code and the references, which the judge never loads.

`processes/pool.py` runs in the judge's process. The fork server has imported torch and forks supervisors; a supervisor
is a trusted parent that forks a child for each session. All other rooms run in that child, which sends
events; `messages/`, `calls/correctness.py` and `timing/ratios.py` serve the judge's process too. The `reference.py` of
an imported claim imports its task from `imported_task` or `imported_functions`, which therefore keep their place here.
"""
