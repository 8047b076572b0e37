"""`.py` variants on a real GPU: extensions are compiled once, in a child, and taken from there by every session."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit import claims
from audit.build.cuda import gpu, toolchain
from audit.build.python.cuda import PythonBuilder
from audit.build.settings import CudaPython
from audit.model import Variant
from audit.model.errors import CompileError

FOLDER = claims.load("controls_python")
LACKS = toolchain.missing()
pytestmark = pytest.mark.skipif(LACKS is not None, reason=str(LACKS))


@pytest.fixture
def builder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> PythonBuilder:
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path))
    found = gpu.find()
    return PythonBuilder(found, toolchain.find(found))


def test_an_extension_is_compiled_once(builder: PythonBuilder) -> None:
    source = FOLDER.path / "inline_model_good.py"
    variant = next(one for one in FOLDER.claim.variant if one.file == source.name)
    first = builder.build(source, variant, FOLDER.claim, level="fast")
    again = builder.build(source, variant, FOLDER.claim, level="published")
    assert (first.note.from_cache, again.note.from_cache) == (False, True)
    assert isinstance(first.loaded, CudaPython) and first.loaded.folder and first.loaded.extensions
    ((library, name),) = first.loaded.extensions.values()
    assert (first.loaded.folder / library).is_file()
    assert name == "inline_model_good"


def test_what_the_builder_refuses_is_told_in_the_compilers_words(builder: PythonBuilder, tmp_path: Path) -> None:
    (tmp_path / "reference.py").write_text("")
    source = tmp_path / "claimed.py"
    text = "__global__ void k(float* x) { x[0] = undeclared; }"
    source.write_text(f"from torch.utils.cpp_extension import load_inline\nload_inline('m', '', '''{text}''')\n")
    with pytest.raises(CompileError, match="undeclared") as caught:
        builder.build(source, Variant(file=source.name, role="claimed", technique="t"), FOLDER.claim, level="fast")
    assert str(tmp_path) not in caught.value.log
