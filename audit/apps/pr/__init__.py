"""`audit pr`: the same kernel before and after a change: two sources, one claim, and what a pull request is told."""
