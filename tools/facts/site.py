"""Which site is looked at?

    nine small clusters     the world of the tests: every state of a cluster and of a change
    prod-eu, edge-eu        the demo company, as files; read twice
    large                   20,000 ACLs, as a file; read twice, with a change that two people agreed on

It is built by the commands and the addresses that people use, but for the nine, which tests build.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.apps import apps
from django.test import Client

from tools.facts import doors, running, worlds
from tools.facts.book import Group
from tools.facts.clock import Clock

# viewer, author, approver, administrator
ROLES = {"cho": "viewer", "ada": "requester", "ben": "approver", "dot": "administrator"}
BACKEND = "django.contrib.auth.backends.ModelBackend"
DEMO = ("prod-eu", "edge-eu")
LARGE = "large"


@dataclass(frozen=True)
class Site:
    people: dict[str, Any]  # the accounts by name; eve has no role, nobody is not signed in
    changes: tuple[str, ...]  # keys, such as CR-1

    def browser(self, person: str) -> Client:
        client = Client(raise_request_exception=False)
        if person != "nobody":
            client.force_login(self.people[person], backend=BACKEND)
        return client


def build(group: Group, folder: Path, clock: Clock, company: dict[str, str]) -> Site:
    """Build it in the database, noting what each command on the way prints."""
    import django

    django.setup()
    clock.set(8)
    _run(group, "migrate", "--verbosity", "0")
    people = _people()
    clock.set(9)
    _build_world(people, folder)
    for slug, text in company.items():
        file = folder / f"{slug}.snapshot.jsonl"
        _add(group, slug, file, text)
        clock.set(10)
        # A second reading without the last three ACLs.
        file.write_text("".join(text.splitlines(keepends=True)[:-3]), encoding="utf-8")
        _run(group, "sync", slug, name=f"sync {slug}, three ACLs fewer")
        clock.set(9)
    _build_large(group, folder, clock)
    clock.set(11)
    celery = doors.celery()
    celery.loader.import_default_modules()
    for cluster in apps.get_model("inventory", "Cluster").objects.filter(slug__in=(*DEMO, LARGE)):
        celery.tasks["inventory.search"].apply(args=(cluster.pk,), throw=True)
    site = Site(people, ())
    _change_large(group, site)
    clock.set(12)
    keys = [
        f"CR-{pk}"
        for pk in apps.get_model("changes", "Change").objects.order_by("pk").values_list("pk", flat=True)
    ]
    return Site(people, tuple(keys))


def _people() -> dict[str, Any]:
    accounts = apps.get_model("accounts", "User").objects
    return {name: accounts.create_user(name, password=f"a password for {name}") for name in (*ROLES, "eve")}


def _build_world(people: dict[str, Any], folder: Path) -> None:
    cluster = apps.get_model("inventory", "Cluster").objects.create(
        slug="test-eu",
        name="test-eu",
        kind="admin",
        address="127.0.0.1:1",
        super_users="User:admin",
        allow_everyone=False,
        changes_enabled=True,
    )
    for name, role in ROLES.items():
        running.manage(["grant", "give", name, role, "test-eu"])
    doors.world().build(cluster, (people["ada"], people["ben"], people["cho"], people["dot"]), folder)


def _add(group: Group, slug: str, file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    _run(
        group,
        "cluster",
        "add",
        slug,
        "--kind",
        "snapshot",
        "--address",
        str(file),
        "--changes",
        "off",
        "--json",
    )
    _run(group, "cluster", "declare", slug, "--super-users", "User:admin", "--allow-everyone", "false")
    _run(group, "sync", slug)
    for name, role in ROLES.items():
        _run(group, "grant", "give", name, role, slug)


def _build_large(group: Group, folder: Path, clock: Clock) -> None:
    world = worlds.large()
    file = folder / "large.snapshot.jsonl"
    _add(group, LARGE, file, worlds.snapshot(LARGE, world))
    clock.set(10)
    edited = {key: [row for row in world.edit if row["op"] == key] for key in ("add", "remove")}
    gone = [{key: row[key] for key in worlds.KEYS} for row in edited["remove"]]
    after = [row for row in world.acls if row not in gone]
    after += [{key: row[key] for key in worlds.KEYS} for row in edited["add"]]
    fewer = worlds.World(after, [], world.topics[:-5], world.groups)
    file.write_text(worlds.snapshot(LARGE, fewer), encoding="utf-8")
    _run(group, "sync", LARGE, "--json", name="sync large, with an edit")


def _change_large(group: Group, site: Site) -> None:
    """Let ada ask for a change of the large cluster, and ben agree."""
    row = {"op": "add", **worlds.acl("TOPIC", "payments.", "PREFIXED", "User:auditor", "*", "READ", "ALLOW")}
    answer = site.browser("ada").post(
        f"/c/{LARGE}/what-if/change/",
        {"line": json.dumps(row), "title": "The auditor reads payments", "reason": "Law."},
    )
    key = answer.headers.get("Location", "").strip("/").rpartition("/")[2]
    group.note("the change of the large cluster", f"{answer.status_code} {answer.headers.get('Location')}")
    change = apps.get_model("changes", "Change").objects.get(pk=key.removeprefix("CR-"))
    agreed = site.browser("ben").post(
        f"/changes/{key}/act/", {"step": "approve", "comment": "Yes.", "plan_hash": change.plan_hash}
    )
    group.note("its approval", f"{agreed.status_code} {agreed.headers.get('Location')}")


def _run(group: Group, *arguments: str, name: str = "") -> None:
    group.note(name or " ".join(arguments), running.manage(list(arguments)))
