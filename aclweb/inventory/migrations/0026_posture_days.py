"""How a cluster was on each day is kept; what its last lint run counted is the first of them."""

from __future__ import annotations

from typing import Any

import django.db.models.deletion
from django.db import migrations, models


def _keep_the_last(apps: Any, schema_editor: Any) -> None:
    database = schema_editor.connection.alias
    days = apps.get_model("inventory", "PostureDay").objects.using(database)
    done = apps.get_model("inventory", "LintRun").objects.using(database).filter(done_at__isnull=False)
    for cluster, at, counts in done.order_by("done_at").values_list("cluster_id", "done_at", "counts"):
        if counts:
            days.update_or_create(cluster_id=cluster, day=at.date(), defaults={"counts": counts})


class Migration(migrations.Migration):
    dependencies = [("inventory", "0025_details")]

    operations = [
        migrations.CreateModel(
            name="PostureDay",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                ("counts", models.JSONField()),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="posture_days",
                        to="inventory.cluster",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("cluster", "day"), name="one_posture_a_day")]
            },
        ),
        migrations.RunPython(_keep_the_last, migrations.RunPython.noop),
    ]
