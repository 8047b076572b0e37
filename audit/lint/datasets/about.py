"""What is known about a dataset beside its rows: where it was published, and the figures published about it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from pydantic import PositiveFloat, PositiveInt, ValidationError

from audit.claims.importers import bounded
from audit.model import untrusted
from audit.model.base import Frozen
from audit.model.errors import BadInput

Statistic = Literal["mean", "median", "maximum", "upper quartile", "rows"]


class Published(Frozen):
    """One figure published about the dataset; `rows` is a count of rows with a ratio."""

    gpu: str
    statistic: Statistic
    value: PositiveFloat
    level: str = ""
    baseline: str = ""


class About(Frozen):
    """The file `dataset.toml`: title, source, licence, remarks, the GPU where no row names one, published figures."""

    title: str = ""
    source: str = ""
    retrieved: str = ""
    note: str = ""
    gpu: str = ""
    rows: PositiveInt | None = None
    published: tuple[Published, ...] = ()


def read(path: Path) -> About:
    """The description in `path`.

    Raises:
        BadInput: no such file, too large, not TOML, or a key that does not belong there.
    """
    try:
        table = untrusted.toml(bounded.source_text(path).decode("utf-8"), str(path))
        return About.model_validate_json(json.dumps(table, default=str))
    except RecursionError as error:
        raise BadInput(f"{path}: nested too deeply to be read") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"{path}: key {key}: {first['msg']}; known: {', '.join(About.model_fields)}") from error
