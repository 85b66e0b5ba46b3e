"""A role that somebody has is stored once, so that taking it leaves no second one."""

from __future__ import annotations

from typing import Any

from django.db import migrations, models
from django.db.models import Min


def _keep_one(apps: Any, schema_editor: Any) -> None:
    """Delete each grant that repeats an earlier one."""
    grants = apps.get_model("accounts", "Grant").objects.using(schema_editor.connection.alias)
    same = grants.order_by().values("user", "group", "cluster", "role", "name_prefix")
    grants.exclude(pk__in=same.annotate(first=Min("pk")).values("first")).delete()


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_tokens_of_one_cluster")]

    operations = [
        migrations.RunPython(_keep_one, migrations.RunPython.noop),
        migrations.AddConstraint(
            "grant",
            models.UniqueConstraint(fields=["user", "cluster", "role", "name_prefix"], name="one_grant_of_a_kind_a_user"),
        ),
        migrations.AddConstraint(
            "grant",
            models.UniqueConstraint(fields=["group", "cluster", "role", "name_prefix"], name="one_grant_of_a_kind_a_group"),
        ),
    ]
