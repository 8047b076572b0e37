"""Errors before or beside an audit. An error that a user can cause is a `BadInput`: one sentence, no traceback."""

from __future__ import annotations

from audit.model import sanitizer


class AuditError(Exception):
    """Base of every error this package raises on purpose."""


class BadInput(AuditError):
    """The user gave something that cannot be audited; the message names the file and the key, and what to do."""

    def _render_traceback_(self) -> list[str]:
        """Return the lines that a notebook shows in place of a traceback; IPython calls this."""
        return [f"audit: {sanitizer.line(str(self))}"]


class CompileError(AuditError):
    """A compiler refused a source; `log` are its own words, unshortened, `header_set` is the one it was compiled
    against ("micro", "slim" or "full" on the emulated device)."""

    def __init__(self, log: str, *, header_set: str) -> None:
        super().__init__(f"does not compile (header set {header_set}): {first_error(log)}")
        self.log = log
        self.header_set = header_set


class Unsupported(AuditError):
    """The device cannot build, run or answer a construct, in that line of the source, 0 where there is none; nothing is
    known about the kernel."""

    def __init__(self, construct: str, *, line: int = 0) -> None:
        place = f" (line {line})" if line else ""
        super().__init__(f"not supported on this device: {construct}{place}")
        self.construct = construct
        self.line = line


class WorkerFailed(AuditError):
    """The trusted parent of the workers stopped answering; the audit cannot go on."""


def first_error(log: str) -> str:
    """Return the first line of a compiler log that speaks of an error, or its first line."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line.lower()), lines[0] if lines else "no output")
