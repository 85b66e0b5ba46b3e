from django.db import migrations


class Migration(migrations.Migration):
    """The digest of a load's ACLs is in its manifest; why today's ACLs decide as they do is in the explanation."""

    dependencies = [
        ("insights", "0003_refresh_lease"),
    ]

    operations = [
        migrations.RemoveField(model_name="load", name="snapshot_digest"),
        migrations.RemoveField(model_name="seenrequest", name="basis_now"),
    ]
