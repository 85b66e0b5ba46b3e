"""Keep how often each principal was permitted and denied each name; pages count it of a load of an earlier version."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("insights", "0019_edit_of_an_analysis")]

    operations = [
        migrations.CreateModel(
            name="LoadedPairs",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("texts", models.BinaryField()),
                ("numbers", models.BinaryField()),
                (
                    "load",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="pairs", to="insights.load"
                    ),
                ),
            ],
        ),
    ]
