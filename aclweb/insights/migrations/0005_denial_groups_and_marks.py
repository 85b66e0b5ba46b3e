import django.db.models.deletion
from django.db import migrations, models

import aclweb.inventory.fields
from aclweb.insights.denial_groups import Groups


def group_what_is_loaded(apps, schema_editor):
    """Group the denials of what pages show now, so that nobody waits for the next load."""
    alias = schema_editor.connection.alias
    load_model = apps.get_model("insights", "Load")
    seen, group = apps.get_model("insights", "SeenRequest"), apps.get_model("insights", "DenialGroup")
    for load in load_model.objects.using(alias).filter(current=True).defer("manifest"):
        groups = Groups()
        for row in seen.objects.using(alias).filter(load=load, allowed=False).iterator():
            groups.add(
                (row.principal, row.operation, row.resource_type, row.resource_name),
                host=row.host,
                lines=row.lines,
                first_at=row.first_at,
                last_at=row.last_at,
                days=row.days,
            )
        made = (group(load=load, **facts) for facts in groups.facts(load.last_at))
        group.objects.using(alias).bulk_create(made, batch_size=1_000)


class Migration(migrations.Migration):

    dependencies = [
        ('insights', '0004_columns_that_nobody_read'),
        ('inventory', '0009_lint_runs'),
    ]

    operations = [
        migrations.CreateModel(
            name='DenialGroup',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=64)),
                ('principal', aclweb.inventory.fields.KafkaTextField()),
                ('operation', models.CharField(max_length=20)),
                ('resource_type', models.CharField(max_length=20)),
                ('resource_name', aclweb.inventory.fields.KafkaTextField()),
                ('lines', models.PositiveBigIntegerField()),
                ('lines_1', models.PositiveBigIntegerField()),
                ('lines_7', models.PositiveBigIntegerField()),
                ('lines_14', models.PositiveBigIntegerField()),
                ('lines_30', models.PositiveBigIntegerField()),
                ('hosts', models.PositiveIntegerField()),
                ('latest_host', aclweb.inventory.fields.KafkaTextField()),
                ('first_at', models.DateTimeField()),
                ('last_at', models.DateTimeField()),
                ('days', models.JSONField(default=list)),
                ('load', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='denial_groups', to='insights.load')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('load', 'key'), name='one_denial_group_a_key_and_load')],
            },
        ),
        migrations.CreateModel(
            name='DenialMark',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=64)),
                ('state', models.CharField(choices=[('new', 'new'), ('being-fixed', 'being fixed'), ('expected', 'expected'), ('fixed', 'fixed'), ('ignored', 'ignored')], max_length=12)),
                ('until', models.DateField(null=True)),
                ('change', models.PositiveBigIntegerField(null=True)),
                ('reason', models.TextField(blank=True)),
                ('set_by', models.CharField(max_length=254)),
                ('set_at', models.DateTimeField()),
                ('fixed_at', models.DateTimeField(null=True)),
                ('cluster', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='denial_marks', to='inventory.cluster')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('cluster', 'key'), name='one_mark_a_denial_group')],
            },
        ),
        migrations.RunPython(group_what_is_loaded, migrations.RunPython.noop, elidable=True),
    ]
