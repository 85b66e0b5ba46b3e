from django.db import migrations

import aclweb.inventory.fields


class Migration(migrations.Migration):

    dependencies = [
        ('insights', '0007_retired_brokers'),
    ]

    operations = [
        migrations.AddField(
            model_name='load',
            name='unread',
            field=aclweb.inventory.fields.KafkaTextField(default=''),
        ),
    ]
