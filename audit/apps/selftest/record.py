"""The record of a self-test: the answer of every probe about every control; rates are derived, never stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field, ValidationError

from audit.model import Device, Environment, Grade, Outcome, atomic, old_words, untrusted
from audit.model.base import Frozen, problem
from audit.model.errors import BadInput

SCHEMA: Final = 2
"""History: 1 (2026-11) first form; 2 (2026-11) other words for roles, results and the sandbox (`_of_today`)."""
_RESULTS = {"convicted": "proved", "cleared": "passed", "falsely accused": "falsely failed"}

MOST_BYTES = 16 << 20
Result = Literal["proved", "flagged", "missed", "passed", "falsely failed", "not concluded", "no answer", "skipped"]


class Answer(Frozen):
    """The answer of one probe or rule about one control; a pass needs no summary."""

    outcome: Outcome
    grade: Grade | None = None
    summary: str = ""


class Row(Frozen):
    """One control; `sha256` is that of its file.

    `probe` is the one it was written for (None: a known-good control that is to pass them all). `result` of a known-bad
    control: proved (that probe proved it), flagged (that probe failed it without proof), missed, or skipped where
    the mechanism does not exist on the device; of a known-good control: passed, falsely failed, not concluded (its
    source reaches the process that checks it), or no answer.
    `reason` says why it is neither proved nor passed.
    """

    folder: str
    control: str
    sha256: str
    role: Literal["known_bad", "known_good"]
    mechanism: str
    probe: str | None
    result: Result
    reason: str = ""
    answers: dict[str, Answer]

    @property
    def place(self) -> str:
        """The control with its folder."""
        return f"{self.folder}/{self.control}"


class Check(Frozen):
    """A control beyond doubt: the answer it must get, and the answer it got."""

    control: str
    expected: str
    found: str

    @property
    def passed(self) -> bool:
        """Whether both are the same."""
        return self.found == self.expected


class SelfTest(Frozen):
    """One self-test of one device; without rows where the checks did not pass and nothing else was asked.

    `unasked` are the folders of controls that one which was cut had still to ask.
    """

    schema_: Literal[1, 2] = Field(default=SCHEMA, alias="schema")
    device: Device
    environment: Environment
    seconds: float
    checks: tuple[Check, ...]
    rows: tuple[Row, ...] = ()
    unasked: tuple[str, ...] = ()

    @property
    def blessed(self) -> bool:
        """Whether both controls beyond doubt came out as they must; if not, no answer of this machine counts."""
        return all(check.passed for check in self.checks)


def to_json(record: SelfTest) -> str:
    """The record as text, one line a value; what has its default is left out."""
    document = {"schema": SCHEMA, **record.model_dump(mode="json", by_alias=True, exclude_defaults=True)}
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def write(record: SelfTest, path: Path) -> None:
    """Replaces `path` in one step. Raises BadInput if it cannot be written."""
    with atomic.writing(path, "choose another file"):
        atomic.write(path, to_json(record).encode())


def _of_today(document: Any) -> Any:
    """Return a record in today's words; one of schema 1 has others for roles, results, states and names of controls."""
    if not isinstance(document, dict) or document.get("schema") != 1:
        return document
    words = {"role": old_words.ROLES, "result": _RESULTS, "expected": old_words.STATES, "found": old_words.STATES}

    def now(key: str, text: str) -> str:
        if key in ("control", "folder", "mechanism"):
            return text.replace("_rogue", "_bad").replace("_honest", "_good")
        return words.get(key, {}).get(text, text)

    return old_words.walk(document, now)


def read(path: Path) -> SelfTest:
    """The record in `path`. Raises BadInput: no such file, or not a record of a self-test."""
    try:
        data = untrusted.data(path, limit_bytes=MOST_BYTES)
        document = untrusted.json_document(data, str(path))
        return SelfTest.model_validate_json(json.dumps(_of_today(document)))
    except ValidationError as error:
        raise BadInput(f"{path}: not the record of a self-test: {problem(error)}") from error
