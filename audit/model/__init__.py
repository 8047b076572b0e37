"""The record: every fact of an audit, as frozen and strict pydantic models; imports no other stage."""

from audit.model.claim import Claim, Observation, Original, Shape, Source, Speedup, Tolerance, Variant
from audit.model.finding import Finding, Grade, Outcome
from audit.model.record import (
    SCHEMA,
    AuditedClaim,
    BuildNote,
    Device,
    Environment,
    Measurement,
    Record,
    Rung,
    SourceFile,
    Stage,
    Verdict,
    VerdictName,
    Wall,
)

__all__ = [
    "SCHEMA",
    "AuditedClaim",
    "BuildNote",
    "Claim",
    "Device",
    "Environment",
    "Finding",
    "Grade",
    "Measurement",
    "Observation",
    "Original",
    "Outcome",
    "Record",
    "Rung",
    "Shape",
    "Source",
    "SourceFile",
    "Speedup",
    "Stage",
    "Tolerance",
    "Variant",
    "Verdict",
    "VerdictName",
    "Wall",
]
