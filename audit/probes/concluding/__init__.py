"""Read observations: compared results, reported behaviour, and the finding that follows; `audit verify` does so too."""
