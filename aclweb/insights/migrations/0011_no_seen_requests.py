from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("insights", "0010_keep_loaded_requests")]

    operations = [migrations.DeleteModel("SeenRequest")]
