"""A task with which nothing can be compared: one sentence that names it, and no kernel is blamed."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from audit import claims
from audit.apps import cli


def test_a_right_result_without_a_finite_element_is_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(shutil.copytree(claims.KERNELS / "cached_results", tmp_path / "cached_results"))
    head, *variants = re.split(r"(?m)^(?=\[\[variant\]\])", (folder / "claim.toml").read_text(encoding="utf-8"))
    (folder / "claim.toml").write_text(head + next(one for one in variants if '"claimed.py"' in one), encoding="utf-8")
    text = (folder / "reference.py").read_text(encoding="utf-8")
    nothing = "\nwas = oracle\n\n\ndef oracle(*all):\n    return was(*all) + float('nan')\n"
    (folder / "reference.py").write_text(text + nothing, encoding="utf-8")
    assert cli.main(["run", str(folder), "--device", "emulated", "--out", str(tmp_path / "out")]) == 2
    result = capsys.readouterr().err
    assert "no element of the float64 result is finite, so nothing can be compared with it" in result
    assert "reference.py" in result
    assert "Traceback" not in result


def test_a_tolerance_of_zero_is_one_and_a_negative_one_is_not(tmp_path: Path) -> None:
    text = (claims.KERNELS / "cached_results/claim.toml").read_text(encoding="utf-8")
    exact = claims.parse(re.sub(r"(?m)^relative = .*", "relative = 0.0", text), "claim.toml")
    assert exact.tolerance.relative == 0.0
    with pytest.raises(claims.BadInput, match=r"key tolerance\.relative"):
        claims.parse(re.sub(r"(?m)^relative = .*", "relative = -1e-3", text), "claim.toml")
