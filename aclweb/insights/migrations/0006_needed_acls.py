from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("insights", "0005_denial_groups_and_marks")]

    operations = [
        migrations.AddField("acluse", "needed", models.PositiveBigIntegerField(null=True)),
        migrations.AddField("acluse", "replaceable_by", models.JSONField(default=list)),
    ]
