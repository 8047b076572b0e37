from pathlib import Path

from audit.build.notes import build_finding, failed_note, without_folders
from audit.build.second_compiler import Refusal
from audit.claims import load
from audit.model.errors import CompileError, Unsupported

VARIANT = load("triangular_mm").claim.variant[0]
SOURCE = Path(__file__)


def test_a_log_names_files_and_not_where_they_lie() -> None:
    log = "In file included from /home/me/kit/include/mma.h:2:10, from a.cu:3\n/tmp/x-y/b.h:1: error: a / b /= c"
    assert without_folders(log) == "In file included from mma.h:2:10, from a.cu:3\nb.h:1: error: a / b /= c"


def test_a_compile_error_is_an_error_in_the_compilers_words_and_fails_no_kernel() -> None:
    note = failed_note(VARIANT, "O2", CompileError("a.cu:3:1: error: expected ';'\n", header_set="micro"), SOURCE)
    finding = build_finding(note)
    assert (note.outcome, finding.outcome, finding.grade) == ("does not compile", "error", None)
    assert "expected ';'" in finding.summary
    assert finding.evidence["log"] == note.log


def test_a_refusal_of_the_compiler_it_is_written_for_is_proved() -> None:
    note = failed_note(VARIANT, "O2", CompileError("a.cu:3:1: error: expected ';'\n", header_set="micro"), SOURCE)
    finding = build_finding(note, Refusal("nvcc 13.0.88", "a.cu(3): error: expected a ';'"))
    assert finding.fails_kernel
    assert finding.summary == "nvcc 13.0.88 refuses it: a.cu(3): error: expected a ';'"
    assert finding.evidence["log"] == note.log


def test_what_is_not_modelled_is_a_skip_that_names_it() -> None:
    finding = build_finding(failed_note(VARIANT, "O2", Unsupported("textures", line=4), SOURCE))
    assert finding.outcome == "skip"
    assert "textures (line 4)" in finding.summary


def test_a_lost_include_is_told_by_the_file_in_which_it_stood(tmp_path: Path) -> None:
    source = tmp_path / "claimed.cu"
    source.write_text('#include "absent.h"  // parts/scale.cuh, line 3\n#include "b.h"\n')
    log = "claimed.cu:{}:10: fatal error: absent.h: No such file or directory\ncompilation terminated.\n"
    said = [
        failed_note(VARIANT, "O2", CompileError(log.format(line), header_set="micro"), source).log for line in (1, 2, 9)
    ]
    assert said[0].startswith("parts/scale.cuh:3: fatal error: absent.h")
    assert said[1:] == [log.format(2), log.format(9)]
