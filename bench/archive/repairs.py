"""Make the one change of each instructive failure in the public file, and ask the kit about the repaired source.

    python bench/archive/repairs.py KERNELS OUT [--jobs N]

KERNELS as in `archive_cases.py`. The column `edit` of `instructive.csv` is a script of sed with our change and the few
words it needs. The repaired files are put into OUT/kernels and audited into OUT. Prints every verdict beside the
committed one, and exits with 1 where they differ.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import archive_cases
import raw
from committed import read

AUDITS = Path(__file__).resolve().parents[1] / "audits.py"


def repaired(kernels: Path, out: Path) -> list[str]:
    """Write the repaired files, and return their ids."""
    out.mkdir(parents=True, exist_ok=True)
    every = read("instructive.csv")
    for row in every:
        source = (kernels / f"{row['id']}.cu").read_bytes()
        edited = subprocess.run(["sed", row["edit"]], input=source, capture_output=True, check=True).stdout
        if edited == source:
            raise SystemExit(f"{row['id']}.cu: the edit changes nothing: is it the archive's file?")
        (out / f"{row['id']}.cu").write_bytes(edited)
    return [row["id"] for row in every]


def main() -> None:
    """Repair, audit, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--jobs", default="2")
    given = parser.parse_args()
    folder = given.out / "kernels"
    ids = [int(one) for one in repaired(given.kernels, folder)]
    cases = archive_cases.write(ids, folder, given.out)
    command = [sys.executable, str(AUDITS), str(cases), str(given.out), "--device", "emulated", "--jobs", given.jobs]
    subprocess.run(command, check=True)
    found = {row["id"]: row["verdict"] for row in raw.rows(folder, [given.out], {}, {})}
    pairs = [(row["id"], row["repaired"], found.get(row["id"], "not asked")) for row in read("instructive.csv")]
    for number, committed, now in pairs:
        print(f"{number}: {now}" + ("" if committed == now else f"; committed: {committed}"))
    sys.exit(any(committed != now for _, committed, now in pairs))


if __name__ == "__main__":
    main()
