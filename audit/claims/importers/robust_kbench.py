"""robust-kbench: a task folder with `func_forward.py`, `config_forward.json` and `forward.cu`.

`Model` hands its parameters to `forward_fn`, which the kernel's `forward` stands in for; the configurations hold the
named arguments of `get_inputs` and of `Model`. Compiled with `-O3 --use_fast_math`, held to atol = rtol = 1e-5 by
default (`robust_kbench/primitives/forward/cuda_correct.py`, 2025).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from audit.claims.importers import module_task, sizes
from audit.claims.importers.imported import RMS, Claimed, Imported, Original, Reference, Shapes, Tolerance
from audit.claims.importers.material import Given, Material
from audit.claims.importers.missing import NO_COST, NO_FIGURES, NO_SHAPE
from audit.claims.importers.python_text import PythonText
from audit.model.errors import BadInput

TAKES = "a task folder: `func_forward.py`, `config_forward.json`, `forward.cu`"
LACKS = ("reference.py cost", "speedup")
TASK, CONFIG, FUNCTION = "func_forward.py", "config_forward.json", "forward_fn"
FLAGS = ("-O3", "--use_fast_math")
TOLERANCE = Tolerance(1e-5, f"robust-kbench's default, atol = rtol = 1e-5; {RMS}")


def matches(material: Material) -> bool:
    """Return whether a file is called `func_forward.py` and defines `forward_fn`."""
    return any(PurePath(name).name == TASK and FUNCTION in one.functions for name, one in material.python.items())


def read(material: Material, given: Given) -> Imported:  # noqa: ARG001  # there are no figures to ask a unit of
    """Return the task with its forward kernel. Raises BadInput for no or several of them, or a broken configuration."""
    task = _original(material, TASK)
    kernels = [material.original(name) for name in material.named(".cu") if "backward" not in PurePath(name).name]
    kernel = material.only(kernels, what="forward kernel (.cu)")
    text = PythonText(task.data, where=task.published_as)
    settings, others = _settings(material)
    sources = [kernel.data.decode()]
    shapes, choices = _shapes(text, settings, others, sources)
    config = [_original(material, CONFIG)] if settings is not None else []
    absent = module_task.absent(text, "get_inputs", where=TASK)
    folder = material.paths[0].resolve().name
    name = module_task.named_after(folder)
    return Imported(
        format="robust_kbench",
        provenance=f"{folder}: {kernel.published_as}",
        name=name,
        title=f"robust-kbench, {name.replace('_', ' ')}, forward",
        task=module_task.first_line(text),
        dtype=text.dtype_of("get_inputs"),
        originals=(task, *config, Original("forward.cu", kernel.data, kernel.published_as)),
        claimed=Claimed("claimed.cu", kernel.data, "forward", "forward.cu as published"),
        reference=Reference("functional", {"file": TASK, "function": FUNCTION, "settings": settings}),
        shapes=shapes,
        flags=FLAGS,
        tolerance=TOLERANCE,
        missing=(NO_COST, NO_FIGURES, *([] if shapes.emulated else [NO_SHAPE]), *absent),
        choices=("tolerance and protocol.flags: robust-kbench's defaults", *choices),
    )


def _original(material: Material, file: str) -> Original:
    found = [material.original(name) for name in material.files if PurePath(name).name == file]
    return material.only(found, what=file)


Settings = dict[str, dict[str, Any]]


def _settings(material: Material) -> tuple[Settings | None, list[dict[str, int]]]:
    """Return the named arguments of the single configuration, and the sizes of the others; None without one."""
    names = [name for name in material.files if PurePath(name).name == CONFIG]
    if not names:
        return None, []
    config = material.document(names[0])
    if not isinstance(config, dict):
        raise BadInput(f"{names[0]}: no JSON object but {type(config).__name__}")
    shared = _first(config, "single_shared_configs")
    inputs, init = ({**shared, **_first(config, f"single_{of}_configs")} for of in ("input", "init"))
    others = config.get("multi_input_configs")
    listed = others if isinstance(others, list) else []
    return {"inputs": inputs, "init": init}, [_integers(one) for one in listed if isinstance(one, dict)]


def _first(config: Mapping[str, Any], key: str) -> dict[str, Any]:
    listed = config.get(key)
    first = listed[0] if isinstance(listed, list) and listed else {}
    return {str(name): value for name, value in first.items()} if isinstance(first, dict) else {}


def _integers(settings: Mapping[str, Any]) -> dict[str, int]:
    return {name: value for name, value in settings.items() if type(value) is int and value > 0}


def _shapes(
    text: PythonText, settings: Settings | None, others: list[dict[str, int]], sources: list[str]
) -> tuple[Shapes, list[str]]:
    """Return the integers of the configuration as sizes; those of the file where there is no configuration."""
    if settings is None:
        return sizes.of_module(text, apart=[FUNCTION], made_with=["get_init_inputs"], sources=sources)
    given = text.functions.get("get_inputs")
    arguments = [each.arg for each in given.args.args] if given else []
    claimed = _integers({**settings["init"], **settings["inputs"]})
    inputs = {name: size for name, size in claimed.items() if name in arguments or name in settings["inputs"]}
    shapes, choices = sizes.smaller(inputs or sizes.PLAIN, sources=sources)
    same = tuple({**shapes.claimed, **one} for one in others if set(one) <= set(shapes.claimed))
    return replace(shapes, others=tuple(one for one in same if one != shapes.claimed)), choices
