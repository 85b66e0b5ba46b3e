"""Keep the edit that an analysis is about."""

from django.db import migrations

import aclweb.inventory.fields


class Migration(migrations.Migration):
    dependencies = [("insights", "0018_progress_of_refreshes")]

    operations = [
        migrations.AddField("analysis", "delta", aclweb.inventory.fields.KafkaTextField(default="")),
    ]
