import threading

import pytest
from cryptography.fernet import Fernet
from django.db import connection as database
from django.test.utils import CaptureQueriesContext

from aclweb.acl.model.delta import Delta
from aclweb.acl.model.vocabulary import PatternType, ResourcePattern, ResourceType
from aclweb.audit import trail
from aclweb.audit.models import Event
from aclweb.clusters import ClusterFacts, ClusterState, Problem, TopicInfo
from aclweb.inventory.current import view as current
from aclweb.inventory.models import Cluster, Revision, StoredAcl, StoredName
from aclweb.inventory.sync import run as syncing
from aclweb.inventory.sync.quarantine import QuarantineError, accept
from aclweb.inventory.sync.run import sync
from aclweb.inventory.sync.storing import OURS
from tests.builders import allow, deny
from tests.inventory.answering_cluster import Answers, topics, trouble

pytestmark = pytest.mark.django_db

BOB = allow("User:bob", "READ", "orders")
EVE = deny("User:eve", "ALL", "pay", pattern="PREFIXED")
CHO = allow("User:cho", "WRITE", "orders", host="10.0.0.9")


def stored(cluster):
    return set(current.in_force(cluster).index)


def many(count, *, principal="User:bob"):
    return [allow(principal, "READ", f"topic-{n}") for n in range(count)]


def test_the_first_sync_stores_everything_as_revision_1(cluster):
    result = sync(cluster, client=Answers([BOB, EVE], topics("orders", "pay.in"), ["readers"]))

    assert result.changed
    assert result.revision.number == 1
    assert (result.revision.acls, result.revision.names_added) == (2, 3)
    assert stored(cluster) == {BOB, EVE}
    view = current.in_force(cluster)
    assert [topic.name for topic in view.topics] == ["orders", "pay.in"]
    assert view.groups == ("readers",)


def test_an_empty_first_sync_is_a_revision_too_so_that_it_differs_from_never_read(cluster):
    assert current.in_force(cluster).revision is None

    result = sync(cluster, client=Answers())

    assert result.revision.number == 1
    assert current.in_force(cluster).revision == result.revision


def test_a_sync_that_finds_nothing_new_makes_no_revision(cluster):
    answers = Answers([BOB, EVE], topics("orders"))
    first = sync(cluster, client=answers)
    again = sync(cluster, client=answers)

    assert again.read
    assert not again.changed
    assert again.revision == first.revision
    assert Revision.objects.count() == 1
    assert cluster.read_at > first.revision.read_at


def test_only_what_differs_is_written_and_the_past_can_still_be_asked_for(cluster):
    first = sync(cluster, client=Answers([BOB, EVE], topics("orders"))).revision
    result = sync(cluster, client=Answers([EVE, CHO], topics("orders", "new")))

    assert result.delta == Delta(add=(CHO,), remove=(BOB,))
    assert stored(cluster) == {EVE, CHO}
    assert set(current.in_force(cluster, current.Moment(first)).index) == {BOB, EVE}
    assert [topic.name for topic in current.in_force(cluster, as_of=current.Moment(first)).topics] == [
        "orders"
    ]
    assert StoredAcl.objects.count() == 3


def test_an_acl_that_went_and_came_back_has_a_row_for_each_time(cluster):
    for bindings in ([BOB], [], [BOB]):
        sync(cluster, client=Answers(bindings))

    assert stored(cluster) == {BOB}
    assert StoredAcl.objects.count() == 2


def test_two_syncs_that_end_equal_have_equal_digests(cluster):
    first = sync(cluster, client=Answers([BOB, EVE])).revision
    sync(cluster, client=Answers([BOB]))
    third = sync(cluster, client=Answers([EVE, BOB])).revision

    assert first.digest == third.digest


@pytest.mark.parametrize(
    "state",
    [
        ClusterState.NO_AUTHORIZER,
        ClusterState.NOT_PERMITTED,
        ClusterState.UNREACHABLE,
        ClusterState.LOGIN_REFUSED,
        ClusterState.UNREADABLE,
    ],
)
@pytest.mark.parametrize("method", ["describe", "read_acls"])
def test_a_sync_that_fails_stores_no_row_and_says_why(cluster, state, method):
    sync(cluster, client=Answers([BOB], topics("orders"), ["readers"]))
    read_at = cluster.read_at

    result = sync(
        cluster, client=Answers(fails={method: trouble(state, "The broker at b1:9092 did not answer.")})
    )

    assert (result.read, result.changed, result.state) == (False, False, state)
    assert result.sentence == "The broker at b1:9092 did not answer."
    assert (cluster.state, cluster.state_sentence) == (state, result.sentence)
    assert cluster.read_at == read_at < cluster.tried_at
    assert stored(cluster) == {BOB}
    assert StoredName.objects.filter(removed_in__isnull=True).count() == 2
    assert current.in_force(cluster).stale


def test_a_cluster_that_cannot_be_connected_to_is_a_state_and_no_exception(cluster, monkeypatch):
    def refuse(connection):
        raise trouble(ClusterState.UNREACHABLE, "Nobody answers at 127.0.0.1:1.")

    monkeypatch.setattr(syncing, "connect", refuse)

    assert sync(cluster).state is ClusterState.UNREACHABLE
    assert cluster.state_sentence == "Nobody answers at 127.0.0.1:1."


def test_a_login_that_the_keys_cannot_decrypt_stops_the_sync_and_nothing_else(cluster, settings):
    cluster.options = {"sasl_plain_password": "canary"}
    cluster.save()
    settings.ACLWEB_ENCRYPTION_KEYS = [Fernet.generate_key().decode()]

    result = sync(Cluster.objects.get())

    assert result.state is ClusterState.LOGIN_REFUSED
    assert "ACLWEB_ENCRYPTION_KEYS" in result.sentence


def test_a_connection_that_was_opened_is_closed_also_when_reading_fails(cluster, monkeypatch):
    answers = Answers(fails={"read_acls": trouble(ClusterState.NOT_PERMITTED)})
    monkeypatch.setattr(syncing, "connect", lambda connection: answers)

    sync(cluster)

    assert answers.closed


@pytest.mark.parametrize(("method", "kept"), [("read_topics", "orders"), ("read_groups", "readers")])
def test_names_that_could_not_be_read_stay_and_the_acls_are_stored(cluster, method, kept):
    sync(cluster, client=Answers([BOB], topics("orders"), ["readers"]))

    result = sync(cluster, client=Answers([BOB, CHO], fails={method: trouble(ClusterState.UNREACHABLE)}))

    assert result.read
    assert stored(cluster) == {BOB, CHO}
    assert kept in StoredName.objects.filter(removed_in__isnull=True).values_list("name", flat=True)
    assert "stay" in cluster.problems[0]["sentence"]


def test_groups_that_a_source_cannot_know_are_unknown_and_not_gone(cluster):
    sync(cluster, client=Answers([BOB], groups=["readers"]))
    sync(cluster, client=Answers([BOB], groups=None))

    assert current.in_force(cluster).groups is None
    assert StoredName.objects.get().removed_in is None


def test_a_pattern_that_cannot_be_understood_keeps_its_rows(cluster):
    sync(cluster, client=Answers([BOB, EVE, CHO]))
    broken = ResourcePattern(ResourceType.TOPIC, "pay", PatternType.PREFIXED)

    result = sync(
        cluster,
        client=Answers([CHO], problems=[Problem("/kafka-acl/x", "Not JSON.", True)], unreadable=[broken]),
    )

    assert result.state is ClusterState.UNREADABLE
    assert stored(cluster) == {EVE, CHO}
    assert result.delta == Delta(remove=(BOB,))
    assert cluster.problems == [{"where": "/kafka-acl/x", "sentence": "Not JSON.", "hazard": True}]


def test_the_states_are_reported_in_different_sentences(cluster):
    told = {}
    for bindings, unreadable in (([BOB], []), ([], []), ([BOB], [BOB.pattern])):
        result = sync(cluster, client=Answers(bindings, unreadable=unreadable))
        told[result.state] = result.sentence
    for state in (ClusterState.NO_AUTHORIZER, ClusterState.NOT_PERMITTED, ClusterState.UNREACHABLE):
        result = sync(cluster, client=Answers(fails={"read_acls": trouble(state, f"The {state} sentence.")}))
        told[result.state] = result.sentence

    assert set(told) == {
        ClusterState.OK,
        ClusterState.NO_ACLS,
        ClusterState.UNREADABLE,
        ClusterState.NO_AUTHORIZER,
        ClusterState.NOT_PERMITTED,
        ClusterState.UNREACHABLE,
    }
    assert len(set(told.values())) == 6


@pytest.mark.parametrize(
    ("declared", "state", "words"),
    [
        ("", ClusterState.NO_ACLS, "nobody has declared"),
        ("on", ClusterState.NO_ACLS, "authorizer is on and has no ACL"),
        ("off", ClusterState.NO_AUTHORIZER, "without an authorizer"),
    ],
)
def test_whether_an_empty_zookeeper_enforces_anything_is_as_declared(cluster, declared, state, words):
    cluster.kind, cluster.authorizer, cluster.authorizer_declared = "zookeeper", "acl", declared
    cluster.save()

    result = sync(cluster, client=Answers(groups=None))

    assert result.state is state
    assert words in result.sentence


def test_a_sync_that_lost_too_much_is_quarantined_told_once_and_stores_nothing(cluster):
    sync(cluster, client=Answers(many(500)))
    poor = Answers(many(390))

    first, again = sync(cluster, client=poor), sync(cluster, client=poor)

    assert first.held
    assert again.held
    assert "110 of the 500 ACLs" in first.sentence
    assert len(stored(cluster)) == 500
    assert current.in_force(cluster).stale
    assert [event.verb for event in trail.trail("cluster:test-eu")].count("cluster.reading-held") == 1


@pytest.mark.parametrize(("before", "after"), [(500, 400), (1000, 810), (90, 1), (9, 0)])
def test_a_loss_that_is_small_in_number_or_in_share_is_believed(cluster, before, after):
    sync(cluster, client=Answers(many(before)))

    assert not sync(cluster, client=Answers(many(after))).held
    assert len(stored(cluster)) == after


@pytest.mark.parametrize("before", [10, 90, 150])
def test_a_sync_that_empties_a_cluster_is_quarantined(cluster, before):
    sync(cluster, client=Answers(many(before)))

    result = sync(cluster, client=Answers([]))

    assert result.held
    assert f"All {before} ACLs known before are missing from one snapshot" in result.sentence
    assert len(stored(cluster)) == before


def test_a_cluster_that_aclweb_itself_emptied_is_believed(cluster):
    sync(cluster, client=Answers(many(20)))

    assert not sync(cluster, client=Answers([]), cause=OURS, expected=Delta(remove=tuple(many(20)))).held


def test_what_somebody_accepted_is_stored_by_the_next_sync_that_loses_no_more(cluster, dot):
    sync(cluster, client=Answers(many(500)))
    sentence = sync(cluster, client=Answers(many(300))).sentence

    accept(cluster=cluster, actor=dot, shown=sentence)
    worse = sync(cluster, client=Answers(many(299)))
    accept(cluster=cluster, actor=dot, shown=worse.sentence)
    better = sync(cluster, client=Answers(many(310)))

    assert (worse.held, better.held) == (True, False)
    assert len(stored(cluster)) == 310
    assert Event.objects.filter(verb="cluster.reading-accepted", actor="dot").count() == 2


def test_nobody_accepts_a_loss_that_they_were_not_shown(cluster, dot):
    sync(cluster, client=Answers(many(500)))
    shown = sync(cluster, client=Answers(many(300))).sentence
    sync(cluster, client=Answers(many(200)))

    with pytest.raises(QuarantineError, match="Another snapshot is quarantined meanwhile"):
        accept(cluster=cluster, actor=dot, shown=shown)

    sync(cluster, client=Answers(many(500)))
    with pytest.raises(QuarantineError, match="No snapshot is quarantined any more"):
        accept(cluster=cluster, actor=dot, shown=shown)


def test_accepting_a_loss_of_acls_accepts_no_loss_of_topics(cluster, dot):
    names = [f"topic-{n}" for n in range(300)]
    sync(cluster, client=Answers(many(500), topics(*names)))
    shown = sync(cluster, client=Answers(many(300), topics(*names))).sentence

    accept(cluster=cluster, actor=dot, shown=shown)
    both = sync(cluster, client=Answers(many(300), topics("topic-1")))

    assert both.held
    assert "200 of the 500 ACLs and 299 of the 300 topics known before are missing" in both.sentence
    accept(cluster=cluster, actor=dot, shown=both.sentence)
    assert not sync(cluster, client=Answers(many(300), topics("topic-1"))).held


def test_a_replaced_cluster_is_accepted_with_the_loss_shown_and_no_greater_one(cluster, dot):
    first, second = (ClusterFacts(cluster_id=name) for name in ("first", "second"))
    sync(cluster, client=Answers(many(20), topics("orders"), facts=first))
    shown = sync(cluster, client=Answers(many(15), topics("orders"), facts=second)).sentence

    accept(cluster=cluster, actor=dot, shown=shown)
    greater = sync(cluster, client=Answers(many(5), facts=second))

    assert "5 of the 20 ACLs." in shown
    assert greater.held
    assert "15 of the 20 ACLs and the only one of the topics." in greater.sentence
    assert not cluster.held.get("accepted_by")


def test_a_quarantined_snapshot_is_stored_once_somebody_accepts_it(cluster):
    sync(cluster, client=Answers(many(500)))
    sync(cluster, client=Answers(many(300)))

    result = sync(cluster, client=Answers(many(300)), accepted_by="dot")

    assert result.changed
    assert not result.held
    assert cluster.held is None
    assert len(stored(cluster)) == 300
    assert Event.objects.get(verb="cluster.reading-accepted").actor == "dot"


def test_accepting_one_loss_does_not_accept_a_greater_one(cluster):
    sync(cluster, client=Answers(many(500)))
    sync(cluster, client=Answers(many(300)))

    assert sync(cluster, client=Answers(many(200)), accepted_by="dot").held
    assert len(stored(cluster)) == 500


def test_nothing_is_accepted_before_it_was_quarantined(cluster):
    sync(cluster, client=Answers(many(500)))

    assert sync(cluster, client=Answers([]), accepted_by="dot").held


def test_a_better_sync_ends_the_hold(cluster):
    sync(cluster, client=Answers(many(500)))
    sync(cluster, client=Answers(many(300)))
    sync(cluster, client=Answers(many(499)))

    assert cluster.held is None
    assert len(stored(cluster)) == 499


def test_a_loss_that_our_own_change_made_is_expected(cluster):
    sync(cluster, client=Answers(many(500)))
    removed = Delta(remove=tuple(many(500)[300:]))

    result = sync(cluster, cause=OURS, client=Answers(many(300)), expected=removed)

    assert not result.held
    assert len(stored(cluster)) == 300


def test_topics_that_vanish_by_the_hundred_are_quarantined_too(cluster):
    names = [f"topic-{n}" for n in range(300)]
    sync(cluster, client=Answers([BOB], topics(*names)))

    assert sync(cluster, client=Answers([BOB], topics("topic-1"))).held


def test_another_cluster_behind_the_same_address_is_quarantined(cluster):
    sync(cluster, client=Answers([BOB], facts=ClusterFacts(cluster_id="first")))

    result = sync(cluster, client=Answers([CHO], facts=ClusterFacts(cluster_id="second")))

    assert result.held
    assert "second" in result.sentence
    assert stored(cluster) == {BOB}
    assert sync(
        cluster, client=Answers([CHO], facts=ClusterFacts(cluster_id="second")), accepted_by="dot"
    ).changed
    assert cluster.cluster_id == "second"


@pytest.mark.parametrize(
    ("cause", "expected", "origin"),
    [
        (Revision.Cause.READING, None, "made elsewhere"),
        (OURS, None, "made with aclweb"),
        (OURS, Delta(add=(EVE, CHO)), "made with aclweb"),
        (OURS, Delta(add=(EVE,)), "1 of them made elsewhere and the others with aclweb"),
    ],
)
def test_an_audit_event_says_where_a_difference_was_made(cluster, cause, expected, origin):
    sync(cluster, client=Answers([BOB]))
    sync(cluster, client=Answers([BOB, EVE, CHO]), cause=cause, expected=expected)

    last = trail.trail("cluster:test-eu").last()
    assert trail.sentence(last) == f"Revision 2 of test-eu: ACLs added: 2, removed: 0; {origin}."


def test_a_sync_that_only_finds_names_makes_a_revision_and_no_audit_event(cluster):
    sync(cluster, client=Answers([BOB]))
    sync(cluster, client=Answers([BOB], groups=["new"]))

    assert cluster.revision.number == 2
    assert Event.objects.count() == 1


def test_a_moved_number_of_partitions_is_stored_without_a_revision(cluster):
    sync(cluster, client=Answers([BOB], [TopicInfo("orders", 3)]))
    sync(cluster, client=Answers([BOB], [TopicInfo("orders", 6)]))

    assert StoredName.objects.get().partitions == 6
    assert Revision.objects.count() == 1


def test_a_sync_that_began_earlier_never_overwrites_a_later_one(cluster):
    sync(cluster, client=Answers([BOB]))
    slow = Answers([BOB])

    def late_topics():
        # Another worker reads the cluster, with CHO in it, while this one is still busy.
        sync(Cluster.objects.get(pk=cluster.pk), client=Answers([BOB, CHO]))
        return ()

    slow.read_topics = late_topics
    result = sync(cluster, client=slow)

    assert not result.read
    assert stored(cluster) == {BOB, CHO}
    assert cluster.revision.number == 2


def test_a_version_that_aclweb_does_not_know_is_not_taken_over(cluster):
    sync(cluster, client=Answers([BOB], facts=ClusterFacts(kafka_version="4.1.2")))
    sync(cluster, client=Answers([BOB], facts=ClusterFacts(kafka_version="9.9")))

    assert cluster.kafka_version == "4.1.2"


@pytest.mark.parametrize(
    "name",
    [
        "NUL\x00",
        "half \ud800",
        "other half \udfff",
        "back\\slash \\u0041",
        "x" * 32_767,
        "é\u202e😀",
        "'; --",
        "",
    ],
)
def test_a_hostile_name_survives_storage_letter_by_letter(cluster, name):
    bindings = [
        allow(f"User:{name}", "READ", f"n{name}", resource_type="GROUP", host=f"h{name}"),
        deny(f"User:{name}", "READ", f"n{name}x", resource_type="GROUP"),
    ]
    answers = Answers(bindings, groups=[f"n{name}"])

    assert sync(cluster, client=answers).changed
    assert not sync(cluster, client=answers).changed
    current.forget()

    assert stored(cluster) == set(bindings)
    assert current.in_force(cluster).groups == (f"n{name}",)


def test_a_hostile_name_in_a_sentence_breaks_no_sync(cluster):
    problem = Problem("/kafka-acl/Topic/\x00", "The name '\ud800\x00' cannot be.", hazard=True)

    assert sync(cluster, client=Answers([BOB], problems=[problem])).read
    assert cluster.problems[0]["sentence"] == "The name '\\ud800\\u0000' cannot be."

    refusal = trouble(ClusterState.UNREADABLE, "Not understood: \x00.")
    assert sync(cluster, client=Answers(fails={"read_acls": refusal})).sentence == "Not understood: \\u0000."


def test_a_migration_to_kraft_is_reported_as_a_problem(cluster):
    sync(cluster, client=Answers([BOB], facts=ClusterFacts(migrating=True)))

    assert "moving from ZooKeeper to KRaft" in cluster.problems[0]["sentence"]


def test_storing_takes_as_many_queries_for_a_thousand_acls_as_for_two(cluster, other_cluster):
    def queries(where, count):
        with CaptureQueriesContext(
            database,
        ) as captured:
            sync(where, client=Answers(many(count)))
        # On PostgreSQL, whoever writes the audit trail also asks for its lock.
        beside = ("SAVEPOINT", "pg_advisory_xact_lock")
        return len([query for query in captured if not any(word in query["sql"] for word in beside)])

    few, lots = queries(cluster, 2), queries(other_cluster, 1000)

    assert lots <= few + 1000 // 90 + 2  # rows go in batches
    assert few <= 16


@pytest.mark.django_db(transaction=True)
def test_two_syncs_at_once_leave_one_row_for_each_acl(cluster):
    failures = []

    def read():
        try:
            for n in range(3):
                sync(Cluster.objects.get(pk=cluster.pk), client=Answers(many(50 + n)))
        except Exception as error:
            failures.append(error)
        finally:
            database.close()

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sync(cluster, client=Answers(many(40)))

    assert not failures
    assert stored(cluster) == set(many(40))
    assert trail.verify().ok
    numbers = list(Revision.objects.order_by("number").values_list("number", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))
