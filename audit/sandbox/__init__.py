"""The sandbox around everything that compiles or runs claimed code, one mechanism a file, and the check of each."""
