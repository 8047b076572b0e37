"""The record: every fact of an audit, as frozen and strict pydantic models; imports no other stage."""

from audit.model.claim import Claim, Harness, Observation, Original, Shape, Source, Speedup, Tolerance, Variant
from audit.model.finding import Change, Finding, GeneratedRepair, Grade, Outcome
from audit.model.record import (
    SCHEMA,
    AuditedClaim,
    BuildNote,
    Device,
    Environment,
    Measurement,
    Place,
    RatioAnswer,
    Record,
    ResultAnswer,
    Rung,
    SandboxLimit,
    SourceFile,
    Stage,
    TaskAnswer,
    Verdict,
    VerdictName,
)

__all__ = [
    "SCHEMA", "AuditedClaim", "BuildNote", "Change", "Claim", "Device", "Environment", "Finding", "GeneratedRepair",
    "Grade", "Harness", "Measurement", "Observation", "Original", "Outcome", "Place", "RatioAnswer", "Record",
    "ResultAnswer", "Rung", "SandboxLimit", "Shape", "Source", "SourceFile", "Speedup", "Stage", "TaskAnswer",
    "Tolerance", "Variant", "Verdict", "VerdictName",
]  # fmt: skip
