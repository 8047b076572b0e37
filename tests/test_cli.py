import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from audit.apps import cli, doctor
from audit.apps.commands import COMMANDS, FIRST
from audit.build.emulated import toolchain
from tests.conftest import LONGEST_FIRST


def test_list_names_the_claims(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["list"]) == 0
    assert "triangular_mm" in capsys.readouterr().out


def test_a_command_is_imported_when_it_is_asked_for() -> None:
    code = "import sys; from audit.apps import cli; cli._parser('run'); print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "audit.apps.commands.run" in result
    assert "audit.apps.batch.command" not in result


@pytest.mark.parametrize(("name", "examples"), [("", FIRST), *((name, one.examples) for name, one in COMMANDS.items())])
def test_help_ends_with_examples_that_the_command_takes(
    name: str, examples: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main([*name.split(), "--help"])
    assert ended.value.code == 0
    assert tuple(line.strip() for line in capsys.readouterr().out.splitlines()[-len(examples) :]) == examples
    for program, *arguments in map(shlex.split, examples):
        assert program == "audit"
        assert not name or arguments[0] == name
        assert callable(cli._parser(arguments[0]).parse_args(arguments).command)


@pytest.mark.parametrize(
    ("words", "found"),
    [(("ru",), "run"), (("check", "--toler"), "--tolerance"), (("run", "triangular"), "triangular_mm")],
)
def test_bash_completes_commands_options_and_claims(
    words: tuple[str, ...], found: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["completion", "bash"]) == 0
    typed = f"COMP_WORDS=({shlex.join(('audit', *words))}); COMP_CWORD={len(words)}; _audit; echo ${{COMPREPLY[@]}}"
    script = f"{capsys.readouterr().out}\n{typed}"
    assert subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.strip() == found


def test_files_may_follow_the_verdicts_to_fail_on() -> None:
    given = cli._parser("check").parse_args(["check", "--fail-on", "wrong,cannot be built", "kernel.cu", "ref.py"])
    assert given.fail_on == "wrong,cannot be built"
    assert given.source == [Path("kernel.cu"), Path("ref.py")]


def test_an_option_given_twice_takes_the_values_of_both() -> None:
    parser = cli._parser("check")
    assert parser.parse_args(["check", "k.cu", "--shape", "N=1", "M=2", "--shape", "K=3"]).shape == [
        "N=1",
        "M=2",
        "K=3",
    ]
    assert not parser.parse_args(["check", "k.cu"]).shape


def test_a_command_nearly_named_is_offered(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["vrify", "x"])
    assert ended.value.code == 2
    assert "there is no command vrify; did you mean verify?" in capsys.readouterr().err


def test_doctor_says_what_each_lack_means(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor"]) == 0
    printed = capsys.readouterr().out
    for check in doctor.examine():
        assert check.name in printed
        assert check.mark == "ok" or check.advice, check.name


@pytest.mark.parametrize(("least", "mark"), [(4, "ok"), (999, "!!")])
def test_doctor_wants_the_compiler_that_the_emulated_device_wants(
    least: int, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolchain, "LEAST_GXX", least)
    monkeypatch.setattr(doctor.check, "around_commands", lambda: [])
    (compiler,) = [check for check in doctor.examine() if check.name == "g++"]
    assert compiler.mark == mark
    assert (f"g++ {least} or newer" in compiler.advice) == (mark == "!!")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "no_such_claim"], "known claims"),
        (["run", "triangular_m"], "did you mean triangular_mm?"),
        (["check", "https://example.org/k.cu", "reference.py"], "an address, and nothing is fetched"),
        (["run", "triangular_mm", "--device", "emulated", "--out", "README.md/x"], "README.md/x: cannot be written"),
        (["report", "absent.json"], "absent.json: cannot be read"),
        (["report", "README.md"], "README.md: not JSON"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[1])
    assert cli.main(arguments) == 2
    message = capsys.readouterr().err
    assert words in message
    assert message.count("\n") == 1


@pytest.mark.parametrize("arguments", [[], ["run"], ["run", "triangular_mm", "--device", "abacus"], ["judge"]])
def test_bad_usage_is_exit_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments)
    assert stop.value.code == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["check", "k.cu", "--tolerance", "1e-4", "r.py"], True), (["check", "k.cu", "r.py", "--tolerances", "1"], False)],
)
def test_files_behind_options_are_told_their_place(
    arguments: list[str], said: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        cli.main(arguments)
    assert ("; files and names stand before the options" in capsys.readouterr().err) is said


def test_the_files_that_run_first_are_there() -> None:
    assert [name for name in LONGEST_FIRST if not (Path(__file__).parent / name).is_file()] == []


@pytest.mark.parametrize(("reader", "code"), [("true", 141), ("cat", 0)])
def test_a_reader_that_ends_first_leaves_no_traceback(reader: str, code: int) -> None:
    script = f"set -o pipefail; {shlex.quote(sys.executable)} -m audit list | {{ sleep 0.1; {reader}; }}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, "")
