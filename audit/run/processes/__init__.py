"""The judge's pool of processes, and the trusted parents that fork a process for each session."""
