"""Parameters of a notebook: read from a file, held to the notebook's own cell, written for papermill.

papermill warns of an unknown name and goes on, and YAML reads an unquoted 2.10 as 2.1: both are refused here, before
anything runs. Of strings the file for papermill quotes every one.
"""

from __future__ import annotations

import ast
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from audit.model.errors import BadInput

Values = dict[str, JsonValue]
TAG, FILE = "parameters", "parameters.yaml"
OURS = ("claim", "device", "out", "interactive")
"""Parameters that the batch itself sets."""
WORDS: dict[type, str] = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}


def defaults(notebook: Path) -> Values:
    """Names and defaults of the one cell tagged `parameters`. Raises BadInput: no notebook, no such cell, or one that
    does not take what every audit needs."""
    cells = content(notebook)["cells"]
    tagged = [cell for cell in cells if TAG in cell.get("metadata", {}).get("tags", [])]
    if len(tagged) != 1:
        raise BadInput(f"{notebook}: {len(tagged)} cells are tagged {TAG}; exactly one must be")
    try:
        known: Values = {
            one.targets[0].id: ast.literal_eval(one.value)
            for one in ast.parse("".join(tagged[0]["source"])).body
            if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)
        }
    except (SyntaxError, ValueError) as error:
        raise BadInput(f"{notebook}: its parameters cell must hold plain assignments of literals: {error}") from error
    if lacking := [name for name in OURS if name not in known]:
        raise BadInput(f"{notebook}: its parameters cell has no {', '.join(lacking)}; a batch sets {', '.join(OURS)}")
    return known


def content(notebook: Path) -> dict[str, Any]:
    """The content of a notebook, with `cells` and `metadata`. Raises BadInput: it cannot be read, or is none."""
    try:
        document = json.loads(notebook.read_bytes())
    except (OSError, ValueError) as error:
        raise BadInput(f"{notebook}: cannot be read as a notebook ({error})") from error
    parts = (("cells", list), ("metadata", dict))
    if not (isinstance(document, dict) and all(isinstance(document.get(name), kind) for name, kind in parts)):
        raise BadInput(f"{notebook}: is no notebook of format 4")
    return document


def table(path: Path) -> Any:
    """The content of a YAML, TOML or JSON file. Raises BadInput: it cannot be read, or is not what its ending says."""
    import yaml  # comes with papermill, which only batches need

    try:
        text = path.read_text(encoding="utf-8")
        return tomllib.loads(text) if path.suffix == ".toml" else yaml.safe_load(text)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, yaml.YAMLError) as error:
        kind, why = path.suffix.lstrip(".").upper(), " ".join(str(error).split())
        raise BadInput(f"{path}: not valid {kind}: {why}") from error


def of_all(path: Path, known: Values) -> Values:
    """The values in a file, each known to the notebook and of its default's type. Raises BadInput with all that are
    not, or that the batch itself sets."""
    given = table(path)
    if not isinstance(given, dict):
        raise BadInput(f"{path}: must hold parameters of the notebook by name")
    if wrong := problems(given, {name: value for name, value in known.items() if name not in OURS}):
        raise BadInput(f"{path}: {'; '.join(wrong)}")
    return given


def problems(values: Mapping[Any, Any], known: Values) -> list[str]:
    """A sentence for each value that is unknown to the notebook or not of its default's type: what it must be."""
    found = []
    for name, value in values.items():
        if name not in known:
            found.append(f"unknown parameter {name}; the notebook knows {', '.join(known)}")
            continue
        default = known[name]
        fits = type(value) is type(default) or (type(default) is float and type(value) is int)
        if default is not None and not fits:
            kind = WORDS.get(type(default), type(default).__name__)
            quote = ": quote it, for unquoted 2.10 is read as 2.1 and 12e4567 as a number" if kind == "text" else ""
            found.append(f"parameter {name} is {value!r}, and must be {kind}{quote}")
    return found


def write(values: Values, path: Path) -> None:
    """A YAML file for papermill's `-f`, with every string in quotes."""
    import yaml

    class Quoting(yaml.SafeDumper):  # type: ignore[misc,unused-ignore]  # no types come with yaml
        """Writes text in double quotes."""

    Quoting.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))
    path.write_text(yaml.dump(values, Dumper=Quoting, allow_unicode=True), encoding="utf-8")
