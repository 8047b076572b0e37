"""Texts written by hand for the pages: `probes.toml` and `verdicts.toml`, every key checked."""

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
    """A probe on each device, the proof of its failure, its open questions, and advice to an author."""

    worst: Literal["proved", "hint"]
    gpu: str
    emulated: str
    proves: str
    open: str
    author: str


class VerdictText(Frozen):
    """The meaning of a verdict, its limits, and advice to an author and a reader."""

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
