"""The limits of this audit, its environment, how to reproduce it, and the right of reply."""

from __future__ import annotations

from audit.claims.importers.writer import NOT_STATED
from audit.judge.evidence import configurations_left
from audit.model import BuildNote, Device, Record, store
from audit.model.gpus import names_in
from audit.report import evidence
from audit.report.messages import NONE, NOT_MEASURED, Recorded, capability, headings, joined, message, number, shape
from audit.report.view import Block, Code, Section, Table
from audit.sandbox import check

DOES = {**check.LIMITS, **check.FORMER}
"""What each limit of the sandbox does, by its name."""


def environment(record: Record) -> Section:
    """Return machine, versions, sources with their hashes, builds and stages."""
    env = record.environment
    unknown = message("word.none_recorded")
    packages = joined("comma", (f"{name} {version}" for name, version in env.packages.items()))
    facts: list[tuple[str, str]] = [
        (message("environment.kit"), env.kit),
        (message("environment.started"), env.started_utc),
        (message("column.device"), _device(record.device)),
        *((message("environment.beside"), _device(other)) for other in record.secondary_devices),
        (message("environment.machine"), Recorded(env.machine)),
        (message("environment.system"), Recorded(env.system)),
        (message("environment.python"), env.python),
        (message("environment.packages"), packages),
        (message("environment.compiler"), env.compiler or unknown),
        (message("environment.seeds"), joined("comma", map(str, env.seeds)) if env.seeds else unknown),
    ]
    logs = tuple(
        (message("form.variant_outcome", variant=note.variant, outcome=Recorded(note.outcome)), Block(note.log))
        for note in env.builds
        if note.outcome != "built" and note.log
    )
    tables = (*_sandbox(record), _sources(record), *_builds(env.builds), *_stages(record))
    title = message("environment.title")
    return Section(title, "environment", facts=tuple(facts), tables=tables, logs=logs, folded=True)


def reproduce(record: Record) -> Section:
    """Return the command of the audit with its seed, and the one that renders the report again."""
    env, name, kind = record.environment, record.claim.statement.name, record.device.kind
    if env.command is not None:
        key, run, file = "reproduce.typed", env.command, store.RECORD
    else:
        seed = f" --seed {env.seeds[0]}" if env.seeds else ""
        key, run = "reproduce.text", f"audit run {name} --device {kind}{seed}"
        file = f"out/{name}-{kind}/{store.RECORD}"
    commands = (Code(run), Code(f"audit report {file}"))
    told = (message(key, kit=env.kit), message("reproduce.again" if env.command is None else "reproduce.again_there"))
    return Section(message("reproduce.title"), "reproduce", paragraphs=told, commands=commands)


def reply(record: Record) -> Section:
    """Return the standing invitation to the authors."""
    named = record.claim.statement.source.authors
    authors = message("reply.unnamed") if named == NOT_STATED else Recorded(named)
    text = message("reply.text", authors=authors)
    return Section(message("reply.title"), "reply", paragraphs=(text, message("reply.none")))


def _device(device: Device) -> str:
    return message(
        "environment.device",
        kind=device.kind,
        name=Recorded(device.name),
        version=capability(device.compute_capability),
    )


def _sandbox(record: Record) -> list[Table]:
    """Return the limits around the processes that ran claimed code; none for a record older than their check."""
    rows = tuple(
        (
            Code(one.name),
            Recorded(DOES.get(one.name, one.name)),
            message("environment.wall_stands")
            if one.up
            else message("environment.wall_missing", why=Recorded(one.why)),
        )
        for one in record.environment.sandbox
    )
    return [Table(message("environment.sandbox"), headings("limit", "inside", "on_this_machine"), rows)] if rows else []


def _sources(record: Record) -> Table:
    rows = tuple((Code(one.file), number(one.size_bytes), Code(one.sha256)) for one in record.claim.sources)
    return Table(message("environment.files"), (*headings("file", "bytes"), "SHA-256"), rows, frozenset({1}))


def _builds(notes: tuple[BuildNote, ...]) -> list[Table]:
    rows = tuple(
        (
            *(Code(note.variant), note.optimisation, Recorded(note.outcome), note.header_set or NONE),
            Code(" ".join(note.flags)) if note.flags else NONE,
            message("environment.from_cache") if note.from_cache else f"{number(note.seconds)} s",
        )
        for note in notes
    )
    columns = headings("variant", "optimisation", "outcome", "headers", "flags", "build_time")
    return [Table(message("environment.builds"), columns, rows, frozenset({5}))] if rows else []


def _stages(record: Record) -> list[Table]:
    rows = tuple((Recorded(stage.name), f"{number(stage.seconds)} s") for stage in record.environment.stages)
    columns = headings("stage", "wall_clock")
    return [Table(message("environment.stages"), columns, rows, frozenset({1}))] if rows else []


OF_FILES = ("files", "metadata")
"""Parts of the sandbox without which claimed code can change files of others."""


def limitations(record: Record) -> Section:
    """Return the limits as sentences."""
    bullets = (
        *_ran_on(record),
        *_shapes(record),
        *_claim(record),
        *not_tested(record),
        *_files(record),
        *_unconfirmed(record),
    )
    return Section(message("limitations.title"), "limitations", bullets=bullets)


def not_tested(record: Record) -> list[str]:
    """Return what the claim speaks of and this audit did not ask: GPUs, the claimed shape, and questions."""
    asked = (one for one in evidence.of_claim(record) if one.probe != "floor")
    count = len({one.probe for one in asked if one.outcome in ("skip", "error")})
    left = [message("limitations.questions", count=number(count))] if count else []
    tuned = [
        message("limitations.configurations", kernel=kernel, count=number(count - 1))
        for kernel, count in configurations_left(evidence.of_claim(record))
    ]
    return [*_gpus(record), *_claimed_shape(record), *tuned, *left]


def _ran_on(record: Record) -> list[str]:
    device = record.device
    ran = message(
        "limitations.device",
        device=Recorded(device.name),
        version=capability(device.compute_capability),
        note=_note(device.note),
    )
    if device.kind != "cuda":
        return [ran, message("limitations.emulated")]
    beside = [
        message("limitations.beside", device=Recorded(one.name), note=_note(one.note))
        for one in record.secondary_devices
    ]
    return [ran, *beside, message("limitations.times", device=device.name)]


def _note(text: str) -> Recorded:
    return Recorded(text.rstrip("."))


def _shapes(record: Record) -> list[str]:
    tested = sorted(evidence.tested_shapes(record), key=lambda one: tuple(one.values()))
    if not tested:
        return [message("limitations.no_shape")]
    return [message("limitations.shapes", shapes=joined("semicolon", map(shape, tested)))]


def _claimed_shape(record: Record) -> list[str]:
    claim, tested = record.claim.statement.shapes.claimed, evidence.tested_shapes(record)
    if claim in tested or not tested:
        return []
    blocks = evidence.find(record, "claimed_blocks", record.claimed_name)
    if blocks is None or blocks.outcome not in ("pass", "fail") or "smaller" in blocks.evidence:
        return [message("limitations.claimed_shape", shape=shape(claim))]
    whole = blocks.evidence.get("blocks_run") == blocks.evidence.get("blocks")
    return [message("limitations.claimed_whole" if whole else "limitations.claimed_blocks", shape=shape(claim))]


def _gpus(record: Record) -> list[str]:
    gpus = dict.fromkeys(speedup.gpu for speedup in record.claim.statement.speedup)
    timed = names_in(record.device.name) if record.measurements and record.device.kind == "cuda" else ()
    left = [gpu for gpu in gpus if gpu not in timed]
    return [message("limitations.gpus", absent=NOT_MEASURED, gpus=joined("comma", left))] if left else []


def _claim(record: Record) -> list[str]:
    source = record.claim.statement.source
    floors = message("limitations.floors")
    if source.fidelity == "reconstruction":
        return [message("limitations.reconstruction", note=_note(source.note)), floors]
    return [floors]


def _files(record: Record) -> list[str]:
    """What it costs where claimed code could write files that other builds and audits rest on."""
    missing = [one.name for one in record.environment.sandbox if one.name in OF_FILES and not one.up]
    return [message("limitations.files", limits=joined("comma", missing))] if missing else []


def _unconfirmed(record: Record) -> list[str]:
    doubtful = [one for one in evidence.of_claim(record) if one.outcome == "fail" and one.confirmed is False]
    return [
        message("limitations.unconfirmed", question=evidence.title(one.probe), target=one.target) for one in doubtful
    ]
