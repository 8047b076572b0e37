"""Environment, how to reproduce, and the right of reply."""

from __future__ import annotations

from audit.model import BuildNote, Record
from audit.report.quantities import capability, number
from audit.report.view import Block, Code, Section, Table


def environment(record: Record) -> Section:
    """Machine, versions, sources with their hashes, builds and stages."""
    env, device = record.environment, record.device
    facts = [
        ("Kit", env.kit),
        ("Started (UTC)", env.started_utc),
        ("Device", f"{device.kind}: {device.name}, compute capability {capability(device.compute_capability)}"),
        *(("Device beside it", f"{other.kind}: {other.name}") for other in record.beside),
        ("Machine", env.machine),
        ("System", env.system),
        ("Python", env.python),
        ("Packages", ", ".join(f"{name} {version}" for name, version in env.packages.items())),
        ("Compiler", env.compiler or "none recorded"),
        ("Seeds", ", ".join(str(seed) for seed in env.seeds) or "none recorded"),
    ]
    tables = [_sources(record), *_builds(env.builds), *_stages(record)]
    logs = [
        (f"{note.variant}: {note.outcome}", Block(note.log))
        for note in env.builds
        if note.outcome != "built" and note.log
    ]
    return Section(
        "Environment", "environment", facts=tuple(facts), tables=tuple(tables), logs=tuple(logs), folded=True
    )


def reproduce(record: Record) -> Section:
    """The exact command, with the recorded seed where there is one."""
    seed = f" --seed {record.environment.seeds[0]}" if record.environment.seeds else ""
    name, kind = record.claim.statement.name, record.device.kind
    run = Code(f"audit run {name} --device {kind}{seed}")
    again = Code(f"audit report out/{name}-{kind}/record.json")
    text = (
        f"With version {record.environment.kit} of the kit and the sources whose SHA-256 stands under Environment. "
        "The second command renders this report again from the record that the first one writes."
    )
    return Section("How to reproduce", "reproduce", paragraphs=(text,), commands=(run, again))


def reply(record: Record) -> Section:
    """The standing invitation to the authors."""
    text = (
        f"{record.claim.statement.source.authors}: corrections are welcome, and so are your own source, protocol or "
        "measurements. A reply will be printed here in full, beside the record of a new audit if it asks for one."
    )
    return Section("Right of reply", "reply", paragraphs=(text, "No reply is part of this record."))


def _sources(record: Record) -> Table:
    rows = tuple((Code(one.file), number(one.size_bytes), Code(one.sha256)) for one in record.claim.sources)
    return Table("Files audited", ("File", "Bytes", "SHA-256"), rows, frozenset({1}))


def _builds(notes: tuple[BuildNote, ...]) -> list[Table]:
    rows = tuple(
        (
            Code(note.variant),
            note.optimisation,
            note.outcome,
            note.header_set or "none",
            Code(" ".join(note.flags)) if note.flags else "none",
            "from cache" if note.from_cache else f"{number(note.seconds)} s",
        )
        for note in notes
    )
    columns = ("Variant", "Optimisation", "Outcome", "Headers", "Flags", "Build time")
    return [Table("Builds", columns, rows, frozenset({5}))] if rows else []


def _stages(record: Record) -> list[Table]:
    rows = tuple((stage.name, f"{number(stage.seconds)} s") for stage in record.environment.stages)
    return [Table("Stages of the audit", ("Stage", "Wall clock"), rows, frozenset({1}))] if rows else []
