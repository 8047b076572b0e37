"""The known-good kernels are what the issue of the day asks for: many, listed, explained, and of no mechanism."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import pytest

from audit import claims
from audit.apps.selftest import controls, score

FOLDERS = controls.folders()
KNOWN_GOOD = [folder for folder in FOLDERS if folder.path.parent.name == "controls_good"]
KERNELS = [folder.source_of(variant) for folder in KNOWN_GOOD for variant in folder.claim.variant]


def test_the_folders_of_controls_are_found_at_any_depth_and_no_claim_is_among_them() -> None:
    places = {folder.path.relative_to(claims.KERNELS).as_posix() for folder in FOLDERS}
    assert {"controls", "controls_good/softmax"} <= places
    assert controls.CLAIM not in places


def test_the_parts_of_the_controls_are_all_of_them_each_once() -> None:
    def asked(part: controls.Part) -> list[tuple[str, str]]:
        parted = controls.parted(FOLDERS, part)
        assert all(folder.claim.variant for folder in parted)
        return [(folder.claim.name, one.name) for folder in parted for one in folder.claim.variant]

    every = asked(controls.ALL)
    thirds = [asked(controls.Part(first, 3)) for first in (1, 2, 3)]
    assert sorted(chain(*thirds)) == sorted(every)
    assert len(every) == len(set(every)) > 200
    assert {len(one) for one in thirds} <= {len(every) // 3, len(every) // 3 + 1}


def test_there_are_at_least_forty_known_good_kernels() -> None:
    assert len(KERNELS) >= 40
    assert {variant.role for folder in KNOWN_GOOD for variant in folder.claim.variant} == {"known_good"}


@pytest.mark.parametrize("folder", KNOWN_GOOD, ids=lambda folder: folder.claim.name)
def test_every_file_on_disk_is_listed(folder: claims.ClaimFolder) -> None:
    assert {path.name for path in folder.path.glob("*.cu")} == {variant.file for variant in folder.claim.variant}
    assert folder.claim.name == folder.path.name


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_kernel_says_what_looks_suspicious_and_why_it_is_fine(kernel: Path) -> None:
    head = kernel.read_text(encoding="utf-8").partition("#include")[0]
    assert head.startswith(f"// {kernel.stem}: looks ")
    assert "//   why fine   " in head


def test_a_mechanism_is_the_first_line_after_the_name() -> None:
    folder = claims.load("controls")
    (variant,) = (variant for variant in folder.claim.variant if variant.name == "order_bad")
    assert score.mechanism(folder, variant) == "right only after somebody else has computed the same result."
