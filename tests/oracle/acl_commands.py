"""What did Kafka's own kafka-acls make of these arguments?

Lists of arguments are drawn from a seed, around what people type: a tenth of the choices are
odd, so that about half of the lists are refused, for every reason there is. The answers of both
tools, the one in Scala (3.9.2) and the one in Java (4.3.1), are recorded with

    python -m tests.oracle.acl_commands

No name of a resource starts with a character that sorts before `*`.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aclweb.acl.kafka.options import NAME_OPTIONS, grammar, read_options
from aclweb.acl.kafka.tool import Plan, plan
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import Operation
from tests.oracle.jvm import JavaProgram

PROGRAM = "AclCommands"
RULES = {"4.3.1": AuthorizerSettings("standard", "4.3"), "3.9.2": AuthorizerSettings("acl", "3.9")}
RECORDED = Path(__file__).parents[1] / "data" / "kafka-acls" / "arguments.jsonl.gz"
RECORDED_SEEDS = range(3000)

NAMES = (
    "orders", "orders", "pay.", "*", "a b", "t,u", "é☃", "it's", 'say "hi"', "A", "a=b", "--x", "日本", "kafka-cluster",
)  # fmt: skip
ODD_NAMES = ("", "-", "--", "--topic", "x ", "a\nb", "*\t", "--add=1", "=", "-topic", "a\u00a0")
PRINCIPALS = ("User:bob", "User:bob", "User:*", "Group:a", "User:CN=a,O=b", "User:a:b", "User:-x")
ODD_PRINCIPALS = (" User:sp ", "bob", "User:", ":a", "", "User", "--allow-principal", "\tUser:tab\u3000")
HOSTS = ("*", "10.0.0.7", "10.0.0.0/8", "2001:db8::1", "host name")
ODD_HOSTS = (" *", "", "a,b", "--force", "10.0.0.7 ")
OPERATIONS = tuple(operation.pascal for operation in Operation if operation.code > 1)
ODD_OPERATIONS = (
    "read", "DESCRIBE", "deScribeConfigs", "DESCRIBE_CONFIGS", "Any", "Unknown", "Fly", " Write ", "", "descrıbe",
    "deſcribe",
)  # fmt: skip
PATTERN_TYPES = ("literal", "prefixed", "prefixed", "LITERAL", "Prefixed")
ODD_PATTERN_TYPES = (
    "any",
    "match",
    "ANY",
    "Match",
    "unknown",
    "foo",
    "",
    "lıteral",
    "lİteral",
    " literal",
    "glob",
)
SETTINGS = ("zookeeper.connect=h:2", "zookeeper.connect=h:2", "a=b=c", "x", "x=", "=y", "")
ROLES = (("producer",), ("consumer",), ("producer", "consumer"), ("producer", "idempotent"))
STRAYS = ("orders", "é", "-", "kafka-acls.sh", "—topic", "")
UNKNOWN_OPTIONS = ("--frob", "-x", "--allow-princ", "--Topic", "--=x", "-=x", "-é", "--top=1", "---", "-xyz")
FLAGS = ("cluster", "producer", "consumer", "idempotent", "force", "help", "version", "add", "remove", "list")

_GUIDE = (
    "--add --allow-principal User:Bob --allow-principal User:Alice --allow-host 198.51.100.0 "
    "--allow-host 198.51.100.1 --operation Read --operation Write --topic Test-topic",
    "--add --allow-principal User:* --allow-host * --deny-principal User:BadBob --deny-host 198.51.100.3 --operation "
    "Read --topic Test-topic",
    "--add --allow-principal User:Peter --allow-host 198.51.200.1 --producer --topic *",
    "--add --allow-principal User:Jane --producer --topic Test- --resource-pattern-type prefixed",
    "--remove --allow-principal User:Bob --allow-principal User:Alice --allow-host 198.51.100.0 "
    "--allow-host 198.51.100.1 --operation Read --operation Write --topic Test-topic",
    "--remove --allow-principal User:Jane --producer --topic Test- --resource-pattern-type Prefixed",
    "--list --topic Test-topic",
    "--list --topic *",
    "--list --topic Test-topic --resource-pattern-type match",
    "--add --allow-principal User:Bob --producer --topic Test-topic",
    "--add --allow-principal User:Bob --consumer --topic Test-topic --group Group-1",
    "--remove --topic Test-topic",
    "--remove --allow-principal User:a --topic Test-topic",
    "--list",
    "--list --cluster",
    "--list --cluster --resource-pattern-type match",
    "--list --principal User:a --principal User:b --topic t --group g",
    "--list --principal",
    "--add --allow-principal User:a --producer --idempotent --topic t --resource-pattern-type prefixed",
    "--add --allow-principal User:a --producer --consumer --topic t --group g --transactional-id x --cluster",
    "--add --allow-principal User:a --operation CreateTokens --operation DescribeTokens --user-principal User:b",
    "--remove --producer --topic t --group g",
    "--add --allow-principal User:a --deny-host 1.1.1.1 --topic t",
    "--add --deny-principal User:a --topic t --operation Fly",
    "--add --topic t",
    "--add --allow-principal User:a",
    "--version",
    "--help",
    "--add --remove",
    "",
)
_CONNECTIONS = (
    "--bootstrap-server localhost:9092",
    "--authorizer-properties zookeeper.connect=localhost:2181",
)
FIXED = (
    *((*connection.split(), *words.split()) for connection in _CONNECTIONS for words in _GUIDE),
    (),
    ("--list",),
    ("--bootstrap-controller", "localhost:9093", "--list"),
)
"""What the authorization guide shows, and each sharp edge once."""


@dataclass(frozen=True)
class Answer:
    """What the tool did: texts of ACLs or filters in any order, or its message."""

    acls: tuple[tuple[str | None, ...], ...]
    filters: tuple[tuple[str | None, ...], ...]
    error: str | None

    @classmethod
    def read(cls, answer: dict[str, Any]) -> Answer:
        """Return the answer of AclCommands.java; a list by principal counts as one filter for each."""
        principals = answer.get("principals") or [None]
        filters = [
            (*asked[:3], principal or asked[3], *asked[4:])
            for asked in answer.get("filters", ())
            for principal in principals
        ]
        return cls(_sorted(answer.get("acls", ())), _sorted(filters), answer.get("error"))

    @classmethod
    def of(cls, planned: Plan) -> Answer:
        """Return what our plan says, in the same form."""
        told = planned.as_dict()
        acls, filters = ([tuple(item.values()) for item in told[key]] for key in ("acls", "filters"))  # type: ignore[attr-defined]
        return cls(_sorted(acls), _sorted(filters), planned.error)


def random_arguments(seed: int) -> list[str]:
    """Return one list of arguments."""
    return _Writer(random.Random(f"kafka-acls {seed}")).written()


def question(arguments: Sequence[str]) -> str:
    """Return the line that asks AclCommands.java about these arguments."""
    return json.dumps({"arguments": list(arguments)})


def difference(arguments: Sequence[str], version: str, answer: Answer) -> str | None:
    """Return how our plan differs from the tool's answer, None where it does not."""
    ours = Answer.of(plan(arguments, RULES[version]))
    if ours == answer:
        return None
    if answer.error in _missing_files(arguments, version):
        return None
    if answer.error and ours.error and _unordered(answer.error) in _possible(arguments, version, ours.error):
        return None
    return f"{version} {list(arguments)!r}: the tool says {answer}, we say {ours}"


def recorded() -> Iterator[dict[str, Any]]:
    """Yield the recorded cases: "arguments", and under each version its answer; the first line is left out."""
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        next(lines)
        yield from map(json.loads, lines)


def main() -> None:
    """Ask both tools and write what they answer."""
    lists = [list(words) for words in FIXED] + [random_arguments(seed) for seed in RECORDED_SEEDS]
    answers: dict[str, list[dict[str, Any]]] = {}
    jars = {}
    for version in RULES:
        with JavaProgram(PROGRAM, version) as program:
            jars[version] = program.digests
            answers[version] = [json.loads(line) for line in program.ask_many(map(question, lists))]
    rows: list[dict[str, Any]] = [{"jars": jars, "lists": len(lists)}]
    for place, words in enumerate(lists):
        row: dict[str, Any] = {"arguments": words}
        for version in RULES:
            answer = answers[version][place]
            row[version] = {key: value for key, value in answer.items() if value and key != "output"}
        rows.append(row)
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    RECORDED.write_bytes(gzip.compress(text.encode(), mtime=0))
    print(f"Wrote {len(lists):,} lists with the answers of {' and '.join(RULES)} to {RECORDED}.")


class _Writer:
    """Writes one list of arguments, odd in a tenth of its choices."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.words: list[str] = []

    def written(self) -> list[str]:
        rng = self.rng
        action = rng.choice(("add", "add", "remove", "list"))
        parts = [self._connect, lambda: self._flag(action), self._resources]
        if action != "list" or self._odd():
            parts.append(self._entries)
        if (action == "list" and rng.random() < 0.4) or self._odd():
            parts.append(lambda: self._some("principal", PRINCIPALS, ODD_PRINCIPALS))
        if rng.random() < 0.35:
            parts.append(
                lambda: self._option("resource-pattern-type", self._one(PATTERN_TYPES, ODD_PATTERN_TYPES))
            )
        if rng.random() < 0.03:
            parts.append(lambda: self._option("resource-pattern-type", "literal"))
        if rng.random() < 0.08:
            parts.append(lambda: self._flag(rng.choice(FLAGS)))
        if rng.random() < 0.05:
            parts.append(lambda: self.words.append(rng.choice(UNKNOWN_OPTIONS)))
        if rng.random() < 0.1:
            parts.append(lambda: self.words.append(rng.choice(STRAYS)))
        rng.shuffle(parts)
        for part in parts:
            part()
        if rng.random() < 0.03:
            self.words.insert(rng.randint(0, len(self.words)), "--")
        if rng.random() < 0.03:
            del self.words[-1:]
        return self.words

    def _connect(self) -> None:
        way = self.rng.random()
        if way < 0.78:
            self._option("bootstrap-server", "h:1")
            if self.rng.random() < 0.1:
                self._option("command-config", "/dev/null")
            if self.rng.random() < 0.04:
                self.words.append("--command-config")
        elif way < 0.9:
            self._option(
                "authorizer-properties",
                self.rng.choice(SETTINGS),
            )
        elif way < 0.95:
            self._option("bootstrap-controller", "h:3")
        if self.rng.random() < 0.08:
            self._option(*self.rng.choice((
                ("bootstrap-server", "h:1"), ("bootstrap-controller", "h:1"), ("authorizer", "a.B"),
                ("authorizer-properties", "k=v"), ("command-config", "/dev/null"), ("zk-tls-config-file", "/dev/null"),
            )))  # fmt: skip

    def _resources(self) -> None:
        rng = self.rng
        options = list(NAME_OPTIONS.values())
        for option in rng.choices(options, weights=(6, 3, 2, 1, 1), k=rng.choice((0, 1, 1, 1, 2, 2))):
            self._some(option, NAMES, ODD_NAMES)
        if rng.random() < 0.12:
            self._flag("cluster")

    def _entries(self) -> None:
        rng = self.rng
        if rng.random() < 0.35:
            for role in rng.choice(
                (("producer",), ("consumer",), ("producer", "consumer"), ("producer", "idempotent"))
            ):
                self._flag(role)
            if "consumer" in " ".join(self.words):
                self._some("group", NAMES, ODD_NAMES)
            self._some("topic", NAMES, ODD_NAMES)
        else:
            if rng.random() < 0.75:
                self._some("operation", OPERATIONS, ODD_OPERATIONS)
            if rng.random() < 0.3:
                self._some("deny-principal", PRINCIPALS, ODD_PRINCIPALS)
            if rng.random() < 0.15:
                self._some("deny-host", HOSTS, ODD_HOSTS)
        if rng.random() < 0.8:
            self._some("allow-principal", PRINCIPALS, ODD_PRINCIPALS)
        if rng.random() < 0.3:
            self._some("allow-host", HOSTS, ODD_HOSTS)

    def _some(self, option: str, usual: Sequence[str], odd: Sequence[str]) -> None:
        for _ in range(self.rng.choice((1, 1, 1, 2, 3))):
            self._option(option, self._one(usual, odd))

    def _one(self, usual: Sequence[str], odd: Sequence[str]) -> str:
        return self.rng.choice(odd if self._odd() else usual)

    def _option(self, option: str, value: str) -> None:
        way = self.rng.random()
        if way < 0.7:
            self.words += [f"--{option}", value]
        elif way < 0.9:
            self.words.append(f"--{option}={value}")
        elif way < 0.95:
            self.words += [f"-{option}", value]
        else:
            self.words.append(f"-{option}={value}")

    def _flag(self, option: str) -> None:
        way = self.rng.random()
        self.words.append(f"--{option}" if way < 0.92 else f"-{option}" if way < 0.96 else f"--{option}=no")

    def _odd(self) -> bool:
        return self.rng.random() < 0.1


_ONLY = re.compile(r"(ResourceType \w+ only supports operations) \[?(.*?)\]?")


def _unordered(error: str) -> tuple[str, frozenset[str]] | str:
    """Return a message without the order of the operations in it, which is that of a Java set."""
    told = _ONLY.fullmatch(error)
    return (told[1], frozenset(told[2].split(", "))) if told else error


def _possible(arguments: Sequence[str], version: str, error: str) -> set[object]:
    """Return our message, and those that the tool may give instead: it looks at resource types in any order."""
    if not _ONLY.fullmatch(error):
        return {error}
    given = read_options(arguments, grammar(RULES[version])).values
    resources = {*NAME_OPTIONS.values(), "cluster"}
    messages: set[object] = set()
    for resource in resources & given.keys():
        words: list[str] = []
        for option, values in given.items():
            if option not in resources or option == resource:
                words += [f"--{option}={value}" for value in values] or [f"--{option}"]
        message = plan(words, RULES[version]).error
        if message and _ONLY.fullmatch(message):
            messages.add(_unordered(message))
    return messages


def _missing_files(arguments: Sequence[str], version: str) -> set[str]:
    """Return what the tool says of files that are not there, at which a plan does not look."""
    given = read_options(arguments, grammar(RULES[version]))
    files = (*given.all("command-config"), *given.all("zk-tls-config-file"))
    return {f"Error while executing ACL command: {file}" for file in files}


def _sorted(rows: Any) -> tuple[tuple[str | None, ...], ...]:
    return tuple(sorted((tuple(row) for row in rows), key=lambda row: [text or "" for text in row]))


if __name__ == "__main__":
    main()
