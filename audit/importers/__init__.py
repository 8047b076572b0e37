"""The import stage: claims as others publish them → claim folders. Nothing that is imported is run."""
