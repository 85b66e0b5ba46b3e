"""A cluster is read in another way: both sides are compared as access first, and all that is known of it stays."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models import QuerySet
from django.db.models.functions import Now

from aclweb.accounts.models import Grant
from aclweb.acl.model.delta import Delta
from aclweb.audit import trail
from aclweb.audit.models import Event
from aclweb.changes import moving, review
from aclweb.changes.models import Change, Move
from aclweb.changes.rollout import hold
from aclweb.changes.stored_moves import MOVES
from aclweb.clusters import ClusterFacts, ClusterState
from aclweb.clusters.broker_settings import ClusterSettings
from aclweb.inventory.admin import declare, register, removing
from aclweb.inventory.models import Cluster, Declaration, Revision
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.inventory.answering_cluster import Answers, topics, trouble

pytestmark = pytest.mark.django_db

HELD = [allow("User:bob", "READ", "orders"), deny("User:eve", "READ", "orders")]
THERE = {"kind": "admin", "address": "b1.example:9092"}
SECRET = "n0body-may-see-this"


@pytest.fixture(autouse=True)
def nothing_enqueued(monkeypatch):
    monkeypatch.setattr("aclweb.changes.moving.tasks.enqueue", lambda: None)
    monkeypatch.setattr("aclweb.inventory.admin.deleting.delete_removed.delay", lambda: None)


@pytest.fixture
def cluster() -> Cluster:
    """The cast's cluster, of which nothing is read."""
    return Cluster.objects.create(
        slug="test-eu",
        name="test-eu",
        kind="zookeeper",
        address="zk.example:2181/kafka",
        authorizer="acl",
        kafka_version="3.9",
        super_users="User:admin",
        allow_everyone=False,
        changes_enabled=True,
    )


@pytest.fixture
def keeper(cluster) -> Cluster:
    """The cluster, read from ZooKeeper so far."""
    sync(cluster, client=answers())
    return Cluster.objects.select_related("revision").get()


def answers(bindings=HELD, cluster_id="kafka-1", **more) -> Answers:
    return Answers(list(bindings), topics("orders"), ["g"], facts=ClusterFacts(cluster_id=cluster_id, **more))


def compared(cluster, there: Answers, **settings) -> Move:
    moving.ask(cluster=cluster, actor="dot", **(THERE | settings))
    assert moving.run_next("worker", lambda _: there)
    found = moving.latest(cluster)
    assert found is not None
    return found


def test_history_roles_declarations_and_changes_stay(keeper, ada, dot):
    change = review.draft(
        cluster=keeper, author=ada, title="t", delta=Delta(add=(allow("User:cat", "READ", "x"),))
    )
    before = (keeper.pk, keeper.slug, keeper.revision_id, Grant.objects.count(), keeper.super_users)
    move = compared(keeper, answers(kafka_version="4.1"), options={"sasl.password": SECRET} | SCRAM)

    assert move.sentence == "It is the same Kafka cluster. Both hold 2 ACLs, and nobody's access differs."
    assert Cluster.objects.get().kind == "zookeeper", "Nothing is switched by comparing."
    moved = moving.switch(move=move, actor=dot)

    assert (moved.pk, moved.slug, moved.revision_id, Grant.objects.count(), moved.super_users) == before
    assert (moved.kind, moved.address, moved.authorizer) == ("admin", "b1.example:9092", "standard")
    assert moved.options["sasl.password"] == SECRET
    assert list(moved.changes.all()) == [change]
    assert [each.authorizer for each in Declaration.objects.order_by("pk")][-2:] == ["acl", "standard"]
    sync(moved, client=answers())
    assert Revision.objects.count() == 1, "The other way reads the same, so there is nothing new."


def test_a_move_is_recorded_with_what_was_compared_and_without_its_login(keeper, dot):
    move = compared(keeper, answers(), options={"sasl.password": SECRET} | SCRAM)
    moving.switch(move=move, actor=dot)

    event = Event.objects.get(verb="cluster.moved")
    assert trail.sentence(event) == (
        "dot moved test-eu: it is read from a Kafka broker at b1.example:9092 now, and was read from ZooKeeper at "
        "zk.example:2181/kafka. It is the same Kafka cluster. Both hold 2 ACLs, and nobody's access differs."
    )
    assert SECRET not in str(list(Event.objects.values_list("facts", flat=True)))
    assert Move.objects.defer(None).get().options == {}


def test_what_differs_is_shown_as_access_and_must_be_accepted(keeper, dot):
    move = compared(keeper, answers([*HELD[:1], allow("User:cat", "READ", "orders")]))

    assert move.found["here_only"] == move.found["there_only"] == 1
    assert {line["op"] for line in move.found["lines"]} == {"add", "remove"}
    assert move.sentence.startswith("It is the same Kafka cluster. Access differs in ")
    assert move.impact is not None
    gained = [group for group in move.impact.groups if group.change == "gains"]
    assert gained, "cat may read orders there, and not here."
    with pytest.raises(moving.MovingError, match="Access differs between both sides"):
        moving.switch(move=move, actor=dot)
    assert Cluster.objects.get().kind == "zookeeper"

    assert moving.switch(move=move, actor=dot, accepted=True).kind == "admin"


def test_lines_that_differ_and_mean_the_same_need_no_acceptance(keeper, dot):
    move = compared(keeper, answers([*HELD, allow("User:bob", "DESCRIBE", "orders")]))

    assert move.sentence == (
        "It is the same Kafka cluster. The ACLs differ in 1 line, and nobody's access differs."
    )
    assert moving.switch(move=move, actor=dot).kind == "admin"


def test_another_authorizer_decides_otherwise_and_that_is_compared(keeper):
    settings = ClusterSettings(
        brokers=(1,),
        authorizer="standard",
        authorizer_class="org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        principal_builder="",
        ssl_rules=None,
        kerberos_rules=None,
        listeners_differ=False,
        proven={},
        problems=(),
    )

    move = compared(keeper, answers(settings=settings))

    differing = {each["name"] for each in move.found["settings"] if each["differs"]}
    assert "Authorizer" in differing


def test_another_cluster_is_never_moved_to(keeper, dot):
    move = compared(keeper, answers(cluster_id="kafka-2"))

    assert "Another cluster answers: it calls itself kafka-2" in move.sentence
    with pytest.raises(moving.MovingError, match="Add it as a cluster of its own"):
        moving.switch(move=move, actor=dot, accepted=True)
    assert Cluster.objects.get().kind == "zookeeper"


def test_all_that_speaks_against_a_move_is_accepted_together(keeper, dot):
    move = compared(keeper, answers([allow("User:cat", "READ", "orders")], cluster_id=None))

    with pytest.raises(moving.NotAcceptedError, match=r"is not proven\. Access differs between both sides\."):
        moving.switch(move=move, actor=dot)


def test_an_unknown_id_must_be_accepted(keeper, dot):
    move = compared(keeper, answers(cluster_id=None))

    with pytest.raises(moving.MovingError, match="the same Kafka cluster is not proven"):
        moving.switch(move=move, actor=dot)
    assert moving.switch(move=move, actor=dot, accepted=True).kind == "admin"


def test_a_cluster_that_changed_since_is_compared_again(keeper, dot):
    move = compared(keeper, answers())
    sync(keeper, client=answers([*HELD, allow("User:new", "READ", "orders")]))

    with pytest.raises(moving.MovingError, match="has changed since this was compared"):
        moving.switch(move=move, actor=dot)


def test_a_cluster_to_which_a_change_is_written_is_not_moved(keeper, dot, ada):
    move = compared(keeper, answers())
    change = Change.objects.create(cluster=keeper, author=ada, title="t", state=Change.State.QUEUED)
    assert hold.claim(change.pk, "worker") is not None

    with pytest.raises(moving.MovingError, match=f"{change.key} is being written to test-eu now"):
        moving.switch(move=move, actor=dot)


def test_whoever_asks_and_whoever_switches_lock_the_cluster_first(keeper, dot, monkeypatch):
    """Two who lock the same rows in another order could wait for each other for ever."""
    lock, locked = QuerySet.select_for_update, []

    def noted(rows, *given, **how):
        locked.append(rows.model.__name__)
        return lock(rows, *given, **how)

    monkeypatch.setattr(QuerySet, "select_for_update", noted)
    move = compared(keeper, answers())
    assert locked == ["Cluster"]

    locked.clear()
    moving.switch(move=move, actor=dot)

    first = list(dict.fromkeys(locked))
    assert first == ["Cluster", "Move", "Change"], "Changes too, or a worker could begin one meanwhile."


def test_a_side_that_does_not_answer_fails_with_its_sentence_and_nothing_is_switched(keeper, dot):
    move = compared(keeper, Answers(fails={"read_acls": trouble(ClusterState.NOT_PERMITTED)}))

    assert (move.state, move.sentence) == (Move.State.FAILED, "The broker at 10.0.0.1:9092 said no.")
    with pytest.raises(moving.MovingError, match="compare first"):
        moving.switch(move=move, actor=dot, accepted=True)


def test_what_cannot_be_is_said_and_nothing_is_stored(keeper):
    with pytest.raises(register.RegisteringError, match="cannot take each other's place"):
        moving.ask(cluster=keeper, actor="dot", kind="snapshot", address="/etc/passwd")
    with pytest.raises(register.RegisteringError, match="is no kind"):
        moving.ask(cluster=keeper, actor="dot", kind="nfs", address="x")

    assert not Move.objects.exists()
    assert Cluster.objects.get().kind == "zookeeper"


def test_a_new_wish_takes_the_place_of_the_one_before_with_its_login(keeper, dot):
    first = compared(keeper, answers(), options={"sasl.password": SECRET} | SCRAM)
    second = compared(keeper, answers())

    first = Move.objects.defer(None).get(pk=first.pk)
    assert (first.state, first.options) == (Move.State.CANCELLED, {})
    with pytest.raises(moving.MovingError):
        moving.switch(move=first, actor=dot)
    assert moving.give_up(cluster=keeper)
    assert not moving.give_up(cluster=keeper)
    second.refresh_from_db()
    assert second.state == Move.State.CANCELLED


@pytest.mark.parametrize(
    "there",
    [
        Answers(fails={"read_acls": trouble(ClusterState.NOT_PERMITTED)}),
        Answers(facts=ClusterFacts("kafka-2")),
    ],
    ids=["no answer", "another cluster"],
)
def test_a_login_that_nobody_can_switch_to_is_forgotten(keeper, there):
    move = compared(keeper, there, options={"sasl.password": SECRET} | SCRAM)

    assert Move.objects.defer(None).get(pk=move.pk).options == {}


def test_a_login_over_which_workers_were_lost_is_forgotten(keeper):
    moving.ask(cluster=keeper, actor="dot", options={"sasl.password": SECRET} | SCRAM, **THERE)
    for _ in range(MOVES.most_attempts):
        assert MOVES.take_next("worker") is not None
        Move.objects.update(lease_until=None)  # as after `kill -9`

    assert MOVES.take_next("worker") is None
    lost = Move.objects.defer(None).get()
    assert (lost.state, lost.options) == (Move.State.FAILED, {})


def test_a_comparison_to_which_nobody_switches_is_forgotten_after_days(keeper, dot):
    move = compared(keeper, answers(), options={"sasl.password": SECRET} | SCRAM)
    moving.forget_old()
    assert moving.latest(keeper).state == Move.State.DONE

    Move.objects.update(finished_at=Now() - timedelta(days=7, seconds=1))
    moving.forget_old()

    move = Move.objects.defer(None).get()
    assert (move.state, move.options) == (Move.State.CANCELLED, {})
    assert move.sentence == "Nobody switched within 7 days; compare again."


def test_a_move_at_the_shell_ends_what_was_compared_for_another(keeper, dot):
    move = compared(keeper, answers(), options={"sasl.password": SECRET} | SCRAM)
    candidate = register.as_if_changed(keeper, **moving.complete(keeper, {**THERE, "options": {}}))
    found = moving.compare(candidate, lambda _: answers())

    moving.switch_to(candidate=candidate, found=found.found, revision=found.revision, actor="root")

    move = Move.objects.defer(None).get()
    assert (move.state, move.sentence, move.options) == (Move.State.CANCELLED, "test-eu was moved.", {})
    with pytest.raises(moving.MovingError, match="compare first"):
        moving.switch(move=move, actor=dot)


@pytest.mark.parametrize("fails", [False, True], ids=["that ends", "that fails"])
def test_a_sync_under_way_in_the_old_way_stores_nothing_after_a_move(keeper, dot, fails):
    move = compared(keeper, answers())
    before = Cluster.objects.values().get()

    class Slow(Answers):
        def read_acls(self, earlier=None):
            moving.switch(move=move, actor=dot)
            if fails:
                raise trouble(ClusterState.UNREACHABLE, "ZooKeeper is gone.")
            return super().read_acls(earlier)

    result = sync(keeper, client=Slow([], topics("old"), [], facts=ClusterFacts(cluster_id="kafka-1")))

    after = Cluster.objects.select_related("revision").get()
    assert not result.read
    assert (after.kind, after.revision.number, after.read_at) == ("admin", 1, before["read_at"])
    assert (after.state, after.failures) == (before["state"], 0)
    assert sync(after, client=answers()).read


def test_the_removal_of_its_cluster_forgets_the_wish_and_its_login(keeper):
    moving.ask(cluster=keeper, actor="dot", options={"sasl.password": SECRET} | SCRAM, **THERE)

    removing.remove(actor="root", cluster=keeper, confirmed=keeper.name)

    assert not Move.objects.exists()
    assert not moving.run_next("worker", lambda _: pytest.fail("It was connected to."))


def test_what_people_declared_counts_on_both_sides(keeper):
    declare.declare(cluster=keeper, actor="dot", allow_everyone=True)

    move = compared(keeper, answers())
    assert [each["name"] for each in move.found["settings"] if each["differs"]] == ["Authorizer"]
    (default,) = (each for each in move.found["settings"] if each["name"] == "Where no ACL exists")
    assert default["left"] == default["right"] == "everyone is allowed"


def test_what_only_one_of_two_authorizers_is_asked_differs_though_no_acl_does(keeper):
    declare.declare(cluster=keeper, actor="dot", allow_everyone=True)

    move = compared(keeper, answers())

    # Brokers without ZooKeeper ask for Delete on the cluster, to unregister a broker.
    assert [group.change for group in move.impact.groups] == ["gains"]
    assert "all differences are due to what is declared or was found" in " ".join(move.found["sentences"])


SCRAM = {"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512", "sasl.username": "aclweb"}
