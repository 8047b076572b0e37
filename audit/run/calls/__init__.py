"""One call: its arguments in device memory, the published harness around it, its results, and when these are right."""
