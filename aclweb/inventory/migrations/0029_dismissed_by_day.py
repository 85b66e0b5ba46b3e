"""The dismissed findings of a run are found by their last day, which SQLite did not do by the run alone."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("inventory", "0028_columns_of_revisions")]

    operations = [
        migrations.RemoveIndex(model_name="storedfinding", name="findings_dismissed"),
        migrations.AddIndex(
            model_name="storedfinding",
            index=models.Index(
                fields=["search", "dismissed_until"],
                condition=Q(dismissed_until__isnull=False),
                name="findings_dismissed",
            ),
        ),
    ]
