import aclweb.inventory.fields
import django.db.models.deletion
from django.db import migrations, models


def keep_no_row_numbers(apps, schema_editor):
    """Have SQLite file the days by their key alone: a third of the size, and written in half the time."""
    if schema_editor.connection.vendor != "sqlite":
        return
    model = apps.get_model("insights", "RequestDay")
    statement, _ = schema_editor.table_sql(model)
    schema_editor.delete_model(model)
    schema_editor.execute(f"{statement} WITHOUT ROWID")


class Migration(migrations.Migration):
    """Requests are kept from load to load, their totals from the load that changed them, their days a row each."""

    dependencies = [
        ('insights', '0008_unread_files'),
        ('inventory', '0011_no_log_paths'),
    ]

    operations = [
        migrations.AddField(
            model_name='acluse',
            name='days',
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name='acluse',
            name='requests_30',
            field=models.PositiveBigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='load',
            name='given_up',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='load',
            name='published',
            field=models.BooleanField(default=True),
        ),
        migrations.CreateModel(
            name='DaySet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('day', models.DateField()),
                ('digest', models.CharField(max_length=32)),
                ('cluster', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='day_sets', to='inventory.cluster')),
            ],
        ),
        migrations.AddField(
            model_name='load',
            name='day_sets',
            field=models.ManyToManyField(related_name='loads', to='insights.dayset'),
        ),
        migrations.CreateModel(
            name='LoggedRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=32)),
                ('principal', aclweb.inventory.fields.KafkaTextField()),
                ('principal_key', models.BigIntegerField()),
                ('host', aclweb.inventory.fields.KafkaTextField()),
                ('operation', models.CharField(max_length=20)),
                ('resource_type', models.CharField(max_length=20)),
                ('resource_name', aclweb.inventory.fields.KafkaTextField()),
                ('resource_key', models.BigIntegerField()),
                ('allowed', models.BooleanField()),
                ('cluster', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='logged_requests', to='inventory.cluster')),
            ],
        ),
        migrations.CreateModel(
            name='RequestDay',
            fields=[
                ('pk', models.CompositePrimaryKey('day_set', 'request', blank=True, editable=False, primary_key=True, serialize=False)),
                ('request', models.BigIntegerField()),
                ('lines', models.PositiveBigIntegerField()),
                ('day_set', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='rows', to='insights.dayset')),
            ],
        ),
        migrations.CreateModel(
            name='RequestTotals',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('added_in', models.PositiveBigIntegerField()),
                ('removed_in', models.PositiveBigIntegerField(null=True)),
                ('digest', models.BigIntegerField()),
                ('lines', models.PositiveBigIntegerField()),
                ('lines_7', models.PositiveBigIntegerField()),
                ('lines_30', models.PositiveBigIntegerField()),
                ('lines_90', models.PositiveBigIntegerField()),
                ('first_at', models.DateTimeField()),
                ('last_at', models.DateTimeField()),
                ('api_names', models.JSONField(default=list)),
                ('sample', aclweb.inventory.fields.KafkaTextField(default='')),
                ('decided_now', models.CharField(max_length=10)),
                ('cluster', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='request_totals', to='inventory.cluster')),
                ('request', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='totals', to='insights.loggedrequest')),
            ],
        ),
        migrations.AddIndex(
            model_name='loggedrequest',
            index=models.Index(fields=['cluster', 'principal_key'], name='logged_by_principal'),
        ),
        migrations.AddIndex(
            model_name='loggedrequest',
            index=models.Index(fields=['cluster', 'resource_key'], name='logged_by_resource'),
        ),
        migrations.AddConstraint(
            model_name='loggedrequest',
            constraint=models.UniqueConstraint(fields=('cluster', 'key'), name='one_logged_request_a_cluster'),
        ),
        migrations.AddIndex(
            model_name='requesttotals',
            index=models.Index(fields=['cluster', 'removed_in'], name='totals_of_cluster'),
        ),
        migrations.RunPython(keep_no_row_numbers, migrations.RunPython.noop),
    ]
