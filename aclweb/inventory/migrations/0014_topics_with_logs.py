"""Let a log source be a topic, with the cluster that has it and what names the broker of a record."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("inventory", "0013_revision_days")]

    operations = [
        migrations.AlterField("logsource", "path", models.CharField(blank=True, max_length=1000)),
        migrations.AddField(
            "logsource", "topic", models.CharField(blank=True, default="", max_length=249), preserve_default=False
        ),
        migrations.AddField(
            "logsource",
            "topic_cluster",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="topics_with_logs",
                to="inventory.cluster",
            ),
        ),
        migrations.AddField(
            "logsource",
            "broker_by",
            models.CharField(
                blank=True,
                choices=[
                    ("", "–"),
                    ("key", "the key of each message"),
                    ("topic", "nothing: no hour counts as covered"),
                ],
                default="",
                max_length=5,
            ),
        ),
        migrations.RemoveConstraint("logsource", "log_source_once"),
        migrations.AddConstraint(
            "logsource",
            models.UniqueConstraint(
                condition=~Q(path=""), fields=("cluster", "path"), name="log_source_once"
            ),
        ),
        migrations.AddConstraint(
            "logsource",
            models.UniqueConstraint(
                condition=~Q(topic=""), fields=("cluster", "topic", "topic_cluster"), name="log_topic_once"
            ),
        ),
    ]
