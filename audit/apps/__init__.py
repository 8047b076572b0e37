"""Programs for people: commands, notebooks, batches, the self-test, bundles and generated pages."""
