from django.db import migrations


class Migration(migrations.Migration):
    """The models' names alone: tables and columns keep theirs."""

    dependencies = [("inventory", "0008_kind_choices")]

    operations = [
        migrations.AlterModelTable(name="search", table="inventory_search"),
        migrations.AlterModelTable(name="found", table="inventory_found"),
        migrations.RenameModel(old_name="Search", new_name="LintRun"),
        migrations.RenameModel(old_name="Found", new_name="StoredFinding"),
    ]
