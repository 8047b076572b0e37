"""Words of records older than schema 4, each read as the word for the same thing today."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

TODAY = 4
"""The first schema in the words of today."""
_KEYS = {"walls": "sandbox", "beside": "secondary_devices", "see_again": "reproduce_with"}
ROLES = {"thief": "no_op", "rogue": "known_bad", "honest": "known_good"}
STATES = {"cleared": "passed", "convicted": "failed"}
_WORDS: Mapping[str, Mapping[str, str]] = {
    "role": ROLES,
    "state": STATES,
    "probe": {"witness": "independent_clock"},
    "variant": {"thief": "no_op"},
    "target": {"thief": "no_op"},
    "file": {"thief.cu": "no_op.cu"},
}
"""By the key a text stands under; the no-op control of the first claim had another file name."""


def replaced(document: Any) -> Any:
    """Return the JSON document of an older record with the keys, states, roles and names of today."""
    return walk(document, lambda key, text: _WORDS.get(key, {}).get(text, text))


def walk(value: Any, read: Callable[[str, str], str], key: str = "") -> Any:
    """Return a JSON document with today's keys, and every text as `read` gives it for its key. What a probe observed
    (`evidence`) stays as it is: its finding is held to it."""
    if isinstance(value, str):
        return read(key, value)
    if isinstance(value, list):
        return [walk(one, read, key) for one in value]
    if not isinstance(value, dict):
        return value
    names = {name: _KEYS[name] if name in _KEYS and _KEYS[name] not in value else name for name in value}
    return {names[name]: one if name == "evidence" else walk(one, read, name) for name, one in value.items()}
