"""A preview is the same for everybody who asks, and its hashes change exactly with what they stand for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aclweb.acl.model.delta import Delta
from aclweb.acl.model.vocabulary import Operation, PatternType
from aclweb.acl.simulate import described, plain, which
from aclweb.changes import review
from aclweb.changes.models import ChangeError
from aclweb.changes.preview import MOST_ITEMS, preview
from tests.builders import allow, deny
from tests.changes.conftest import WISH, reread

pytestmark = pytest.mark.django_db


def test_a_submitted_change_keeps_what_the_what_if_page_showed(cluster, ask, ada):
    shown = preview(cluster, Delta(add=(WISH,)))

    change = review.submit(change=ask(WISH), actor=ada)

    assert change.impact == shown.impact
    assert change.impact_hash == shown.impact_hash
    assert change.revision == shown.revision


def test_the_plan_is_in_the_safe_order_and_so_are_the_commands(cluster):
    shown = preview(
        cluster,
        Delta(
            add=(WISH, deny("User:x", "READ", "orders")),
            remove=(deny("User:y", "READ", "orders"), allow("User:bob", "READ", "orders")),
        ),
    )

    assert [step.phase for step in shown.plan] == [1, 2, 3, 4]
    assert ["--add" in line for line in shown.commands] == [True, True, False, False]
    assert "--deny-principal User:x" in shown.commands[0]


@pytest.mark.parametrize(
    "other",
    [
        replace(WISH, principal="User:Ledger"),
        replace(WISH, host="10.0.0.1"),
        replace(WISH, operation=Operation.WRITE),
        replace(WISH, resource_name="payments.us"),
        replace(WISH, pattern_type=PatternType.PREFIXED),
    ],
    ids=["principal", "host", "operation", "name", "pattern"],
)
def test_another_acl_is_another_plan(cluster, other):
    assert preview(cluster, Delta(add=(WISH,))).plan_hash != preview(cluster, Delta(add=(other,))).plan_hash


def test_another_cluster_or_requester_is_another_plan(cluster):
    first = preview(cluster, Delta(add=(WISH,)), requester=1).plan_hash
    assert preview(cluster, Delta(add=(WISH,)), requester=2).plan_hash != first
    cluster.cluster_id = "another"
    assert preview(cluster, Delta(add=(WISH,)), requester=1).plan_hash != first


def test_the_effect_keeps_its_hash_when_unrelated_acls_come(cluster, kafka):
    before = preview(cluster, Delta(add=(WISH,)))
    kafka.edit(add=[allow("User:bob", "WRITE", "orders")])
    reread(cluster)

    assert preview(cluster, Delta(add=(WISH,))).impact_hash == before.impact_hash


def test_a_topic_that_does_not_exist_yet_is_part_of_the_effect(cluster):
    shown = preview(cluster, Delta(add=(allow("User:new", "READ", "not.yet"),)))

    assert {gain.resource_name for gain in shown.impact.gains} == {"not.yet"}


def test_a_new_topic_alone_can_be_previewed(cluster, kafka):
    kafka.edit(add=[allow("User:z", "READ", "payments.", pattern="PREFIXED")])
    reread(cluster)

    shown = preview(cluster, Delta(), new_topics=("payments.new",))

    assert shown.plan == ()
    assert {(gain.principal, gain.resource_name) for gain in shown.impact.gains} == {
        ("User:z", "payments.new")
    }


def test_acls_that_are_so_already_are_counted_in_a_note(cluster):
    shown = preview(cluster, Delta(add=(WISH, allow("User:bob", "READ", "orders"))))

    assert "1 of these ACLs already exists." in shown.notes


def test_a_change_of_aclwebs_own_rights_is_noted(cluster):
    cluster.options = {"sasl.username": "aclweb"}
    cluster.save()
    own = deny("User:aclweb", "ALTER", "kafka-cluster", resource_type="CLUSTER")
    others = deny("User:other", "ALTER", "kafka-cluster", resource_type="CLUSTER")

    assert any("aclweb's own rights" in note for note in preview(cluster, Delta(add=(own,))).notes)
    assert not any("aclweb's own rights" in note for note in preview(cluster, Delta(add=(others,))).notes)


@pytest.mark.parametrize(
    ("binding", "told"),
    [
        (replace(WISH, resource_name=""), "The resource name is empty"),
        (replace(WISH, principal="ledger"), "write it as 'User:ledger'"),
        (replace(WISH, pattern_type=PatternType.GLOB), "LITERAL or PREFIXED.* GLOB"),
        (replace(WISH, operation=Operation.UNKNOWN), "one operation.* UNKNOWN"),
    ],
)
def test_what_no_broker_would_take_is_refused_with_a_sentence(cluster, binding, told):
    with pytest.raises(ChangeError, match=told):
        preview(cluster, Delta(add=(binding,)))


def test_a_plan_that_nobody_can_review_is_refused(cluster):
    many = tuple(allow("User:x", "READ", f"t{number}") for number in range(MOST_ITEMS + 1))

    with pytest.raises(ChangeError, match="split it"):
        preview(cluster, Delta(add=many))


def test_names_that_text_columns_cannot_hold_are_kept_in_the_effect_as_they_are(cluster, kafka, ask, ada):
    change = review.submit(change=ask(replace(WISH, principal="User:nul\x00and\ud800")), actor=ada)

    change.refresh_from_db()
    assert change.items.get().binding.principal == "User:nul\x00and\ud800"
    assert change.impact.gains[0].principal == "User:nul\x00and\ud800"


def test_what_the_cluster_itself_would_refuse_is_noted_in_its_own_words(cluster):
    type(cluster).objects.update(authorizer="acl", kafka_version="3.9")

    shown = preview(cluster, Delta(add=(allow("User:x", "READ", "orders/eu"), WISH)))

    (note,) = [note for note in shown.notes if "Kafka would answer" in note]
    assert "it holds a slash" in note
    assert "INVALID_REQUEST (42)" in note


def test_an_address_range_that_this_kafka_does_not_read_is_told_once(cluster):
    type(cluster).objects.update(authorizer="acl", kafka_version="3.9")
    of_range, of_nobody = replace(WISH, host="10.0.0.0/8"), replace(WISH, host="a-laptop")

    shown = preview(cluster, Delta(add=(of_range,), remove=(replace(of_range, host="10.0.0.0/9"),)))
    with_another = preview(cluster, Delta(add=(of_range, of_nobody)))

    (warned,) = [each for each in shown.impact.warnings if "10.0.0.0/8" in each]
    assert "reads no address ranges" in warned
    assert not any("10.0.0.0/8" in note for note in (*shown.notes, *with_another.notes))
    # What goes is told of by no warning.
    assert any("10.0.0.0/9" in note for note in shown.notes)
    assert any("a-laptop" in note for note in with_another.notes)


def test_a_name_of_the_draft_is_not_counted_as_there_and_is_said_to_be_unknown(cluster):
    prefix = allow("User:a", "READ", "payments.", pattern="PREFIXED")

    shown = preview(cluster, Delta(add=(prefix, allow("User:b", "READ", "payments.nowhere"))))

    said = {
        plain(which(described(shown.impact, group)))
        for group in shown.impact.groups
        if shown.impact.axes.principals.named(group.principals) == ("User:a",)
    }
    assert said == {
        "every topic that starts with 'payments.' (1 now, and all to come), except payments.us",
        "payments.us",  # an ACL for somebody else is on it
    }
    assert "payments.nowhere" not in {resource.name for resource in shown.impact.resources}
    assert "Not known yet: topic payments.nowhere. Its ACLs count once it is made." in shown.impact.warnings
