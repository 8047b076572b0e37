"""Environment, how to reproduce, and the right of reply."""

from __future__ import annotations

from audit.model import BuildNote, Device, Record
from audit.report.quantities import capability, number
from audit.report.said import Told, listed, say
from audit.report.view import Block, Code, Section, Table
from audit.run import standing
from audit.sandbox import tried

DOES = {**tried.WALLS, **standing.OF_THE_CHANNEL}
"""What each wall does, by its name."""


def environment(record: Record) -> Section:
    """Machine, versions, sources with their hashes, builds and stages."""
    env, device = record.environment, record.device
    facts: list[tuple[str, str]] = [
        (say("Kit"), env.kit),
        (say("Started (UTC)"), env.started_utc),
        (say("Device"), _device(device)),
        *((say("Device beside it"), _device(other)) for other in record.beside),
        (say("Machine"), Told(env.machine)),
        (say("System"), Told(env.system)),
        (say("Python"), env.python),
        (say("Packages"), listed(", ", (f"{name} {version}" for name, version in env.packages.items()))),
        (say("Compiler"), env.compiler or say("none recorded")),
        (say("Seeds"), listed(", ", map(str, env.seeds)) if env.seeds else say("none recorded")),
    ]
    tables = [*_walls(record), _sources(record), *_builds(env.builds), *_stages(record)]
    logs = [
        (say("{variant}: {outcome}", variant=note.variant, outcome=Told(note.outcome)), Block(note.log))
        for note in env.builds
        if note.outcome != "built" and note.log
    ]
    title = say("Environment")
    return Section(title, "environment", facts=tuple(facts), tables=tuple(tables), logs=tuple(logs), folded=True)


def reproduce(record: Record) -> Section:
    """The exact command, with the recorded seed where there is one."""
    seed = f" --seed {record.environment.seeds[0]}" if record.environment.seeds else ""
    name, kind = record.claim.statement.name, record.device.kind
    run = Code(f"audit run {name} --device {kind}{seed}")
    again = Code(f"audit report out/{name}-{kind}/record.json")
    text = say(
        "With version {kit} of the kit and the sources whose SHA-256 stands under Environment. "
        "The second command renders this report again from the record that the first one writes.",
        kit=record.environment.kit,
    )
    return Section(say("How to reproduce"), "reproduce", paragraphs=(text,), commands=(run, again))


def reply(record: Record) -> Section:
    """The standing invitation to the authors."""
    text = say(
        "{authors}: corrections are welcome, and so are your own source, protocol or measurements. "
        "A reply will be printed here in full, beside the record of a new audit if it asks for one.",
        authors=record.claim.statement.source.authors,
    )
    paragraphs = (text, say("No reply is part of this record."))
    return Section(say("Right of reply"), "reply", paragraphs=paragraphs)


def _device(device: Device) -> str:
    return say(
        "{kind}: {name}, compute capability {version}",
        kind=device.kind,
        name=Told(device.name),
        version=capability(device.compute_capability),
    )


def _walls(record: Record) -> list[Table]:
    """Which walls stood around what ran claimed code; nothing in a record from before they were tried."""
    rows = tuple(
        (
            Code(wall.name),
            Told(DOES.get(wall.name, wall.name)),
            say("stands") if wall.up else say("missing: {why}", why=Told(wall.why)),
        )
        for wall in record.environment.walls
    )
    columns = (say("Wall"), say("What runs inside it"), say("On this machine"))
    return [Table(say("Walls around claimed code, tried before any of it ran"), columns, rows)] if rows else []


def _sources(record: Record) -> Table:
    rows = tuple((Code(one.file), number(one.size_bytes), Code(one.sha256)) for one in record.claim.sources)
    return Table(say("Files audited"), (say("File"), say("Bytes"), "SHA-256"), rows, frozenset({1}))


def _builds(notes: tuple[BuildNote, ...]) -> list[Table]:
    rows = tuple(
        (
            Code(note.variant),
            note.optimisation,
            Told(note.outcome),
            note.header_set or say("none"),
            Code(" ".join(note.flags)) if note.flags else say("none"),
            say("from cache") if note.from_cache else f"{number(note.seconds)} s",
        )
        for note in notes
    )
    columns = (say("Variant"), say("Optimisation"), say("Outcome"), say("Headers"), say("Flags"), say("Build time"))
    return [Table(say("Builds"), columns, rows, frozenset({5}))] if rows else []


def _stages(record: Record) -> list[Table]:
    rows = tuple((Told(stage.name), f"{number(stage.seconds)} s") for stage in record.environment.stages)
    columns = (say("Stage"), say("Wall clock"))
    return [Table(say("Stages of the audit"), columns, rows, frozenset({1}))] if rows else []
