"""Gates say whether an edit passes the policy of its cluster, and decide who must approve it, up to the worker."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest

from aclweb.accounts.models import Grant, Role, User
from aclweb.acl.authorizer import AclIndex, Result, decide
from aclweb.acl.matching import why_no_topic
from aclweb.acl.model import AccessRequest, Delta, ResourceType, operations_of
from aclweb.acl.simulate import Names, simulate
from aclweb.audit import trail
from aclweb.changes import gate_settings, gates, queries, review
from aclweb.changes.models import Change, ChangeError, PolicyGate
from aclweb.changes.preview import preview
from aclweb.changes.rollout import run as rollout
from aclweb.inventory.current import in_force
from aclweb.inventory.lists import OwnerBook
from aclweb.inventory.models import Cluster, OwnedNames
from tests.builders import allow, deny
from tests.changes.conftest import WISH, reread
from tests.random_cases import HOSTS, PRINCIPALS, SCALE, random_binding, random_world
from tests.steps import steps_in

pytestmark = pytest.mark.django_db

KIND = PolicyGate.Kind


def said(cluster: Cluster, kind: str, *add, remove=(), prefix="") -> tuple[str, str]:
    """Return what a gate of this kind says of an edit."""
    PolicyGate.objects.update_or_create(cluster=cluster, kind=kind, name_prefix=prefix)
    delta = Delta(add=add, remove=tuple(remove))
    cluster = Cluster.objects.get(pk=cluster.pk)
    view = in_force(cluster)
    impact = preview(cluster, delta, view=view).impact
    (found,) = [
        each
        for each in gates.verdicts(view, delta, impact)
        if (each.gate.kind, each.gate.name_prefix) == (kind, prefix)
    ]
    return found.state.value, found.sentence


@pytest.mark.parametrize(
    ("binding", "state"),
    [
        (allow("User:cat", "READ", "*"), "not met"),
        (allow("User:*", "READ", "orders"), "not met"),
        (deny("User:*", "READ", "orders"), "pass"),
        (allow("User:cat", "READ", "*", pattern="PREFIXED"), "pass"),
        (allow("User:cat", "READ", "orders"), "pass"),
    ],
    ids=["all topics", "any user", "deny", "a prefix that is a star", "one topic"],
)
def test_an_acl_for_all_resources_or_any_user_does_not_meet_its_gate(cluster, binding, state):
    assert said(cluster, KIND.NO_WILDCARD, binding)[0] == state


def test_removing_an_acl_for_any_user_meets_the_gate_against_wildcards(cluster, kafka):
    wide = allow("User:*", "READ", "orders")
    kafka.edit(add=[wide])
    reread(cluster)

    assert said(cluster, KIND.NO_WILDCARD, remove=[wide])[0] == "pass"
    assert said(cluster, KIND.NO_WILDCARD, wide)[0] == "pass"


def test_without_a_log_nobody_can_tell_whether_traffic_is_lost(cluster):
    bob = allow("User:bob", "READ", "orders")

    assert said(cluster, KIND.NO_TRAFFIC_LOST, WISH)[0] == "pass"
    assert said(cluster, KIND.NO_TRAFFIC_LOST, remove=[bob]) == (
        "cannot tell",
        "Cannot tell who is in use: no authorizer log of test-eu has been read.",
    )


def test_the_first_acl_on_an_open_resource_does_not_meet_its_gate(cluster):
    cluster.allow_everyone = True
    cluster.save()

    first = said(cluster, KIND.NOT_THE_FIRST, allow("User:cat", "READ", "payments.eu"))
    later = said(cluster, KIND.NOT_THE_FIRST, allow("User:cat", "READ", "orders"))

    assert first[0] == "not met"
    assert (
        "on payments.eu, open to everyone until now: Everyone but User:admin and User:cat would" in first[1]
    )
    assert later[0] == "pass"


def test_whether_a_resource_is_open_is_unknown_until_somebody_declares_it(cluster):
    cluster.allow_everyone = None
    cluster.save()

    state, sentence = said(cluster, KIND.NOT_THE_FIRST, allow("User:cat", "READ", "payments.eu"))

    assert state == "cannot tell"
    assert "nobody has declared allow.everyone.if.no.acl.found of test-eu" in sentence


def test_the_rights_of_aclweb_itself_have_a_gate(cluster):
    right = allow("User:aclweb", "ALTER", "kafka-cluster", resource_type="CLUSTER")

    assert said(cluster, KIND.NOT_OWN_RIGHTS, right)[0] == "cannot tell"
    assert said(cluster, KIND.NOT_OWN_RIGHTS, WISH)[0] == "pass"
    cluster.options = {"sasl.mechanism": "PLAIN", "sasl.username": "aclweb", "sasl.password": "secret"}
    cluster.save()
    assert said(cluster, KIND.NOT_OWN_RIGHTS, right)[0] == "not met"
    other = allow("User:other", "ALTER", "kafka-cluster", resource_type="CLUSTER")
    assert said(cluster, KIND.NOT_OWN_RIGHTS, other)[0] == "pass"


@pytest.mark.parametrize(
    ("binding", "prefix", "state"),
    [
        (allow("User:cat", "READ", "payments.", pattern="PREFIXED"), "payments.", "not met"),
        (allow("User:cat", "READ", "payments.", pattern="PREFIXED"), "payments.cards.", "not met"),
        (allow("User:cat", "READ", "payments.eu"), "payments.", "not met"),
        (allow("User:cat", "READ", "*"), "payments.", "not met"),
        (allow("User:cat", "READ", "orders"), "payments.", "pass"),
        (allow("User:cat", "READ", "payments.", pattern="PREFIXED"), "paymentsx", "pass"),
        (deny("User:cat", "READ", "payments.eu"), "payments.", "pass"),
    ],
)
def test_new_access_below_a_prefix_does_not_meet_its_gate(cluster, binding, prefix, state):
    assert said(cluster, KIND.NO_NEW_ACCESS, binding, prefix=prefix)[0] == state


def test_access_that_a_deny_keeps_from_a_prefix_meets_its_gate(cluster, kafka):
    kafka.edit(add=[deny("User:cat", "ALL", "payments.cards.", pattern="PREFIXED")])
    reread(cluster)

    wide = allow("User:cat", "READ", "payments.", pattern="PREFIXED")
    assert said(cluster, KIND.NO_NEW_ACCESS, wide, prefix="payments.cards.")[0] == "pass"
    assert said(cluster, KIND.NO_NEW_ACCESS, wide, prefix="payments.c")[0] == "not met"


def test_the_gate_of_a_prefix_says_what_deciding_every_name_says():
    rng = random.Random("gates of prefixes")
    counted = {"pass": 0, "not met": 0}
    for _ in range(150 * SCALE):
        world = random_world(rng, authorizer="standard", most=6)
        adds = tuple(random_binding(rng, world.settings) for _ in range(rng.randint(0, 2)))
        removes = tuple(rng.sample(world.bindings, min(len(world.bindings), rng.randint(0, 2))))
        delta = Delta(add=tuple(set(adds) - set(removes)), remove=removes)
        index = AclIndex(world.bindings)
        impact = simulate(delta, index, Names(), world.settings, met_only=True)
        all_acls = (*world.bindings, *adds)
        # No topic, and hardly any group, has a name that begins with an asterisk.
        # Hardly any name begins with an asterisk, and what brokers do with such ones is not looked at here.
        texts = sorted(
            {each.resource_name for each in all_acls if each.resource_name[:1] not in ("", "*")}
        ) or ["a"]
        text = rng.choice(texts)
        prefix = text[: rng.randint(1, len(text))]
        view = SimpleNamespace(index=index, settings=world.settings)
        edit = gates._Edit(view, delta, impact, None)

        state, _ = gates._no_new_access(edit, PolicyGate(kind=KIND.NO_NEW_ACCESS, name_prefix=prefix))

        after = AclIndex(delta.applied_to(world.bindings))
        begin_so = {name for name in texts if name.startswith(prefix)}
        names = {*begin_so, prefix, *(f"{name}-fresh" for name in (*begin_so, prefix))}
        gains = any(
            decide(request, index, world.settings)[0] is Result.DENIED
            and decide(request, after, world.settings)[0] is Result.ALLOWED
            for kind in (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)
            for operation in operations_of(kind, world.settings)
            for name in names
            if kind is not ResourceType.TOPIC or why_no_topic(name) is None
            for principal in {*PRINCIPALS, "User:nobody-else", *(each.principal for each in all_acls)}
            - {"User:*"}
            for host in (*HOSTS, "203.0.113.9", "10.0.0.200", "10.0.0.14", "0:0:0:0:0:0:0:5")
            for request in [AccessRequest(principal, host, operation, kind, name)]
        )
        assert (state is gates.State.NOT_MET) == gains, (world, delta, prefix)
        counted[state.value] += 1
    assert min(counted.values()) >= 15


# --- Who must approve ---


@pytest.fixture
def eva(cluster) -> User:
    person = User.objects.create_user("eva", password="a password for eva")
    Grant.objects.create(user=person, cluster=cluster, role=Role.APPROVER)
    return person


def gate(cluster: Cluster, kind: str, *, approvals=2, by_administrator=False, prefix="") -> None:
    gate_settings.set_gate(
        actor="test",
        cluster=cluster,
        kind=kind,
        approvals=approvals,
        by_administrator=by_administrator,
        name_prefix=prefix,
    )


def test_a_gate_that_is_met_asks_for_nothing_more(cluster, ask, ada, ben):
    gate(cluster, KIND.NO_WILDCARD)

    change = review.approve(change=review.submit(change=ask(WISH), actor=ada), reviewer=ben)

    assert change.state == Change.State.QUEUED
    assert [each["state"] for each in change.gates] == ["pass"]


def test_a_gate_that_is_not_met_needs_its_approvals_and_an_administrator(cluster, ask, ada, ben, eva, dot):
    gate(cluster, KIND.NO_NEW_ACCESS, by_administrator=True, prefix="payments.")
    change = review.submit(change=ask(WISH), actor=ada)
    assert change.approvals_needed == 2
    (event,) = trail.trail(change.key).filter(verb="change.submitted")
    assert "It needs 2 approvals, one of them by an administrator." in trail.sentence(event)

    change = review.approve(change=change, reviewer=ben)
    page = queries.change_page(change, eva)
    assert (page.lacking, page.is_last_approval) == ("1 more approval by an administrator", False)
    change = review.approve(change=change, reviewer=eva)
    assert change.state == Change.State.IN_REVIEW
    page = queries.change_page(change, dot)
    assert (page.lacking, page.is_last_approval) == ("1 more approval by an administrator", True)
    change = review.approve(change=change, reviewer=dot)

    assert change.state == Change.State.QUEUED
    assert change.gates[0]["state"] == "not met"


def test_a_gate_that_is_set_later_holds_changes_that_wait(cluster, ask, ada, ben):
    change = review.submit(change=ask(WISH), actor=ada)
    gate(cluster, KIND.NO_NEW_ACCESS, prefix="payments.")

    change = review.approve(change=change, reviewer=ben)

    assert change.state == Change.State.IN_REVIEW
    assert queries.change_page(change, ada).lacking == "1 more approval"


def test_the_worker_asks_the_gates_again_and_writes_nothing_where_more_must_approve(cluster, kafka, approved):
    change = approved(WISH)
    gate(cluster, KIND.NO_NEW_ACCESS, prefix="payments.")

    rollout.apply(change.pk)

    change.refresh_from_db()
    assert change.state == Change.State.IN_REVIEW
    assert WISH not in kafka.bindings
    assert "User:ledger would get Read and Describe on payments.eu." in change.sentence
    assert "1 of 2 approvals count now, so it needs 1 more approval." in change.sentence


def test_the_worker_writes_what_meets_the_gates(cluster, kafka, approved):
    gate(cluster, KIND.NO_WILDCARD, by_administrator=True)
    change = approved(WISH)

    rollout.apply(change.pk)

    change.refresh_from_db()
    assert change.state == Change.State.APPLIED
    assert queries.change_page(change, change.author).gates[0]["state"] == "pass"


# --- Labels ---


def labelled(cluster: Cluster, *rows: tuple[str, str, str, str]) -> None:
    """Say so of names: (kind, LITERAL or PREFIXED, name, labels)."""
    for kind, pattern, name, labels in rows:
        OwnedNames.objects.create(
            cluster=cluster, kind=kind, pattern_type=pattern, name=name, owner="shop", labels=labels
        )


@pytest.mark.parametrize(
    ("binding", "state"),
    [
        (allow("User:cat", "READ", "payments.eu"), "not met"),
        (allow("User:cat", "READ", "payments.", pattern="PREFIXED"), "not met"),
        (allow("User:cat", "READ", "pay", pattern="PREFIXED"), "not met"),
        (allow("User:cat", "READ", "*"), "not met"),
        (allow("User:cat", "READ", "payments.open"), "pass"),
        (allow("User:cat", "READ", "payments.open.", pattern="PREFIXED"), "pass"),
        (allow("User:cat", "READ", "orders"), "pass"),
        (allow("User:cat", "READ", "ledger", resource_type="GROUP"), "not met"),
        (allow("User:cat", "READ", "ledge", resource_type="GROUP", pattern="PREFIXED"), "not met"),
        (allow("User:cat", "READ", "ledger.x", resource_type="GROUP"), "pass"),
        (allow("User:cat", "READ", "payments.eu", resource_type="GROUP"), "pass"),
        (deny("User:cat", "READ", "payments.eu"), "pass"),
    ],
)
def test_new_access_to_labelled_names_does_not_meet_their_gate(cluster, binding, state):
    labelled(
        cluster,
        ("TOPIC", "PREFIXED", "payments.", "restricted"),
        ("TOPIC", "PREFIXED", "payments.open.", "public"),
        ("TOPIC", "LITERAL", "payments.open", ""),
        ("GROUP", "LITERAL", "ledger", "money, restricted"),
        ("PRINCIPAL", "PREFIXED", "User:c", "restricted"),
    )

    assert said(cluster, KIND.LABELLED, binding, prefix="restricted")[0] == state


def test_a_label_that_no_name_has_guards_nothing_and_says_so(cluster):
    labelled(cluster, ("TOPIC", "PREFIXED", "payments.", "restricted-not"))

    assert said(cluster, KIND.LABELLED, allow("User:cat", "READ", "payments.eu"), prefix="restricted") == (
        "pass",
        "No topic, group or transactional id of test-eu has the label 'restricted'.",
    )


def test_a_name_that_only_a_glob_allows_is_guarded_where_its_deny_goes(cluster, kafka):
    cluster.authorizer = "glob"
    cluster.save()
    refusal = deny("User:cat", "READ", "*")
    kafka.edit(add=[refusal, allow("User:cat", "READ", "pay*next", pattern="GLOB")])
    reread(cluster)

    for name, state in (("payments.next", "not met"), ("payments.previous", "pass")):
        OwnedNames.objects.all().delete()
        labelled(cluster, ("TOPIC", "LITERAL", name, "restricted"))
        assert said(cluster, KIND.LABELLED, remove=[refusal], prefix="restricted")[0] == state


def test_no_topic_can_have_a_name_with_a_space_so_its_label_guards_nothing(cluster):
    labelled(cluster, ("TOPIC", "LITERAL", "payments eu", "restricted"))

    assert said(cluster, KIND.LABELLED, allow("User:cat", "READ", "*"), prefix="restricted")[0] == "pass"


@pytest.mark.parametrize(("authorizer", "worlds"), [("standard", 150), ("glob", 120)])
def test_the_gate_of_a_label_misses_no_name_that_somebody_gains(authorizer, worlds):
    rng = random.Random("gates of labels")
    counted = {"pass": 0, "not met": 0, "gains": 0}
    # Where there are globs, a prefix with a label guards every name.
    patterns = ["LITERAL"] if authorizer == "glob" else ["LITERAL", "PREFIXED"]
    for number in range(worlds * SCALE):
        world = random_world(rng, authorizer=authorizer, most=6)
        adds = tuple(random_binding(rng, world.settings) for _ in range(rng.randint(3, 5)))
        delta = Delta(add=tuple(set(adds)))
        index, after = AclIndex(world.bindings), AclIndex(delta.applied_to(world.bindings))
        impact = simulate(delta, index, Names(), world.settings, met_only=True)
        all_acls = (*world.bindings, *adds)
        texts = sorted(
            {each.resource_name for each in all_acls if each.resource_name[:1] not in ("", "*")}
        ) or ["a"]
        if authorizer == "glob":
            # Mostly names that no ACL has and a GLOB matches.
            texts = sorted({text.replace("*", "").replace("?", "b") or "a" for text in texts})
        cluster = Cluster.objects.create(slug=f"labels-{number}", name="labels", kind="admin", address="b:1")
        kinds = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)
        for kind in kinds:
            for text in rng.sample(texts, min(len(texts), rng.randint(1, 4))):
                row = (kind.name, rng.choice(patterns), text[: rng.randint(1, len(text))])
                if not OwnedNames.objects.filter(
                    cluster=cluster, kind=row[0], pattern_type=row[1], name=row[2]
                ).exists():
                    labelled(cluster, (*row, rng.choice(["secret", "secret", "open", ""])))
        view = SimpleNamespace(index=index, settings=world.settings, cluster=cluster)

        state, _ = gates._no_access_to_labelled(
            gates._Edit(view, delta, impact, None), PolicyGate(kind=KIND.LABELLED, name_prefix="secret")
        )

        book = OwnerBook(cluster)
        said_of = [row.said_of for row in book.with_label("secret")]
        names = {*texts, *said_of, *(f"{name}-fresh" for name in (*texts, *said_of))}
        gains = any(
            decide(request, index, world.settings)[0] is Result.DENIED
            and decide(request, after, world.settings)[0] is Result.ALLOWED
            for kind in kinds
            for operation in operations_of(kind, world.settings)
            for name in names
            if (kind is not ResourceType.TOPIC or why_no_topic(name) is None)
            and (own := book.of(kind.name, name)) is not None
            and "secret" in own.labels
            for principal in {*PRINCIPALS, "User:nobody-else", *(each.principal for each in all_acls)}
            - {"User:*"}
            for host in HOSTS
            for request in [AccessRequest(principal, host, operation, kind, name)]
        )
        assert not (gains and state == "pass"), (number, adds)
        counted[state if state != "cannot tell" else "not met"] += 1
        counted["gains"] += gains
    assert all(each > 15 for each in counted.values()), counted


def test_twice_the_labelled_names_and_acls_are_about_twice_the_work(cluster):
    PolicyGate.objects.create(cluster=cluster, kind=KIND.LABELLED, name_prefix="secret")

    def work(count):
        OwnedNames.objects.all().delete()
        labelled(cluster, *(("TOPIC", "LITERAL", f"pay.{number}", "secret") for number in range(count)))
        delta = Delta(add=tuple(allow("User:cat", "READ", f"other{number}") for number in range(count)))
        view = in_force(Cluster.objects.get(pk=cluster.pk))
        impact = preview(cluster, delta, view=view).impact
        return steps_in("aclweb.changes.gates", lambda: gates.verdicts(view, delta, impact))

    assert work(200) < 2.5 * work(100)


# --- How gates are set ---


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"kind": "no-such"}, "kind"),
        ({"approvals": 0}, "approvals"),
        ({"approvals": 11}, "approvals"),
        ({"name_prefix": "orders."}, "name_prefix"),
        ({"kind": KIND.NO_NEW_ACCESS}, "name_prefix"),
        ({"kind": KIND.LABELLED}, "name_prefix"),
        ({"kind": KIND.LABELLED, "name_prefix": "Not one"}, "name_prefix"),
        ({"kind": KIND.LABELLED, "name_prefix": "a\x00"}, "name_prefix"),
        ({"kind": KIND.NO_NEW_ACCESS, "name_prefix": "x" * 250}, "name_prefix"),
        ({"kind": KIND.NO_NEW_ACCESS, "name_prefix": "a\x00"}, "name_prefix"),
        ({"kind": KIND.NO_NEW_ACCESS, "name_prefix": "a\udcff"}, "name_prefix"),
    ],
)
def test_a_gate_that_cannot_be_is_refused_at_its_field_and_not_stored(cluster, wrong, field):
    given = {"kind": KIND.NO_WILDCARD, "approvals": 2, **wrong}

    with pytest.raises(gate_settings.GateError) as refused:
        gate_settings.set_gate(actor="test", cluster=cluster, **given)

    assert list(refused.value.faults) == [field]
    assert not PolicyGate.objects.exists()


def test_the_gate_of_a_label_is_kept_in_small_letters_as_names_have_it(cluster):
    labelled(cluster, ("TOPIC", "LITERAL", "payments.eu", "restricted"))
    given = {"actor": "test", "cluster": cluster, "kind": KIND.LABELLED, "approvals": 2}

    assert gate_settings.set_gate(**given, name_prefix=" Restricted")
    assert not gate_settings.set_gate(**given, name_prefix="RESTRICTED")

    (kept,) = cluster.policy_gates.all()
    assert kept.name_prefix == "restricted"
    binding = allow("User:cat", "READ", "payments.eu")
    assert said(cluster, KIND.LABELLED, binding, prefix=kept.name_prefix)[0] == "not met"
    with pytest.raises(gate_settings.GateError, match="'Not one' is no label"):
        gate_settings.set_gate(**given, name_prefix="Not one")


def test_setting_a_gate_again_changes_it_and_each_is_recorded(cluster):
    gate(cluster, KIND.NO_WILDCARD)
    gate(cluster, KIND.NO_WILDCARD, approvals=3)
    assert not gate_settings.set_gate(actor="test", cluster=cluster, kind=KIND.NO_WILDCARD, approvals=3)
    (kept,) = cluster.policy_gates.all()
    gate_settings.remove_gate(actor="test", gate=kept)

    verbs = [event.verb for event in trail.trail(f"cluster:{cluster.slug}").order_by("sequence")]
    assert verbs[-3:] == ["policy.set", "policy.set", "policy.removed"]
    assert not PolicyGate.objects.exists()


# --- What another tool manages ---


@pytest.mark.parametrize(
    ("binding", "prefix", "state"),
    [
        (allow("User:app-1", "READ", "orders"), "User:app-", "not met"),
        (allow("User:bob", "READ", "orders.eu"), "orders.", "not met"),
        (allow("User:bob", "READ", "orders.", pattern="PREFIXED"), "orders.", "not met"),
        (allow("User:bob", "READ", "orders"), "User:app-", "pass"),
        (allow("User:*", "READ", "orders"), "User:", "pass"),
        (allow("User:ANONYMOUS", "READ", "orders"), "User:", "pass"),
        (allow("User:*", "READ", "orders"), "User:*", "not met"),
    ],
)
def test_what_another_tool_manages_is_told_by_prefix(cluster, binding, prefix, state):
    assert said(cluster, KIND.MANAGED, binding, prefix=prefix)[0] == state
    assert said(cluster, KIND.MANAGED_REFUSED, remove=[binding], prefix=prefix)[0] == state


def test_a_managed_name_is_warned_of_and_asks_for_more(cluster, ask, ada):
    gate(cluster, KIND.MANAGED, prefix="payments.")

    change = review.submit(change=ask(WISH), actor=ada)

    assert (change.state, change.approvals_needed) == (Change.State.IN_REVIEW, 2)
    (told,) = change.gates
    assert told["sentence"].startswith(
        "Another tool manages what starts with 'payments.', and may undo this:"
    )
    assert told["sentence"].endswith("Change 'payments.eu' there.")


def test_a_managed_name_is_refused_when_it_is_submitted(cluster, ask, ada):
    gate(cluster, KIND.MANAGED_REFUSED, prefix="payments.")

    with pytest.raises(ChangeError, match=r"Another tool manages what starts with 'payments\.'"):
        review.submit(change=ask(WISH), actor=ada)

    assert Change.objects.get().state == Change.State.DRAFT


def test_the_worker_writes_nothing_that_is_refused_since(cluster, kafka, approved):
    change = approved(WISH)
    gate(cluster, KIND.MANAGED_REFUSED, prefix="payments.")

    rollout.apply(change.pk)

    change.refresh_from_db()
    assert change.state == Change.State.FAILED
    assert WISH not in kafka.bindings
    assert "Another tool manages" in change.sentence
    assert "Nothing was written." in change.sentence


def test_a_gate_of_a_tool_needs_its_prefix(cluster):
    for kind in (KIND.MANAGED, KIND.MANAGED_REFUSED):
        with pytest.raises(gate_settings.GateError, match="such as User:app-"):
            gate_settings.set_gate(actor="test", cluster=cluster, kind=kind, approvals=2)
