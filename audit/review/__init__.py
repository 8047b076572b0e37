"""What the source alone says: structure, unsupported constructs and hints. Nothing here runs a kernel."""
