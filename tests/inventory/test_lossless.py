"""A stored ACL is the ACL that was read, letter by letter, and no two that look alike become one."""

from __future__ import annotations

import itertools

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aclweb.acl.model.vocabulary import AclBinding
from aclweb.acl.notation.files import binding_key
from aclweb.inventory.current import BINDING_COLUMNS, bindings_of
from aclweb.inventory.current import view as current
from aclweb.inventory.models import Cluster, StoredAcl
from aclweb.inventory.sync.run import sync
from tests.hostile import EXAMPLES, acls, look_alikes, surrogates, texts
from tests.inventory.answering_cluster import Answers

ANY_TEXTS = st.one_of(texts, surrogates)


def in_force(cluster: Cluster) -> dict[str, AclBinding]:
    """Every row of the cluster that holds now, by its key."""
    rows = StoredAcl.objects.filter(cluster=cluster, removed_in__isnull=True)
    bindings = list(bindings_of(rows.order_by("pk").values_list(*BINDING_COLUMNS)))
    keys = list(rows.order_by("pk").values_list("key", flat=True))
    return dict(zip(keys, bindings, strict=True))


numbers = itertools.count()


@settings(
    max_examples=EXAMPLES // 5,  # each example stores several ACLs
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(bindings=st.lists(acls(texts=ANY_TEXTS, principals=ANY_TEXTS), max_size=12))
def test_what_a_cluster_answers_is_what_its_rows_hold(db, bindings):
    name = f"lossless-{next(numbers)}"
    cluster = Cluster.objects.create(slug=name, name=name, kind="admin", address="127.0.0.1:1")
    assert sync(cluster, client=Answers(bindings)).read

    assert in_force(cluster) == {binding_key(binding): binding for binding in bindings}
    assert set(current.in_force(cluster).index) == set(bindings)


def test_names_that_look_alike_stay_different_in_every_row(cluster):
    bindings = look_alikes()
    sync(cluster, client=Answers(bindings))
    current.forget()

    assert set(in_force(cluster).values()) == set(bindings)
    assert len(in_force(cluster)) == len(bindings)
