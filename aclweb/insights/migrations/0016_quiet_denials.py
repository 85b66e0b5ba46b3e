"""Keep whether a load can tell quiet groups of denials, and their denials of the day before the last one.

A load of an earlier version tells neither.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("insights", "0015_levels_of_logs")]

    operations = [
        migrations.AddField("load", "tells_quiet", models.BooleanField(default=False)),
        migrations.AddField("denialgroup", "lines_before", models.PositiveBigIntegerField(null=True)),
    ]
