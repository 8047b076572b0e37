"""Why a source has to take the published build."""

from __future__ import annotations

from audit.model.errors import AuditError, Unsupported


class NotFast(Unsupported):
    """The fast build cannot take the source; that says nothing about the kernel.

    Args:
        construct: what it cannot take, or the compiler's words.
        line: where it stands, 0 where no line is known.
    """

    def __init__(self, construct: str, *, line: int = 0) -> None:
        place = f" (line {line})" if line else ""
        AuditError.__init__(self, f"the fast build does not take {construct}{place}; use the published build")
        self.construct = construct
        self.line = line
