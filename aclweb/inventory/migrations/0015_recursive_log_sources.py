"""Let a log source that is a folder mean the files of the folders in it too."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inventory", "0014_topics_with_logs")]

    operations = [
        migrations.AddField("logsource", "recursive", models.BooleanField(default=False)),
    ]
