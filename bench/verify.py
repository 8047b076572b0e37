"""How long `audit verify` takes, and how much memory, for the worst bundles under 24 MB that we know how to make.

    python bench/verify.py [NAME...]

Each bundle is a published record with one thing in it as large as a record may have it, judged again, beside every page
that a bundle may hold; its derived files are short, since all are made again before the first is compared. Each is
verified by a process of its own. Prints the table and writes `bench/results/verify.json` with the machine it came from.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from measured import ROOT, keep

from audit import claims, judge
from audit.apps.bundle import archive, derived
from audit.apps.bundle.make import KEPT, about, generated, sources
from audit.measure.comparison import PREFIX
from audit.measure.samples import OURS
from audit.model import record as bounds
from audit.model import store, untrusted
from audit.probes import CONCLUSIONS
from audit.probes.concluding.answer import finding
from audit.report import figures, formats
from audit.report.figures import raster

MOST_BYTES, MOST_SECONDS, MOST_MB = 24_000_000, 2.0, 1000
MOST_VARIANTS = 80
RECORD = ROOT / "reports" / "triangular_mm" / "h100" / "record.json"
ROOM = store.MOST_BYTES - RECORD.stat().st_size - 100_000
"""Bytes that a record of the largest size has beside the published one."""
MEASURE = """
import re, sys, time
from pathlib import Path
from audit.apps import bundle
began, used, odd = time.perf_counter(), time.process_time(), ""
try:
    bundle.verify(Path(sys.argv[1]))
except bundle.Unsound as error:
    odd = str(error)
peak_kb = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]
print(time.perf_counter() - began, time.process_time() - used, int(peak_kb) / 1000, odd)
"""
WORDS = (ROOT / "docs" / "verdicts.md").read_text(encoding="utf-8").split()
Document = dict[str, Any]


def sentences(count: int, characters: int) -> Iterator[str]:
    """So many sentences, each of other words."""
    draw = random.Random(17)
    for number in range(count):
        text = f"{number}: " + " ".join(draw.choices(WORDS, k=characters // 4))
        yield text[:characters]


def nested(count: int, characters: int) -> Iterator[str]:
    """So many sentences that many patterns of the translation take apart, each into others of the same kind."""
    joints = (": ", "; ", ", ", " and ", " of ", " (", "), ", " in ", " at ", " is ", " to ", " not ")
    for number, text in enumerate(sentences(count, characters)):
        words = text.split()
        draw = random.Random(number)
        yield "".join(word + draw.choice(joints) for word in words)[:characters].strip()


def findings(
    texts: Iterator[str], *, outcome: str = "fail", probe: str = "review", only_variants: bool = False
) -> Callable[[Document], None]:
    """A finding a sentence, about the variants and about other targets."""

    def change(document: Document) -> None:
        names = [one["file"].partition(".")[0] for one in document["claim"]["statement"]["variant"]]
        names += [] if only_variants else [f"other_{number}" for number in range(40)]
        more = {"grade": "hint"} if outcome == "fail" else {}
        for number, text in enumerate(texts):
            document["findings"].append(
                {"probe": probe, "target": names[number % len(names)], "outcome": outcome, "summary": text, **more}
            )

    return change


def samples(document: Document) -> None:
    """As many samples as a record may have, each another one, in as many series as they fit."""
    draw = random.Random(1)
    first = document["measurements"][0]
    left = bounds.MOST_SAMPLES_IN_ALL - sum(len(one["samples_ms"]) for one in document["measurements"])
    for number in range(bounds.MOST_TIMINGS - len(document["measurements"])):
        count = min(60, left - 60 * number)
        if count > 0:
            document["measurements"].append(
                first
                | {"samples_ms": [draw.random() for _ in range(count)], "blocks": list(range(count))}
                | {"positions": [draw.randrange(7) for _ in range(count)], "session": f"s{number}"}
            )


def long_series(document: Document) -> None:
    """Every series as long as it may be."""
    draw = random.Random(1)
    for one in document["measurements"][:14]:
        one |= {"samples_ms": [draw.random() for _ in range(bounds.MOST_SAMPLES)]}
        one |= {"blocks": [number // 8 for number in range(bounds.MOST_SAMPLES)], "positions": []}
    document["measurements"] = document["measurements"][:14]


def callables(document: Document) -> None:
    """As many callables as a record may have, in as many timings of one session."""
    draw = random.Random(1)
    first = next(one for one in document["measurements"] if one["protocol"] == OURS)
    names = bounds.MOST_TIMED - len({one["variant"] for one in document["measurements"]})
    for number in range(bounds.MOST_TIMINGS - len(document["measurements"])):
        document["measurements"].append(
            first
            | {"samples_ms": [draw.random() for _ in range(60)], "blocks": list(range(60))}
            | {"positions": [draw.randrange(7) for _ in range(60)], "variant": f"{PREFIX}{number % names}"}
        )


def builds(document: Document) -> None:
    """Build notes with logs, of distinct variants."""
    first = document["environment"]["builds"][0]
    for number, text in enumerate(nested(950, 7000)):
        document["environment"]["builds"].append(
            first | {"variant": f"v{number}", "log": text, "outcome": "not supported"}
        )


def stages(document: Document) -> None:
    """Names of stages of megabytes in all."""
    document["environment"]["stages"] = [{"name": text, "seconds": 1.0} for text in nested(50, 140_000)]


def packages(document: Document) -> None:
    """As many packages, with long names."""
    document["environment"]["packages"] = {text: text for text in nested(90, 35_000)}


def sandbox(document: Document) -> None:
    """As many limits of the sandbox, with long reasons."""
    document["environment"]["sandbox"] = [{"name": text, "up": False, "why": text} for text in nested(50, 65_000)]


def maps(document: Document) -> None:
    """Lists of evidence as long as they fit, in findings that follow from them."""
    left = untrusted.MOST_VALUES - 150_000
    for one in document["findings"]:
        lists = [name for name, value in one["evidence"].items() if isinstance(value, list) and value]
        if not lists or one["probe"] not in CONCLUSIONS:
            continue
        value = one["evidence"][lists[0]]
        marks = sum(map(json.dumps(value).count, ",[{")) + 1
        count = min(untrusted.MOST_ITEMS, left * len(value) // marks)
        evidence = one["evidence"] | {lists[0]: (value * (count // len(value) + 1))[: max(count, len(value))]}
        with suppress(LookupError, ValueError, TypeError, AttributeError):
            again = finding(one["probe"], one["target"], evidence, CONCLUSIONS[one["probe"]])
            follows = {"outcome", "grade", "summary", "line", "shape", "claimed"}
            one.update(again.model_dump(mode="json", include=follows), evidence=evidence)
            left -= marks * count // len(value)


RECORDS: dict[str, Callable[[Document], None]] = {
    "as published": lambda _: None,
    "4,200 hints of 1,000 characters": findings(sentences(4200, 1000)),
    "4,200 hints, nested sentences": findings(nested(4200, 1000)),
    "4,200 errors, nested sentences": findings(nested(4200, 1000), outcome="error"),
    "4,200 passes, nested sentences": findings(nested(4200, 1000), outcome="pass"),
    "4,200 skips, nested sentences": findings(nested(4200, 1000), outcome="skip"),
    "4,200 floors, nested sentences": findings(nested(4200, 1000), probe="floor"),
    "320 hints of 20,000 characters": findings(nested(320, 20_000)),
    "60,000 samples, 1,000 series": samples,
    "140 callables": callables,
    "60,000 samples, 14 series": long_series,
    "build logs": builds,
    "stages": stages,
    "packages": packages,
    "sandbox": sandbox,
    "maps": maps,
}


def judged(document: Document) -> bytes:
    """The record judged again, so that nothing is refused before the pages are made."""
    record = store.parse(json.dumps(document).encode(), "made")
    again = record.model_copy(
        update={"ladder": judge.ladder(record.claim.statement, record.findings, record.measurements)}
    )
    again = again.model_copy(update={"verdict": judge.judge(again)})
    return again.model_dump_json(by_alias=True).encode()


def bundle(data: bytes, more: dict[str, bytes] | None = None, *, folder: Path | None = None) -> bytes:
    """A bundle of that record with every page."""
    record = store.parse(data, "made")
    names = [name for name in formats.FILES if name not in KEPT]
    files = {"record.json": data, **dict.fromkeys([*names, derived.SAMPLES, derived.STATISTICS], b"x")}
    files |= {**sources(record, folder), **(more or {})}
    files |= {derived.name_of(one): one.png for one in figures.draw(record) if derived.name_of(one) not in files}
    files |= generated(record, files)
    files |= about(record, files, drawn_with=raster.drawn_with())
    return archive.pack(files)


def made(name: str) -> bytes:
    """A bundle by its name in one of the two tables."""
    document = json.loads(RECORD.read_bytes())
    if name in RECORDS:
        RECORDS[name](document)
        return bundle(judged(document))
    return OTHERS[name](document)


def kept(file: str, text: Callable[[int], bytes]) -> Callable[[Document], bytes]:
    """A file that is bundled as it lies, as large as the bundle may have it."""
    return lambda document: bundle(judged(document), {file: text(MOST_BYTES - 3_000_000)})


def chunks(document: Document) -> bytes:
    """Every figure with as many empty chunks as it may have."""
    data = judged(document)
    drawn = figures.draw(store.parse(data, "made"))
    empty = b"\0\0\0\0IDAT" + zlib.crc32(b"IDAT").to_bytes(4, "big")
    end = len(b"\0\0\0\0IEND\0\0\0\0")
    changed = {
        derived.name_of(one): one.png[:-end]
        + empty * ((derived.LARGER - 1) * len(one.png) // len(empty))
        + one.png[-end:]
        for one in drawn
    }
    return bundle(data, changed)


def blanks(document: Document) -> bytes:
    """A record that is blank for the most part."""
    return bundle(judged(document).replace(b'"schema":', b" " * ROOM + b'"schema":', 1))


def variants(document: Document) -> bytes:
    """As many variants as a claim may have, and as many findings about them as a record may have."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(shutil.copytree(claims.KERNELS / "triangular_mm", Path(place) / "triangular_mm"))
        text = (folder / "claim.toml").read_text(encoding="utf-8")
        for number in range(MOST_VARIANTS - len(document["claim"]["statement"]["variant"])):
            shutil.copy(folder / "claimed.cu", folder / f"more_{number}.cu")
            text += f'\n[[variant]]\nfile = "more_{number}.cu"\nrole = "repair"\ntechnique = "t"\n'
        (folder / "claim.toml").write_text(text, encoding="utf-8")
        document["claim"] = claims.load(str(folder)).audited.model_dump(mode="json")
        findings(sentences(4200, 400), only_variants=True)(document)
        return bundle(judged(document), folder=folder)


OTHERS: dict[str, Callable[[Document], bytes]] = {
    "yaml of distinct keys": kept("parameters.yaml", lambda _: b"".join(b"k%07d:\n" % n for n in range(20_000))),
    "yaml of one line": kept("parameters.yaml", lambda _: b"k" * 200_000),
    "notebook, many values": kept(
        "executed.ipynb", lambda size: b"[" + b"[0]," * 240_000 + b" " * (size - 10**6) + b"0]"
    ),
    "notebook, one text": kept("executed.ipynb", lambda size: b'"' + b"\\u0000" * (size // 6) + b'"'),
    "figures of empty chunks": chunks,
    "record of blanks": blanks,
    "80 variants, 4,200 hints": variants,
}


def main() -> None:
    """Makes, measures, prints and stores."""
    found = {}
    for name in sys.argv[1:] or [*RECORDS, *OTHERS]:
        data = made(name)
        with tempfile.NamedTemporaryFile(suffix=".zip") as file:
            file.write(data)
            file.flush()
            try:
                run = subprocess.run([sys.executable, "-c", MEASURE, file.name], capture_output=True, text=True,
                                     check=True, cwd=ROOT, timeout=120)  # fmt: skip
                seconds, used, megabytes, odd = run.stdout.split(" ", 3)
            except subprocess.TimeoutExpired:
                seconds, used, megabytes, odd = "120", "120", "0", "no end"
        found[name] = {
            "mb": round(len(data) / 1e6, 1),
            "seconds": round(float(seconds), 2),
            "processor_s": round(float(used), 2),
            "peak_mb": round(float(megabytes)),
        }
        print(f"{name}: {found[name]} {odd.strip()[:110]}", flush=True)
    if not sys.argv[1:]:
        keep("verify", {"most_seconds": MOST_SECONDS, "most_mb": MOST_MB, "bundles": found})


if __name__ == "__main__":
    main()
