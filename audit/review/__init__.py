"""What the source alone says: structure, unsupported constructs and hints. Nothing here runs a kernel."""

from audit.review.source_findings import review_python, review_source

__all__ = ["review_python", "review_source"]
