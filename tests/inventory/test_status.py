from datetime import timedelta

import pytest
from django.utils import timezone

from aclweb.acl.model.vocabulary import AclError
from aclweb.audit import trail
from aclweb.clusters import ClusterState
from aclweb.inventory.admin.declare import declare
from aclweb.inventory.lists import status
from aclweb.inventory.lists.cluster_status import ago
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.inventory.answering_cluster import Answers, trouble

pytestmark = pytest.mark.django_db

BOB = allow("User:bob", "READ", "orders")


def test_a_cluster_that_was_never_read_says_so(cluster):
    told = status(cluster)

    assert (told.label, told.tone, told.age) == ("not synced yet", "warn", None)


def test_each_state_has_its_own_words(cluster):
    told = [status(cluster)]
    for answers in (
        Answers([BOB]),
        Answers([BOB], unreadable=[BOB.pattern]),
        *(
            Answers(fails={"read_acls": trouble(state)})
            for state in (
                ClusterState.NO_AUTHORIZER,
                ClusterState.NOT_PERMITTED,
                ClusterState.LOGIN_REFUSED,
                ClusterState.UNREACHABLE,
            )
        ),
        Answers([]),
    ):
        sync(cluster, client=answers)
        told.append(status(cluster))

    assert len({each.label for each in told}) == len(told) == 8
    assert len({each.sentence for each in told}) == len(told)


def test_after_a_failed_sync_the_age_of_what_is_shown_is_reported(cluster):
    sync(cluster, client=Answers([BOB]))
    sync(
        cluster,
        client=Answers(fails={"describe": trouble(ClusterState.UNREACHABLE, "Nobody answers at b1:9092.")}),
    )

    told = status(cluster, now=timezone.now() + timedelta(minutes=7))

    assert told.tone == "bad"
    assert told.sentence.startswith("Nobody answers at b1:9092.")
    assert "What is shown was read 7 min ago." in told.sentence


def test_a_sync_long_ago_is_old_although_it_went_well(cluster):
    sync(cluster, client=Answers([BOB]))

    told = status(cluster, now=timezone.now() + timedelta(hours=3))

    assert told.is_old
    assert (told.label, told.tone) == ("not synced lately", "warn")


def test_a_quarantined_snapshot_is_reported_on_the_cluster(cluster):
    sync(cluster, client=Answers([allow("User:bob", "READ", f"t{n}") for n in range(300)]))
    sync(cluster, client=Answers([BOB]))

    told = status(cluster)

    assert told.tone == "bad"
    assert "All 300 ACLs known before are missing" in told.held


def test_badges_say_what_is_declared_and_what_is_not(cluster, other_cluster):
    words = [badge.text for badge in status(cluster).badges]
    undeclared = [(badge.text, badge.tone) for badge in status(other_cluster).badges]

    assert words == ["default deny (declared)", "1 super user (declared)", "never read"]
    assert undeclared[:2] == [("default not declared", "warn"), ("super users not declared", "warn")]


def test_a_declaration_is_stored_and_reported_with_who_made_it(other_cluster, dot):
    assert declare(cluster=other_cluster, actor=dot, allow_everyone=True, super_users="User:a;User:CN=b,O=c")

    other_cluster.refresh_from_db()
    assert (other_cluster.allow_everyone, other_cluster.super_users) == (True, "User:a;User:CN=b,O=c")
    assert trail.sentence(trail.trail("cluster:test-us").get()) == (
        "dot declared of test-us: allow.everyone.if.no.acl.found is true; super.users is User:a;User:CN=b,O=c."
    )


def test_declaring_the_same_again_changes_and_records_nothing(cluster, dot):
    assert not declare(cluster=cluster, actor=dot, allow_everyone=False, super_users="User:admin")
    assert not trail.trail("cluster:test-eu").exists()


def test_a_declaration_can_be_taken_back(cluster, dot):
    declare(cluster=cluster, actor=dot, allow_everyone=None)

    cluster.refresh_from_db()
    assert cluster.allow_everyone is None
    assert cluster.super_users == "User:admin"


def test_super_users_with_which_a_broker_would_not_start_are_refused(cluster, dot):
    with pytest.raises(AclError, match="without a type"):
        declare(cluster=cluster, actor=dot, super_users="admin")

    cluster.refresh_from_db()
    assert cluster.super_users == "User:admin"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s ago"),
        (59, "59 s ago"),
        (61, "1 min ago"),
        (7199, "119 min ago"),
        (7200, "2 h ago"),
        (200_000, "2 d ago"),
    ],
)
def test_an_age_is_reported_in_one_unit(seconds, words):
    assert ago(timedelta(seconds=seconds)) == words
