"""What does `python -m aclweb.acl` print? Every command, on inputs good, large and bad."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path

from tools.facts import running, worlds
from tools.facts.book import Group

COMMANDS = (
    "decide", "check", "affecting", "list", "whatif", "lint", "redundant", "convert", "glob", "kafka-acls", "principal",
    "audit", "needs",
)  # fmt: skip
NOTATIONS = ("jsonl", "csv", "yaml", "kafka-acls", "listing", "zk")
BROKERS = {
    "standard": ["--super-users", "User:admin"],
    "standard, everyone": ["--allow-everyone", "--super-users", "User:Bob;Group:ops"],
    "standard 3.9": ["--kafka-version", "3.9"],
    "acl": ["--authorizer", "acl", "--super-users", "User:admin"],
    "acl 2.4, everyone": ["--authorizer", "acl", "--kafka-version", "2.4", "--allow-everyone"],
    "glob": ["--authorizer", "glob", "--super-users", "User:admin"],
}
ACTIONS = (
    "produce", "produce-idempotent", "produce-transactional", "produce-two-phase", "consume",
    "consume-new-protocol", "consume-manual", "consume-share", "streams", "streams-exactly-once",
    "streams-new-protocol", "connect", "connect-source", "connect-sink", "admin-list-topics",
    "admin-describe-topics", "admin-create-topics", "admin-delete-topics", "admin-create-partitions",
    "admin-delete-records", "admin-list-offsets", "admin-describe-configs", "admin-describe-broker-configs",
    "admin-describe-group-configs", "admin-alter-configs", "admin-alter-broker-configs",
    "admin-alter-group-configs", "admin-list-config-resources", "admin-list-acls", "admin-create-acls",
    "admin-delete-acls", "admin-list-groups", "admin-describe-groups", "admin-describe-new-groups",
    "admin-delete-groups", "admin-list-group-offsets", "admin-reset-offsets", "admin-delete-offsets",
    "admin-remove-members", "admin-elect-leaders", "admin-reassign-partitions", "admin-list-reassignments",
    "admin-describe-log-dirs", "admin-alter-log-dirs", "admin-describe-quotas", "admin-alter-quotas",
    "admin-describe-scram", "admin-alter-scram", "admin-describe-features", "admin-update-features",
    "admin-describe-cluster", "admin-describe-quorum", "admin-unregister-broker", "admin-add-voter",
    "admin-remove-voter", "admin-describe-producers", "admin-list-transactions",
    "admin-describe-transactions", "admin-abort-transaction", "admin-fence-producers",
    "delegation-token-create", "delegation-token-create-for-others", "delegation-token-renew",
    "delegation-token-expire", "delegation-token-describe", "delegation-token-describe-others", "METADATA",
    "29", "INIT_PRODUCER_ID", "no-such-action",
)  # fmt: skip
FILTERS: tuple[dict[str, str], ...] = (
    {},
    {"resource_type": "TOPIC", "resource_name": "orders.eu", "pattern_type": "MATCH"},
    {"resource_type": "GROUP", "pattern_type": "PREFIXED"},
    {"principal": "User:bob", "operation": "READ"},
    {"host": "*", "permission_type": "DENY"},
)
ANYTHING = {
    "resource_type": "ANY", "resource_name": None, "pattern_type": "ANY", "principal": None, "host": None,
    "operation": "ANY", "permission_type": "ANY",
}  # fmt: skip
BAD = {
    "nothing": "",
    "no JSON": "{\n",
    "a key too few": '{"resource_type": "TOPIC"}\n',
    "a word nobody knows": json.dumps(worlds.acl("TOPIKK", "a", "LITERAL", "User:a", "*", "READ", "ALLOW"))
    + "\n",
    "an operation nobody knows": json.dumps(
        worlds.acl("TOPIC", "a", "LITERAL", "User:a", "*", "FLY", "ALLOW")
    )
    + "\n",
    "no type of principal": json.dumps(worlds.acl("TOPIC", "a", "LITERAL", "bob", "*", "READ", "ALLOW"))
    + "\n",
    "a number": json.dumps({**worlds.acl("TOPIC", "a", "LITERAL", "User:a", "*", "READ", "ALLOW"), "host": 7})
    + "\n",
    "a glob": json.dumps(worlds.acl("TOPIC", "a*", "GLOB", "User:a", "*", "READ", "ALLOW")) + "\n",
    "a csv with a bad head": "what,is,this\n1,2,3\n",
    "a listing cut short": "Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=a\n",
    "a wrong list of yaml": "- resource_type: TOPIC\n  resource_name: [a]\n",
    "many wrong lines": '{"a": 1}\n' * 60,
}
USAGE: tuple[list[str], ...] = (
    [], ["--help"], ["fly"], ["decide"], ["decide", "--acls", "no-such-file", "--requests", "no-such-file"],
    ["decide", "--acls", "odd-1.jsonl", "--requests", "odd-1.jsonl"],
    ["decide", "--acls", "odd-1.jsonl", "--requests", "odd-1-requests.jsonl", "--authorizer", "sentry"],
    ["decide", "--acls", "odd-1.jsonl", "--requests", "odd-1-requests.jsonl", "--kafka-version", "9.9"],
    ["decide", "--acls", "odd-1.jsonl", "--requests", "odd-1-requests.jsonl", "--super-users", "bob"],
    ["decide", "--acls", "odd-1.jsonl", "--requests", "odd-1-requests.jsonl", "--what"],
    ["affecting", "--acls", "odd-1.jsonl"], ["affecting", "--acls", "odd-1.jsonl", "--resource", "TOPIKK:a"],
    ["affecting", "--acls", "odd-1.jsonl", "--resource", "orders"],
    ["list", "--acls", "odd-1.jsonl", "--filter", "{"], ["list", "--filter", "{}", "--check-filter"],
    ["list", "--filter", json.dumps(ANYTHING), "--check-filter", "--json"],
    ["list", "--filter", json.dumps(ANYTHING | {"resource_type": "UNKNOWN"}), "--check-filter"],
    ["whatif", "--acls", "odd-1.jsonl"], ["whatif", "--acls", "odd-1.jsonl", "--fail-on", "luck"],
    ["whatif", "--acls", "odd-1.jsonl", "--delta", "odd-1.jsonl"],
    ["lint", "--acls", "odd-1.jsonl", "--fail-on", "bad"], ["convert", "--acls", "odd-1.jsonl", "--to", "xml"],
    ["principal", "--ssl-rules", "RULE:(", "names.txt"], ["principal", "--ssl-rules", "DEFAULT", "--realm", "X"],
    ["principal"], ["audit"], ["audit", "no-such-log"], ["needs"], ["kafka-acls"], ["kafka-acls", "--", "--add"],
    ["kafka-acls", "--line", "rm -rf /"], ["glob", "--acls", "odd-1.jsonl"], ["check", "no-such-file"],
)  # fmt: skip


def record(group: Group, folder: Path, root: Path, company: dict[str, str]) -> None:
    """Note what each command prints. company: file name and text of each cluster of the demo."""
    _write(folder, company)
    for name, arguments, stdin in _runs(folder, root, company):
        group.note(name, running.module("aclweb.acl", [*arguments], stdin))


def _write(folder: Path, company: dict[str, str]) -> None:
    for seed in (1, 2, 3):
        _world(folder, f"odd-{seed}", worlds.odd(seed))
    _world(folder, "globs", worlds.odd(4, globs=True))
    _world(folder, "large", worlds.large())
    (folder / "names.txt").write_text(
        "CN=Duke,OU=Users,O=Example\nCN=b\n\nalice@X\nkafka/host@X\n", encoding="utf-8"
    )
    for name, text in company.items():
        # Without the header, which commands take for a bad ACL.
        (folder / f"{name}.jsonl").write_text(text.partition("\n")[2], encoding="utf-8")
    for number, text in enumerate(BAD.values()):
        (folder / f"bad-{number}").write_text(text, encoding="utf-8")
    small = worlds.odd(1)
    answers = ("ALLOWED", "DENIED")
    (folder / "scenarios.jsonl").write_text(
        worlds.lines(
            [
                {"id": f"s{n}", "acls": small.acls, "request": asked, "expected": answers[n % 2]}
                for n, asked in enumerate(small.requests[:10])
            ]
            + [{"id": "both", "acls": [], "requests": small.requests[:2], "expected": ["DENIED", "DENIED"]}]
            + [
                {
                    "id": "acl", "acls": [], "request": small.requests[3], "expected": "ALLOWED", "authorizer": "acl",
                    "config": {"allow.everyone.if.no.acl.found": True},
                }
            ]
        ),
        encoding="utf-8",
    )  # fmt: skip
    (folder / "bad-scenarios.jsonl").write_text(
        '{"id": "x"}\n{"acls": [], "expected": "MAYBE"}\n', encoding="utf-8"
    )


def _world(folder: Path, name: str, world: worlds.World) -> None:
    added = [{key: row[key] for key in worlds.KEYS} for row in world.edit if row["op"] == "add"]
    removed = [{key: row[key] for key in worlds.KEYS} for row in world.edit if row["op"] == "remove"]
    files = {
        "": world.acls,
        "-requests": world.requests,
        "-edit": world.edit,
        "-added": added,
        "-removed": removed,
        "-after": [row for row in world.acls if row not in removed][:-2] + added,
    }
    for part, rows in files.items():
        (folder / f"{name}{part}.jsonl").write_text(worlds.lines(rows), encoding="utf-8")
    (folder / f"{name}-topics.txt").write_text("".join(f"{one}\n" for one in world.topics), encoding="utf-8")
    (folder / f"{name}-groups.txt").write_text("".join(f"{one}\n" for one in world.groups), encoding="utf-8")
    principals = sorted({row["principal"] for row in world.requests})[:12]
    (folder / f"{name}-principals.txt").write_text(
        "".join(f"{one}\n" for one in principals), encoding="utf-8"
    )


# The name of a fact, the arguments, and standard input.
Run = tuple[str, list[str], bytes]
# Gives the runs of some arguments without and with --json.
Both = Callable[..., Iterator[Run]]


def _runs(folder: Path, root: Path, company: dict[str, str]) -> Iterator[Run]:
    """Yield the name of each fact, the arguments and standard input, with all files by their whole paths."""
    known = {path.name: str(path) for path in folder.iterdir()}

    def run(*arguments: str, stdin: bytes = b"", name: str = "") -> Run:
        return name or " ".join(arguments), [known.get(one, one) for one in arguments], stdin

    def both(*arguments: str) -> Iterator[Run]:
        yield run(*arguments)
        yield run(*arguments, "--json")

    for command in COMMANDS:
        yield run(command, "--help")
    for number, arguments in enumerate(USAGE):
        yield run(*arguments, name=f"usage {number}: {' '.join(arguments)}")
    yield from _bad_input(folder, known["odd-1.jsonl"])
    yield from _worlds(both)
    for notation in NOTATIONS:
        yield run("convert", "--acls", "odd-2.jsonl", "--to", notation)
    yield run("convert", "--acls", "-", "--to", "yaml", stdin=worlds.lines(worlds.odd(2).acls).encode())
    yield from _needs(both)
    for name in company:
        yield from _demo(name, both)
    yield from _large(both)
    yield from _test_data(folder, root)


def _bad_input(folder: Path, acls: str) -> Iterator[Run]:
    for number, what in enumerate(BAD):
        bad = str(folder / f"bad-{number}")
        yield f"bad input, {what}: convert", ["convert", "--acls", bad, "--to", "csv"], b""
        yield f"bad input, {what}: decide", ["decide", "--acls", acls, "--requests", bad, "--json"], b""
        yield f"bad input, {what}: whatif", ["whatif", "--acls", acls, "--delta", bad], b""


def _worlds(both: Both) -> Iterator[Run]:
    for world in ("odd-1", "odd-2", "odd-3", "globs"):
        for broker, options in BROKERS.items():
            if (world == "globs") == (broker == "glob") or (world == "odd-1" and broker == "glob"):
                yield from _about(world, options, both)
    for scenarios in ("scenarios.jsonl", "bad-scenarios.jsonl"):
        yield from both("check", scenarios)
    # From globs to a broker without them, and the other way.
    yield from both("whatif", "--acls", "globs.jsonl", "--authorizer", "glob", "--to-authorizer", "standard",
                    "--to-unseen-globs")  # fmt: skip
    for way in ("--rewrite", "--compile"):
        for world in ("odd-1", "globs"):
            yield from both("glob", way, "--acls", f"{world}.jsonl", "--topics", f"{world}-topics.txt",
                            "--groups", f"{world}-groups.txt", "--principals", f"{world}-principals.txt")  # fmt: skip


def _needs(both: Both) -> Iterator[Run]:
    for action in ACTIONS:
        yield from both("needs", action)
        for host in ("10.0.0.7", "*"):
            yield from both(
                "needs", action, "--acls", "odd-1.jsonl", "--principal", "User:bob", "--host", host, "--topic",
                "orders.eu", "--topic", "stock", "--group", "a", "--transactional-id", "a.b",
            )  # fmt: skip
    yield from both("needs", "consume", "--authorizer", "acl", "--kafka-version", "2.4")


def _about(world: str, broker: list[str], both: Both) -> Iterator[Run]:
    acls = ["--acls", f"{world}.jsonl"]
    names = ["--topics", f"{world}-topics.txt", "--groups", f"{world}-groups.txt"]
    requests = ["--requests", f"{world}-requests.jsonl"]
    yield from both("decide", *acls, *requests, *broker)
    yield from both("decide", *acls, *requests, "--explain", *broker)
    for resource in ("TOPIC:orders.eu", "GROUP:a", "CLUSTER:kafka-cluster"):
        yield from both("affecting", *acls, "--resource", resource, *broker)
    yield from both("affecting", *acls, "--new-topic", "orders.new", *broker)
    for part in FILTERS:
        yield from both("list", *acls, "--filter", json.dumps(ANYTHING | part), *broker)
    yield from both("whatif", *acls, "--delta", f"{world}-edit.jsonl", *names, *broker)
    yield from both("whatif", *acls, "--add", f"{world}-added.jsonl", "--remove", f"{world}-removed.jsonl",
                    "--fail-on", "gains,loses", *broker)  # fmt: skip
    yield from both("whatif", *acls, "--to-acls", f"{world}-after.jsonl", *requests, *broker)
    yield from both("whatif", *acls, "--new-topic", "orders.new", "--new-group", "g", *names, *broker)
    yield from both("whatif", *acls, "--to-allow-everyone", "true", "--to-super-users", "User:eve", *broker)
    if "glob" not in broker:
        yield from both("whatif", *acls, "--to-authorizer", "acl", "--to-literal-only", *broker)
        yield from both("whatif", *acls, "--to-authorizer", "standard", *names, *broker)
    yield from both("lint", *acls, "--fail-on", "error", *broker)
    yield from both("redundant", *acls, *names, "--fail-on", "info", *broker)


def _demo(name: str, both: Both) -> Iterator[Run]:
    acls = ["--acls", f"{name}.jsonl"]
    for notation in NOTATIONS:
        yield next(both("convert", *acls, "--to", notation))
    yield from both("lint", *acls)
    yield from both("redundant", *acls)
    yield from both("whatif", *acls, "--new-topic", "payments.new")
    yield from both("whatif", *acls, "--to-authorizer", "standard", "--to-allow-everyone", "true")
    yield from both("needs", "consume", *acls, "--principal", "User:billing-svc", "--host", "*", "--topic",
                    "payments.orders.v1", "--group", "ledger")  # fmt: skip


def _large(both: Both) -> Iterator[Run]:
    acls = ["--acls", "large.jsonl", "--super-users", "User:admin"]
    requests = ["--requests", "large-requests.jsonl"]
    names = ["--topics", "large-topics.txt", "--groups", "large-groups.txt"]
    yield from both("decide", *acls, *requests, "--explain")
    yield next(both("decide", *acls, *requests, "--authorizer", "acl"))
    yield from both("affecting", *acls, "--resource", f"TOPIC:{worlds.large().topics[7]}")
    yield next(both("list", *acls, "--filter", json.dumps(ANYTHING | {"principal": "User:ops"})))
    yield from both("whatif", *acls, "--delta", "large-edit.jsonl", *names)
    yield from both("lint", *acls)
    yield from both("redundant", *acls, *names)
    for notation in ("csv", "listing", "zk"):
        yield next(both("convert", *acls, "--to", notation))


def _test_data(folder: Path, root: Path) -> Iterator[Run]:
    """Yield runs on what real brokers and tools wrote, which the tests keep."""
    data = {path.name: path for path in sorted((root / "tests").rglob("*.gz"))}
    for name, path in data.items():
        plain = folder / name.removesuffix(".gz")
        plain.write_bytes(gzip.decompress(path.read_bytes()))
        if name.endswith(".log.gz"):
            for more in ([], ["--json"]):
                yield f"audit {name} {more}", ["audit", *more, str(path)], b""
        elif name.endswith(".out.gz") or name.startswith("znodes"):
            for to in ("jsonl", "kafka-acls"):
                yield f"convert {name} to {to}", ["convert", "--acls", str(plain), "--to", to], b""
            yield f"lint {name}", ["lint", "--json", "--acls", str(plain)], b""
    commands = (folder / "arguments.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    for number, line in enumerate(commands[::12]):
        arguments = json.loads(line)["arguments"]
        more = [[], ["--json"], ["--json", "--kafka-version", "3.9"]][number % 3]
        yield f"kafka-acls {number} {more}: {arguments}", ["kafka-acls", *more, "--", *arguments], b""
    mappings = (folder / "mappings.jsonl").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(mappings[::16]):
        kind, rules, realm, names, *_ = json.loads(line)
        options = ["--ssl-rules", rules] if kind == "ssl" else ["--kerberos-rules", rules]
        if kind != "ssl" and realm:
            options += ["--realm", realm]
        stdin = "".join(f"{name}\n" for name in names).encode("utf-8", "surrogatepass")
        more = ["--json"] if number % 2 else []
        yield f"principal {number} {more}: {options}", ["principal", *more, *options], stdin
