"""The calls that probes make, planned and made in sessions, and the finding that comes of an exception."""
