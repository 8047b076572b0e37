"""The state of each item on disk, one small file replaced in one step, and of the whole run over them."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import Field, JsonValue, ValidationError

from audit.model import atomic
from audit.model.base import Frozen, problem
from audit.model.errors import BadInput

SCHEMA = 2
"""History: 1 (2026-11) batch and funnel apart; 2 (2026-11) one form for both."""
StageName = Literal["lint", "review", "emulated", "gpu", "notebook"]
Outcome = Literal[
    "settled", "left out", "passed on", "no answer", "error",
    "finished", "bad input", "failed", "crashed", "timed out", "infrastructure",
]  # fmt: skip
"""The first four are of screening stages, `error` is of both, the others are of a notebook."""
State = Outcome | Literal["not run"]
MEANINGS: dict[State, str] = {
    "finished": "the audit ended with a verdict, whatever it is",
    "settled": "a stage of screening proved the verdict, and no later one is asked",
    "left out": "there is nothing to audit; the reason says why",
    "passed on": "no stage proved anything against it; the verdict says what was found, if anything",
    "no answer": "the last stage could not tell; the verdict and the reason say what it needs",
    "bad input": "the claim or a parameter cannot be audited; the reason says what to correct",
    "failed": "a cell of the notebook raised, or the notebook ended without a verdict",
    "error": "an exception of this kit that no other state covers; the reason names it and its line",
    "crashed": "the notebook's kernel, or papermill, died of a signal",
    "timed out": "not over within the outer limit; all its processes were killed",
    "infrastructure": "something outside the audit failed, every time it was tried: memory, disk, kernel start, a node",
    "not run": "the run was stopped before this one ended; --resume runs it",
}
"""From best to worst: a run exits with the code of the worst state of any item."""
EXIT_CODES: dict[State, int] = {
    **dict.fromkeys(("finished", "settled", "left out", "passed on", "no answer"), 0),
    "not run": 130, "bad input": 3, "failed": 4, "error": 8, "crashed": 5, "timed out": 6, "infrastructure": 7,
}  # fmt: skip
SEVERITY: tuple[State, ...] = tuple(MEANINGS)
ENDED: tuple[State, ...] = ("finished", "settled", "left out")
"""Nothing is left to ask about an item in these."""
STAGES: dict[StageName, tuple[str, str]] = {
    "notebook": ("Audit notebook", "runs the whole audit through papermill, in processes of its own"),
    "lint": (
        "Lint",
        "holds published times against the floor of the fastest unit of the GPU they name and settles impossible ones "
        "(the least work comes from the claim's reference.py, in a process of its own); leaves out items that claim "
        "nothing: rows without code, rows their dataset marks wrong, code that stood in an earlier row of the task",
    ),
    "review": (
        "Source review",
        "reads the claimed source; settles nothing, since a hint never fails a kernel. Sources with most hints go on "
        "first",
    ),
    "emulated": (
        "Emulated probes",
        "builds the claimed kernel for the emulated device and asks every probe. Settles what a probe proves in two "
        "builds, and tasks that cannot tell right from wrong; has no answer where something does not build here alone",
    ),
    "gpu": (
        "GPU",
        "asks every probe on the GPU and times the kernel beside its baselines, one item at a time; settles what its "
        "verdict decides, right and fast included",
    ),
}
"""Title and question of each stage."""
SCREENING: tuple[StageName, ...] = ("lint", "review", "emulated", "gpu")
EXECUTED, LOG = "executed.ipynb", "log.txt"
"""Names of two files that an attempt leaves in the folder of its item."""
FULL = f"[Errno {errno.ENOSPC}]"


class End(Frozen):
    """The end of the processes of one attempt.

    `returncode` and `signal` are papermill's, `kernel_signal` the kernel's; `trouble` says what went wrong outside.
    """

    returncode: int | None = None
    signal: int | None = None
    kernel_signal: int | None = None
    timed_out: bool = False
    seconds: float = 0.0
    trouble: str | None = None
    where: str | None = None


class Job(Frozen):
    """One attempt to run: a notebook, its parameters file, where its results, its log and its folder are."""

    notebook: str
    parameters: str
    executed: str
    log: str
    folder: str
    limit_s: float
    env: dict[str, str] = Field(default_factory=dict)


class Attempt(Frozen):
    """One item at one stage.

    `settled` has a verdict and ends the item's way; `left out` ends it without one, since there is nothing to audit;
    `passed on` found nothing that settles it; `no answer` says why the stage could not tell, which settles nothing
    either; `error` is an exception that concerns this item alone. `MEANINGS` has the outcomes of a notebook. `hints`
    counts those of the source review. `end` is set where processes ran a notebook.
    """

    stage: StageName
    outcome: Outcome
    verdict: str = ""
    reasons: tuple[str, ...] = ()
    hints: int = 0
    seconds: float = 0.0
    started_utc: str = ""
    end: End | None = None

    @property
    def reason(self) -> str:
        """The first reason, or an empty text."""
        return self.reasons[0] if self.reasons else ""

    @property
    def disk_full(self) -> bool:
        """Return whether it failed because no space was left."""
        return self.outcome in ("infrastructure", "error") and FULL in self.reason


class ItemState(Frozen):
    """One item: `sha256` is that of the files and parameters it depends on; an item where it differs begins anew."""

    schema_: Literal[2] = Field(default=2, alias="schema")
    item: str
    sha256: str
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    attempts: tuple[Attempt, ...] = ()

    @property
    def last(self) -> Attempt | None:
        """The latest attempt."""
        return self.attempts[-1] if self.attempts else None

    @property
    def hints(self) -> int:
        """Hints of the source review."""
        return sum(one.hints for one in self.attempts)

    @property
    def state(self) -> State:
        """The outcome of the latest attempt."""
        return self.last.outcome if self.last else "not run"

    @property
    def verdict(self) -> str:
        """The verdict of the latest attempt; empty where it has none."""
        return self.last.verdict if self.last else ""

    @property
    def seconds(self) -> float:
        """Of the latest attempt."""
        return self.last.seconds if self.last else 0.0

    def asked(self, stage: StageName) -> bool:
        """Return whether that stage was asked about it."""
        return any(one.stage == stage for one in self.attempts)

    def after(self, attempt: Attempt) -> ItemState:
        """With one attempt more."""
        return self.model_copy(update={"attempts": (*self.attempts, attempt)})

    def failed_outside(self) -> int:
        """Failures in a row outside the audit; a run that goes on counts from the last other ending."""
        others = (place for place, one in enumerate(reversed(self.attempts)) if one.outcome != "infrastructure")
        return next(others, len(self.attempts))


class StageRun(Frozen):
    """One stage of one run: the items it asked, the wall-clock seconds of that, and the machine."""

    stage: StageName
    items: int
    seconds: float
    machine: str = ""


class RunState(Frozen):
    """The whole: the collection's name, the seed of all inputs, and every run of a stage, resumed ones too."""

    schema_: Literal[2] = Field(default=2, alias="schema")
    collection: str
    items: int
    seed: int
    runs: tuple[StageRun, ...] = ()
    notes: tuple[str, ...] = ()


Kept = TypeVar("Kept", ItemState, RunState)


def read(kind: type[Kept], path: Path) -> Kept:
    """The state of an item or a run. Raises BadInput for a file that holds none."""
    try:
        return kind.model_validate_json(path.read_bytes())
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from error
    except ValidationError as error:
        raise BadInput(f"{path}: not a state of a run: {problem(error)}; delete it to begin anew") from error


def write(state: ItemState | RunState, path: Path) -> None:
    """Replaces `path` in one step."""
    document = {"schema": SCHEMA, **state.model_dump(mode="json", by_alias=True, exclude_defaults=True)}
    atomic.write(path, (json.dumps(document, indent=1, allow_nan=False) + "\n").encode())


def exit_code(states: list[State]) -> int:
    """The code of the worst state; a verdict never changes it."""
    return EXIT_CODES[max(states, key=SEVERITY.index)] if states else 0
