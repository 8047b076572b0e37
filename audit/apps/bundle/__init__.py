"""Evidence bundles: all an audit rests on in one zip, and the check of it on another machine, which runs no kernel."""

from audit.apps.bundle.archive import Unsound, sign
from audit.apps.bundle.make import make
from audit.apps.bundle.verify import Verified, verify

__all__ = ["Unsound", "Verified", "make", "sign", "verify"]
