"""A bundle for other tools: RO-Crate 1.1 metadata and an in-toto test-result statement, both plain JSON.

Sources: https://www.researchobject.org/ro-crate/specification/1.1/root-data-entity.html and
https://github.com/in-toto/attestation/blob/main/spec/predicates/test-result.md (v0.1 of the predicate, Statement v1).
The statement is not signed: whoever vouches for a bundle signs the zip or this file with a key of theirs.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from typing import Any

from audit.apps.bundle.manifest import encoded, sha256
from audit.model import Finding, Record, sanitizer
from audit.model.store import RECORD

CRATE = "ro-crate-metadata.json"
STATEMENT = "test-result.json"
RESULTS = {
    "confirmed": "PASSED",
    **dict.fromkeys(("wrong", "undefined", "vacuous", "reduced precision", "mistimed", "overstated"), "FAILED"),
}
"""A verdict in the words of in-toto; any other says too little to pass or fail, and is a warning."""
TYPES = {
    ".cu": "text/x-cuda",
    ".ipynb": "application/x-ipynb+json",
    ".md": "text/markdown",
    ".toml": "application/toml",
}


def crate(record: Record, files: Mapping[str, bytes]) -> bytes:
    """RO-Crate 1.1 metadata of those files: the root dataset, this file, and an entity for every other."""
    names = sorted(files)
    claim = record.claim.statement
    descriptor = {
        "@id": CRATE,
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
    }
    root: dict[str, Any] = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"Audit of a GPU-kernel speedup claim: {claim.title}",
        "description": f"Verdict {record.verdict.name}, on {record.device.name}; record, samples, sources, reports.",
        "datePublished": record.environment.started_utc,
        "license": "Sources keep the licence of whoever published them; the record says where.",
        "hasPart": [{"@id": name} for name in names],
    }
    if sanitizer.ADDRESS.fullmatch(claim.source.url):
        root["isBasedOn"] = claim.source.url
    parts = [_part(name, files[name]) for name in names]
    return encoded({"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": [descriptor, root, *parts]})


def statement(record: Record, files: Mapping[str, bytes]) -> bytes:
    """An in-toto Statement v1 with a test-result predicate: the sources audited, and what every probe found of them."""
    subjects = [{"name": one.file, "digest": {"sha256": one.sha256}} for one in record.claim.sources]
    configuration = {"name": RECORD, "digest": {"sha256": sha256(files[RECORD])}}
    predicate = {
        "result": RESULTS.get(record.verdict.name, "WARNED"),
        "configuration": [configuration],
        "passedTests": _tests(record, lambda one: one.outcome == "pass"),
        "warnedTests": _tests(record, lambda one: one.outcome != "pass" and not one.convicts),
        "failedTests": _tests(record, lambda one: one.convicts),
    }
    return encoded(
        {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": subjects,
            "predicateType": "https://in-toto.io/attestation/test-result/v0.1",
            "predicate": predicate,
        }
    )


def _part(name: str, data: bytes) -> dict[str, str]:
    ending = f".{name.rpartition('.')[2]}"
    kind = TYPES.get(ending) or mimetypes.types_map.get(ending, "application/octet-stream")
    return {"@id": name, "@type": "File", "contentSize": str(len(data)), "encodingFormat": kind}


def _tests(record: Record, wanted: Any) -> list[str]:
    """Names of the findings wanted: target, probe and device, each once."""
    return list(dict.fromkeys(_name(one) for one in record.findings if wanted(one)))


def _name(one: Finding) -> str:
    return f"{one.target}: {one.probe}" + (f" ({one.device})" if one.device else "")
