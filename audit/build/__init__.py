"""From a source to something that can be called."""
