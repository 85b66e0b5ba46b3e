"""Keep which brokers wrote the denials of a group; a load of an earlier version does not tell."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("insights", "0016_quiet_denials")]

    operations = [migrations.AddField("denialgroup", "brokers", models.JSONField(default=list))]
