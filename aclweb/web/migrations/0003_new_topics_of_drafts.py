import json
import zlib

from django.db import migrations, models


def count(apps, schema_editor):
    for draft in apps.get_model("web", "NamedDraft").objects.only("content").iterator():
        draft.new_topics = len(json.loads(zlib.decompress(bytes(draft.content))).get("new_topic", ()))
        if draft.new_topics:
            draft.save(update_fields=["new_topics"])


class Migration(migrations.Migration):

    dependencies = [
        ("web", "0002_named_drafts"),
    ]

    operations = [
        migrations.AddField(
            model_name="nameddraft",
            name="new_topics",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.RunPython(count, migrations.RunPython.noop),
    ]
