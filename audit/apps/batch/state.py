"""The state of each item on disk, one small file replaced in one step, and of the whole run over them."""

from __future__ import annotations

import errno
import json
import tomllib
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from audit.model import atomic
from audit.model.base import Frozen, problem
from audit.model.errors import BadInput

SCHEMA = 2
"""History: 1 (2026-11) batches and screening apart; 2 (2026-11) one form for both."""
StageName = Literal["lint", "review", "emulated", "notebook"]
Outcome = Literal[
    "settled", "left out", "passed on", "no answer", "error",
    "finished", "bad input", "failed", "crashed", "timed out", "infrastructure",
]  # fmt: skip
"""The first four are of screening stages, `error` is of both, the others are of a notebook."""
State = Outcome | Literal["not run"]
_TABLE = tomllib.loads(Path(__file__).with_name("states.toml").read_text(encoding="utf-8"))
MEANINGS = TypeAdapter(dict[State, str]).validate_python(
    {name: one["meaning"] for name, one in _TABLE["states"].items()}
)
"""From best to worst: a run exits with the code of the worst state of any item."""
EXIT_CODES: dict[State, int] = {name: _TABLE["states"][name]["exit_code"] for name in MEANINGS}
SEVERITY: tuple[State, ...] = tuple(MEANINGS)
ENDED: tuple[State, ...] = ("finished", "settled", "left out")
"""Nothing is left to ask about an item in these."""
STAGES = TypeAdapter(dict[StageName, tuple[str, str]]).validate_python(
    {name: (one["title"], one["question"]) for name, one in _TABLE["stages"].items()}
)
"""Title and question of each stage, in their order."""
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
    """One attempt to run: a notebook, the folder it works in, and the one with its parameters, for its results."""

    notebook: str
    folder: str
    out: str
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
