"""On what does `bench.pages` measure? A big cluster with all that a company does on it, made through the same doors.

`big` has the ACLs and topics asked for, three revisions, a log of 400 days, findings of which some are dismissed,
owners, saved views, drafts and changes; `other` has a tenth of the ACLs and its own log.
"""

from __future__ import annotations

import json
import random
from argparse import Namespace
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from aclweb.acl.model import AclBinding, Delta
from aclweb.acl.notation import binding_key
from bench.logged import cluster_of, result_of, world_of

DRAFT_SIZES = (5, 42, 2_000)
_EACH = 30  # drafts and changes that nobody has opened
_COMMENTS = 40
_DISMISSED, _VIEWS, _NAMED = 60, 12, 8


@dataclass(frozen=True)
class Subjects:
    """What pages are about. person: the number of who asks; keys, used: of ACLs; drafts, changes: by size."""

    person: int
    topics: list[str]
    groups: list[str]
    principals: list[str]
    keys: list[str]
    used: list[str]
    denials: list[str]
    rules: list[str]
    drafts: dict[int, list[str]]
    lines: list[str]
    changes: dict[int, list[int]]
    commented: int
    overtaken: int
    two_drafts: dict[str, str]


def make(directory: Path, asked: Namespace) -> None:
    """Fill the tables of a site in this directory; what pages are about is in `subjects.json` beside them."""
    from django.test import Client

    from aclweb.accounts.models import User
    from aclweb.insights.load import load
    from aclweb.inventory.findings import lint_run
    from aclweb.inventory.store import keep_columns
    from aclweb.inventory.sync import sync
    from tests.fake_cluster import FakeCluster

    world = world_of(asked.logged, asked.acls, asked.topics, groups=5_000)
    cluster = cluster_of("big", world)
    cluster.changes_enabled = True
    cluster.save(update_fields=["changes_enabled"])
    small = world_of(asked.logged // 10, asked.acls // 10, asked.topics // 10, groups=500)
    other = cluster_of("other", small)
    person = User.objects.create_superuser("bench", password="not used")
    author = User.objects.create_superuser("author", password="not used")
    browser = Client()
    browser.force_login(person, backend="django.contrib.auth.backends.ModelBackend")

    before = [*world.bindings]
    overtaken = _change(
        cluster, author, [("add", each) for each in _new(world.topics, 3, "User:late")], "Overtaken"
    )
    for acls in (before[:-200], before):
        with FakeCluster(bindings=acls, topics=list(world.topics), groups=world.groups) as fake:
            sync(cluster, client=fake)
    cluster.refresh_from_db()
    keep_columns(cluster)  # as a worker does after a sync
    last = (datetime.now(UTC) - timedelta(hours=2)).replace(tzinfo=None, minute=0, second=0, microsecond=0)
    load(result_of(directory, "result", world, last), cluster)
    load(result_of(directory, "other-result", small, last), other)
    lint_run.run(cluster, owner="bench")
    rules = _dismiss_some(cluster, person)
    _add_views_and_drafts(cluster, person, world.topics)
    drafts, changes = {}, {}
    for size in DRAFT_SIZES:
        few = _EACH if size < 1_000 else 3
        made = [_edit(world, size, number) for number in range(few)]
        drafts[size] = [browser.post("/c/big/what-if/", {"line": _lines(each)})["Location"] for each in made]
        changes[size] = [_change(cluster, author, each, f"Change {n}").pk for n, each in enumerate(made)]
    commented = _change(cluster, author, _edit(world, 5, 99), "Talked about")
    _talk(commented, person, author)
    _list_of_changes(cluster, author, person, world.topics, asked.changes)
    subjects = Subjects(
        person=person.pk,
        topics=random.Random(5).sample(world.topics, 400),
        groups=list(world.groups[:400]),
        principals=[f"User:svc-{number:04d}" for number in range(0, 800, 7)],
        keys=[binding_key(each) for each in world.bindings[:: max(1, len(before) // 300)]],
        used=_used(cluster),
        denials=_denials(cluster),
        rules=rules,
        drafts=drafts,
        lines=_lines(_edit(world, 2_000, 7)),
        changes=changes,
        commented=commented.pk,
        overtaken=overtaken.pk,
        two_drafts={
            name: "\n".join(_lines(_edit(world, 4, number)))
            for number, name in enumerate(("first", "second"))
        },
    )
    (directory / "subjects.json").write_text(json.dumps(subjects.__dict__), encoding="utf-8")


def made(directory: Path) -> Subjects:
    """Return what pages are about in a directory that was filled."""
    told = json.loads((directory / "subjects.json").read_text(encoding="utf-8"))
    for name in ("drafts", "changes"):
        told[name] = {int(size): values for size, values in told[name].items()}
    return Subjects(**told)


def _new(topics: Any, count: int, principal: str) -> list[AclBinding]:
    from tests.builders import allow

    return [allow(principal, "READ", topics[number * 13 % len(topics)]) for number in range(count)]


def _edit(world: Any, size: int, seed: int) -> list[tuple[str, AclBinding]]:
    """Return an edit of so many ACLs, which removes a third and adds the others: of topics, and a few of prefixes."""
    from tests.builders import allow

    chance = random.Random(seed)
    gone = chance.sample(world.bindings, size // 3)
    come = {}
    while len(come) < size - len(gone):
        name, who = chance.choice(world.topics), f"User:svc-{chance.randrange(1_000):04d}"
        is_prefix = chance.random() < 0.2
        name = ".".join(name.split(".")[:3]) + "." if is_prefix else name
        come[
            allow(who, chance.choice(("READ", "WRITE")), name, pattern="PREFIXED" if is_prefix else "LITERAL")
        ] = None
    return [*(("remove", each) for each in gone), *(("add", each) for each in come)]


def _lines(edit: list[tuple[str, AclBinding]]) -> list[str]:
    return [json.dumps({"op": op, **binding.as_dict()}) for op, binding in edit]


def _change(cluster: Any, author: Any, edit: list[tuple[str, AclBinding]], title: str) -> Any:
    from aclweb.changes import review

    delta = Delta(
        add=tuple(binding for op, binding in edit if op == "add"),
        remove=tuple(binding for op, binding in edit if op == "remove"),
    )
    return review.request(cluster=cluster, author=author, title=title, reason="Asked for.", delta=delta)


def _talk(change: Any, *people: Any) -> None:
    from aclweb.changes import review

    [key, *_] = [binding_key(item.binding) for item in change.items.all()]
    for number in range(_COMMENTS):
        review.comment(
            change=change,
            actor=people[number % len(people)],
            text=f"Is it needed on this topic, and until when? ({number})",
            acl_key=key if number % 3 == 0 else "",
        )


def _dismiss_some(cluster: Any, person: Any) -> list[str]:
    """Dismiss some findings, and return the lint rules that found something."""
    from aclweb.inventory.findings import dismissing
    from aclweb.inventory.stored_findings import StoredFinding

    found = StoredFinding.objects.filter(search__cluster=cluster, is_proposal=False)
    for each in found.order_by("pk")[:_DISMISSED]:
        dismissing.dismiss(each, actor=person, reason="Known, and wanted.", cluster=cluster)
    return sorted(set(found.values_list("rule", flat=True)))


def _add_views_and_drafts(cluster: Any, person: Any, topics: Any) -> None:
    from aclweb.web.browse import saved_views
    from aclweb.web.drafts import named

    for number in range(_VIEWS):
        saved_views.save(
            f"View {number}",
            f"operation=READ&page_of={number}&text=team{number}",
            person=person,
            cluster=cluster,
        )
    for number in range(_NAMED):
        edit = [("add", each) for each in _new(topics, 20 + number, f"User:draft-{number}")]
        named.save_as(f"Draft {number}", {"line": _lines(edit)}, cluster=cluster, person=person)


def _list_of_changes(cluster: Any, author: Any, person: Any, topics: Any, count: int) -> None:
    """Make so many more changes; only those of `author` wait for a review, and no effect is worked out of them."""
    from aclweb.changes import review
    from aclweb.changes.models import Change

    for number in range(count):
        delta = Delta(add=tuple(_new(topics[number:], 1, f"User:small{number}")))
        review.draft(cluster=cluster, author=author if number % 2 else person, title="Small", delta=delta)
    Change.objects.filter(state="DRAFT").update(
        state="IN_REVIEW",
        gains=2,
        loses=0,
        recovered=0,
        depends=0,
        unchanged=9,
        plan_hash="x",
        impact_hash="x",
    )


def _used(cluster: Any) -> list[str]:
    from aclweb.insights.current import current_load
    from aclweb.insights.models import AclUse

    rows = AclUse.objects.filter(load=current_load(cluster)).order_by("-requests")
    return list(rows.values_list("key", flat=True)[:200])


def _denials(cluster: Any) -> list[str]:
    from aclweb.insights.current import current_load
    from aclweb.insights.models import DenialGroup

    rows = DenialGroup.objects.filter(load=current_load(cluster)).order_by("-lines")
    return list(rows.values_list("key", flat=True)[:200])
