"""A load keeps how many ACLs it shows to be unused."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("insights", "0022_days_of_loads")]

    operations = [
        migrations.AddField("load", "unused", models.PositiveIntegerField(null=True)),
        migrations.AddField(
            "load", "unused_by", models.CharField(blank=True, default="", max_length=120), preserve_default=False
        ),
    ]
