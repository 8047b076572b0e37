"""What people wrote for the pages: `probes.toml` and `verdicts.toml`, every key checked."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, TypeVar

from audit.model.base import Frozen
from audit.model.errors import BadInput

Text = TypeVar("Text", bound=Frozen)


class ProbeText(Frozen):
    """How a probe asks on each device, what its failure proves at worst, what stays open, what an author can do."""

    worst: Literal["proved", "hint"]
    gpu: str
    emulated: str
    proves: str
    open: str
    author: str


class VerdictText(Frozen):
    """What a verdict says, on what it is silent, and what an author and a reader can do."""

    says: str
    silent: str
    author: str
    reader: str


def read(name: str, kind: type[Text], known: Iterable[str]) -> Mapping[str, Text]:
    """The texts of one file, in the order of `known`.

    Raises:
        BadInput: a name has no text, or a text no name.
    """
    table = tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
    names = list(known)
    if odd := sorted(set(names) ^ set(table)):
        raise BadInput(
            f"audit/apps/pages/{name}.toml: {', '.join(odd)}: every one needs a text, and nothing else has one"
        )
    return {one: kind.model_validate_json(json.dumps(table[one])) for one in names}
