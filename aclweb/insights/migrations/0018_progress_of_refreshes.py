"""Keep how far a refresh of the logs is, who asked for it, and who cancelled it."""

from django.db import migrations, models


def text(length: int) -> models.CharField:
    return models.CharField(blank=True, default="", max_length=length)


class Migration(migrations.Migration):
    dependencies = [("insights", "0017_brokers_of_denials")]

    operations = [
        migrations.AddField("refresh", "asked_at", models.DateTimeField(null=True)),
        migrations.AddField("refresh", "asked_by", text(254), preserve_default=False),
        migrations.AddField("refresh", "step", text(300), preserve_default=False),
        migrations.AddField("refresh", "steps_done", models.PositiveSmallIntegerField(default=0)),
        migrations.AddField("refresh", "steps", models.PositiveSmallIntegerField(default=0)),
        migrations.AddField("refresh", "tasks_done", models.PositiveIntegerField(default=0)),
        migrations.AddField("refresh", "tasks", models.PositiveIntegerField(default=0)),
        migrations.AddField("refresh", "cancelled_by", text(254), preserve_default=False),
    ]
