"""The inputs of a case, and changes of them that a right kernel must follow."""
