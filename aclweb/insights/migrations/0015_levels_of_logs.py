"""Keep the level that somebody declared for the log of each broker; a load of an earlier version knows none."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("insights", "0014_bursts_of_denials")]

    operations = [migrations.AddField("load", "levels", models.JSONField(default=dict))]
