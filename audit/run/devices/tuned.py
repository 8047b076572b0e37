"""The configurations that `triton.autotune` takes, and one choice for all sessions of an audit."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from audit.build.cache import fingerprint

MODULE = "triton.runtime.autotuner"
MOST, MOST_CHARACTERS = 20, 500


def taken(tuners: Sequence[tuple[Any, int]]) -> list[dict[str, Any]]:
    """Return the `kernel`, the `configuration` and the number it was chosen `of`, for each of those autotuners that
    ran; they are given with the number of their configurations."""
    ran = [(one, count) for one, count in tuners if getattr(one, "best_config", None) is not None]
    return [
        {"kernel": one.base_fn.__name__, "configuration": described(one.best_config), "of": count}
        for one, count in ran[:MOST]
    ]


def of_this_process() -> list[tuple[Any, int]]:
    """Return every autotuner of this process with the number of its configurations."""
    module = sys.modules.get(MODULE)
    found = [] if module is None else [one for one in gc.get_objects() if type(one) is module.Autotuner]
    return [(one, len(one.configs)) for one in found]


def described(configuration: Any) -> str:
    """Return the meta parameters of a configuration, its warps and its stages in a few words."""
    values = {**configuration.kwargs, "num_warps": configuration.num_warps, "num_stages": configuration.num_stages}
    more = {name: getattr(configuration, name, None) for name in ("num_ctas", "maxnreg")}
    values |= {name: value for name, value in more.items() if value not in (None, 1)}
    return ", ".join(f"{name}={value}" for name, value in values.items())[:MOST_CHARACTERS]


def keep(folder: Path) -> None:
    """Have Triton take the choice of an earlier session also where a configuration has a hook, which its own cache
    leaves out; `folder` keeps the choices. Without Triton, or with one that caches no choice, nothing changes."""
    try:
        from triton.runtime.autotuner import Autotuner
    except ImportError:
        return
    plain = getattr(Autotuner, "check_disk_cache", None)
    if plain is None or hasattr(plain, "plain"):  # a later session of this process
        return

    def check(tuner: Any, key: Any, configs: Sequence[Any], tune: Callable[[], None]) -> Any:
        if not any(one.pre_hook for one in configs):
            return plain(tuner, key, configs, tune)
        file = folder / f"chosen-{fingerprint([tuner.base_fn.__name__, str(key), *map(str, configs)])}"
        if file.is_file():
            tuner.cache[key] = configs[int(file.read_text(encoding="utf-8"))]
            return True
        tune()
        best = next(place for place, one in enumerate(configs) if one is tuner.cache[key])
        file.write_text(str(best), encoding="utf-8")
        return False

    check.plain = plain  # type: ignore[attr-defined]
    Autotuner.check_disk_cache = check
