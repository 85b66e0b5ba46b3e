"""Keep which of the existing topics and groups are known. What earlier readings found was never proven to be all."""

from django.db import migrations, models
from django.db.models import Exists, OuterRef

KNOWN = [("all", "all"), ("visible", "visible"), ("unknown", "unknown")]


def say_what_is_certain(apps, schema_editor):
    Cluster = apps.get_model("inventory", "Cluster")
    Declaration = apps.get_model("inventory", "Declaration")
    StoredName = apps.get_model("inventory", "StoredName")
    for model in (Cluster, Declaration):
        model.objects.filter(groups_known=True).update(groups_listed="visible")
    topics = StoredName.objects.filter(cluster=OuterRef("pk"), resource_type="TOPIC")
    read = Cluster.objects.filter(read_at__isnull=False)
    for kind, listed in (
        (read.filter(kind="zookeeper"), "all"),
        (read.filter(kind="admin"), "visible"),
        (read.filter(Exists(topics), kind="snapshot"), "visible"),
    ):
        pks = list(kind.values_list("pk", flat=True))
        Cluster.objects.filter(pk__in=pks).update(topics_listed=listed)
        Declaration.objects.filter(cluster__in=pks).update(topics_listed=listed)


def say_whether_groups_are_known(apps, schema_editor):
    for name in ("Cluster", "Declaration"):
        model = apps.get_model("inventory", name)
        model.objects.exclude(groups_listed="unknown").update(groups_known=True)


class Migration(migrations.Migration):
    dependencies = [("inventory", "0005_workers_and_fair_syncs")]

    operations = [
        *(
            migrations.AddField(
                model_name=model,
                name=name,
                field=models.CharField(choices=KNOWN, default="unknown", max_length=10),
            )
            for model in ("cluster", "declaration")
            for name in ("topics_listed", "groups_listed")
        ),
        # Made to have a default first, so that going back can add it to rows that exist.
        migrations.AlterField(
            model_name="declaration", name="groups_known", field=models.BooleanField(default=False)
        ),
        migrations.RunPython(say_what_is_certain, say_whether_groups_are_known),
        migrations.RemoveField(model_name="cluster", name="groups_known"),
        migrations.RemoveField(model_name="declaration", name="groups_known"),
    ]
