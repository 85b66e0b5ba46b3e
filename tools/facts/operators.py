"""What do the operator's commands print? `manage.py` with each of ours: help, answers, refusals."""

from __future__ import annotations

from pathlib import Path

from django.core.management import get_commands

from tools.facts import running, worlds
from tools.facts.book import Group
from tools.facts.site import DEMO, LARGE

# Commands of the stack on one machine, which has settings of its own.
STACK = ("seed", "up")
CLUSTERS = ("test-eu", "never", "gone", "held", "open", "zookeeper", "file", "empty", "waiting", *DEMO, LARGE)
FORMATS = ("snapshot", "jsonl", "csv", "yaml", "kafka-acls", "listing", "zk")
PARTS = {
    "cluster": ("add", "set", "declare", "list", "check"),
    "grant": ("give", "take", "list"),
    "token": ("issue", "list", "revoke"),
}
ANSWERS = (
    ["cluster", "list"], ["cluster", "list", "--json"], ["cluster", "check", "prod-eu"],
    ["cluster", "check", "prod-eu", "--json"], ["cluster", "check", LARGE, "--strict"], ["cluster", "check", "nowhere"],
    ["cluster", "add", "prod-eu", "--kind", "snapshot", "--address", "/no/such/file"],
    ["cluster", "add", "bad slug", "--kind", "snapshot", "--address", "/no/such/file"],
    ["cluster", "add", "kafka", "--kind", "admin", "--address", "nowhere"],
    ["cluster", "add", "kafka", "--kind", "sentry", "--address", "a:1"],
    ["cluster", "declare", "open", "--super-users", "bob"],
    ["cluster", "declare", "test-eu", "--allow-everyone", "yes"],
    ["cluster", "declare", "file", "--authorizer-is", "on", "--json"],
    ["cluster", "set", "test-eu", "--approvals", "0"],
    ["cluster", "set", "file", "--name", "A file", "--json"], ["cluster", "set", "file", "--kafka-version", "9.9"],
    ["sync", "nowhere"], ["sync", "prod-eu"], ["sync", "prod-eu", "--json"], ["sync", "never"],
    ["sync", "never", "--json"],
    ["export", "nowhere"], ["export", "never"], ["export", LARGE, "--as-of", "1", "--format", "csv"],
    ["export", "test-eu", "--as-of", "1"], ["export", "test-eu", "--as-of", "99"], ["export", "test-eu", "--json"],
    ["export", "test-eu", "--format", "xml"],
    ["import_acls", "file", "odd.jsonl"], ["import_acls", "file", "odd.jsonl", "--json"],
    ["import_acls", "file", "no-such-file"], ["import_acls", "test-eu", "odd.jsonl"],
    ["grant", "list"], ["grant", "list", "--json"], ["grant", "list", "--cluster", "test-eu"],
    ["grant", "give", "nobody", "viewer", "test-eu"], ["grant", "give", "eve", "king", "test-eu"],
    ["grant", "give", "eve", "requester", "empty", "--prefix", "orders.", "--json"],
    ["grant", "take", "eve", "requester", "empty", "--prefix", "orders."], ["grant", "take", "eve", "viewer", "empty"],
    ["token", "list"], ["token", "issue", "ada", "a script", "--json"], ["token", "issue", "nobody", "x"],
    ["token", "issue", "ada", "x", "--days", "900"], ["token", "list", "--json"], ["token", "revoke", "aclw_nothing"],
    ["change", "submit", "CR-1", "--as", "ada"], ["change", "approve", "CR-999", "--as", "ben"],
    ["change", "approve", "CR-1", "--as", "nobody"], ["change", "approve", "CR-2", "--as", "ada"],
    ["change", "approve", "CR-2", "--as", "cho", "--json"], ["change", "submit", "CR-2", "--as", "ada"],
    ["change", "approve", "CR-2", "--as", "ben", "--json"], ["change", "apply", "one", "--as", "ada"],
    ["change", "apply", "CR-2", "--as", "ben", "--json"],
    ["insights", "nowhere"], ["insights", "test-eu", "--load", "no-such-directory"],
    ["insights", "test-eu", "--load", "no-such-directory", "--json"],
    ["audit", "verify"], ["audit", "verify", "--json"], ["audit", "head"], ["audit", "head", "--json"],
    ["audit", "verify", "--head", "1:0000"], ["audit", "verify", "--head", "what"], ["audit", "protect"],
    ["restore", "no-such-file"], ["backup", "/no/such/directory/b.tar"],
)  # fmt: skip


def record(group: Group, folder: Path) -> None:
    """Note what they print. This changes the site, so it comes last."""
    ours = {name for name, app in get_commands().items() if app.startswith("aclweb")} - {*STACK}
    group.note("the commands", "\n".join(sorted({*ours, *STACK})))
    for name in STACK:
        group.note(f"{name} --help", running.manage_apart([name, "--help"]))
    for name in sorted(ours):
        for part in (None, *PARTS.get(name, ())):
            arguments = [name, *([part] if part else []), "--help"]
            group.note(" ".join(arguments), running.manage(arguments))
    for slug in CLUSTERS:
        for form in FORMATS:
            if (
                slug in ("test-eu", "prod-eu")
                or (form in ("snapshot", "yaml") and slug != LARGE)
                or form == "jsonl"
            ):
                arguments = ["export", slug, "--format", form]
                group.note(" ".join(arguments), running.manage(arguments))
    odd = folder / "odd.jsonl"
    odd.write_text(worlds.lines(worlds.odd(1).acls), encoding="utf-8")
    for arguments in ANSWERS:
        given = [str(odd) if one == "odd.jsonl" else one for one in arguments]
        group.note(" ".join(arguments), running.manage(given))
