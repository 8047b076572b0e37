"""Timing sessions: raw samples under each protocol, compared results of timed calls, and independent clocks."""
