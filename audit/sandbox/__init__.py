"""The sandbox of every process that compiles or runs claimed code: one mechanism a file, and a check of each."""
