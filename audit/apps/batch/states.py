"""How one audit of a batch ended, and what is kept of it on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, JsonValue, ValidationError

from audit.model import SourceFile, VerdictName
from audit.model.base import Frozen

State = Literal["finished", "not run", "bad input", "failed", "crashed", "timed out", "infrastructure"]
MEANINGS: dict[State, str] = {
    "finished": "the audit ended with a verdict, whatever it is",
    "not run": "the batch was stopped before this one ended; --resume runs it",
    "bad input": "the claim or a parameter cannot be audited; the reason says what to correct",
    "failed": "a cell of the notebook raised, or the notebook ended without a verdict",
    "crashed": "the notebook's kernel, or papermill, died of a signal",
    "timed out": "not over within the outer limit; all its processes were killed",
    "infrastructure": "something outside the audit failed, every time it was tried: memory, disk, kernel start, a node",
}
EXIT_CODES: dict[State, int] = {
    "finished": 0, "not run": 130, "bad input": 3, "failed": 4, "crashed": 5, "timed out": 6, "infrastructure": 7,
}  # fmt: skip
SEVERITY: tuple[State, ...] = (
    "finished", "bad input", "failed", "crashed", "timed out", "infrastructure", "not run"
)  # fmt: skip
"""From best to worst: a batch exits with the code of the worst state of any claim."""
NAME = "batch.json"


class End(Frozen):
    """How the processes of one attempt ended.

    `returncode` and `signal` are papermill's, `kernel_signal` the kernel's; `trouble` says what went wrong outside.
    """

    returncode: int | None = None
    signal: int | None = None
    kernel_signal: int | None = None
    timed_out: bool = False
    seconds: float = 0.0
    trouble: str | None = None
    where: str | None = None


class Attempt(Frozen):
    """One try at an audit: how it ended, and what was concluded."""

    started_utc: str
    end: End
    state: State
    reason: str


class Entry(Frozen):
    """One claim of a batch, as `batch.json` in its folder holds it from its first attempt on."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    name: str
    state: State
    reason: str
    verdict: VerdictName | None = None
    sources: tuple[SourceFile, ...] = ()
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    notebook_sha256: str = ""
    attempts: tuple[Attempt, ...] = ()

    @property
    def seconds(self) -> float:
        """Wall-clock seconds of the last attempt."""
        return self.attempts[-1].end.seconds if self.attempts else 0.0


def exit_code(states: list[State]) -> int:
    """The code of the worst state; a verdict never changes it."""
    return EXIT_CODES[max(states, key=SEVERITY.index)] if states else 0


def read(path: Path) -> Entry | None:
    """The entry kept in that file; None where there is none, or none this version knows: it is run again then."""
    try:
        return Entry.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
