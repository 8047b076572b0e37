"""Every message has its wording in each language, every record sentence its pattern, with the same placeholders."""

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
from audit.model import Grade, Record, Rung, Source, Verdict, VerdictName
from audit.model.errors import BadInput
from audit.model.finding import DeviceKind
from audit.model.record import RatioState, ResultState, TaskState
from audit.probes import OF_THE_CLAIM, PROBES
from audit.report import content, figures, outcome, sizes, translation
from audit.report.messages import LANGUAGES, TEXTS, Joined, Message, Recorded, joined, message, wordings
from audit.report.translation import translated, worded
from audit.report.view import Block, Code, Link, Quoted, Report, mapped
from audit.review.rules import RULES
from tests.conftest import opened, some
from tests.report.fixture import measured, swept, triangular
from tests.report.test_times import raced, sized

PACKAGE = Path(audit.__file__).parent
PUBLISHED = sorted((PACKAGE.parent / "reports").rglob("record.json"))
FILES = {path.stem: translation.texts(path) for path in (TEXTS / "ja").glob("*.toml")}
SENTENCES = [english for texts in FILES.values() for english in texts]
WRITERS = (
    "lint/floors.py judge model/errors.py probes measure review/rules review/repairs review/rule.py "
    "review/reach.py review/hints.py build/notes.py run/timing/answers.py run/messages/wire.py "
    "run/calls/correctness.py run/calls/outputs.py run/processes/pool.py run/messages/protocol.py "
    "run/messages/results.py run/processes/environment.py run/devices/sanitizer_log.py "
    "run/processes/supervisors.py sandbox/attempts.py sandbox/processes.py"
).split()
"""The modules whose texts come into records as sentences."""
NOT_IN_RECORDS = re.compile(
    r"that it speaks of was|unknown precision|workers' parent process|no C\+\+ compiler|does not compile \0|"
    r"had not compiled|battery at|views at|other inputs without|"
    r"launches at|callables timed|model name|\\|^\nlaunch_geometry|^\nfallback"
)
STATES = {state for kind in (VerdictName, ResultState, TaskState, RatioState) for state in get_args(kind)}
"""Words of a record that code compares with; each has a pattern of its own."""
KANA = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
ENGLISH = re.compile(r"(?<![\w.])[A-Za-z]?[a-z]+ [a-z]{2,}(?![\w.(])")
GLOSSED = re.compile(
    r"\((?:claim|reference) runs first\)|（(?:claim|reference) runs first）|compute capability|data sheet"
)


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def literals(path: Path) -> Iterator[str]:
    """The strings of a module in which `\\0` stands for a value of an f-string."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    unspoken = {"_rule": lambda call: (call.args[1], *call.args[4:]), "names": lambda call: call.args}
    aside = [part for call in calls for part in unspoken.get(call.func.id, lambda _: ())(call)]
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    skipped |= {id(one) for part in aside for one in ast.walk(part)}
    for node in ast.walk(tree):
        names = [one.id for one in getattr(node, "targets", []) if isinstance(one, ast.Name)]
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in node.values}
        elif "RULES" in names or getattr(getattr(node, "target", None), "id", "") == "RULES":
            skipped |= {id(one) for one in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "\0" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def spoken() -> set[str]:
    """The ids of messages in the code; those made from a probe, a verdict or another word are `families`."""
    found: set[str] = set()
    for path in sorted((PACKAGE / "report").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found |= {text for text in literals(path) if text in wordings()}
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            prefix = {"headings": "column", "joined": "join"}.get(getattr(call.func, "id", ""))
            texts = [one.value for one in call.args if isinstance(one, ast.Constant)] if prefix else []
            found |= {f"{prefix}.{text}" for text in texts}
    return found


def families() -> set[str]:
    known = {
        "headline": {*get_args(VerdictName), "not its own", "access", "intact", "inputs", "order"},
        "outcome": {*get_args(Grade), "pass", "not_claimed", "of_others"},
        "state": {*get_args(Rung.model_fields["state"].annotation), "not_judged"},
        "device": {*get_args(DeviceKind)},
        "claim": {*get_args(Source.model_fields["fidelity"].annotation)},
        "rating": {*outcome.SUPPORT.values(), "none", "high", "medium", "low"},
        "grade": {*get_args(Grade)},
        "floors": {"pass", "fail", "error", "ratio_only", "unknown"},
        "sizes": {*sizes.RESULTS},
        "template": {
            name
            for path in (PACKAGE / "report" / "templates").iterdir()
            for name in re.findall(r"words\.(\w+)", path.read_text(encoding="utf-8"))
        },
        "probe": {key.partition(".")[2] for key in wordings() if key.startswith("probe.")},
        "question": {key.partition(".")[2] for key in wordings() if key.startswith("question.")},
    }
    return {f"{section}.{name}" for section, names in known.items() for name in names}


def test_the_table_holds_the_messages_of_the_report_and_no_other() -> None:
    assert set(wordings()) == spoken() | families()


def test_every_message_is_worded_in_each_language_with_the_same_placeholders() -> None:
    assert [key for key, texts in wordings().items() if set(texts) - {"one"} != set(LANGUAGES)] == []
    for key, texts in wordings().items():
        assert placeholders(texts["en"]) == placeholders(texts["ja"]) >= placeholders(texts.get("one", "")), key


def test_the_report_says_nothing_beside_its_messages() -> None:
    """Only tables of other pages, lines of progress and the words of errors may hold English without a translation."""
    beside = []
    for path in sorted((PACKAGE / "report").glob("*.py")):
        if path.name in ("compare.py", "browser.py", "formats.py", "found.py", "progress.py"):
            continue
        texts = [text for text in literals(path) if re.search(r"[A-Za-z]{2,} [a-z]{2,}", text)]
        beside += [(path.name, text) for text in texts if text not in STATES and not text.startswith(("audit r", "<"))]
    assert not beside


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_pattern_and_its_translation_have_the_same_placeholders(name: str) -> None:
    differing = [english for english, text in FILES[name].items() if placeholders(english) != placeholders(text)]
    assert not differing


def test_every_form_of_a_sentence_has_one_translation() -> None:
    forms = {(re.sub(r"\{\w+\}", "{}", english), re.sub(r"\{\w+\}", "{}", text))
             for texts in FILES.values() for english, text in texts.items()}  # fmt: skip
    assert [form for form, count in Counter(english for english, _ in forms).items() if count > 1] == []


def test_every_sentence_a_stage_can_write_has_its_pattern() -> None:
    known, missing = "\n".join(SENTENCES), []
    for writer in WRITERS:
        place = PACKAGE / writer
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            for text in literals(path):
                if not re.search(r"[a-z]{2,} [a-z]{2,}", text) or NOT_IN_RECORDS.search(text):
                    continue
                pieces = ".*?".join(re.escape(piece) for piece in re.sub("^(?:\0: )+", "", text).split("\0"))
                if not re.search(pieces, known):
                    missing.append((str(path.relative_to(PACKAGE)), text))
    assert not missing, "give these their Japanese in audit/report/texts/ja"


def test_every_message_of_the_emulated_device_has_its_pattern() -> None:
    known, missing = "\n".join(SENTENCES), []
    for path in sorted((PACKAGE / "build" / "emulated" / "runtime").glob("*.cpp")):
        for statement in re.findall(r"(?:report|report_at|report_fault|refused)\(([^;]*);", path.read_text("utf-8")):
            joined = re.sub(r'"\s*"', "", statement)
            texts = [text for text in re.findall(r'"((?:[^"\\]|\\.)*)"', joined) if re.search("[a-z] [a-z]", text)]
            missing += [(path.name, text) for text in texts if text not in known]
    assert not missing


def test_every_probe_and_rule_has_a_name() -> None:
    assert [name for name in RULES if name.replace("_", " ") not in SENTENCES] == []
    assert {f"probe.{name}" for name in (*PROBES, *OF_THE_CLAIM)} <= set(wordings())


def records() -> dict[str, Record]:
    right = triangular(defects=False)
    empty = triangular().model_copy(update={"findings": (), "ladder": (), "verdict": Verdict(name="incomplete")})
    made = {"wrong": triangular(), "right": measured(right), "incomplete": empty, "timed": raced(right=True),
            "uncleared": raced(), "sized": sized(), "sizes": swept(right)}  # fmt: skip
    return made | {f"{path.parents[1].name}-{path.parent.name}": opened(path) for path in PUBLISHED}


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
    outside = re.compile(
        r"NVIDIA \w+ (?:data sheet|architecture)|void at::|launch timed out|.*must be contiguous|a processor|.*Error\b"
    )
    assert not [text for text in quoted if not outside.match(text)]


def test_both_say_the_same_numbers(both: tuple[Report, Report]) -> None:
    pairs = zip(leaves(both[0]), leaves(replaced_remark(both[1])), strict=True)
    for english, japanese in some(pairs):
        if isinstance(english, Message) and not english.arguments:
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
    texts = [text for texts in FILES.values() for text in texts.values()] + [
        texts["ja"] for texts in wordings().values()
    ]
    assert not [text for text in texts if plain.search(text)]


def test_english_is_what_the_report_was_made_in() -> None:
    view = content.build(triangular(), ())
    assert translated(view, "en") == view


@pytest.mark.parametrize(
    ("record", "shown"),
    [("a: 2x against baseline:graph_eager", "a: 2x against eager (CUDA graph)"),
     ("not asked: the first call is already wrong; see agreement",
      'not asked: the first call is already wrong; see "Agreement with a float64 oracle"'),
     ("current_stream, skipped here, on line 35: why", '"The caller\'s stream", skipped here, on line 35: why'),
     ("N=8: strided inputs: 3 of 9 elements wrong",
      "N=8: inputs with large values at regular positions: 3 of 9 elements wrong"),
     ("no kernel of its own; 1 launches of a library's", "no kernel of its own; 1 launch of a library's"),
     ("no kernel of its own; 11 launches of a library's", "no kernel of its own; 11 launches of a library's")],
)  # fmt: skip
def test_english_of_a_record_has_titles_in_place_of_names(record: str, shown: str) -> None:
    assert worded(message("form.sentence", sentence=Recorded(record)), "en") == f"{shown}."
    assert worded(record, "en") == record, "words of others stay"


def test_an_unknown_language_names_the_known_ones() -> None:
    with pytest.raises(BadInput, match="language fr: unknown; known: en, ja"):
        translated(content.build(triangular(), ()), "fr")


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
        ("with other values in input 0 (a): 9 elements must move, 9 keep their bits; "
         "in input 4 (beta): 13,622 elements must move, 798 keep their bits",
         "別の値を与えた入力: 入力 0（a）: 変わるべき 9 要素のうち、9 要素のビットが変わりません; "
         "入力 4（beta）では、変わるべき 13,622 要素のうち、798 要素のビットが変わりません"),
        ("N=4: 7 of 64 elements are what a freed block held, which random values explain",
         "N=4: 64 要素中 7 要素が、解放されたブロックに残っていた値です。これは乱数の偶然の一致で説明できます"),
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
    assert worded(Recorded(english), "ja") == japanese


def test_messages_inside_messages_are_worded_too() -> None:
    answers = joined("comma", [message("order.right"), message("order.wrong"), Recorded("inf")])
    inner = message("questions.coverage_at", shape="N = 3", question=answers)
    assert inner == "At N = 3, right, wrong, inf"
    assert worded(inner, "ja") == "N = 3 では、正しい、誤り、inf"
    assert isinstance(joined("semicolon", []), Joined)


def test_endless_forms_inside_each_other_end() -> None:
    text = "a: b; " * 160
    assert KANA.search(worded(Recorded(text), "ja")) is None
    assert worded(Recorded("ab cd " * 400), "ja").startswith("「")


def test_one_thing_is_in_the_singular() -> None:
    assert [message("page.left_out", count=count) for count in ("1", "2")] == [
        "1 more is in the full report and its record.", "2 more are in the full report and its record.",
    ]  # fmt: skip
    assert message("coverage.rows", count="0", all="1") == "0 of 1 row"
    assert worded(message("page.left_out", count="1"), "ja").startswith("ほか 1 件")


def test_braces_in_a_record_are_text() -> None:
    assert worded(Recorded("the call raised {0.imag}"), "ja") == "呼び出しが例外を送出しました: {0.imag}"
    assert message("form.label_value", label="{0.imag}", value="{x}") == "{0.imag} {x}"
