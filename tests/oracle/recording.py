"""Which answers of Kafka's classes does a test replay without a JVM, and who wrote them?

Only `record` writes them: it asks every released authorizer about the same worlds and files
each world with the letters that the classes answered, once for all versions that agree. The
manifest names the jars by their digests, the seeds, the generator and the day.
"""

from __future__ import annotations

import datetime as dt
import gzip
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from devstack.jars import read_lock
from tests.oracle.comparing import PATIENCE_SECONDS, PROGRAM
from tests.oracle.jvm import SOURCES, JavaProgram, OracleError
from tests.oracle.tally import Tally
from tests.oracle.targets import TARGETS, Target
from tests.oracle.worlds import AGES, World, generator_digest, is_hazardous, worlds

FOLDER = Path(__file__).resolve().parents[1] / "data" / "decisions"
MANIFEST = FOLDER / "manifest.json"


@dataclass(frozen=True)
class Family:
    """Worlds that the same targets are asked about: those of the engine that know the words of the age."""

    engine: str
    age: str
    count: int

    @property
    def name(self) -> str:
        return f"{self.engine}-{self.age}"

    @property
    def targets(self) -> tuple[Target, ...]:
        ages = AGES[AGES.index(self.age) :]
        return tuple(one for one in TARGETS if one.engine == self.engine and one.age in ages)

    def worlds(self) -> Iterator[World]:
        return islice(worlds(SEED, self.engine, self.age), self.count)


SEED = "recorded"
FAMILIES = (
    Family("standard", "3.3", 1000),
    Family("standard", "4.1", 700),
    Family("acl", "2.4", 300),
    Family("acl", "2.8", 300),
    Family("acl", "3.3", 900),
)


@dataclass(frozen=True)
class Recorded:
    """One world and what each target answered."""

    world: World
    answers: tuple[tuple[Target, str], ...]

    def one_of_each(self, number: int) -> Iterator[tuple[Target, str]]:
        """Yield one target for each answer that was given; with the next number it is the next that gave it."""
        by_answer: dict[str, list[Target]] = {}
        for target, answer in self.answers:
            by_answer.setdefault(answer, []).append(target)
        for answer, targets in by_answer.items():
            yield targets[number % len(targets)], answer


def record(progress: Callable[[str], object]) -> str:
    """Ask all targets and write their answers; return a sentence. Raises OracleError where one fails."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    tally, files = Tally(), {}
    for family in FAMILIES:
        made = list(family.worlds())
        if any(map(is_hazardous, made)):
            raise OracleError(f"A world of {family.name} is hazardous; nothing was asked.")
        answers: dict[Target, list[str]] = {}
        for target in family.targets:
            progress(f"{family.name}: asking {target} about {len(made):,} worlds.")
            with JavaProgram(PROGRAM, target.version, seconds=PATIENCE_SECONDS) as program:
                answers[target] = list(program.ask_many(world.line for world in made))
            for world, answer in zip(made, answers[target], strict=True):
                if failed := set("!#%~") & set(answer.replace(" ", "")):
                    raise OracleError(f"{target} answered {sorted(failed)} in world {world.seed}.")
                tally.add(target, world, answer)
        lines = [
            _line(world, {target: answers[target][place] for target in family.targets})
            for place, world in enumerate(made)
        ]
        data = gzip.compress("".join(lines).encode(), compresslevel=9, mtime=0)
        file = FOLDER / f"{family.name}.jsonl.gz"
        file.write_bytes(data)
        files[file.name] = hashlib.sha256(data).hexdigest()
    if complaints := tally.lopsided():
        raise OracleError(" ".join(complaints))
    manifest = {
        "written_by": "python -m tests.oracle record",
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "decisions": tally.decisions,
        "by_type": tally.type_decisions,
        "allowed_share": round(tally.allowed_share, 4),
        "generator": generator_digest(),
        "program": hashlib.sha256((SOURCES / f"{PROGRAM}.java").read_bytes()).hexdigest(),
        "seed": SEED,
        "worlds": {family.name: family.count for family in FAMILIES},
        "files": files,
        "jars": {
            version: {jar.file_name: jar.sha256 for jar in read_lock(version)}
            for version in sorted({target.version for target in TARGETS})
        },
    }
    MANIFEST.write_text(json.dumps(manifest, indent=1) + "\n")
    progress(tally.report())
    size = sum((FOLDER / name).stat().st_size for name in files)
    return (
        f"Recorded {tally.decisions:,} decisions and {tally.type_decisions:,} by type in {size / 1e6:.1f} MB."
    )


def read_manifest() -> dict[str, object]:
    """Return what is said about the recorded answers."""
    manifest: dict[str, object] = json.loads(MANIFEST.read_text())
    return manifest


def recorded(family: Family) -> Iterator[Recorded]:
    """Yield the worlds of one family with their answers."""
    with gzip.open(FOLDER / f"{family.name}.jsonl.gz", "rt", encoding="utf-8") as opened:
        for line in opened:
            fields = json.loads(line)
            world = World.from_line(fields["seed"], fields["world"])
            answers = [
                (Target(family.engine, version), answer)
                for versions, answer in fields["answers"].items()
                for version in versions.split()
            ]
            yield Recorded(world, tuple(answers))


def _line(world: World, answers: dict[Target, str]) -> str:
    by_answer: dict[str, list[str]] = {}
    for target, answer in answers.items():
        by_answer.setdefault(answer, []).append(target.version)
    fields = {
        "seed": world.seed,
        "world": world.line,
        "answers": {" ".join(versions): answer for answer, versions in by_answer.items()},
    }
    return json.dumps(fields, ensure_ascii=False) + "\n"


def locked_digests(versions: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the digests of the jars that the locks name now, as the manifest holds them."""
    return {version: {jar.file_name: jar.sha256 for jar in read_lock(version)} for version in versions}
