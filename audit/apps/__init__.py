"""What people start: commands, notebooks, batches, the self-test, bundles and generated pages."""
