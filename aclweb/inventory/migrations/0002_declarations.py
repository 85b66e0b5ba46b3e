"""Keep what is declared with its time. Of clusters known already, what holds today stands in for their past."""

import django.db.models.deletion
from django.db import migrations, models
from django.utils import timezone


def keep_what_holds_today(apps, schema_editor):
    Cluster = apps.get_model("inventory", "Cluster")
    Declaration = apps.get_model("inventory", "Declaration")
    names = ("authorizer", "kafka_version", "super_users", "allow_everyone", "groups_known")
    now = timezone.now()
    for row in Cluster.objects.values("pk", *names):
        Declaration.objects.create(cluster_id=row.pop("pk"), since=now, **row)


class Migration(migrations.Migration):

    dependencies = [
        ('inventory', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Declaration',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('since', models.DateTimeField()),
                ('authorizer', models.CharField(choices=[('standard', 'KRaft (StandardAuthorizer)'), ('acl', 'ZooKeeper (AclAuthorizer)')], max_length=10)),
                ('kafka_version', models.CharField(blank=True, max_length=20)),
                ('super_users', models.TextField(blank=True, null=True)),
                ('allow_everyone', models.BooleanField(null=True)),
                ('groups_known', models.BooleanField()),
                ('who', models.CharField(blank=True, max_length=254)),
                ('cluster', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='declarations', to='inventory.cluster')),
            ],
            options={
                'ordering': ['cluster', 'since', 'pk'],
                'indexes': [models.Index(fields=['cluster', 'since'], name='declared_since')],
            },
        ),
        migrations.RunPython(keep_what_holds_today, migrations.RunPython.noop),
    ]
