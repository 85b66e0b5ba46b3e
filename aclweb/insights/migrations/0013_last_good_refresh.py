"""Keep when a cluster's logs were last read, also where nothing was new or a later try failed."""

from django.db import migrations, models


def last_good_try(apps, schema_editor):
    """Of a refresh whose last try went well, that try is when the logs were read."""
    refresh = apps.get_model("insights", "Refresh")
    went_well = refresh.objects.using(schema_editor.connection.alias).filter(problem="")
    went_well.update(read_at=models.F("tried_at"))


class Migration(migrations.Migration):
    dependencies = [("insights", "0012_analyses")]

    operations = [
        migrations.AddField("refresh", "read_at", models.DateTimeField(null=True)),
        migrations.RunPython(last_good_try, migrations.RunPython.noop, elidable=True),
    ]
