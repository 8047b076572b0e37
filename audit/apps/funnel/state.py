"""What is known about each item of a funnel: one small file an item, replaced in one step; a kill loses none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from audit.model import atomic
from audit.model.base import Frozen
from audit.model.errors import BadInput

SCHEMA = 1
"""History: 1 (2026-11) first form."""
StageName = Literal["lint", "review", "emulated", "gpu"]
Outcome = Literal["settled", "left out", "passed on", "no answer"]


class Passage(Frozen):
    """One item at one stage.

    `settled` has a verdict and ends its way; `left out` ends it without one, since there is nothing to audit; `passed
    on` found nothing that settles it; `no answer` says why the stage could not tell, which settles nothing either.
    `hints` counts what the source review pointed at.
    """

    stage: StageName
    outcome: Outcome
    verdict: str = ""
    reasons: tuple[str, ...] = ()
    hints: int = 0
    seconds: float = 0.0


class ItemState(Frozen):
    """One item: `sha256` is that of its files, so that a changed item begins anew; a passage a stage, in order."""

    schema_: Literal[1] = 1
    item: str
    sha256: str
    passages: tuple[Passage, ...] = ()

    @property
    def last(self) -> Passage | None:
        """Where it came last."""
        return self.passages[-1] if self.passages else None

    @property
    def settled(self) -> Passage | None:
        """The passage that settled it."""
        return next((one for one in self.passages if one.outcome == "settled"), None)

    @property
    def left_out(self) -> Passage | None:
        """The passage that left it out."""
        return next((one for one in self.passages if one.outcome == "left out"), None)

    @property
    def ended(self) -> bool:
        """Whether no stage is to ask about it any more."""
        return self.settled is not None or self.left_out is not None

    @property
    def hints(self) -> int:
        """What the source review pointed at."""
        return sum(one.hints for one in self.passages)

    def asked(self, stage: StageName) -> bool:
        """Whether that stage has had it."""
        return any(one.stage == stage for one in self.passages)

    def after(self, passage: Passage) -> ItemState:
        """With one passage more."""
        return self.model_copy(update={"passages": (*self.passages, passage)})


class StageRun(Frozen):
    """One stage of one run: the items it asked, the wall-clock seconds of that, and where they passed."""

    stage: StageName
    items: int
    seconds: float
    machine: str = ""


class FunnelState(Frozen):
    """The whole: the collection's name, the seed of all inputs, and every run of a stage, resumed ones too."""

    schema_: Literal[1] = 1
    collection: str
    items: int
    seed: int
    runs: tuple[StageRun, ...] = ()
    notes: tuple[str, ...] = ()


def write(told: ItemState | FunnelState, path: Path) -> None:
    """Replaces `path` in one step."""
    text = json.dumps(told.model_dump(mode="json", exclude_defaults=True), indent=1, allow_nan=False)
    atomic.write(path, text.encode())


def read_item(path: Path) -> ItemState:
    """The state of an item. Raises BadInput for a file that holds none."""
    try:
        return ItemState.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise _no_state(path, error) from error


def read_funnel(path: Path) -> FunnelState:
    """The state of a funnel. Raises BadInput for a file that holds none."""
    try:
        return FunnelState.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise _no_state(path, error) from error


def _no_state(path: Path, error: OSError | ValidationError) -> BadInput:
    if isinstance(error, OSError):
        return BadInput(f"{path}: cannot be read ({error.strerror})")
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"]) or "the file"
    return BadInput(f"{path}: no state of a funnel: {place}: {first['msg']}; delete it to begin that anew")
