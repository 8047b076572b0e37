"""The walls around everything that compiles or runs claimed code: one wall a file, and how each is tried."""
