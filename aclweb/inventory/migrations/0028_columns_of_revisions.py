"""Columns are stored by the revision whose ACLs they are. Those from before go; a worker stores them after a sync."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inventory", "0027_columns")]

    operations = [
        migrations.DeleteModel(name="StoredColumns"),
        migrations.CreateModel(
            name="StoredColumns",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("part", models.PositiveIntegerField()),
                ("content", models.BinaryField()),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="inventory.cluster"
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="inventory.revision"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("cluster", "revision", "part"), name="one_part_of_columns_a_place"
                    )
                ]
            },
        ),
    ]
