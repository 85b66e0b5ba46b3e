import threading
from bisect import bisect_left
from random import Random

import pytest
from django.db import connection as database
from django.test.utils import CaptureQueriesContext

from aclweb.acl.model.vocabulary import AclBinding, PatternType, ResourceType
from aclweb.inventory.current import loading_acls
from aclweb.inventory.current import view as current
from aclweb.inventory.current.view import in_force, settings_of, span
from aclweb.inventory.fields import KafkaTextField
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.inventory.answering_cluster import Answers, topics

pytestmark = pytest.mark.django_db

BOB = allow("User:bob", "READ", "orders")
ANY = deny("User:*", "DELETE", "*")
PAY = allow("User:cho", "ALL", "pay", pattern="PREFIXED")


def test_asking_again_costs_one_query_and_gives_the_same_index(cluster):
    sync(cluster, client=Answers([BOB], topics("orders")))
    before = in_force(cluster)

    with CaptureQueriesContext(database) as queries:
        again = in_force(cluster)

    assert len(queries) == 1
    assert again.index is before.index


def test_building_an_index_reads_each_text_once_and_compares_no_acls(cluster, monkeypatch):
    bindings = [allow(f"User:p{n % 7}", "READ", f"t\\{n % 50}", host=f"h{n % 3}") for n in range(350)]
    sync(cluster, client=Answers(bindings, topics("t1", "t2")))
    texts = {text for one in bindings for text in (one.principal, one.resource_name, one.host)}
    converted, read, hashed = [], [], []
    convert, unescape, hash_of = KafkaTextField.from_db_value, current.unescape, AclBinding.__hash__
    current.forget()
    with monkeypatch.context() as patch:
        patch.setattr(KafkaTextField, "from_db_value", lambda *given: converted.append(1) or convert(*given))
        for module in (current, loading_acls):
            patch.setattr(module, "unescape", lambda text: read.append(text) or unescape(text))
        patch.setattr(AclBinding, "__hash__", lambda own: hashed.append(1) or hash_of(own))
        index = in_force(cluster).index
        filed = index.shelf(ResourceType.TOPIC).bindings

    assert (converted, hashed, len(read)) == ([], [], len(texts) + 2)
    assert len(index) == len(filed) == len(set(bindings)) == 350
    assert set(index) == set(bindings)


def test_a_new_revision_is_seen_at_once(cluster):
    sync(cluster, client=Answers([BOB]))
    assert set(in_force(cluster).index) == {BOB}

    sync(cluster, client=Answers([BOB, PAY]))

    assert set(in_force(cluster).index) == {BOB, PAY}


def test_a_revision_in_which_only_names_moved_keeps_the_index(cluster):
    sync(cluster, client=Answers([BOB], topics("orders")))
    before = in_force(cluster)
    sync(cluster, client=Answers([BOB], topics("orders", "pay.in")))

    after = in_force(cluster)

    assert after.index is before.index
    assert [topic.name for topic in after.topics] == ["orders", "pay.in"]


def test_a_new_declaration_counts_at_once_and_rebuilds_nothing(cluster):
    sync(cluster, client=Answers([BOB]))
    before = in_force(cluster)
    cluster.super_users, cluster.allow_everyone = "User:root; User:CN=a,O=b", True
    cluster.save()

    after = in_force(cluster)

    assert after.settings.super_users == {"User:root", "User:CN=a,O=b"}
    assert after.settings.allow_everyone
    assert after.index is before.index


def test_what_nobody_declared_is_assumed_and_named(other_cluster):
    settings = settings_of(other_cluster)

    assert settings.undeclared == {"super_users", "allow_everyone"}
    assert not settings.allow_everyone
    assert settings.super_users == frozenset()


def test_declaring_that_there_are_no_super_users_differs_from_declaring_nothing(cluster):
    cluster.super_users = ""

    assert settings_of(cluster).undeclared == frozenset()


def test_a_version_that_aclweb_does_not_know_is_decided_by_the_newest(cluster):
    cluster.kafka_version = "12.0"

    assert settings_of(cluster) == settings_of(
        cluster.__class__(super_users="User:admin", allow_everyone=False)
    )


def test_principals_are_those_of_the_acls_and_the_declared_super_users(cluster):
    sync(cluster, client=Answers([BOB, ANY, PAY]))

    assert in_force(cluster).principals == ("User:*", "User:admin", "User:bob", "User:cho")


def test_a_list_shows_deny_first_and_the_wildcard_last(cluster):
    wide = allow("User:a", "READ", "*")
    sync(cluster, client=Answers([wide, PAY, ANY, BOB]))

    assert in_force(cluster).loaded.in_reading_order == (ANY, BOB, PAY, wide)


def test_a_pattern_counts_the_existing_names_that_it_covers(cluster):
    sync(
        cluster, client=Answers([BOB, ANY, PAY], topics("orders", "orders2", "pay", "pay.in", "pa"), ["pay"])
    )
    loaded = in_force(cluster).loaded

    assert [loaded.covered_now(binding) for binding in (BOB, ANY, PAY)] == [1, 5, 2]
    assert loaded.covered_now(allow("User:a", "READ", "pay", resource_type="GROUP")) == 1
    assert loaded.covered_now(allow("User:a", "WRITE", "x", resource_type="TRANSACTIONAL_ID")) is None


@pytest.mark.half
@pytest.mark.parametrize("seed", range(50))
def test_the_span_of_a_pattern_holds_exactly_the_names_it_covers(seed):
    dice = Random(seed)
    letters = "ab*\U0001f600\U0010ffff\ud7ff\ud800"

    def word():
        return "".join(dice.choice(letters) for _ in range(dice.randrange(4)))

    names = tuple(sorted({word() for _ in range(30)}))
    pattern = word()

    for kind, covers in (
        (PatternType.LITERAL, lambda name: pattern in (name, "*")),
        (PatternType.PREFIXED, lambda name: name.startswith(pattern)),
    ):
        start, end = span(names, pattern, kind)
        assert names[start:end] == tuple(name for name in names if covers(name)), (pattern, kind)
    assert bisect_left(names, names[0]) == 0


@pytest.mark.django_db(transaction=True)
def test_threads_that_ask_at_once_share_one_index(cluster):
    sync(cluster, client=Answers([BOB, PAY]))
    current.forget()
    found = []

    def ask():
        found.append(in_force(cluster).index)
        database.close()

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 8
    assert len({id(index) for index in found}) == 1


def test_a_logins_options_do_not_show_in_the_connection(cluster):
    cluster.options = {"sasl_plain_password": "canary-password"}
    cluster.save()
    cluster.refresh_from_db()

    connection = current.connection_of(cluster)

    assert connection.options == {"sasl_plain_password": "canary-password"}
    assert "canary" not in repr(connection)
    with database.cursor() as cursor:
        cursor.execute("SELECT options FROM inventory_cluster")
        assert "canary" not in str(cursor.fetchall())


def test_a_login_is_read_together_with_the_address_that_it_is_for(cluster):
    cluster.options = {"sasl.password": "first"}
    cluster.save()
    before = Cluster.objects.get()
    Cluster.objects.update(kind="zookeeper", address="zk.example:2181", options={"sasl.password": "second"})

    connection = current.connection_of(before)

    assert (connection.address, connection.kind.name) == ("zk.example:2181", "zookeeper")
    assert connection.options == {"sasl.password": "second"}
