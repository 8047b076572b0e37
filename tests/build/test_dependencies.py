"""The files that a build read are those that the compiler names, however a source names them."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.build import dependencies
from audit.build.dependencies import listed, marks, own_files
from audit.build.emulated import prepared, toolchain
from audit.build.emulated.preprocess import TEXT, preprocess
from audit.model.errors import CompileError, Unsupported

WAYS = {
    "in quotes": '#include "impl.h"',
    "by a macro": '#define IMPL "impl.h"\n#include IMPL',
    "made of text": "#define S_(x) #x\n#define S(x) S_(x)\n#define BASE impl\n#include S(BASE.h)",
    "pasted": "#define S_(x) #x\n#define S(x) S_(x)\n#define J(a, b) a##b\n#include S(J(im, pl).h)",
    "over two lines": '#inc\\\nlude "im\\\npl.h"',
    "behind a comment": '/* a */ # /* b */ include /* c */ "impl.h" // d',
    "by a digraph": '%:include "impl.h"',
    "by the next folder": '#include_next "impl.h"',
    "by import": '#import "impl.h"',
    "where it exists": '#if __has_include("impl.h")\n#include "impl.h"\n#endif',
    "by its whole path": '#include "@FOLDER@/impl.h"',
    "in angle brackets by its whole path": "#include <@FOLDER@/impl.h>",
    "in a folder below": '#include "below/impl.h"',
    "by a way around": '#include "below/../impl.h"',
    "through another header": '#include "outer.h"',
    "under another line's name": '#line 7 "/usr/include/stdio.h"\n#include "impl.h"',
    "in a pragma's reach": '_Pragma("once") _Pragma("GCC system_header")\n#include "impl.h"',
    "by a link": '#include "link.h"',
    "in another case": '#include "Impl.h"',
}
NAMES = {"in a folder below": "below/impl.h", "by a link": "link.h", "in another case": "Impl.h"}


def folder_of(root: Path, value: int) -> Path:
    """A claim's folder whose every header gives that value."""
    (root / "below").mkdir(parents=True)
    for name in ("impl.h", "Impl.h", "below/impl.h"):
        (root / name).write_text(f"int value() {{ return {value}; }}\n")
    (root / "outer.h").write_text('#define INNER "impl.h"\n#include INNER\n')
    (root / "link.h").symlink_to("impl.h")
    return root


def preprocessed(text: str, folder: Path, build: Path) -> tuple[list[str], bytes]:
    """The claim's files that a source with that text reads, and the text that the compiler sees."""
    build.mkdir()
    header = prepared.header("micro")
    text = text.replace("@FOLDER@", str(folder))
    named = prepared.sources()
    flags = (*named.flags, *toolchain.find().flags)
    own = preprocess(text, folder / "claimed.cu", build, headers=[header], flags=flags, ours=[named.folder])
    return [one.file for one in own], (build / TEXT).read_bytes()


@pytest.mark.parametrize("way", WAYS)
def test_a_header_is_found_and_counts_however_it_is_included(way: str, tmp_path: Path) -> None:
    one, other = folder_of(tmp_path / "one", 1), folder_of(tmp_path / "other", 2)
    names, text = preprocessed(WAYS[way], one, tmp_path / "build_one")
    _, other_text = preprocessed(WAYS[way], other, tmp_path / "build_other")
    expected = {NAMES.get(way, "impl.h"), *(["outer.h"] if "another header" in way else [])}
    assert set(names) == expected
    assert b"return 1" in text
    assert b"return 2" in other_text


def test_a_condition_on_a_file_that_is_not_read_counts(tmp_path: Path) -> None:
    text = '#if __has_include("impl.h")\nint there;\n#endif'
    (tmp_path / "empty").mkdir()
    _, with_it = preprocessed(text, folder_of(tmp_path / "one", 1), tmp_path / "build_one")
    _, without = preprocessed(text, tmp_path / "empty", tmp_path / "build_other")
    assert b"int there" in with_it
    assert b"int there" not in without


def test_a_build_needs_no_file_but_the_compilers_own(tmp_path: Path) -> None:
    (tmp_path / "claim").mkdir()
    assert (
        preprocessed("#include <vector>\n#include <torch/extension.h>", tmp_path / "claim", tmp_path / "build")[0] == []
    )


@pytest.mark.parametrize(
    "text", ['#include "../other/impl.h"', "#include <@FOLDER@/../other/impl.h>", '#include "out.h"']
)
def test_a_header_of_another_folder_is_not_read(text: str, tmp_path: Path) -> None:
    folder_of(tmp_path / "other", 2)
    claim = folder_of(tmp_path / "claim", 1)
    (claim / "out.h").symlink_to(tmp_path / "other/impl.h")
    with pytest.raises((CompileError, Unsupported)):
        preprocessed(text, claim, tmp_path / "build")


def test_a_precompiled_header_of_the_source_is_refused(tmp_path: Path) -> None:
    (tmp_path / "claim").mkdir()
    text = '_Pragma("GCC pch_preprocess \\"/tmp/other.gch\\"")\nint x;'
    with pytest.raises(Unsupported, match="a precompiled header of the source's own"):
        preprocessed(text, tmp_path / "claim", tmp_path / "build")


def test_a_file_outside_is_refused_in_one_sentence(tmp_path: Path) -> None:
    claim, build = folder_of(tmp_path / "claim", 1), tmp_path / "build"
    folder_of(tmp_path / "other", 2)
    (claim / "out.h").symlink_to(tmp_path / "other/impl.h")
    for name in ("../other/impl.h", "out.h", "/proc/self/status"):
        with pytest.raises(Unsupported, match="outside of its own folder and the compiler's"):
            own_files(
                [f"{claim}/{name}" if name[0] != "/" else name], source=claim / "claimed.cu", build=build, toolchain=[]
            )
    with pytest.raises(Unsupported, match=r"'gone\.h', which cannot be found again"):
        own_files([str(claim / "gone.h")], source=claim / "claimed.cu", build=build, toolchain=[])


def test_headers_of_the_compiler_may_lie_below_the_claim(tmp_path: Path) -> None:
    claim = folder_of(tmp_path / "claim", 1)
    names = [str(claim / "below/impl.h"), str(claim / "impl.h")]
    found = own_files(names, source=claim / "claimed.cu", build=tmp_path, toolchain=[claim / "below"])
    assert [one.file for one in found] == ["impl.h"]


def test_a_rule_names_every_file() -> None:
    assert listed("kernel.o: kernel.cpp a.h \\\n my\\ own.h \\\n a$$b.h c\\#.h\n") == [
        "kernel.cpp",
        "a.h",
        "my own.h",
        "a$b.h",
        "c#.h",
    ]


def test_marks_change_with_every_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claim = folder_of(tmp_path / "claim", 1)
    seen = [marks(claim)]
    assert marks(claim) == seen[0]
    (claim / "below/impl.h").write_text("int value() { return 2; }\n")
    seen.append(marks(claim))
    (claim / "new.h").touch()
    seen.append(marks(claim))
    (claim / "new.h").rename(claim / "old.h")
    seen.append(marks(claim))
    assert len({tuple(one) for one in seen}) == len(seen)
    monkeypatch.setattr(dependencies, "MOST_FILES", 3)
    with pytest.raises(Unsupported, match="a folder of more than 3 files"):
        marks(claim)
