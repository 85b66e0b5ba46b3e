from django.db import migrations


class Migration(migrations.Migration):
    """Apart from the rows that were made of it: PostgreSQL alters no table that waits for checks of rows."""

    dependencies = [("inventory", "0010_log_sources")]

    operations = [migrations.RemoveField(model_name="cluster", name="log_paths")]
