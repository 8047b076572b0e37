"""Compile a source for a device."""
