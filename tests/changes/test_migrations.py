"""Do comments stay on their ACLs when a database of an earlier release is migrated?"""

from __future__ import annotations

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from aclweb.acl.model import Delta
from aclweb.acl.notation import binding_key
from aclweb.changes import review
from aclweb.changes.models import Comment
from tests.builders import allow

ORDERS, STOCK = allow("User:bob", "READ", "orders"), allow("User:bob", "READ", "stock")


@pytest.mark.django_db(transaction=True)
def test_comments_by_place_become_comments_by_acl(cluster, ada):
    change = review.submit(
        change=review.draft(cluster=cluster, author=ada, title="t", delta=Delta(add=(ORDERS, STOCK))),
        actor=ada,
    )
    place = next(item.position for item in change.items.all() if item.binding == STOCK)
    executor = MigrationExecutor(connection)
    newest, before = executor.loader.graph.leaf_nodes(), [("changes", "0006_comments_and_tickets")]
    executor.migrate(before)
    try:
        old = executor.loader.project_state(before).apps.get_model("changes", "Comment").objects
        given = {"change_id": change.pk, "author_id": ada.pk}
        old.create(text="Needed?", position=place, plan_hash=change.plan_hash, **given)
        old.create(text="Of another plan.", position=place, plan_hash="0" * 64, **given)
        old.create(text="Of all.", **given)
    finally:
        MigrationExecutor(connection).migrate(newest)

    assert dict(Comment.objects.values_list("text", "acl_key")) == {
        "Needed?": binding_key(STOCK),
        "Of another plan.": "",
        "Of all.": "",
    }
