"""An `Imported` as a claim folder: claim.toml, reference.py, the claimed kernel, and the originals as they were.

In `claim.toml` found values are keys, missing ones are comments at its top.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from audit import claims
from audit.claims import places
from audit.claims.importers import entries
from audit.claims.importers.facts import Claimed, Figure, Imported
from audit.model import Harness, sanitizer
from audit.model.errors import BadInput

NAME = re.compile(r"[a-z0-9_]+")
MOST_ROWS = 6
"""Ranges of lines that a claim's note lists."""
NOT_STATED, UNKNOWN = "not told by the source", "unknown"


def write(imported: Imported, folder: Path | None = None) -> Path:
    """Write the folder, `kernels/<name>` by default, in one step and return it; what is auditable loads as a claim.

    Its name, in small letters, becomes the claim's. Raises BadInput: the folder is there already, its name is none for
    a claim, or it cannot be written.
    """
    target = folder or Path("kernels") / imported.name
    if not NAME.fullmatch(target.name.lower()):
        raise BadInput(f"--to {target}: the name of a claim's folder has letters, digits and underscores only")
    if target.exists():
        raise BadInput(f"{target}: is there already; remove it or give another folder with --to")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as waiting:
            made = Path(waiting) / target.name
            _fill(made, imported)
            if imported.auditable:
                claims.load(str(made))
            made.rename(target)
    except OSError as error:
        raise BadInput(f"{target}: cannot be written ({error.strerror})") from error
    return target


def _fill(folder: Path, imported: Imported) -> None:
    (folder / "original").mkdir(parents=True)
    (folder / "claim.toml").write_text(claim_toml(imported, name=folder.name.lower()), encoding="utf-8")
    if imported.reference is not None:
        text = entries.reference_py(imported.reference)
        (folder / "reference.py").write_text(text, encoding="utf-8")
    if imported.claimed is not None:
        (folder / imported.claimed.file).write_bytes(imported.claimed.data)
    for original in imported.originals:
        (folder / "original" / original.file).write_bytes(original.data)


def claim_toml(imported: Imported, *, name: str) -> str:
    """Return the whole `claim.toml`, for a claim folder of that name."""
    protocol = {"steps": _list(imported.steps or (NOT_STATED,)), "flags": _list(imported.flags)}
    blocks = [_head(imported), _top(imported, name), _source(imported), _table("[protocol]", protocol)]
    blocks += [_harness(imported.harness), _tolerance(imported), _shapes(imported), *_figures(imported)]
    if imported.claimed is not None:
        blocks.append(_variant(imported.claimed))
    for original in imported.originals:
        keys = {"file": f"original/{original.file}", "sha256": original.sha256, "published_as": original.published_as}
        blocks.append(_table("[[original]]", {key: quoted(value) for key, value in keys.items()}))
    return "\n\n".join(blocks) + "\n"


def quoted(value: str) -> str:
    """Return a TOML basic string; characters that a reader would not see are escaped."""
    marked = value.replace("\\", "\\\\").replace('"', '\\"')
    if marked.isascii() and marked.isprintable():
        return f'"{marked}"'
    return '"' + "".join(_escaped(character) for character in marked) + '"'


def _escaped(character: str) -> str:
    """TOML 1.0 has both forms; it has none for half a character."""
    code = ord(character)
    if 0xD800 <= code < 0xE000:
        return "\ufffd"
    if sanitizer.is_seen(character):
        return character
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _head(imported: Imported) -> str:
    lines = [f"Imported by `audit import` from {imported.provenance}, format {imported.format}. Every key is checked."]
    lines += [f"MISSING, no audit without it: {one}" for one in imported.missing if one.essential]
    lines += [f"missing: {one}" for one in imported.missing if not one.essential]
    lines += [f"chosen: {choice}" for choice in imported.choices]
    return "\n".join(f"# {sanitizer.line(line)}" for line in lines)


def _top(imported: Imported, name: str) -> str:
    keys = {"name": name, "title": imported.title, "task": imported.task, "dtype": imported.dtype}
    keys |= {"entry": imported.claimed.entry} if imported.claimed else {}
    values = {key: quoted(value) for key, value in {**keys, "baseline": imported.baseline}.items()}
    return _table("", values | ({"gpus": _list(imported.gpus)} if imported.gpus else {}))


def _source(imported: Imported) -> str:
    kernel = imported.claimed
    added = f" The audit adds to {kernel.file}: {kernel.added}." if kernel and kernel.added else ""
    added += _lines(kernel, imported) if kernel else ""
    note = (
        f"imported ({imported.format}) from {imported.provenance}; original/ holds every source byte for byte.{added}"
    )
    keys = {
        "title": imported.title,
        "authors": imported.authors or NOT_STATED,
        "published": imported.published or UNKNOWN,
        "url": imported.url or NOT_STATED,
        "fidelity": "verbatim" if imported.url else "given",
        "note": note,
    }
    return _table("[source]", {key: quoted(value) for key, value in keys.items()})


def _lines(kernel: Claimed, imported: Imported) -> str:
    """Return where the lines of the claimed source stood; empty where they have the numbers of the original."""
    kept = [one for one in imported.originals if one.file.endswith(claims.SOURCES)]
    originals = {one.published_as: one.data.decode(errors="replace") for one in kept}
    rows = places.ranges(places.of(kernel.data.decode(errors="replace"), originals))
    more = f"; {len(rows) - MOST_ROWS} more ranges" if len(rows) > MOST_ROWS else ""
    return f" Lines of {kernel.file}: {'; '.join(rows[:MOST_ROWS])}{more}." if rows else ""


def _harness(harness: Harness) -> str:
    """Return the mode always, since a reader may have to correct it; what the harness does not do is left out."""
    keys = {"mode": quoted(harness.mode)}
    keys |= {"dtype": quoted(harness.dtype)} if harness.dtype else {}
    keys |= {} if harness.destination is None else {"destination": repr(harness.destination)}
    keys |= {"host": repr([*harness.host])} if harness.host else {}
    keys |= {"keywords": f"[{', '.join(map(quoted, harness.keywords))}]"} if harness.keywords else {}
    keys |= {"any_dtype": "true"} if harness.any_dtype else {}
    return _table("[harness]", keys)


def _tolerance(imported: Imported) -> str:
    if imported.tolerance is None:
        return '# [tolerance]\n# relative = 1e-4\n# reason = "why this number"'
    keys = {"relative": repr(imported.tolerance.relative)}
    keys |= {"absolute": repr(imported.tolerance.absolute)} if imported.tolerance.absolute else {}
    keys |= {"reason": quoted(imported.tolerance.reason)}
    return _table("[tolerance]", keys)


def _shapes(imported: Imported) -> str:
    shapes = imported.shapes
    if shapes is None:
        return "# [shapes]\n# claimed = { N = 4096 }\n# others = []\n# emulated = [{ N = 64 }]"
    keys = {"claimed": _sizes(shapes.claimed), "others": f"[{', '.join(map(_sizes, shapes.others))}]"}
    if shapes.emulated:
        keys["emulated"] = f"[{', '.join(map(_sizes, shapes.emulated))}]"
        keys |= {"emulated_by": quoted(shapes.emulated_by)} if shapes.emulated_by != "claim" else {}
        keys |= {"module": f"[{', '.join(map(quoted, shapes.module))}]"} if shapes.module else {}
        return _table("[shapes]", keys)
    return _table("[shapes]", keys) + f"\n# emulated = [{_sizes(shapes.claimed)}]"


def _figures(imported: Imported) -> Iterator[str]:
    """Yield a speedup a GPU and shape, as published or from the two times, and an observation of the claimed shape
    where both times are known."""
    claimed = dict(imported.shapes.claimed) if imported.shapes else {}
    for gpu, at in dict.fromkeys((one.gpu, _at(one, claimed)) for one in imported.figures if one.gpu):
        here = [figure for figure in imported.figures if (figure.gpu, _at(figure, claimed)) == (gpu, at)]
        shape = {"shape": _sizes(dict(at))} if any(figure.shape for figure in here) else {}
        kernel = next((one for one in here if one.about == "kernel"), None)
        baseline = next((one for one in here if one.unit == "ms" and one is not kernel), None)
        ratio = next((one for one in here if one.unit == "ratio"), None)
        if ratio is not None:
            stated = {"gpu": quoted(gpu), "ratio": repr(ratio.value), **shape, **_stated(ratio, imported)}
            yield _table("[[speedup]]", stated, said=_said(ratio))
        elif kernel is not None and baseline is not None:
            value, said = baseline.value / kernel.value, f"{baseline.about} over kernel, from the two published times"
            stated = {"gpu": quoted(gpu), "ratio": repr(value), **shape, **_stated(kernel, imported)}
            yield _table("[[speedup]]", stated, said=said)
        if kernel is not None and baseline is not None and dict(at) == claimed:
            keys = {"kernel_ms": repr(kernel.value), "baseline_ms": repr(baseline.value), **_stated(kernel, imported)}
            note = quoted(f"{_said(kernel)}; {_said(baseline)}")
            yield _table("[[observation]]", {"gpu": quoted(gpu), **keys, "note": note})


def _at(figure: Figure, claimed: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """Return the sizes that a number speaks of, by name."""
    return tuple(sorted((figure.shape or claimed).items()))


def _stated(figure: Figure, imported: Imported) -> dict[str, str]:
    """Return the author and the address of a number, as far as the format gives them."""
    values = {"by": figure.by or imported.authors, "url": imported.url}
    return {key: quoted(value) for key, value in values.items() if value}


def _said(figure: Figure) -> str:
    return f"{figure.about}: {figure.concluded}"


def _variant(claimed: Claimed) -> str:
    keys = {
        "file": claimed.file,
        "role": "claimed",
        "technique": claimed.technique,
        "sha256": hashlib.sha256(claimed.data).hexdigest(),
    }
    values = {key: quoted(value) for key, value in keys.items()}
    least = claimed.compute_capability
    return _table("[[variant]]", values if least is None else {**values, "compute_capability": repr(least)})


def _table(head: str, keys: Mapping[str, str], *, said: str = "") -> str:
    lines = [f"# {sanitizer.line(said)}"] if said else []
    return "\n".join([*lines, *([head] if head else []), *(f"{key} = {value}" for key, value in keys.items())])


def _sizes(shape: Mapping[str, int]) -> str:
    keys = {name if name.isascii() and name.isidentifier() else quoted(name): size for name, size in shape.items()}
    return "{ " + ", ".join(f"{key} = {size}" for key, size in keys.items()) + " }"


def _list(values: Sequence[str]) -> str:
    return "[" + ", ".join(quoted(value) for value in values) + "]"
