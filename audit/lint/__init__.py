"""Published numbers: one claim against hardware floors, and rules over datasets. Nothing is built or run."""
