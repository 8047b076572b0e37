"""Reading and writing records: JSON, strict, and never half a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from audit.model import atomic, old_words, untrusted
from audit.model.base import problem
from audit.model.errors import BadInput
from audit.model.record import Record

MOST_BYTES = 8 << 20
"""Of one record; the largest published one has 0.8 MB, 621 findings and 1,544 samples."""
RECORD = "record.json"
"""What the file of a record is called, in the folder of its audit and in a bundle."""
SCHEMA_FILE = Path(__file__).with_name("record.schema.json")


def write(record: Record, path: Path) -> None:
    """Replace `path` in one step: a reader sees the old record or the new one, and a killed run leaves the old. Raises
    BadInput: it cannot be written; says why. The old record is still there."""
    text = record.model_dump_json(by_alias=True, indent=1)
    with atomic.writing(path, "make room or choose another folder"):
        atomic.write(path, (text + "\n").encode())


def read(path: Path) -> Record:
    """Return the record in `path`. Raises BadInput: no such file, no plain one, or as `parse`."""
    return parse(untrusted.data(path, limit_bytes=MOST_BYTES), str(path))


def parse(data: bytes, name: str) -> Record:
    """Return the record in those bytes; `name` is what an error calls them. Raises BadInput: too large, not JSON, a key
    twice, or not a record of a schema this version knows."""
    if len(data) > MOST_BYTES:
        raise BadInput(f"{name}: {len(data):,} bytes; a record has at most {MOST_BYTES:,}")
    document = untrusted.json_document(data, name)
    if isinstance(document, dict) and document.get("schema") in (2, 3):
        data = json.dumps(old_words.replaced(document)).encode()
    try:
        return Record.model_validate_json(data)
    except ValidationError as error:
        raise BadInput(f"{name}: not a record of schema 2 to 5: {problem(error)}") from error


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a record, as exported in `record.schema.json`."""
    return Record.model_json_schema(by_alias=True)


if __name__ == "__main__":
    SCHEMA_FILE.write_text(json.dumps(json_schema(), indent=1) + "\n", encoding="utf-8")
