"""Evidence bundles: all an audit rests on in one zip, and the check of it on another machine, which runs no kernel."""

from audit.bundle.archive import Unsound
from audit.bundle.make import make
from audit.bundle.verify import Verified, verify

__all__ = ["Unsound", "Verified", "make", "verify"]
