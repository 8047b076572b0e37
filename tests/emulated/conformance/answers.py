"""The committed answers of a GPU: `python -m tests.emulated.conformance.answers RESULTS.json` writes them, one file a group.

Each is kept as the deflated bits of the result, with a digest of the question, so that an answer to a question that has
been changed since is not taken for one to the new.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
import zlib
from pathlib import Path

from tests.emulated.conformance.asked import asked
from tests.emulated.conformance.entry import Entry
from tests.emulated.conformance.suite import GROUPS

FOLDER = Path(__file__).with_name("answers")


def digest(entry: Entry) -> str:
    """12 hexadecimal digits naming the code and the bits of the operands."""
    launch = asked(entry)
    seen = hashlib.sha256(repr((entry.kind, entry.code, entry.types, entry.result, launch)).encode())
    return seen.hexdigest()[:12]


def of(group: str) -> dict[str, bytes]:
    """The bits that a GPU gave for every question of a group whose question is still the same."""
    kept = json.loads((FOLDER / f"{group}.json").read_text(encoding="utf-8"))["answers"]
    asked_now = {entry.name: digest(entry) for entry in GROUPS[group]}
    return {
        name: zlib.decompress(base64.b64decode(bits))
        for name, (question, bits) in kept.items()
        if asked_now.get(name) == question
    }


def main(results: Path) -> None:
    """Split what `on_gpu` wrote into one file a group. Answers of questions that were not asked again are kept."""
    record = json.loads(results.read_text(encoding="utf-8"))
    FOLDER.mkdir(exist_ok=True)
    for group, answers in record["groups"].items():
        path = FOLDER / f"{group}.json"
        before = json.loads(path.read_text(encoding="utf-8"))["answers"] if path.exists() else {}
        values = {
            entry.name: [digest(entry), base64.b64encode(zlib.compress(bytes.fromhex(one["answer"]), 9)).decode()]
            for entry in GROUPS[group]
            if "answer" in (one := answers.get(entry.name, {}))
        }
        kept = {
            entry.name: {**before, **values}[entry.name]
            for entry in GROUPS[group]
            if entry.name in {**before, **values}
        }
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in kept.items())
        head = json.dumps({"device": record["device"]})[:-1]
        path.write_text(f'{head}, "answers": {{\n{lines}\n}}}}\n', encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
