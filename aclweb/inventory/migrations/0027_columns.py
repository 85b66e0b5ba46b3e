"""The ACLs in force on a large cluster are kept as columns, too, which are read faster than rows."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inventory", "0026_posture_days")]

    operations = [
        migrations.CreateModel(
            name="StoredColumns",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64)),
                ("part", models.PositiveIntegerField()),
                ("content", models.BinaryField()),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="inventory.cluster"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("cluster", "digest", "part"), name="one_part_of_columns_a_place"
                    )
                ]
            },
        ),
    ]
