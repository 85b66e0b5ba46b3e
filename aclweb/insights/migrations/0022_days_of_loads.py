"""The last days of a load are found without reading all of them."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("insights", "0021_principals_of_loads")]

    operations = [
        migrations.AddIndex("logday", models.Index(fields=["load", "day"], name="log_days_of_a_load_by_day")),
    ]
