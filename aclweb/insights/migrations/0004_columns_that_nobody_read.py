from django.db import migrations, models


class Migration(migrations.Migration):
    """The digest of a load's ACLs is in its manifest; why today's ACLs decide as they do is in the explanation."""

    dependencies = [
        ("insights", "0003_refresh_lease"),
    ]

    # `blank` is no matter of the database. Backwards, Django then fills the columns with "", and there may be rows.
    operations = [
        migrations.AlterField("load", "snapshot_digest", models.CharField(max_length=64, blank=True)),
        migrations.AlterField("seenrequest", "basis_now", models.CharField(max_length=16, blank=True)),
        migrations.RemoveField(model_name="load", name="snapshot_digest"),
        migrations.RemoveField(model_name="seenrequest", name="basis_now"),
    ]
