"""What do Kafka's own classes make of rules and names, and does this program agree?

    python -m tests.oracle.principals --cases 24000 --seed 1

asks the classes of both Kafka versions and writes tests/data/principals: questions and answers,
and a manifest with the jars' digests. Cases on which a JVM hangs are left out and counted.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from aclweb.acl.principals.java_regex import (
    CannotTell,
    InvalidPattern,
    InvalidReplacement,
    JavaPattern,
    RefusedPattern,
    Span,
)
from aclweb.acl.principals.kerberos_mapping import KerberosRules
from aclweb.acl.principals.name_mapping import InvalidRules, MappedName, RefusedRules
from aclweb.acl.principals.ssl_mapping import SslRules
from tests.oracle.jvm import Hung, JavaProgram
from tests.random_mappings import MappingCase, random_case
from tests.random_patterns import Drawn

VERSIONS = ("4.4.0", "3.9.2")
RECORDED = Path(__file__).parents[1] / "data" / "principals"
CASES_FILE, MANIFEST_FILE = "mappings.jsonl.gz", "manifest.json"
NAMES_PER_CASE = 6
_SECONDS = 10
# The errors that Kafka words itself; for others the class of Java is to blame.
_WORDED = ("NoMatchingRule", "BadFormatString")

REFUSED = "refused"
HUNG = "hung"


@dataclass(frozen=True)
class Answer:
    """What became of one name: the word ok, invalid (rules), error, refused or hung, and what it says."""

    how: str
    text: str = ""


# What the JVM says.


def units(text: str) -> str:
    """Return text as the Java side reads it."""
    return text.encode("utf-16-be", "surrogatepass").hex()


def from_units(digits: str) -> str:
    return bytes.fromhex(digits).decode("utf-16-be", "surrogatepass")


def asked(program: JavaProgram, questions: Sequence[str]) -> Iterator[str]:
    """Yield the JVM's answers; `hung` for a question to which none came in time."""
    left = list(questions)
    while left:
        answered = 0
        try:
            for answer in program.ask_many(left):
                yield answer
                answered += 1
            return
        except Hung:
            yield HUNG
            left = left[answered + 1 :]


def java_answers(program: JavaProgram, cases: Iterable[MappingCase]) -> Iterator[Answer]:
    """Yield what Kafka's classes make of each name of each case."""
    questions = []
    for case in cases:
        before = [units(case.realm)] if case.kind == "kerberos" else []
        questions += ["\t".join([case.kind, *before, units(case.rules), units(name)]) for name in case.names]
    for line in asked(program, questions):
        yield _java_answer(line.split("\t"))


def _java_answer(words: list[str]) -> Answer:
    how = words[0]
    if how == "ok":
        return Answer("ok", from_units(words[1]))
    if how == "error":
        message = from_units(words[2])
        is_worded = words[1] in _WORDED or message.startswith("Malformed Kerberos name: ")
        return Answer("error", message if is_worded else "")
    return Answer(HUNG if how in (HUNG, "overflow") else how)


# What this program says.


def our_answers(case: MappingCase) -> list[Answer]:
    """Return what this program makes of each name."""
    try:
        mapping = (
            SslRules.read(case.rules)
            if case.kind == "ssl"
            else KerberosRules.read(case.rules, realm=case.realm)
        )
    except RefusedRules as refusal:
        return [Answer(REFUSED, refusal.construct)] * len(case.names)
    except InvalidRules:
        return [Answer("invalid")] * len(case.names)
    return [_our_answer(mapping.map(name)) for name in case.names]


def _our_answer(found: MappedName) -> Answer:
    if found.name is not None:
        return Answer("ok", found.name)
    if found.is_uncertain:
        return Answer(REFUSED, found.error or "")
    return Answer("error", found.kafka_error or "")


def our_regex_answer(drawn: Drawn) -> str | None:
    """Return what the JVM should answer to a question about a pattern; None where it is refused."""
    try:
        pattern = JavaPattern.read(drawn.pattern)
        whole = pattern.matches(drawn.text)
        words = ["ok", "none" if whole is None else _spans(whole)]
        words.append("".join(f"{_spans(found)};" for found in pattern.find_all(drawn.text)))
        for replace in (pattern.replace_all, pattern.replace_first):
            try:
                words.append(units(replace(drawn.text, drawn.replacement)))
            except InvalidReplacement:
                words.append("bad")
    except InvalidPattern:
        return "invalid"
    except (RefusedPattern, CannotTell):
        return None
    return "\t".join(words)


def _spans(found: list[Span]) -> str:
    return ",".join(f"{first}-{last}" for first, last in found)


def regex_question(drawn: Drawn) -> str:
    return "\t".join(["regex", units(drawn.pattern), units(drawn.text), units(drawn.replacement)])


# Recording.


def read_recorded() -> Iterator[tuple[MappingCase, list[Answer]]]:
    """Yield every recorded case with what Kafka's classes answered."""
    with gzip.open(RECORDED / CASES_FILE, "rt", encoding="ascii") as file:
        for line in file:
            kind, rules, realm, names, printed, answers = json.loads(line)
            yield (
                MappingCase(kind, rules, tuple(names), realm),
                [_unpacked(name, printed, answer) for name, answer in zip(names, answers, strict=True)],
            )


def _packed(case: MappingCase, answers: Sequence[Answer]) -> list[object]:
    """Return a case for a line; what Kafka prints of the rules is kept once."""
    printed = ""
    packed: list[object] = []
    for name, answer in zip(case.names, answers, strict=True):
        before = f"No rules apply to {name}, rules "
        if answer.how == "ok":
            packed.append(answer.text)
        elif answer.text.startswith(before):
            printed = answer.text.removeprefix(before)
            packed.append(0)
        else:
            packed.append([answer.how, answer.text] if answer.text else [answer.how])
    return [case.kind, case.rules, case.realm, case.names, printed, packed]


def _unpacked(name: str, printed: str, packed: object) -> Answer:
    if isinstance(packed, str):
        return Answer("ok", packed)
    if isinstance(packed, list):
        return Answer(*packed)
    return Answer("error", f"No rules apply to {name}, rules {printed}")


def record(count: int, seed: int) -> Counter[str]:
    """Write `count` cases and the manifest; return how often each kind of answer came."""
    rng = random.Random(seed)
    cases = [random_case(rng, names=NAMES_PER_CASE) for _ in range(count // NAMES_PER_CASE)]
    said: dict[str, list[Answer]] = {}
    digests: dict[str, dict[str, str]] = {}
    for version in VERSIONS:
        with JavaProgram("Principals", version, seconds=_SECONDS) as program:
            said[version] = list(java_answers(program, cases))
            digests[version] = program.digests
    kinds: Counter[str] = Counter()
    RECORDED.mkdir(parents=True, exist_ok=True)
    lines = []
    for number, case in enumerate(cases):
        several = [
            answers[number * NAMES_PER_CASE : (number + 1) * NAMES_PER_CASE] for answers in said.values()
        ]
        if any(answers != several[0] for answers in several) or any(
            answer.how == HUNG for answer in several[0]
        ):
            kinds["left out: hung, or versions differ"] += 1
            continue
        kinds.update(f"{case.kind} {answer.how}" for answer in several[0])
        kinds.update(f"with {about}" for about in case.about)
        lines.append(json.dumps(_packed(case, several[0]), separators=(",", ":")))
    data = "".join(f"{line}\n" for line in lines).encode("ascii")
    (RECORDED / CASES_FILE).write_bytes(gzip.compress(data, 9, mtime=0))
    manifest = {
        "seed": seed,
        "names": len(lines) * NAMES_PER_CASE,
        "kinds": dict(sorted(kinds.items())),
        "jars": digests,
    }
    (RECORDED / MANIFEST_FILE).write_text(json.dumps(manifest, indent=1) + "\n")
    return kinds


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.principals", description=__doc__)
    parser.add_argument("--cases", type=int, default=24_000, help="names to ask about")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    for kind, count in sorted(record(given.cases, given.seed).items()):
        print(f"{count:8,}  {kind}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
