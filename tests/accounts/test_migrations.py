"""Is a role that two requests gave at once stored once after a database of an earlier release is migrated?"""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from django.db import IntegrityError, connection, transaction
from django.db.migrations.executor import MigrationExecutor

from aclweb.accounts.models import Grant, Role


@pytest.mark.django_db(transaction=True)
def test_a_role_that_was_given_twice_is_kept_once(cluster, eve):
    group = Group.objects.create(name="platform")
    executor = MigrationExecutor(connection)
    newest, before = executor.loader.graph.leaf_nodes(), [("accounts", "0003_tokens_of_one_cluster")]
    executor.migrate(before)
    try:
        old = executor.loader.project_state(before).apps.get_model("accounts", "Grant").objects
        for holder in ({"user_id": eve.pk}, {"group_id": group.pk}):
            for role, prefix in ((Role.VIEWER, ""), (Role.APPROVER, "pay"), (Role.VIEWER, "")):
                old.create(cluster_id=cluster.pk, role=role, name_prefix=prefix, **holder)
        expected = {old.filter(role=Role.VIEWER, user=eve.pk).order_by("pk").values_list("pk", flat=True)[0]}
    finally:
        MigrationExecutor(connection).migrate(newest)

    assert set(Grant.objects.filter(role=Role.VIEWER, user=eve).values_list("pk", flat=True)) == expected
    assert Grant.objects.filter(user=eve).count() == Grant.objects.filter(group=group).count() == 2
    for holder in ({"user": eve}, {"group": group}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Grant.objects.create(cluster=cluster, role=Role.VIEWER, **holder)
