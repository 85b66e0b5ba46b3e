"""A gate may guard names with a label."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("changes", "0009_managed_prefixes")]

    operations = [
        migrations.AlterField(
            "policygate",
            "kind",
            models.CharField(
                choices=[
                    ("no-wildcard", "No ACL for all resources or any user"),
                    ("no-traffic-lost", "Nobody in logged traffic loses access"),
                    ("not-the-first", "Not the first ACL on an open resource"),
                    ("not-own-rights", "Not aclweb's own rights"),
                    ("no-new-access", "No new access to names that start with a prefix"),
                    ("no-access-label", "No new access to names with a label"),
                    ("managed", "Nothing that another tool manages, by a prefix"),
                    ("managed-refused", "Refuse what another tool manages, by a prefix"),
                ],
                max_length=20,
            ),
        ),
    ]
