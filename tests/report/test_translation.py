"""Every text has its Japanese beside it, with the same placeholders, and a Japanese report holds no English of ours."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest

import audit
from audit import judge
from audit.model import Record, Verdict, VerdictName
from audit.model.errors import BadInput
from audit.model.record import RatioState, ResultState, TaskState
from audit.report import catalogue, content, figures
from audit.report.evidence import PROBES
from audit.report.said import Listed, Said, Told, listed, say
from audit.report.translation import REMARK, text_of, translated
from audit.report.view import Block, Code, Link, Quoted, Report, mapped
from tests.report.fixture import measured, swept, triangular
from tests.report.test_times import raced

PACKAGE = Path(audit.__file__).parent
TEXTS = PACKAGE / "report" / "texts" / "ja"
PUBLISHED = sorted((PACKAGE.parent / "reports").rglob("record.json"))
FILES = {path.stem: catalogue.texts(path) for path in TEXTS.glob("*.toml")}
SENTENCES = [english for name, texts in FILES.items() if name != "report" for english in texts]
WRITERS = (
    "lint.py clearing.py causes.py answers.py verdicts.py ladder.py ablation.py judge.py reconcile.py errors.py probes "
    "task measure review/rules review/launch_geometry.py review/source_findings.py build/notes.py worker/pool.py "
    "worker/parents.py worker/sanitizer_log.py worker/transcript.py worker/protocol.py worker/channel.py "
    "worker/outputs.py worker/standing.py containment/trial.py containment/usage.py"
).split()
"""The modules whose texts come into records as sentences."""
NOT_IN_RECORDS = re.compile(
    r"that it speaks of was|unknown precision|workers' parent process|battery at|views at|"
    r"launches at|callables timed"
)
STATES = {state for kind in (VerdictName, ResultState, TaskState, RatioState) for state in get_args(kind)}
"""Words of a record that code compares with; each has its own line in the catalogue."""
KANA = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
ENGLISH = re.compile(r"(?<![\w.])[A-Za-z]?[a-z]+ [a-z]{2,}(?![\w.(])")
GLOSSED = re.compile(
    r"\((?:claim|reference) runs first\)|（(?:claim|reference) runs first）|compute capability|data sheet"
)


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def literals(path: Path) -> Iterator[tuple[str, bool]]:
    """The strings of a module in which `\\0` stands for what an f-string computes, and whether each is one."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        names = [one.id for one in getattr(node, "targets", []) if isinstance(one, ast.Name)]
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in node.values}
        elif {"MECHANISMS", "RULES"} & set(names) or getattr(getattr(node, "target", None), "id", "") == "RULES":
            skipped |= {id(one) for one in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "\0" for part in node.values), True
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value, False


def templates() -> set[str]:
    """What the report says: the first argument of `say` and `listed`, and every other template with placeholders."""
    found = {REMARK.template}
    for path in sorted((PACKAGE / "report").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
        spoken = [call.args[0] for call in calls if getattr(call.func, "id", "") in ("say", "listed")]
        found |= {arg.value for arg in spoken if isinstance(arg, ast.Constant)}
        found |= {text for text, formatted in literals(path) if not formatted and re.search(r"\{[a-z_]+\}", text)}
    return found


def test_the_catalogue_holds_what_the_report_says_and_nothing_else() -> None:
    assert set(FILES["report"]) == templates()


def test_the_report_says_nothing_beside_the_catalogue() -> None:
    """Only pictures, tables of other pages and the words of errors may hold English that nobody translates."""
    spoken, beside = templates() | STATES, []
    for path in sorted((PACKAGE / "report").glob("*.py")):
        if path.name in (
            "compare.py",
            "portability.py",
            "browser.py",
            "formats.py",
            "catalogue.py",
        ):
            continue
        texts = [text for text, _ in literals(path) if re.search(r"[A-Za-z]{2,} [a-z]{2,}", text)]
        beside += [(path.name, text) for text in texts if text not in spoken and not text.startswith(("audit r", "<"))]
    assert not beside


@pytest.mark.parametrize("name", sorted(FILES))
def test_both_languages_have_the_same_placeholders(name: str) -> None:
    differing = [english for english, text in FILES[name].items() if placeholders(english) != placeholders(text)]
    assert not differing


def test_every_form_of_a_sentence_has_one_translation() -> None:
    forms = {(re.sub(r"\{\w+\}", "{}", english), re.sub(r"\{\w+\}", "{}", text))
             for name, texts in FILES.items() if name != "report" for english, text in texts.items()}  # fmt: skip
    assert [form for form, count in Counter(english for english, _ in forms).items() if count > 1] == []


def test_every_sentence_a_stage_can_write_is_in_the_catalogue() -> None:
    known, missing = "\n".join(SENTENCES), []
    for writer in WRITERS:
        place = PACKAGE / writer
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            for text, _ in literals(path):
                if not re.search(r"[a-z]{2,} [a-z]{2,}", text) or NOT_IN_RECORDS.search(text) or "\\" in text:
                    continue
                pieces = ".*?".join(re.escape(piece) for piece in re.sub("^(?:\0: )+", "", text).split("\0"))
                if not re.search(pieces, known):
                    missing.append((str(path.relative_to(PACKAGE)), text))
    assert not missing, "give these their Japanese in audit/report/texts/ja"


def test_every_message_of_the_emulated_device_is_in_the_catalogue() -> None:
    known, missing = "\n".join(SENTENCES), []
    for path in sorted((PACKAGE / "emulator" / "runtime").glob("*.cpp")):
        for statement in re.findall(r"(?:report|report_at|report_fault|refused)\(([^;]*);", path.read_text("utf-8")):
            joined = re.sub(r'"\s*"', "", statement)
            texts = [text for text in re.findall(r'"((?:[^"\\]|\\.)*)"', joined) if re.search("[a-z] [a-z]", text)]
            missing += [(path.name, text) for text in texts if text not in known]
    assert not missing


def test_every_probe_and_rule_has_a_name() -> None:
    rules = {path.stem.replace("_", " ") for path in (PACKAGE / "review" / "rules").rglob("*.py")} - {"  init  "}
    unnamed = [name for name in sorted(rules) if name not in SENTENCES]
    assert not unnamed
    assert all(isinstance(title, Said) for title in PROBES.values())


def records() -> dict[str, Record]:
    right = triangular(defects=False)
    empty = triangular().model_copy(update={"findings": (), "ladder": (), "verdict": Verdict(name="incomplete")})
    made = {"wrong": triangular(), "right": measured(right), "incomplete": empty, "timed": raced(right=True),
            "uncleared": raced(), "sizes": swept(right)}  # fmt: skip
    return made | {f"{path.parents[1].name}-{path.parent.name}": judge.opened(path) for path in PUBLISHED}


RECORDS = records()


@pytest.fixture(scope="module", params=RECORDS)
def both(request: pytest.FixtureRequest) -> tuple[Report, Report]:
    record = RECORDS[request.param]
    drawn = (
        figures.draw(record) if request.param in ("wrong", "timed", "sizes") else ()
    )  # what figures say is drawn from these
    english = content.build(record, drawn)
    return english, translated(english, "ja")


def leaves(report: Report) -> list[str]:
    found: list[str] = []
    mapped(report, lambda text: found.append(text) or text)  # type: ignore[func-returns-value]
    return found


def test_a_japanese_report_holds_no_english_sentence_of_ours(both: tuple[Report, Report]) -> None:
    left = [
        text
        for text in leaves(both[1])
        if not isinstance(text, Code | Block | Link | Quoted)
        and ENGLISH.search(GLOSSED.sub("", re.sub("「[^」]*」", "", text)))
    ]
    assert not left


def test_what_is_quoted_comes_from_outside(both: tuple[Report, Report]) -> None:
    quoted = {text for leaf in leaves(both[1]) for text in re.findall("「([A-Za-z][^」]*)」", leaf)}
    quoted = {text for text in quoted if not KANA.search(text)}
    outside = re.compile(r"NVIDIA \w+ (?:data sheet|architecture)|void at::|.*must be contiguous|a processor|.*Error\b")
    assert not [text for text in quoted if not outside.match(text)]


def test_both_say_the_same_numbers(both: tuple[Report, Report]) -> None:
    pairs = zip(leaves(both[0]), leaves(replaced_remark(both[1])), strict=True)
    for english, japanese in pairs:
        if isinstance(english, Said) and english.template in FILES["report"] and not english.parameters:
            continue  # a sentence of the kit alone; its Japanese may count in words
        assert numbers(english) == numbers(japanese), (english, japanese)


def replaced_remark(report: Report) -> Report:
    """English has no remark: the leaves of both stand side by side again."""
    return report.__class__(**{**vars(report), "remark": ""})


def numbers(text: str) -> Counter[str]:
    return Counter(re.findall(r"\d+(?:[.,]\d+)*", re.sub(r"「\d|(?<=[A-Za-z_])\d+|\d-D|\d 次元", "", text)))


def test_sentences_end_politely() -> None:
    """Sentences of the report are in the polite form; headings and cells are nouns."""
    plain = re.compile(r"(?:である|だった|(?<![まで])した|する|ない|いる|ある|れる|える)。")
    assert not [text for texts in FILES.values() for text in texts.values() if plain.search(text)]


def test_english_is_what_the_report_was_made_in() -> None:
    view = content.build(triangular(), ())
    assert translated(view, "en") is view


def test_an_unknown_language_names_the_known_ones() -> None:
    with pytest.raises(BadInput, match="language fr: unknown; known: en, ja"):
        translated(content.build(triangular(), ()), "fr")


JA = catalogue.load("ja")


@pytest.mark.parametrize(
    ("english", "japanese"),
    [
        ("N=255: 5 of 9 elements wrong; at [1, 0] expected 1.5, got nan",
         "N=255: 9 要素中 5 要素が誤りです。[1, 0] では期待値 1.5 に対して nan でした"),
        ("agreement: not asked", "float64 の基準値との一致: 検査していません"),
        ("the call raised RuntimeError: no kernel image is there",
         "呼び出しが例外を送出しました: RuntimeError: 「no kernel image is there」"),
        ("The result does not follow input 0 (x), input 2 (weight), input 3.",
         "結果は次の入力に依存していません: 入力 0（x）、入力 2（weight）、入力 3。"),
        ("nobody foresaw this sentence", "「nobody foresaw this sentence」"),
        ("somebody's words: with a colon; and more of them", "「somebody's words: with a colon; and more of them」"),
        ("triangular_mm_kernel", "triangular_mm_kernel"),
        ("SM clock 1,980 to 1,980 MHz in 13 readings; slowed by hardware thermal limit, power cap; "
         "up to 3 processes had a context on this GPU",
         "SM クロックは 13 回の読み取りで 1,980 ～ 1,980 MHz、"
         "減速の要因: ハードウェアの温度制限、電力上限。"
         "この GPU では最大 3 個のプロセスがコンテキストを持っていました"),
    ],
)  # fmt: skip
def test_sentences_of_records(english: str, japanese: str) -> None:
    assert text_of(Told(english), JA) == japanese


def test_texts_inside_texts_are_said_too() -> None:
    inner = say("At {shape}, {told}", shape="N = 3", told=listed(", ", [say("right"), say("wrong"), Told("inf")]))
    assert inner == "At N = 3, right, wrong, inf"
    assert text_of(inner, JA) == "N = 3 では、正しい、誤り、inf"
    assert isinstance(listed("; ", []), Listed)


def test_endless_forms_inside_each_other_end() -> None:
    text = "a: b; " * 160
    assert KANA.search(text_of(Told(text), JA)) is None
    assert text_of(Told("ab cd " * 400), JA).startswith("「")


def test_braces_in_a_record_are_text() -> None:
    assert text_of(Told("the call raised {0.imag}"), JA) == "呼び出しが例外を送出しました: {0.imag}"
    assert say("{label} {value}", label="{0.imag}", value="{x}") == "{0.imag} {x}"
