"""Keep when each principal was seen, and how often denied; pages count it of a load of an earlier version."""

import django.db.models.deletion
from django.db import migrations, models

import aclweb.inventory.fields


class Migration(migrations.Migration):
    dependencies = [("insights", "0020_pairs_of_loads")]

    operations = [
        migrations.CreateModel(
            name="LoggedPrincipal",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("principal", aclweb.inventory.fields.KafkaTextField()),
                ("permitted", models.PositiveBigIntegerField()),
                ("denied", models.PositiveBigIntegerField()),
                ("denied_7", models.PositiveBigIntegerField()),
                ("first_at", models.DateTimeField()),
                ("last_at", models.DateTimeField()),
                (
                    "load",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="principals",
                        to="insights.load",
                    ),
                ),
            ],
        ),
    ]
