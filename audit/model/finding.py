"""A finding: the result of one probe, rule or check about one variant or about the claim itself."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, JsonValue, model_validator

from audit.model.base import Frozen, bounded, readable
from audit.model.claim import Shape

Outcome = Literal["pass", "fail", "skip", "error"]
Grade = Literal["proved", "undefined", "hint"]
DeviceKind = Literal["emulated", "cuda"]
Text = Annotated[str, BeforeValidator(readable)]
Evidence = Annotated[dict[str, JsonValue], BeforeValidator(bounded)]


class Finding(Frozen):
    """One answer to one question.

    `outcome` skip and error pass no variant. `grade` belongs to a failure: only *proved* fails a variant; *undefined*
    is undefined behaviour that happened to work; *hint* is a reading of the source or an observation that good kernels
    share. `evidence` holds the numbers of the summary, NaN and infinities as text. `confirmed` tells whether a second
    build at another optimisation level showed the same (None: not applicable). `device` is what gave the answer, where
    something ran. `shape` is the one that shows a failure. `claimed` is False for a failure outside the claim: at a
    shape, or for inputs, that the claim does not speak of; it never fails the claim.
    """

    probe: str
    target: str
    outcome: Outcome
    summary: Text
    grade: Grade | None = None
    evidence: Evidence = Field(default_factory=dict)
    line: int | None = None
    confirmed: bool | None = None
    reproduce_with: str | None = None
    seconds: float | None = None
    device: DeviceKind | None = None
    shape: Shape | None = None
    claimed: bool = True

    @model_validator(mode="after")
    def _grade_belongs_to_failure(self) -> Finding:
        if (self.outcome == "fail") != (self.grade is not None):
            raise ValueError(f"{self.probe}: a failure has a grade and nothing else has one")
        return self

    @property
    def fails_kernel(self) -> bool:
        """True for a proved failure at what the claim speaks of."""
        return self.outcome == "fail" and self.grade == "proved" and self.claimed
