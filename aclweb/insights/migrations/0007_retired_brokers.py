import django.db.models.deletion
from django.db import migrations, models

import aclweb.inventory.fields


class Migration(migrations.Migration):

    dependencies = [
        ('insights', '0006_needed_acls'),
        ('inventory', '0009_lint_runs'),
    ]

    operations = [
        migrations.CreateModel(
            name='RetiredBroker',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('broker', aclweb.inventory.fields.KafkaTextField()),
                ('since', models.DateField()),
                ('reason', models.TextField(blank=True)),
                ('set_by', models.CharField(max_length=254)),
                ('set_at', models.DateTimeField()),
                ('cluster', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='retired_brokers', to='inventory.cluster')),
            ],
        ),
    ]
