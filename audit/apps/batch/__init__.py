"""Many audits left running: each claim's notebook through papermill in processes of its own, on this machine or on Ray.

Whether an audit ended follows from return code, signal and the record it left, never by papermill alone, which reports
success for a kernel that died. See `docs/batch.md` for the states and the exit codes.
"""
